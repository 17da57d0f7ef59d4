"""The file of a durable bandit is a log: nothing to name, what was expired included."""

import sqlite3

import pytest

import driftbandits as db
from driftbandits.errors import CannotRead, InvalidValue


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path, reward="click") as bandit:
        made = [bandit.decide({"a": {"price": 1.0}, "b": None}, {"age": k}, at=1000.0 + k) for k in range(6)]
        for d in made[:3]:
            bandit.reward(d.id, 1.0, at=d.at + 60.0)
        bandit.reward(made[3].id, 0.0)
        bandit.expire(older_than=0.5, reward=0.0, at=1005.0)  # the fifth
    return path, made


def test_its_rows_are_its_decisions(shop):
    path, made = shop
    log = db.Log.read(path)
    rows = [*log]
    assert [row.item for row in rows] == [d.item for d in made[:5]]
    assert [row.propensity for row in rows] == [d.propensity for d in made[:5]]
    assert [row.reward for row in rows] == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert [row.rewarded for row in rows] == [1060.0, 1061.0, 1062.0, None, None]
    assert rows[0].items == {"a": {"price": 1.0}, "b": None}
    assert rows[4].context == {"age": 4}
    assert (log.facts.dropped, log.timed, log.known) == (1, True, True)


def test_it_can_be_read_while_it_is_open(tmp_path):
    with db.Bandit.open(tmp_path / "b", reward="value") as bandit:
        for _ in range(40):
            bandit.reward(bandit.decide(["x", "y"]).id, 1.0)
        log = db.Log.read(tmp_path / "b")
        assert len(log) == 40
        result = db.replay({"same": bandit}, log, estimators=("ips",), by=20)
        assert result.estimate("same").value == pytest.approx(1.0, abs=0.3)
        assert bandit.info()["decisions"] == 40


def test_rankings_and_other_databases_are_refused(tmp_path):
    with db.Bandit.open(tmp_path / "b") as bandit:
        d = bandit.decide(["x", "y", "z"], k=2)
        bandit.reward(d.id, 1.0)
    with pytest.raises(InvalidValue, match=r"row 1 of .* is a ranking of 2"):
        db.Log.read(tmp_path / "b")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.commit()
    other.close()
    with pytest.raises(CannotRead, match="not of a durable bandit"):
        db.Log.read(tmp_path / "other.db")
