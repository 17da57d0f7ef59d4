"""Killed at any moment, nothing acknowledged is lost and nothing counted twice."""

import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit import durable, snapshots
from driftbandits.bandit.pending import AlreadyRewarded, NotActive, UnknownDecision
from driftbandits.bandit.saving import digest, to_bytes
from driftbandits.errors import CannotRead, InvalidState, InvalidValue

pytestmark = pytest.mark.xdist_group("bandit")
CHILD = str(pathlib.Path(__file__).with_name("kill_child.py"))


def offer(t):
    return {name: {"x": float((t + k) % 5)} for k, name in enumerate("abc")}


def test_reopened_it_is_the_same(tmp_path):
    path = tmp_path / "shop.bandit"
    alone = db.Bandit(seed=3)
    with db.Bandit.open(path, seed=3) as bandit:
        for t in range(40):
            d, e = bandit.decide(offer(t), at=float(t)), alone.decide(offer(t), at=float(t))
            assert d.item == e.item
            assert d.propensities == e.propensities
            if t % 3:
                bandit.reward(d.id, float(t % 2))
                alone.reward(e.id, float(t % 2))
        bandit.expire(older_than=20.0, reward=0.0)
        alone.expire(older_than=20.0, reward=0.0)
        bandit.observe({"x": 1.0}, reward=2.0, at=41.0)
        alone.observe({"x": 1.0}, reward=2.0, at=41.0)
    with db.Bandit.open(path) as again:  # from the snapshot
        assert digest(again) == digest(alone)
    file = sqlite3.connect(path)
    with file:
        file.execute("DELETE FROM snapshots WHERE seq > 0")
    file.close()


def test_the_log_alone_gives_the_same_state(tmp_path, monkeypatch):
    path = tmp_path / "shop.bandit"
    monkeypatch.setattr(snapshots, "ROWS", 10**9)
    monkeypatch.setattr(durable.Durable, "snapshot_seconds", 1e9)
    bandit = db.Bandit.open(path, seed=3, features="disjoint")
    ids = []
    for t in range(30):
        ids.append(bandit.decide(offer(t), k=1 + t % 2).id)
        if t % 4 == 3:
            bandit.reward(ids[t - 2], 1.0, weight=0.5)
    bandit.drop("a")
    expected = digest(bandit)
    bandit._held.close()  # as if it had been killed: no last snapshot
    bandit._store.close()
    with db.Bandit.open(path) as again:
        assert digest(again) == expected


def test_one_writer(tmp_path):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path) as bandit:
        with pytest.raises(db.DriftBanditsError, match="open for writing already"):
            db.Bandit.open(path)
        assert bandit.decide(["a"]).item == "a"
    with pytest.raises(db.DriftBanditsError, match="is closed"):
        bandit.decide(["a"])
    with pytest.raises(db.DriftBanditsError, match="reward='value'"):
        db.Bandit.open(path, reward="click")
    db.Bandit.open(path).close()


def test_files_of_others_are_refused(tmp_path):
    path = tmp_path / "x.bandit"
    path.write_text("not a database, but long enough to be looked at as one" * 10)
    with pytest.raises(db.DriftBanditsError, match="not a durable bandit"):
        db.Bandit.open(path)
    other = tmp_path / "other.bandit"
    file = sqlite3.connect(other)
    file.execute("CREATE TABLE mine (x)")
    file.close()
    with pytest.raises(db.DriftBanditsError, match="not a durable bandit"):
        db.Bandit.open(other)
    with pytest.raises(db.DriftBanditsError, match="is not there"):
        db.Bandit.follow(tmp_path / "nowhere.bandit")


def test_save_never_replaces_a_durable_bandit(tmp_path):
    path, saved = tmp_path / "shop.bandit", tmp_path / "saved.bandit"
    with db.Bandit.open(path) as bandit:
        d = bandit.decide(offer(0))
        for attempt in (lambda: bandit.save(path), lambda: db.Bandit().save(path)):
            with pytest.raises(InvalidValue, match="save to another path"):
                attempt()
        with pytest.raises(CannotRead, match=r"Bandit\.open opens it"):
            db.Bandit.load(path)
        bandit.reward(d.id, 1.0)
        bandit.save(saved)
        bandit.save(saved)  # over what was saved before
    with pytest.raises(InvalidValue, match="save to another path"):  # closed, it is one no less
        db.Bandit.load(saved).save(path)
    with pytest.raises(CannotRead, match=r"Bandit\.open opens it"):
        db.Bandit.load(path)
    with pytest.raises(CannotRead, match=r"read by Bandit\.load"):
        db.Bandit.open(saved)
    with db.Bandit.open(path) as bandit:
        assert bandit.info()["rewards"] == 1


def test_bad_input_writes_nothing(tmp_path):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path, reward="click") as bandit:
        d = bandit.decide(["a", "b"])
        before = digest(bandit), bandit._seq
        for call in (
            lambda: bandit.reward(d.id, 0.5),
            lambda: bandit.decide([]),
            lambda: bandit.reward("x", 1),
            lambda: bandit.decide({"a": {"x": float("nan")}}),
        ):
            with pytest.raises(db.DriftBanditsError):
                call()
        assert (digest(bandit), bandit._seq) == before


def test_a_row_that_cannot_be_written_is_not_learned(tmp_path, monkeypatch):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path) as bandit:
        d = bandit.decide(offer(0))
        before = digest(bandit)
        real = bandit._store._run

        def full(sql, values=()):
            if sql == "COMMIT":
                raise db.DriftBanditsError("disk full")
            return real(sql, values)

        monkeypatch.setattr(bandit._store, "_run", full)
        with pytest.raises(db.DriftBanditsError, match="disk full"):
            bandit.reward(d.id, 1.0)
        with pytest.raises(db.DriftBanditsError, match="disk full"):
            bandit.decide(offer(1))
        monkeypatch.undo()
        assert digest(bandit) == before
        bandit.reward(d.id, 1.0)
        assert bandit.info()["rewards"] == 1


def test_the_log_is_a_table_for_people(tmp_path):
    path = tmp_path / "shop.bandit"
    with db.Bandit.open(path) as bandit:
        for t in range(6):
            d = bandit.decide(offer(t))
            if t < 4:
                bandit.reward(d.id, 1.0)
    file = sqlite3.connect(path)
    rows = file.execute("SELECT item, propensity, reward FROM decisions LEFT JOIN rewards USING (id)").fetchall()
    file.close()
    assert len(rows) == 6
    assert {row[0] for row in rows} <= set("abc")
    assert sum(row[2] is not None for row in rows) == 4


def killed(path, kills, total, seed):
    """Run the child, kill it at random moments, until it ends by itself; returns what it acknowledged."""
    rng = np.random.default_rng(seed)
    acknowledged = []
    command, pipe = [sys.executable, CHILD, str(path), str(total), "paced"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        lives, left = 0, 0
        for line in nursery.stdout:
            if line.startswith("pid"):
                life, left = int(line.split()[1]), int(rng.integers(1, 6))
                lives += 1
            else:
                with contextlib.suppress(BrokenPipeError):  # it is done
                    os.write(nursery.stdin.fileno(), b"o" if line == "open\n" else b".")
                if line != "open\n":
                    acknowledged.append(line)
                    left -= 1
            if left == 0 and lives <= kills:
                time.sleep(float(rng.uniform(0, 0.003)))
                os.kill(life, signal.SIGKILL)
                left = -1
    assert nursery.returncode == 0
    assert lives == kills + 1
    return acknowledged


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize(("kills", "total"), [(5, 60), pytest.param(50, 600, marks=pytest.mark.slow)])
def test_killed_and_opened_again_equals_never_killed(tmp_path, kills, total):
    acknowledged = killed(tmp_path / "killed.bandit", kills, total, seed=0)
    assert len(acknowledged) == len(set(acknowledged))
    subprocess.run([sys.executable, CHILD, str(tmp_path / "whole.bandit"), str(total)], check=True, capture_output=True)
    with db.Bandit.open(tmp_path / "killed.bandit") as a, db.Bandit.open(tmp_path / "whole.bandit") as b:
        assert a.info()["decisions"] == a.info()["rewards"] == total
        assert a.info()["late"] == 0
        assert digest(a) == digest(b)


def test_deferred_decisions_are_learned_and_replayed_only_if_they_were_shown(tmp_path):
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path, reward="value") as bandit, db.Bandit.follow(path, refresh=0.01) as follower:
        never, late, shown = (bandit.decide(["a", "b"], id=name, defer=True) for name in ("never", "late", "shown"))
        for who in (bandit, follower):
            with pytest.raises(NotActive, match="was deferred"):
                who.reward(shown, 1.0)
        follower.activate(shown)
        bandit.activate(late)
        follower.activate(shown)  # again: nothing
        follower.reward("shown", 2.0)
        assert bandit.expire(0, reward=-1.0) == 2
        info = bandit.info()
        assert (info["expired"], info["rewards"], info["pending"]) == (2, 2, 0)
        with pytest.raises(AlreadyRewarded):
            bandit.activate(never)
        with pytest.raises(UnknownDecision):
            follower.activate("nobody")
        before = to_bytes(bandit)
    with db.Bandit.open(path) as bandit:
        assert to_bytes(bandit) == before
    rewards = sorted(row.reward for row in db.Log.read(path))
    assert rewards == [-1.0, 2.0]


def test_a_policy_outside_is_learned_from_and_a_log_is_only_written(tmp_path):
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path, seed=1) as bandit, db.Bandit.follow(path, refresh=0.01) as follower:
        for n in range(12):
            d = (bandit, follower)[n % 2].decide(["a", "b"], show="b", learn=n < 6)
            assert (d.item, d.propensity, d.propensities) == ("b", 1.0, {"a": 0.0, "b": 1.0})
            bandit.reward(d.id, 1.0 if n < 6 else 100.0)
        assert bandit.estimate(["b"])["b"].mean == pytest.approx(1.0)
        info = bandit.info()
        assert info["guided"] == info["rewards"] == 12
        assert 0 < info["agreed"] < 12
        for wrong in ("c", ["a", "a"]):
            with pytest.raises(InvalidValue, match="show names"):
                bandit.decide(["a", "b"], show=wrong)
        before = to_bytes(bandit)
    with db.Bandit.open(path) as bandit:
        assert to_bytes(bandit) == before


def test_a_repeated_id_is_answered_as_before(tmp_path):
    with db.Bandit.open(tmp_path / "x.bandit") as bandit, db.Bandit.follow(tmp_path / "x.bandit") as follower:
        first = bandit.decide({"a": {"p": 1.0}, "b": {"p": 2.0}}, id="order 1")
        for who in (bandit, follower):
            again = who.decide(["z"], id="order 1")
            assert (again.item, again.propensities) == (first.item, first.propensities)
        assert bandit.info()["decisions"] == 1
        for wrong in ("", "x" * 257, 3, "a\0"):
            with pytest.raises(InvalidValue, match="id ="):
                bandit.decide(["a"], id=wrong)
    memory = db.Bandit()
    memory.decide(["a"], id="x")
    with pytest.raises(InvalidState, match="only a durable bandit"):
        memory.decide(["a"], id="x")


@pytest.mark.parametrize("broken", [False, True])
def test_a_long_backlog_is_applied_outside_of_transactions(tmp_path, monkeypatch, broken):
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path, seed=3) as bandit, db.Bandit.follow(path) as follower:
        for t in range(150):
            follower.decide(offer(t), at=float(t), id=f"{t}")
        inside = []
        real = durable.Durable._apply

        def apply(self, row):
            inside.append(self._inside)
            if broken and len(inside) == 50:
                raise KeyboardInterrupt
            real(self, row)

        monkeypatch.setattr(durable.Durable, "_apply", apply)
        with contextlib.suppress(KeyboardInterrupt):
            assert bandit.absorb() == 150
        monkeypatch.undo()
        assert not any(inside)
        assert bandit.info()["decisions"] == 150
        before = to_bytes(bandit)
    with db.Bandit.open(path) as bandit:
        assert to_bytes(bandit) == before
