"""The promises of a store (`bandit.store`), attacked one by one: each of these lost, doubled or bricked something once."""

import contextlib
import itertools
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest

import driftbandits as db
from command_line import call, refused
from driftbandits.bandit import durable, snapshots, sqlite_store
from driftbandits.bandit.pending import AlreadyRewarded, UnknownDecision
from driftbandits.bandit.saving import digest
from driftbandits.bandit.store import Busy, Damaged, Repeated, Row
from driftbandits.errors import CannotRead, InvalidValue

pytestmark = pytest.mark.xdist_group("bandit")
DATA = pathlib.Path(__file__).parents[2] / "data"
MASTER = db.zoo.master(db.zoo.oful(lam=1.0, S=1.0, L=1.0, R=0.1, delta=0.1), horizon=100)


@pytest.fixture(autouse=True)
def rare_snapshots(monkeypatch):
    monkeypatch.setattr(snapshots, "ROWS", 10**9)
    monkeypatch.setattr(durable.Durable, "snapshot_seconds", 1e9)


def offer(t):
    return {name: {"x": float((t + k) % 5)} for k, name in enumerate("abc")}


def played(path, rounds=20, **settings):
    bandit = db.Bandit.open(path, **{"seed": 0, **settings})
    for t in range(rounds):
        d = bandit.decide(offer(t), at=float(t))
        if t % 3:
            bandit.reward(d.id, float(t % 2))
    return bandit


def abandon(bandit):
    """As if its process had been killed."""
    bandit._store.close()
    bandit._held.close()


def sql(path, *statements):
    file = sqlite3.connect(path)
    with file:
        for statement in statements:
            file.execute(*statement) if isinstance(statement, tuple) else file.execute(statement)
    file.close()


# ------------------------------------------------------------------------------------------------- rows that cannot be applied


def forged_rows():
    """What a follower may have written that the learner cannot apply: kind, columns."""
    decide = {"names": ["a"], "rows": [{"x": 1.0}], "context": None, "given": False, "shown": ["a"]}
    return {
        "another kind of feature": ("decide", {"id": "1", "at": 1.0, "data": decide | {"rows": [{"x": "text"}]}}),
        "an item that was not on offer": ("decide", {"id": "2", "at": 1.0, "data": decide | {"shown": ["z"]}}),
        "nothing shown": ("decide", {"id": "3", "at": 1.0, "data": decide | {"shown": []}}),
        "no time": ("decide", {"id": "4", "data": decide}),
        "no features": ("decide", {"id": "5", "at": 1.0, "data": {"shown": ["a"]}}),
        "a list": ("decide", {"id": "6", "at": 1.0, "data": [1, 2]}),
        "no weight": ("reward", {"id": "waits", "at": 1.0, "data": {"rewards": [1.0]}}),
        "too many rewards": ("reward", {"id": "waits", "at": 1.0, "weight": 1.0, "data": {"rewards": [1.0, 2.0]}}),
        "text for a reward": ("reward", {"id": "waits", "at": 1.0, "weight": 1.0, "data": {"rewards": ["much"]}}),
        "an unknown kind": ("explode", {"id": "7"}),
        "nothing observed": ("observe", {"at": 1.0, "weight": 1.0, "reward": 1.0}),
        "a feature nobody knows": ("forget", {"item": '"nothing"'}),
    }


@pytest.mark.parametrize("what", forged_rows())
def test_a_row_that_cannot_be_applied_is_set_aside(tmp_path, what, caplog):
    path = tmp_path / "x.bandit"
    bandit = played(path, 5)
    waits = bandit.decide(offer(5), at=5.0)
    before = digest(bandit)
    kind, row = forged_rows()[what]
    row = {**row, "id": waits.id} if row.get("id") == "waits" else row
    with bandit._store.transaction():
        bandit._store.append(kind, **row)
    assert bandit.info()["refused"] == 1
    assert digest(bandit) == before
    assert "is set aside" in caplog.text
    if kind != "reward":
        bandit.reward(waits.id, 1.0)
    bandit.decide(offer(6), at=6.0)
    after = digest(bandit)
    abandon(bandit)
    with db.Bandit.open(path) as again:
        assert digest(again) == after
        assert again.info()["refused"] == 1
    (seq, reason) = sqlite3.connect(path).execute("SELECT seq, reason FROM refused").fetchone()
    assert seq > 0
    assert "\n" not in reason


def test_a_row_that_fails_half_way_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "x.bandit"
    with played(path, 5) as bandit, db.Bandit.follow(path) as follower:
        before = digest(bandit)
        real = durable.Durable._repeat

        def fails(self, id_, request, shown, data):
            real(self, id_, request, shown, data)
            if id_ == theirs:
                raise RuntimeError("after everything was changed")

        theirs = follower.decide(offer(1)).id
        monkeypatch.setattr(durable.Durable, "_repeat", fails)
        bandit.absorb()
        monkeypatch.undo()
        assert digest(bandit) == before
        assert bandit.info()["refused"] == 1


@pytest.mark.interpreted  # compiles a strategy for itself alone
def test_followers_are_told_at_once_what_the_learner_would_refuse(tmp_path):
    path = tmp_path / "master.bandit"
    with db.Bandit.open(path, strategy=MASTER, features="item", reward="value") as learner:
        first = learner.decide(["a", "b"])
        learner.reward(first.id, 0.5)
        with learner._turn():
            learner._snapshot()
        with db.Bandit.follow(path) as follower:
            d = follower.decide(["a", "b"])
            with pytest.raises(db.DriftBanditsError, match="late or weighted"):
                follower.reward(d.id, 0.5, weight=2.0)
            follower.decide(["a", "b"])
            with pytest.raises(db.DriftBanditsError, match="late or weighted"):
                follower.reward(d.id, 0.5)
            with pytest.raises(db.DriftBanditsError, match="is new; with strategy"):
                follower.decide(["a", "c"])
        assert learner.info()["refused"] == 0
        assert learner.info()["decisions"] == 3


# --------------------------------------------------------------------------------------------------------------- one file


def test_a_copy_of_a_file_that_was_just_made_is_that_bandit(tmp_path):
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path, reward="click"):
        shutil.copy(path, tmp_path / "copy.bandit")
    with pytest.raises(db.DriftBanditsError, match="reward='click'"):
        db.Bandit.open(tmp_path / "copy.bandit", reward="value")


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("how", ["delete", "rename", "replace", "delete the WAL", "delete the shared memory"])
def test_a_file_that_is_taken_away_is_noticed(tmp_path, how, settled):
    path = tmp_path / "x.bandit"
    bandit = played(path)
    if settled:  # the folder has not changed for long, and its files are not looked at any more
        os.utime(tmp_path, (1.0, 1.0))
        bandit.decide(offer(1))
        assert bandit._store._settled is not None
    before = digest(bandit)
    if how == "delete":
        path.unlink()
    elif how == "rename":
        path.rename(tmp_path / "y.bandit")
    elif how == "replace":
        shutil.copy(path, tmp_path / "y.bandit")
        (tmp_path / "y.bandit").replace(path)
    else:
        pathlib.Path(f"{path}-{'wal' if 'WAL' in how else 'shm'}").unlink()
    with pytest.raises(db.DriftBanditsError, match="deleted, renamed or replaced"):
        bandit.decide(offer(1))
    bandit.backup(tmp_path / "rescued.bandit")  # the open file still has everything
    abandon(bandit)
    with db.Bandit.open(tmp_path / "rescued.bandit") as rescued:
        assert digest(rescued) == before


def test_backup(tmp_path):
    path = tmp_path / "x.bandit"
    with played(path) as bandit, db.Bandit.follow(path) as follower:
        follower.decide(offer(1), at=30.0)
        bandit.backup(tmp_path / "one.bandit")
        follower.backup(tmp_path / "two.bandit")
        assert "three.bandit" in call("backup", str(path), str(tmp_path / "three.bandit"))
        with pytest.raises(db.DriftBanditsError, match="cannot be its own backup"):
            bandit.backup(path)
        bandit.absorb()
        expected = digest(bandit)
        bandit.decide(offer(2), at=31.0)  # after the backups
    for name in ("one", "two", "three"):
        with db.Bandit.open(tmp_path / f"{name}.bandit") as again:
            assert digest(again) == expected
    assert "cannot be read" in refused("backup", str(tmp_path / "nowhere"), str(tmp_path / "four.bandit"))
    assert not (tmp_path / "four.bandit").exists()
    with pytest.raises(db.DriftBanditsError, match="is in memory"):
        db.Bandit().backup(tmp_path / "x")


def test_looking_at_the_log_keeps_the_locks_of_an_open_bandit(tmp_path):
    """POSIX locks go when any descriptor of the file is closed; another process could then take the write-ahead log away."""
    path = tmp_path / "x.bandit"
    bandit = played(path)
    assert len(list(db.Log.read(path))) > 0
    code = f"import sqlite3; d = sqlite3.connect({str(path)!r}); d.execute('select 1 from log'); d.close()"
    subprocess.run([sys.executable, "-c", code], check=True)
    bandit.decide(offer(1))
    bandit.close()


# ------------------------------------------------------------------------------------------------------------ one writer


def test_through_a_symbolic_link_it_is_the_same_file(tmp_path):
    path, link = tmp_path / "x.bandit", tmp_path / "link.bandit"
    with db.Bandit.open(path):
        link.symlink_to(path)
        with pytest.raises(db.DriftBanditsError, match="open for writing already"):
            db.Bandit.open(link)


@pytest.mark.parametrize("how", ["lock removed", "hard link"])
def test_of_two_writers_the_first_is_refused(tmp_path, how):
    path, other = tmp_path / "x.bandit", tmp_path / "x.bandit"
    first = played(path)
    d = first.decide(offer(0), at=50.0)
    before = digest(first)
    pathlib.Path(f"{path}.lock").unlink()
    second = db.Bandit.open(other)
    assert digest(second) == before
    for late in (lambda: first.decide(offer(1)), lambda: first.reward(d.id, 1.0), lambda: first.expire(0)):
        with pytest.raises(db.DriftBanditsError, match="opened for writing again"):
            late()
    second.reward(d.id, 1.0)
    abandon(first)
    second.close()


# ---------------------------------------------------------------------------------------------------------------- twice


@pytest.mark.parametrize("on_repeat", ["error", "ignore", "replace"])
def test_a_reward_is_recognised_for_as_long_as_the_log_reaches(tmp_path, on_repeat):
    with db.Bandit.open(tmp_path / "x.bandit", max_pending=3, on_repeat=on_repeat) as bandit:
        old = bandit.decide(["a", "b"])
        bandit.reward(old.id, 1.0)
        gone = bandit.decide(["a", "b"], at=1.0)
        bandit.expire(older_than=0.0, at=2.0)
        for _ in range(5):
            bandit.reward(bandit.decide(["a", "b"]).id, 0.0)
        before = bandit.info()["rewards"], digest(bandit)
        for decision in (old.to_dict(), gone.to_dict(), old.id, old):
            if on_repeat == "error":
                with pytest.raises(AlreadyRewarded, match="has had its reward"):
                    bandit.reward(decision, 1.0)
            else:
                bandit.reward(decision, 1.0)
        assert bandit.info()["rewards"] == before[0]


def test_in_memory_the_window_is_max_pending():
    bandit = db.Bandit(max_pending=20_000)
    old = bandit.decide(["a", "b"])
    bandit.reward(old.id, 1.0)
    for n in range(12_000):
        bandit._pending.close([(f"other {n}", durable.Closed(None, [], 0.0))])
    with pytest.raises(AlreadyRewarded):
        bandit.reward(old.to_dict(), 1.0)


def test_the_store_says_repeated(tmp_path):
    with played(tmp_path / "x.bandit", 3) as bandit, bandit._turn():
        bandit._store.append("reward", id="q", weight=1.0, data={"rewards": [1.0]})
        with pytest.raises(Repeated):
            bandit._store.append("reward", id="q", weight=1.0, data={"rewards": [1.0]})
        bandit._store.append("replace", id="q", weight=1.0, data={"rewards": [1.0]})


# -------------------------------------------------------------------------------------------------------------- checksums


@pytest.mark.parametrize("column", ["kind", "id", "at", "item", "propensity", "data", "writer"])
def test_a_changed_row_is_named(tmp_path, column):
    path = tmp_path / "x.bandit"
    abandon(played(path))
    value = {"at": 7.5, "propensity": 0.1, "kind": "observe", "data": '{"names": []}'}.get(column, "other")
    sql(path, (f"UPDATE log SET {column} = ? WHERE seq = 7", (value,)))
    with pytest.raises(Damaged, match="row 7 of the log"):
        db.Bandit.open(path)
    with pytest.raises(db.DriftBanditsError):
        list(db.Log.read(path))
    with db.Bandit.open(path, damaged="set aside") as given_up:
        assert given_up.info()["refused"] == 1
        given_up.decide(offer(1))
    db.Bandit.open(path).close()


def test_a_row_that_is_missing_or_has_another_number_is_named(tmp_path):
    for n, statement in enumerate(
        ("DELETE FROM log WHERE seq = 7", "UPDATE log SET seq = 1000000000000 WHERE seq = 7")
    ):
        path = tmp_path / f"{n}.bandit"
        abandon(played(path))
        sql(path, statement)
        with pytest.raises(Damaged, match="row"):
            db.Bandit.open(path)
        with db.Bandit.open(path, damaged="set aside") as given_up:
            given_up.decide(offer(1), at=99.0)
            expected = digest(given_up)
        with db.Bandit.open(path) as again:
            assert digest(again) == expected


def test_rows_that_are_missing_at_the_end_are_named(tmp_path):
    """No later row shows the gap: opening it never ended."""
    path = tmp_path / "x.bandit"
    abandon(played(path))
    sql(path, "DELETE FROM snapshots")
    sql(path, "DELETE FROM log WHERE seq > 7")
    with pytest.raises(CannotRead, match=r"the log of .* ends with row 7, and \d+ were written; restore a backup"):
        db.Bandit.open(path).info()


def test_a_damaged_snapshot_is_passed_over(tmp_path):
    path = tmp_path / "x.bandit"
    with played(path) as bandit:
        expected = digest(bandit)
    sql(path, "UPDATE snapshots SET seq = seq - 3 WHERE seq = (SELECT max(seq) FROM snapshots)")
    with db.Bandit.open(path) as again:  # from the one before, and the log
        assert digest(again) == expected
    sql(path, "UPDATE snapshots SET state = zeroblob(100)")
    with pytest.raises(db.DriftBanditsError, match=r"snapshot after row .* is damaged"):
        db.Bandit.open(path)


# --------------------------------------------------------------------------------------------------- creation and formats


@pytest.mark.interpreted
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is killed")
def test_killed_at_any_step_of_creation_it_opens(tmp_path, monkeypatch):
    """The child dies before its n-th statement, for each n; whatever it left opens, and is the bandit that was asked for."""
    real, step = sqlite3.connect, 0

    class Dying(sqlite3.Connection):
        left = 0

        def execute(self, *args):
            Dying.left -= 1
            if Dying.left == 0:
                os._exit(9)
            return super().execute(*args)

    for step in range(1, 60):
        path = tmp_path / f"{step}.bandit"
        child = os.fork()
        if child == 0:
            Dying.left = step
            monkeypatch.setattr(sqlite_store.sqlite3, "connect", lambda *a, **o: real(*a, **o, factory=Dying))
            db.Bandit.open(path, reward="click")
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        with db.Bandit.open(path, reward="click") as bandit:
            bandit.reward(bandit.decide(["a"]).id, 1)
        if not died:
            break
    assert 20 < step < 59


def test_what_an_earlier_version_left_when_it_was_killed_opens(tmp_path):
    """Format 1 was made statement by statement; of its 18 steps 6 left a file that never opened."""
    for n in range(len(sqlite_store.TABLES) + 1):
        path = tmp_path / f"{n}.bandit"
        sql(path, *sqlite_store.TABLES[:n])
        with db.Bandit.open(path) as bandit:
            bandit.reward(bandit.decide(["a"]).id, 1.0)
        with db.Bandit.open(path) as again:
            assert again.info()["rewards"] == 1


def test_files_of_format_1_open_and_are_migrated(tmp_path):
    path = tmp_path / "old.bandit"
    shutil.copy(DATA / "durable_format_1.bandit", path)
    assert len(list(db.Log.read(path))) == 15  # before it is migrated
    with pytest.raises(db.DriftBanditsError, match="earlier version"):
        db.Bandit.follow(path)
    with db.Bandit.open(path) as bandit:
        info = bandit.info()
        assert (info["decisions"], info["rewards"], info["observed"], info["refused"]) == (20, 15, 1, 0)
        bandit.decide({"a": {"x": 1.0, "kind": "p"}})
        assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (sqlite_store.FORMAT,)
    assert len(list(db.Log.read(path))) == 15
    sql(path, "PRAGMA user_version=99")
    with pytest.raises(db.DriftBanditsError, match="later version"):
        db.Bandit.open(path)


# ------------------------------------------------------------------------------------------------- clocks, interrupts, forks


def test_a_clock_that_was_set_back_does_not_close_the_file(tmp_path, monkeypatch):
    path = tmp_path / "x.bandit"
    bandit = db.Bandit.open(path)
    other = db.Bandit()
    bandit.reward(other.decide(["a", "b"]).to_dict(), 1.0)  # only a log has it
    expected = digest(bandit)
    abandon(bandit)
    monkeypatch.setattr("driftbandits.bandit.clock.time.time", lambda: 1000.0)
    with db.Bandit.open(path) as again:
        assert digest(again) == expected


def test_an_interrupt_after_begin_leaves_no_transaction(tmp_path, monkeypatch):
    with played(tmp_path / "x.bandit") as bandit:
        before = digest(bandit)
        real = bandit._store._check_files

        def interrupted():
            raise KeyboardInterrupt

        monkeypatch.setattr(bandit._store, "_check_files", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bandit.decide(offer(1))
        monkeypatch.setattr(bandit._store, "_check_files", real)
        bandit._store._db.execute("BEGIN IMMEDIATE")  # as if it had come even one step later
        assert digest(bandit) == before
        bandit.decide(offer(1))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_child_is_refused_and_does_not_keep_the_lock(tmp_path):
    path = tmp_path / "x.bandit"
    bandit = played(path)
    d = bandit.decide(offer(0))
    go, wait = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            bandit.reward(d.id, 1.0)
        except db.DriftBanditsError as problem:
            status = 0 if "forked" in str(problem) else 2
        os.close(wait)
        os.read(go, 1)  # lives on after its parent has closed the file
        os._exit(status)
    bandit.reward(d.id, 1.0)
    bandit.close()
    db.Bandit.open(path).close()
    os.write(wait, b".")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(go)
    os.close(wait)


# ------------------------------------------------------------------------------------------------------- drift is reported


def drifting(bandit):
    rng = np.random.default_rng(0)
    for t in range(400):
        d = bandit.decide(["a", "b"], at=float(t))
        bandit.reward(d.id, float((d.item == "a") == (t < 200)) + 0.1 * rng.normal())


def test_on_drift_comes_after_the_commit_and_its_error_is_reported(tmp_path, caplog):
    path, seen = tmp_path / "x.bandit", []

    def told(event):
        seen.append((event, sqlite3.connect(path).execute("SELECT count(*) FROM rewards").fetchone()[0], bandit.info()))
        raise RuntimeError("pager is down")

    bandit = db.Bandit.open(path, on_drift=told)
    drifting(bandit)
    assert seen
    for _, rewards, info in seen:
        assert rewards == info["rewards"]  # the reward that led to it is kept already
    assert "pager is down" in caplog.text
    assert bandit.info()["rewards"] == 400
    expected, many = digest(bandit), len(seen)
    abandon(bandit)
    with db.Bandit.open(path, on_drift=lambda _: seen.append(None)) as again:  # from the log
        assert digest(again) == expected
    assert len(seen) == many


def test_on_drift_in_memory_may_fail():
    events = []

    def told(event):
        events.append(event)
        raise RuntimeError

    bandit = db.Bandit(on_drift=told)
    drifting(bandit)
    assert events == bandit.drift_events()
    assert bandit.info()["rewards"] == 400


# ------------------------------------------------------------------------------------------------------------ in pieces


def test_a_call_of_the_learner_needs_one_transaction_whatever_followers_write(tmp_path, monkeypatch):
    """Two would let followers write in between, and the learner would have to absorb again."""
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path) as learner, db.Bandit.follow(path) as follower:
        begun, real = [], learner._store._check_claim
        monkeypatch.setattr(learner._store, "_check_claim", lambda: (begun.append(learner._seq), real())[1])
        for t in range(durable.FEW):
            follower.decide(offer(t))
        learner.decide(offer(0))
        assert len(begun) == 1
        follower.decide(offer(1))
        with pytest.raises(InvalidValue):
            learner.decide([])
        assert learner.info()["decisions"] == durable.FEW + 2
        with pytest.raises(UnknownDecision):  # after rows were absorbed: they stay
            learner.reward("never", 1.0)
        assert learner.info()["decisions"] == durable.FEW + 2


def test_a_writer_waits_for_another_and_gives_up_in_one_line(tmp_path, monkeypatch):
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path) as learner, db.Bandit.follow(path) as follower:
        monkeypatch.setattr(follower._store, "patience", 0.05)
        with learner._store.transaction(learner=True), pytest.raises(Busy, match="written to by another process"):
            follower.decide(["a"])
        assert follower.decide(["a"]).item == "a"


def test_followers_rows_are_absorbed_in_pieces(tmp_path, monkeypatch):
    """The learner lets followers write between pieces: its longest transaction is one piece."""
    monkeypatch.setattr(durable, "CHUNK", 10)
    path = tmp_path / "x.bandit"
    with db.Bandit.open(path) as learner, db.Bandit.follow(path) as follower:
        for t in range(45):
            follower.reward(follower.decide(offer(t)).id, 1.0)
        begun, real = [], learner._store._check_claim
        monkeypatch.setattr(learner._store, "_check_claim", lambda: (begun.append(learner._seq), real())[1])
        assert learner.absorb() == 90
        assert begun[0] >= 90 - durable.FEW  # the others were applied before, outside of a transaction
        assert all(later - before <= 10 for before, later in itertools.pairwise(begun))  # no transaction is longer
        assert learner.info()["rewards"] == 45


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_format_that_is_not_that_of_the_tables_is_damage(tmp_path, version):
    path = tmp_path / "x.bandit"
    db.Bandit.open(path).close()
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(CannotRead, match="damaged"):
        db.Bandit.open(path)
    assert path.read_bytes() == before


def test_a_checksum_is_over_the_columns_as_text():
    """Files have it: however it is computed, it must stay what it was."""
    rows = (Row(3, "decide", "a|b", 1.5, '"x"', 1e-300, None, None, "w", '{"é":1}'), Row(1, "expire", *[None] * 8))
    for row in rows:
        assert row.checksum() == zlib.crc32("|".join(map(str, row)).encode("utf-8", "surrogatepass"))


def test_another_thread_moves_what_was_committed(tmp_path):
    """Commits do not, once somebody else has taken it over; and nobody waits for it, a transaction that is under way included."""
    path = tmp_path / "a.bandit"
    with db.Bandit.open(path) as bandit:
        bandit.store.leave_settling()
        size = path.stat().st_size
        with bandit.transaction():
            for _ in range(300):
                bandit.decide({"a": {"x": "y" * 9000}, "b": {"x": "z" * 9000}})
        assert (tmp_path / "a.bandit-wal").stat().st_size > 1000 * 4096  # SQLite itself would have moved it
        assert path.stat().st_size == size
        with bandit.transaction():
            bandit.decide(["a"])
            moving = threading.Thread(target=bandit.store.settle)
            moving.start()
            moving.join()
            assert path.stat().st_size > size
        assert bandit.info()["decisions"] == 301
