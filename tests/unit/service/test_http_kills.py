"""The real command over HTTP under fire: workers and the database are killed, the disk is full, the version changes."""

import contextlib
import functools
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import threading
import time
import urllib.request

import pytest
from served import children, command, postgres

import driftbandits as db
from driftbandits.bandit.store import StoreUnavailable
from driftbandits.core.numba_private import interpreted
from driftbandits.service.file_catalogue import FileCatalogue
from driftbandits.service.loops import Loops
from driftbandits.service.postgres_catalogue import PostgresCatalogue

from .test_kills import SETTINGS, check, learns, restarted, until

pytestmark = pytest.mark.slow
# Compiled if this process is, interpreted if it is: the two agree up to rounding only, and states are compared bit for bit.
serving = functools.partial(command, jit=not interpreted())
SOURCE = pathlib.Path(db.__file__).parent
PATIENCE = 300  # seconds: at a load of 16 a worker takes a minute to begin, and all may have been killed


@contextlib.contextmanager
def driven(address, threads=3):
    """Clients that decide and reward without pause: what was acknowledged, and what was answered otherwise."""
    stop, lines = threading.Event(), []

    def drive(seed):
        rng = random.Random(seed)
        with db.Client(address, loop="shop", patience=120) as client:
            while not stop.is_set():
                try:
                    d = client.decide({"a": {"p": rng.random()}, "b": None})
                    client.reward(d, rng.random())
                    lines.append(["reward", d.id])
                except Exception as problem:
                    lines.append(["refused", str(problem)])

    drivers = [threading.Thread(target=drive, args=(n,)) for n in range(threads)]
    for driver in drivers:
        driver.start()
    try:
        yield lines
    finally:
        stop.set()
        for driver in drivers:
            driver.join()


def under_fire(process, lines, rng, also=lambda: None):
    """Kill one worker after another, whenever another is there to serve; returns how many. A busy machine starts few in its time."""
    end, killed = time.monotonic() + SECONDS, 0
    while killed < KILLS and time.monotonic() < end:
        until(lambda: len(children(process.pid)) >= 2, PATIENCE)
        enough = len(lines) + 5
        until(lambda: len(lines) >= enough, PATIENCE)
        time.sleep(rng.uniform(0.0, 0.5))
        with contextlib.suppress(ProcessLookupError):
            os.kill(rng.choice(children(process.pid)), signal.SIGKILL)
            killed += 1
        also()
    enough = len(lines) + 20
    until(lambda: len(lines) >= enough, PATIENCE)
    return killed


def checked(catalogue, lines, **how):
    """The log after everything has ended."""
    loops = Loops(catalogue)
    try:
        until(lambda: learns(loops))
        return check(lines, loops.get("shop"), **how)
    finally:
        loops.close()


def create(address):
    with db.Client(address, loop="shop") as client:
        client.create(**SETTINGS.model_dump(exclude_unset=True))


KILLS, SECONDS = (
    float(os.environ.get(f"DRIFTBANDITS_{what}", most)) for what, most in (("KILLS", 40), ("SECONDS", 600))
)


def test_workers_are_killed_over_http(tmp_path):
    with serving(tmp_path, "--workers", "3") as (process, address):
        create(address)
        with driven(address) as lines:
            killed = under_fire(process, lines, random.Random(2))
    print(killed, "kills,", checked(FileCatalogue(tmp_path, shared=True), lines), "rewards, SQLite")


def test_workers_and_the_database_are_killed_over_http(tmp_path):
    rng, restarts = random.Random(3), []

    def also():
        if rng.random() < 0.5:
            restarted(server)
            restarts.append(1)

    with postgres() as server:
        with serving(tmp_path, "--workers", "3", "--database", server.get_uri()) as (process, address):
            create(address)
            with driven(address) as lines:
                killed = under_fire(process, lines, rng, also)
        rewards = checked(PostgresCatalogue(server.get_uri()), lines)
    print(killed, "kills of workers,", len(restarts), "of the database,", rewards, "rewards, PostgreSQL")


def versions(address):
    """The version that a worker says it is."""
    with urllib.request.urlopen(f"{address}/openapi.json") as answer:
        return json.load(answer)["info"]["version"]


def test_a_new_version_replaces_workers_and_no_request_fails(tmp_path):
    """As an administrator does it: the files are replaced, and SIGHUP replaces the workers one by one."""
    data, current, new = tmp_path / "data", tmp_path / "src", tmp_path / "new"
    data.mkdir()
    shutil.copytree(SOURCE, new / "driftbandits")  # with its byte code: a worker that compiles it begins late
    init = new / "driftbandits" / "__init__.py"
    init.write_text(init.read_text() + '\n__version__ = "99.0"\n')
    current.symlink_to(SOURCE.parent)
    # The new version has no machine code yet, and nobody waits for the compiler here: its workers are interpreted.
    with command(data, "--workers", "2", env={"PYTHONPATH": str(current)}) as (process, address):
        create(address)
        assert versions(address) == db.__version__
        with driven(address) as lines:
            until(lambda: len(lines) > 50)
            before = set(children(process.pid))
            (tmp_path / "next").symlink_to(new)
            (tmp_path / "next").rename(current)
            process.send_signal(signal.SIGHUP)
            until(lambda: len(found := children(process.pid)) == 2 and not before & set(found))
            enough = len(lines) + 50
            until(lambda: len(lines) >= enough)
        assert {versions(address) for _ in range(8)} == {"99.0"}
    assert [line for line in lines if line[0] != "reward"] == []
    print(checked(FileCatalogue(data, shared=True), lines, exact=interpreted()), "rewards")


def test_a_full_disk_is_a_503_and_loses_nothing(tmp_path):
    with serving(tmp_path, log=False) as (process, address):
        create(address)
        acknowledged, refused = [], []
        with db.Client(address, loop="shop", patience=0.0) as client:

            def one():
                d = client.decide({"a": {"p": 1.0}, "b": None})
                client.reward(d, 1.0)
                acknowledged.append(["reward", d.id])

            one()
            unlimited = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (300_000, unlimited[1]))  # of every file
            while len(refused) < 20:
                assert len(acknowledged) < 5000
                try:
                    one()
                except StoreUnavailable as problem:
                    refused.append(str(problem))
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, unlimited)
            assert [problem for problem in refused if "status 503" not in problem] == []
            before = len(acknowledged)
            until(lambda: _tried(one))
            for _ in range(20):
                one()
            assert len(acknowledged) > before + 20
    print(
        len(acknowledged),
        "rewards,",
        len(refused),
        "refused,",
        checked(FileCatalogue(tmp_path, shared=True), acknowledged),
    )


def _tried(function):
    try:
        function()
    except StoreUnavailable:
        return False
    return True
