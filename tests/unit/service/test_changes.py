"""Changes that come at the same time share a transaction, made in the thread of the event loop unless that would have to wait."""

import asyncio
import contextlib
import sqlite3
import threading
import time
import urllib.request

import pytest
from served import listening

import driftbandits as db
from driftbandits.bandit.bulk import requests
from driftbandits.service.file_catalogue import FileCatalogue
from driftbandits.service.loop import FEW
from driftbandits.service.loops import Loops
from driftbandits.service.models import Decide
from driftbandits.service.settings import LoopSettings


@pytest.fixture
def loops(tmp_path):
    catalogue = FileCatalogue(tmp_path, shared=False)
    catalogue.create("a", LoopSettings())
    with contextlib.closing(Loops(catalogue)) as found:
        found.get("a")
        yield found


def deciding(items, size=1):
    return lambda loop: loop.deciding([Decide(items=items)] * size)


def commits(loops):
    """The statements that end a transaction, as they come."""
    ended = []
    loops.get("a")._bandit.store._db.set_trace_callback(lambda sql: ended.append(sql) if sql == "COMMIT" else None)
    return ended


def together(loops, *changes):
    async def all_():
        return await asyncio.gather(*(loops.change("a", *change) for change in changes), return_exceptions=True)

    return asyncio.run(all_())


def test_changes_of_one_turn_share_a_transaction(loops):
    ended = commits(loops)
    made = together(loops, *[(deciding(["x", "y"]),)] * 20)
    assert len({decision.id for (decision,) in made}) == 20
    assert ended == ["COMMIT"]
    assert not loops._threads._threads  # no thread was needed
    assert loops.get("a").info()["decisions"] == 20


def test_decisions_of_one_turn_are_one_walk(loops, monkeypatch):
    together(loops, *[(deciding(["x", "y"]),)] * 2)  # the first show something new
    walks, alone, bandit = [], [], loops.get("a")._bandit
    go, single = requests.walked, type(bandit).decide
    monkeypatch.setattr(requests, "walked", lambda *a: (walks.append(len(a[-1])), go(*a))[1])
    monkeypatch.setattr(type(bandit), "decide", lambda *a, **b: (alone.append(b), single(*a, **b))[1])
    made = together(loops, *[(deciding(["x", "y"]),)] * 8, (deciding(["x", "y"], 20), 20))
    assert [len(one) for one in made] == [1] * 8 + [20]
    assert len({decision.id for one in made for decision in one}) == 28
    assert (walks, alone) == ([28], [])
    first, refused, last = together(loops, (deciding(["x"]),), (deciding([]),), (deciding(["x"]),))
    assert isinstance(refused, db.DriftBanditsError)
    assert first[0].id != last[0].id
    assert len(alone) == 3


def test_one_that_is_refused_does_not_touch_the_others(loops):
    first, refused, last = together(loops, (deciding(["x"]),), (deciding([]),), (deciding(["x"]),))
    assert isinstance(refused, db.DriftBanditsError)
    assert first[0].id != last[0].id
    assert loops.get("a").info()["decisions"] == 2


def test_many_are_made_by_a_thread(loops):
    (made,) = together(loops, (deciding(["x"], FEW + 1), FEW + 1))
    assert len(made) == FEW + 1
    assert loops._threads._threads


def test_while_another_process_writes_a_thread_waits_and_the_service_answers(tmp_path):
    with listening(tmp_path) as address, db.Client(address, loop="a") as client:
        client.create()
        client.decide(["x"])
        other = sqlite3.connect(tmp_path / "loops" / "a" / "bandit.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        made = []

        def decide():
            with db.Client(address, loop="a") as own:
                made.append(own.decide(["x"]))

        waits = threading.Thread(target=decide)
        waits.start()
        time.sleep(0.2)
        with urllib.request.urlopen(f"{address}/healthz", timeout=5) as answer:
            assert answer.status == 200
        assert not made
        other.execute("ROLLBACK")
        waits.join()
        assert made
        other.close()
        assert client.info()["decisions"] == 2


def test_while_a_snapshot_is_written_a_thread_waits_and_the_event_loop_goes_on(loops):
    """The thread that writes it has the bandit's lock, not the loop's: the event loop must not wait for that one either."""
    store, reached, goes_on = loops.get("a")._bandit.store, threading.Event(), threading.Event()
    snapshot = store.snapshot

    def slowly(*args):
        reached.set()
        assert goes_on.wait(60)
        snapshot(*args)

    async def both():
        wanted = asyncio.ensure_future(loops.change("a", deciding(["x"])))
        for _ in range(50):  # these turns of the event loop are made while the snapshot is being written
            await asyncio.sleep(0.001)
        assert not wanted.done()
        goes_on.set()
        return await wanted

    together(loops, (deciding(["x"]), 1))
    store.snapshot = slowly
    writes = threading.Thread(target=loops.get("a")._bandit.take_snapshot)
    writes.start()
    assert reached.wait(60)
    late = threading.Timer(20.0, goes_on.set)  # an event loop that waits must end, too
    late.start()
    try:
        (made,) = asyncio.run(both())
    finally:
        goes_on.set()
        late.cancel()
        writes.join()
    assert made.item == "x"
