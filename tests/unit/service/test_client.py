"""`db.Client` has the methods of `Bandit`, over a real socket."""

import http.client
import inspect
import json
import socket

import pytest
from served import listening

import driftbandits as db
from driftbandits.bandit.pending import AlreadyRewarded, NotActive, UnknownDecision
from driftbandits.bandit.store import StoreUnavailable
from driftbandits.errors import InvalidValue
from driftbandits.service import frames
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
        assert client.explain("mine").item == d.item
        stranger = db.Client(f"{address}/loops/shop")
        with stranger, pytest.raises(db.DriftBanditsError, match="a key is needed"):
            stranger.info()
        with pytest.raises(InvalidValue, match="items is empty"):
            client.decide([])


# What a loop behind HTTP has not: files and other bandits are the service's, its clock is its own, and challengers, logs and single
# observations are not part of its protocol (docs/service.md says what is not served).
NOT_SERVED = {
    *(
        "backup",
        "challenge",
        "drop",
        "drop_challenger",
        "expire",
        "fit",
        "follow",
        "forget_feature",
        "from_parts",
        "load",
    ),
    *("merge", "observe", "open", "plot", "promote", "save"),
}
NO_ARGUMENT = {("decide", "at"), ("decide", "show"), ("decide", "learn")}


def test_a_client_has_the_methods_of_a_bandit_with_their_arguments():
    def methods(kind):
        found = inspect.getmembers(kind, callable)
        return {name: inspect.signature(method).parameters for name, method in found if not name.startswith("_")}

    of_bandit, of_client = methods(db.Bandit), methods(db.Client)
    assert of_bandit.keys() - of_client.keys() == NOT_SERVED
    assert of_client.keys() - of_bandit.keys() == {"create", "close"}
    for name in of_bandit.keys() & of_client.keys():
        wanted = [(p.name, p.kind) for p in of_bandit[name].values() if (name, p.name) not in NO_ARGUMENT]
        assert [(p.name, p.kind) for p in of_client[name].values()] == wanted, name


def test_what_is_not_served_says_so():
    client = db.Client("http://127.0.0.1:8080/loops/shop")
    for name in NOT_SERVED:
        with pytest.raises(AttributeError, match=f"{name} is not served: call it on the db.Bandit"):
            getattr(client, name)
    with pytest.raises(AttributeError, match="no attribute 'decid'"):
        client.decid  # noqa: B018


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_decided_and_rewarded_as_a_bandit_does(tmp_path, library, monkeypatch):
    monkeypatch.setattr(frames, "ROWS", 7)  # several pieces
    made = pytest.importorskip(library).DataFrame({"age": [20.0 + n for n in range(20)], "town": ["x", "y"] * 10})
    offers = {"a": {"price": 1.0}, "b": {"price": 2.0}}
    with listening(tmp_path) as address, db.Client(address, loop="shop") as client:
        client.create(reward="click", seed=5)
        here = db.Bandit(reward="click", seed=5).decide_batch(made, offers=offers)
        there = client.decide_batch(made, offers=offers)
        assert type(there) is type(here)
        assert [*there.columns] == [*here.columns]
        assert [*there["item"]] == [*here["item"]]
        assert [*there["propensity"]] == pytest.approx([*here["propensity"]])
        assert len({*there["id"]}) == 20
        rewards = type(made)({"id": [*there["id"]], "reward": [1.0, 0.0] * 10})
        assert client.reward_batch(rewards) == 20
        assert client.info()["rewards"] == 20
        with pytest.raises(AlreadyRewarded, match="row 0"):
            client.reward_batch(rewards)
        with pytest.raises(InvalidValue, match="own clock"):
            client.decide_batch(made, offers=["a"], time="age")


def test_what_a_client_looks_at_is_what_a_bandit_returns(tmp_path):
    with listening(tmp_path) as address, db.Client(address, loop="shop") as client:
        client.create(reward="click")
        here = db.Bandit(reward="click")
        for n in range(40):
            for bandit in (here, client):
                d = bandit.decide({"a": {"price": 1.0}, "b": {"price": 2.0}})
                bandit.reward(d, n % 2)
        pairs = [
            (here.value(), client.value()),
            (here.explain(d := here.decide(["a", "b"])), client.explain(client.decide(["a", "b"]))),
        ]
        for own, told in pairs:
            assert type(told) is type(own)
            assert told.to_dict().keys() == own.to_dict().keys()
        assert d.item in ("a", "b")
        assert client.value(alpha=0.2).alpha == 0.2
        assert client.value().lift.lower <= client.value().lift.upper
        assert client.health()._fields == here.health()._fields
        assert client.importance().keys() == here.importance().keys()
        assert client.estimate(["a", "b"]).keys() == {"a", "b"}


def test_items_that_are_numbers_or_called_like_policies_are_valued(tmp_path):
    with listening(tmp_path) as address, db.Client(address, loop="shop") as client:
        client.create(reward="value")
        for n in range(40):
            client.reward(client.decide([7, 8, "random"]), float(n % 3))
        for told in (client.value(7), client.value(item=7)):
            assert (told.kind, told.against) == ("item", 7)
        assert client.value("random").kind == "policy"
        assert client.value(item="random").kind == "item"
        with pytest.raises(InvalidValue, match="against = '9' is not known"):
            client.value(9)


def test_what_is_no_http_is_answered_as_json(tmp_path):
    with (
        listening(tmp_path) as address,
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as line,
    ):
        line.sendall(b"NONSENSE\r\n\r\n")
        line.settimeout(30)
        answer = b""
        while part := line.recv(4096):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["code"] == "malformed"


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
