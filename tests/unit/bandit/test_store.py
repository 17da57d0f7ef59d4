"""What `bandit/store.py` promises of a store, of SQLite and of PostgreSQL."""

import contextlib

import pytest
from served import postgres

from driftbandits.bandit.postgres_store import FORMAT, AdvisoryLocks, PostgresStore, migrate, open_pool
from driftbandits.bandit.sqlite_store import SQLiteStore
from driftbandits.bandit.store import ASIDE, Damaged, Repeated, StoreUnavailable, Superseded
from driftbandits.errors import CannotRead

pytestmark = pytest.mark.interpreted  # no kernel is called


@pytest.fixture(scope="module")
def database():
    with postgres() as server, contextlib.closing(open_pool(server.get_uri())) as pool:
        migrate(pool)
        yield server, pool


@pytest.fixture(params=["sqlite", "postgresql"])
def opened(request, tmp_path):
    """A function that opens the same new store, again and again, and one that runs SQL behind its back."""
    if request.param == "sqlite":
        made = []

        def open_():
            made.append(SQLiteStore(tmp_path / "x.db", learner=True))
            with made[-1].transaction():
                made[-1].migrate()
            return made[-1]

        def behind(sql):
            made[0]._db.execute(sql.replace("driftbandits.", "").replace("loop = LOOP", "1"))

        yield open_, behind
        for store in made:
            store.close()
    else:
        _, pool = request.getfixturevalue("database")
        with pool.connection() as db:
            sql = "INSERT INTO driftbandits.loops (name, settings) VALUES (%s, '{}') RETURNING loop"
            (loop,) = db.execute(sql, (request.node.name,)).fetchone()

        def behind_(sql):
            with pool.connection() as db:
                db.execute(sql.replace("LOOP", str(loop)))

        yield lambda: PostgresStore(pool, loop, "x"), behind_


def test_rows_are_numbered_in_the_order_of_commits_and_kept_as_a_whole(opened):
    store, other = opened[0](), opened[0]()
    with store.transaction():
        assert store.append("decide", id="a", at=1.0, data={"shown": ["x"]}) == 1
        assert store.last() == 1
    with contextlib.suppress(RuntimeError), other.transaction():
        assert other.append("decide", id="b", at=2.0) == 2
        raise RuntimeError
    with other.transaction():
        assert other.append("reward", id="a", reward=-0.0, weight=1) == 2
    rows = store.rows(0, 10)
    assert [(row.seq, row.kind, row.id, row.writer) for row in rows] == [
        (1, "decide", "a", store.writer),
        (2, "reward", "a", other.writer),
    ]
    assert store.rows(1, 10) == other.rows(1, 10) == rows[1:]
    assert (store.last(), store.decided_after(0), store.decided_after(1)) == (2, True, False)
    assert store.decision("a") == rows[0]
    assert store.decision("b") is None
    assert store.answered("a")


def test_a_second_row_of_a_decision_is_refused_and_the_transaction_goes_on(opened):
    store = opened[0]()
    with store.transaction():
        for kind in ("decide", "activate", "reward"):
            store.append(kind, id="a", data={"shown": ["x"]})
            with pytest.raises(Repeated):
                store.append(kind, id="a")
        store.append("replace", id="a")
        store.append("replace", id="a")
    assert [row.kind for row in store.rows(0, 10)] == ["decide", "activate", "reward", "replace", "replace"]
    assert store.activated("a")
    assert not store.activated("b")


def test_rows_that_were_changed_are_named_and_can_be_set_aside(opened):
    open_, behind = opened
    store = open_()
    with store.transaction():
        for name in "abc":
            store.append("decide", id=name, at=1.0, data={"shown": ["x"]})
    behind("UPDATE driftbandits.log SET at = 9.0 WHERE id = 'b' AND loop = LOOP")
    with pytest.raises(Damaged, match="row 2 "):
        store.rows(0, 10)
    with store.transaction():
        store.set_aside(2, "damaged")
    assert [row.kind for row in store.rows(0, 10)] == ["decide", ASIDE, "decide"]
    assert store.refused() == 1
    behind("DELETE FROM driftbandits.log WHERE id = 'a' AND loop = LOOP")
    with pytest.raises(Damaged, match=r"row 1 .* is missing"):
        store.rows(0, 10)


def test_snapshots_are_kept_in_pairs_and_a_damaged_one_is_not_read(opened):
    open_, behind = opened
    store = open_()
    assert store.newest() is None
    assert store.state(bytes) is None
    for seq in (1, 2, 3):
        with store.transaction():
            store.snapshot(seq, b"state %d" % seq)
    assert store.newest() == 3
    assert store.state(bytes) == (3, b"state 3")
    behind("UPDATE driftbandits.snapshots SET checksum = checksum + 1 WHERE seq = 3 AND loop = LOOP")
    assert store.state(bytes) == (2, b"state 2")
    behind("UPDATE driftbandits.snapshots SET checksum = checksum + 1 WHERE loop = LOOP")
    with pytest.raises(CannotRead, match="checksum"):
        store.state(bytes)


def test_the_learner_is_the_one_that_claimed_last(opened):
    first, second = opened[0](), opened[0]()
    for store in (first, second):
        with store.transaction():
            store.claim()
    with second.transaction(learner=True):
        second.append("drop", item='"a"')
    with pytest.raises(Superseded), first.transaction(learner=True):
        pass
    with first.transaction():  # to follow is allowed
        first.append("decide", id="a")


def test_a_lock_is_held_once_also_in_one_process_and_free_when_it_is_given_back(database):
    url = database[0].get_uri()
    with contextlib.closing(AdvisoryLocks(url)) as here, contextlib.closing(AdvisoryLocks(url)) as elsewhere:
        held = here.take(77)
        assert held.held()
        assert here.take(77) is None
        assert elsewhere.take(77) is None
        held.close()
        held.close()
        assert elsewhere.take(77) is not None
        assert here.take(77) is None


def test_tables_of_a_later_version_are_refused(database):
    _, pool = database
    with pool.connection() as db:
        db.execute("UPDATE driftbandits.format SET version = 99")
    try:
        with pytest.raises(CannotRead, match="later version"):
            migrate(pool)
    finally:
        with pool.connection() as db:
            db.execute("UPDATE driftbandits.format SET version = %s", (FORMAT,))
    migrate(pool)


def test_a_database_that_is_gone_may_come_back():
    with contextlib.closing(open_pool("postgresql://nobody@127.0.0.1:9/none", size=1)) as pool:
        pool.timeout = 0.2
        store = PostgresStore(pool, 1, "x")
        with pytest.raises(StoreUnavailable, match="try again"), store.transaction():
            pass
        with pytest.raises(StoreUnavailable):
            store.last()


def test_many_rows_are_written_by_one_statement_and_decisions_found_by_their_ids(opened):
    store = opened[0]()
    given = [{"id": name, "at": 1.0, "data": {"shown": [name]}} for name in "abc"]
    with store.transaction():
        assert store.append("decide", id="first", at=1.0) == 1
        assert store.append_all("decide", given) == 4
        assert store.append("reward", id="a", reward=1.0, weight=1.0) == 5
    assert [(row.seq, row.kind, row.id) for row in store.rows(1, 3)] == [
        (2, "decide", "a"),
        (3, "decide", "b"),
        (4, "decide", "c"),
    ]
    assert sorted(row.id for row in store.decisions(["c", "nobody", "a", "it's", "first"])) == ["a", "c", "first"]
    assert store.decisions([]) == []
    with pytest.raises(Repeated), store.transaction():
        store.append_all("decide", [{"id": "d", "at": 1.0}, {"id": "b", "at": 1.0}])
    assert store.last() == 5
    assert store.decision("d") is None
