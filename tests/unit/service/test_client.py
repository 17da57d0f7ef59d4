"""`db.Client` has the methods of `Bandit`, over a real socket."""

import http.client

import pytest
from served import listening

import driftbandits as db
from driftbandits.bandit.pending import AlreadyRewarded, NotActive, UnknownDecision
from driftbandits.bandit.store import StoreUnavailable
from driftbandits.errors import InvalidValue
from driftbandits.service.keys import new_key


def test_the_same_code_runs_embedded_and_behind_http(tmp_path):
    def story(bandit):
        for _ in range(60):
            d = bandit.decide({"a": {"price": 1.0}, "b": {"price": 2.0}}, {"old": True})
            bandit.reward(d.id, 1.0 if d.item == "b" else 0.0)
        return d.propensities["b"], bandit.info()["rewards"]

    key = new_key(tmp_path / "keys.toml", "me", "admin")
    with listening(tmp_path, keys=tmp_path / "keys.toml") as address, db.Client(f"{address}/loops/shop", key) as client:
        client.create(reward="value")
        share, rewards = story(client)
        assert rewards == 60
        assert (share > 0.8) == (story(db.Bandit())[0] > 0.8)
        d = client.decide(["a", "b", 3], mask=[True, False, True], k=2, id="mine")
        assert client.decide(["a"], id="mine").items == d.items
        assert {*d.propensities} == {"a", 3}
        client.reward(d, {"a": 1.0})
        with pytest.raises(AlreadyRewarded):
            client.reward(d, 1.0)
        with pytest.raises(UnknownDecision):
            client.reward("never", 1.0)
        deferred = client.decide(["a"], defer=True)
        with pytest.raises(NotActive):
            client.reward(deferred, 1.0)
        client.activate(deferred)
        client.reward(deferred, 1.0)
        batch = client.decide_batch([{"items": ["a"]}, {"items": {"b": None}, "k": 1}])
        assert [d.item for d in batch] == ["a", "b"]
        results = client.reward_batch([{"id": d.id, "reward": 1.0} for d in batch])
        assert [r["learned"] for r in results] == [True, True]
        assert client.drift_events() == []
        assert client.explain("mine")["item"] == d.item
        stranger = db.Client(f"{address}/loops/shop")
        with stranger, pytest.raises(db.DriftBanditsError, match="a key is needed"):
            stranger.info()
        with pytest.raises(InvalidValue, match="items is empty"):
            client.decide([])


def test_an_answer_that_is_lost_changes_nothing(tmp_path, monkeypatch):
    real, lost = http.client.HTTPConnection.getresponse, []

    def getresponse(self):
        answer = real(self)
        if len(lost) % 2 == 0:
            lost.append(answer.read())
            raise ConnectionResetError("the answer is lost")
        lost.append(b"")
        return answer

    with listening(tmp_path) as address:
        client = db.Client(address, loop="shop")
        client.create()
        monkeypatch.setattr(http.client.HTTPConnection, "getresponse", getresponse)
        d = client.decide(["a", "b"])
        client.reward(d, 1.0)
        client.close()
        monkeypatch.undo()
        info = client.info()
        assert (info["decisions"], info["rewards"], len(lost)) == (1, 1, 4)
        client.close()


def test_what_is_no_service(tmp_path):
    with pytest.raises(StoreUnavailable, match="gave up after"):
        db.Client("http://127.0.0.1:9/loops/a", patience=0.2).info()
    for url in ("shop", "ftp://x/loops/a", "http://host:8080"):
        with pytest.raises(InvalidValue):
            db.Client(url)
