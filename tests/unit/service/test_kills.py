"""Processes and the database are killed at random moments: no acknowledged reward is lost or counted twice, and the state is the log's."""

import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from served import postgres

from driftbandits.bandit.durable import Durable
from driftbandits.bandit.saving import to_bytes
from driftbandits.errors import DriftBanditsError
from driftbandits.service.file_catalogue import FileCatalogue
from driftbandits.service.loops import Loops
from driftbandits.service.postgres_catalogue import PostgresCatalogue
from driftbandits.service.settings import LoopSettings

CHILD = pathlib.Path(__file__).with_name("killed_worker.py")
SETTINGS = LoopSettings(seed=3)


class Worker:
    """A process that decides and rewards; its acknowledgements are read as they come."""

    def __init__(self, place, seed, lines):
        # Compiled if this process is, interpreted if it is: the two agree up to rounding only, and states are compared bit for bit.
        command = [sys.executable, str(CHILD), str(place), str(seed)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._read, args=(lines,))
        self.thread.start()

    def _read(self, lines):
        for line in self.process.stdout:
            if line == "ready\n":
                self.ready.set()
            elif line.endswith("\n"):
                lines.append(line.split())

    def kill(self):
        """At once; again: nothing happens."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()


def until(true, seconds=120):
    """Wait for something that must come, however busy the machine is."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def rewards(lines):
    return [line[1] for line in [*lines] if line[0] == "reward"]


def under_fire(place, kills, rng, also=lambda: None):
    """Two workers, of which one after another is killed and replaced; what they had acknowledged."""
    lines, coming = [], collections.deque()
    left, workers = kills + 2, []
    try:
        while left or coming:
            while left and len(coming) < 3:  # started ahead: a process takes seconds to begin
                coming.append(Worker(place, rng.random(), lines))
                left -= 1
            workers.append(coming.popleft())
            assert workers[-1].ready.wait(120)
            enough = len(rewards(lines)) + 10
            until(lambda: len(rewards(lines)) >= enough)
            time.sleep(rng.uniform(0.0, 0.3))
            if len(workers) > 2:
                workers.pop(rng.randrange(2)).kill()  # the older one is often the learner
                also()
    finally:
        for worker in (*workers, *coming):
            worker.kill()
    return lines


def check(lines, loop, *, exact=True):
    """Every acknowledged reward is learned, once; the state is the one of a bandit that applies the log from its beginning.

    It is the same bit for bit if this process is compiled and workers were, or neither; otherwise up to rounding, which is not looked at.
    """
    assert [line for line in lines if line[0] == "refused"] == []
    acknowledged = rewards(lines)
    bandit = loop._bandit
    rows = bandit._store.rows(0, 10**6)
    counted = collections.Counter(row.id for row in rows if row.kind == "reward")
    assert len(acknowledged) > 20
    assert len(set(acknowledged)) == len(acknowledged)
    assert {counted[id_] for id_ in acknowledged} == {1}
    assert set(counted.values()) == {1}
    assert bandit._counts["rewards"] == len(counted)
    never_killed = Durable(**SETTINGS.for_bandit())
    for row in rows:
        never_killed._change_of(row)()
    assert not exact or to_bytes(bandit) == to_bytes(never_killed)
    return len(acknowledged)


def sqlite_under_fire(folder, kills, seed):
    catalogue = FileCatalogue(folder, shared=True)
    catalogue.create("shop", SETTINGS)
    lines = under_fire(folder, kills, random.Random(seed))
    loops = Loops(catalogue)
    try:
        assert loops.get("shop").learns
        return check(lines, loops.get("shop"))
    finally:
        loops.close()


def restarted(server):
    """The database ends at once, as after a power cut, and comes back."""
    pid = int((pathlib.Path(server.pgdata) / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGQUIT)
    while pathlib.Path(f"/proc/{pid}").exists() and pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
        time.sleep(0.02)
    server.ensure_postgres_running()


def postgres_under_fire(kills, seed, restarts):
    with postgres() as server:
        catalogue = PostgresCatalogue(server.get_uri())
        catalogue.create("shop", SETTINGS)
        rng = random.Random(seed)

        lines = under_fire(server.get_uri(), kills, rng, lambda: rng.random() < restarts and restarted(server))
        loops = Loops(catalogue)
        try:
            until(partial(learns, loops))
            return check(lines, loops.get("shop"))
        finally:
            loops.close()


def learns(loops):
    """Whether this process has become the learner."""
    try:
        loops.get("shop").tend()
    except DriftBanditsError:
        return False
    return loops.get("shop").learns


@pytest.mark.slow
def test_a_few_kills_lose_nothing(tmp_path):
    sqlite_under_fire(tmp_path, kills=2, seed=0)


def test_a_few_kills_lose_nothing_in_postgresql():
    postgres_under_fire(kills=1, seed=0, restarts=1.0)


@pytest.mark.slow
def test_sixty_kills_lose_nothing(tmp_path):
    print(sqlite_under_fire(tmp_path, kills=60, seed=1))


@pytest.mark.slow
def test_sixty_kills_and_restarts_lose_nothing_in_postgresql():
    print(postgres_under_fire(kills=60, seed=1, restarts=0.3))


def test_a_dead_learner_is_replaced_within_seconds(tmp_path):
    catalogue = FileCatalogue(tmp_path, shared=True)
    catalogue.create("shop", SETTINGS)
    lines = []
    worker = Worker(tmp_path, 0, lines)
    until(lambda: lines)  # then it has opened the loop
    loops = Loops(catalogue)
    loops.start()
    try:
        loop = loops.get("shop")
        assert not loop.learns
        worker.kill()
        until(lambda: loop.learns)  # about .1 s on a machine that is not busy
    finally:
        worker.kill()
        loops.close()
