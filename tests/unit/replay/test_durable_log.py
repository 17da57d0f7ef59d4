"""The file of a durable bandit is a log: nothing to name, what was expired included."""

import contextlib
import sqlite3

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit.sqlite_store import reading
from driftbandits.bandit.store import COLUMNS, Row
from driftbandits.errors import CannotRead, InvalidValue
from driftbandits.replay import durable_log
from driftbandits.replay.durable_log import Expired


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


def steps(path, monkeypatch):
    """How many thousand instructions SQLite's machine takes to read a log: a cost that no other process changes."""
    counted = [0]

    @contextlib.contextmanager
    def counting(name):
        with reading(name) as found:
            found.set_progress_handler(lambda: counted.__setitem__(0, counted[0] + 1), 1000)
            yield found

    with monkeypatch.context() as patched:
        patched.setattr(durable_log, "reading", counting)
        db.Log.read(path)
    return counted[0]


def test_reading_is_linear_in_the_decisions(tmp_path, monkeypatch):
    cost = {}
    for n in (500, 2000):
        path = tmp_path / f"{n}.bandit"
        with db.Bandit.open(path, on_repeat="replace") as bandit:
            bandit.reward(bandit.decide(["x", "y"]).id, 1.0)
        _copy_rows(path, n)
        assert len(db.Log.read(path)) == n
        cost[n] = steps(path, monkeypatch)
    assert (
        cost[2000] < 6 * cost[500]
    )  # 4 times as many rows; sorting adds a logarithm, a scan per decision would make it 16


def _copy_rows(path, n):
    """As many decisions with rewards as asked for, without the time that deciding takes."""
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        rows = [Row(*found) for found in file.execute(f"SELECT seq, {', '.join(COLUMNS)} FROM log ORDER BY seq")]
        decide, reward = (next(r for r in rows if r.kind == kind) for kind in ("decide", "reward"))
        seq = rows[-1].seq
        for k in range(n - 1):
            for row in (decide._replace(at=decide.at + k), reward._replace(at=reward.at + k)):
                seq += 1
                made = row._replace(seq=seq, id=f"copy-{k}")
                file.execute(f"INSERT INTO log VALUES ({', '.join('?' * 11)})", (*made, made.checksum()))


def test_the_last_reward_counts_and_rows_set_aside_do_not(tmp_path):
    path = tmp_path / "b"
    with db.Bandit.open(path, on_repeat="replace") as bandit:
        made = [bandit.decide(["x", "y"], at=1000.0 + k) for k in range(4)]
        for d in made:
            bandit.reward(d.id, 1.0)
        for d in made[:2]:
            bandit.reward(d.id, 2.0)
        bandit.reward(made[0].id, 3.0)
    log = db.Log.read(path)
    assert [row.reward for row in log] == [3.0, 2.0, 1.0, 1.0]
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        (replaced,) = file.execute("SELECT max(seq) FROM log WHERE reward = 3").fetchone()
        (decided,) = file.execute("SELECT seq FROM log WHERE kind = 'decide' AND id = ?", (made[3].id,)).fetchone()
        (only,) = file.execute("SELECT seq FROM log WHERE kind = 'reward' AND id = ?", (made[2].id,)).fetchone()
        file.executemany("INSERT INTO refused VALUES (?, 0, 'damaged')", [(replaced,), (decided,), (only,)])
    log = db.Log.read(path)
    assert [row.reward for row in log] == [2.0, 2.0]  # the replacement before counts; without any reward it is left out
    assert log.facts.dropped == 1


def test_rows_written_after_reading_change_nothing(tmp_path):
    with db.Bandit.open(tmp_path / "b", on_repeat="replace") as bandit:
        made = [bandit.decide(["x", "y"]) for _ in range(3)]
        bandit.reward(made[0].id, 1.0)
        log = db.Log.read(tmp_path / "b")
        before = [*log]
        bandit.reward(made[0].id, 5.0)
        bandit.reward(made[1].id, 5.0)
        bandit.expire(older_than=0.0, reward=7.0)
        assert [*log] == before
        assert len(before) == len(log) == 1


def test_what_expired_is_found_like_by_looking_at_every_row():
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 3, 7, 8, 40):
        numbers = np.sort(rng.choice(200, size, replace=False)).tolist()
        found = [(k, float(rng.integers(30)), float(k) if k % 3 else None) for k in numbers]
        expired = Expired(found)
        for seq, at in rng.integers((0, 0), (200, 30), size=(200, 2)).tolist():
            naive = next((r for number, before, r in found if number > seq and at < before), None)
            assert expired.reward(seq, float(at)) == naive
