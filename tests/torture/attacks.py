"""Attacks on files and processes. Each yields (attempts, what broke) again and again, until its time is over."""

import contextlib
import math
import multiprocessing
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

import driftbandits as db
from driftbandits.bandit.saving import digest

Result = tuple[int, list[str]]


def offer(t: int) -> dict[str, dict[str, Any]]:
    return {name: {"x": float((t + k) % 5)} for k, name in enumerate("abc")}


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        yield pathlib.Path(name)


# ------------------------------------------------------------------------------------------------------------------ killed

WORKER = """
import sys, driftbandits as db
role, path = sys.argv[1:]
bandit = db.Bandit.open(path) if role == "learn" else db.Bandit.follow(path, refresh=0.01)
t = 0
while True:
    t += 1
    d = bandit.decide({n: {"x": float((t + k) % 5)} for k, n in enumerate("abc")})
    print("d", d.id, flush=True)
    bandit.reward(d.id, float(t % 2))
    print("r", d.id, flush=True)
"""


def kills(seed: int, _: float) -> Iterator[Result]:
    """A learner and two followers are killed at random moments; what was acknowledged is in the log, once, and the file opens."""
    rng = np.random.default_rng(seed)
    with folder() as top:
        path, acknowledged = top / "x.bandit", {"d": [], "r": []}
        db.Bandit.open(path).close()
        while True:
            roles = ["learn", "follow", "follow"]
            children = [
                subprocess.Popen([sys.executable, "-c", WORKER, role, str(path)], stdout=subprocess.PIPE, text=True)
                for role in roles
            ]
            time.sleep(float(rng.uniform(2.0, 4.0)))
            for child in children:
                child.send_signal(signal.SIGKILL)
                assert child.stdout is not None
                for line in child.stdout.read().splitlines():
                    kind, _, id_ = line.partition(" ")
                    if len(id_) == 32:
                        acknowledged[kind].append(id_)
                child.wait()
            wrong = []
            with db.Bandit.open(path) as bandit:
                state = digest(bandit)
                info = bandit.info()
            with db.Bandit.open(path) as again:
                if digest(again) != state:
                    wrong.append("opened twice, it differs")
            file = sqlite3.connect(path)
            for kind, name in (("d", "decide"), ("r", "reward")):
                kept = [id_ for (id_,) in file.execute("SELECT id FROM log WHERE kind = ?", (name,))]
                if len(kept) != len(set(kept)):
                    wrong.append(f"{name} doubled")
                lost = set(acknowledged[kind]).difference(kept)
                if lost:
                    wrong.append(f"{len(lost)} acknowledged rows of kind {name} lost")
            rewards = file.execute("SELECT count(*) FROM log WHERE kind = 'reward'").fetchone()[0]
            file.close()
            if info["rewards"] + info["unmatched"] + info["refused"] != rewards:
                wrong.append(f"{rewards} rewards in the log, {info['rewards']} learned")
            yield len(roles), wrong


# --------------------------------------------------------------------------------------------------------------- the disk


def full_disk(seed: int, _: float) -> Iterator[Result]:
    """SQLite fails to write at random steps; the state stays that of the log."""
    rng = np.random.default_rng(seed)
    with folder() as top:
        bandit = db.Bandit.open(top / "x.bandit")
        real, t = bandit._store._run, 0
        while True:
            t += 1
            fail = int(rng.integers(1, 8))
            count = 0

            def failing(sql: str, values: Any = ()) -> Any:
                nonlocal count
                count += 1
                if count == fail:
                    raise db.errors.CannotWrite("x", OSError(28, "No space left on device"))
                return real(sql, values)

            before, wrong = digest(bandit), []
            with mock.patch.object(bandit._store, "_run", failing):
                try:
                    d = bandit.decide(offer(t), at=float(t))
                    done = True
                except db.DriftBanditsError:
                    done = False
            if not done and digest(bandit) != before:
                wrong.append("a decision that failed changed the state")
            if done:
                bandit.reward(d.id, 1.0)
            yield 1, wrong


def flipped_bits(seed: int, _: float) -> Iterator[Result]:
    """One bit of the file is flipped: it opens as it was, or says what is damaged; never raw, never another state."""
    rng = np.random.default_rng(seed)
    with folder() as top:
        source, target = top / "source.bandit", top / "x.bandit"
        with db.Bandit.open(source, seed=3) as bandit:
            for t in range(40):
                d = bandit.decide(offer(t), at=float(t))
                if t % 3:
                    bandit.reward(d.id, float(t % 2), at=float(t))
            expected = digest(bandit)
        log = [tuple(row) for row in db.Log.read(source)]
        content = source.read_bytes()
        while True:
            place, bit = int(rng.integers(len(content))), int(rng.integers(8))
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            target.write_bytes(damaged)
            wrong = []
            try:
                if [tuple(row) for row in db.Log.read(target)] != log:
                    wrong.append(f"bit {bit} of byte {place} changed the log silently")
            except db.DriftBanditsError:
                pass
            except Exception as problem:
                wrong.append(f"bit {bit} of byte {place}: raw {type(problem).__name__}: {problem} of the log")
            try:
                with db.Bandit.open(target) as again:
                    if digest(again) != expected:
                        wrong.append(f"bit {bit} of byte {place} changed the state silently")
            except db.DriftBanditsError:
                pass
            except Exception as problem:
                wrong.append(f"bit {bit} of byte {place}: raw {type(problem).__name__}: {problem}")
            for left in top.glob("x.bandit*"):
                left.unlink()
            yield 1, wrong


# ------------------------------------------------------------------------------------------------------ clocks, processes


def clock_jumps(seed: int, _: float) -> Iterator[Result]:
    """The system's clock jumps by years, back and forth; the file opens, and is what it was."""
    rng = np.random.default_rng(seed)
    with folder() as top:
        path = top / "x.bandit"
        while True:
            now = float(rng.uniform(0, 4e9))
            with mock.patch("time.time", return_value=now), db.Bandit.open(path) as bandit:
                d = bandit.decide(offer(int(now) % 7))
                bandit.reward(d.to_dict() if rng.random() < 0.5 else d.id, 1.0)
                bandit.reward(db.Bandit().decide(["a", "b", "c"]).to_dict() | {"features": [{"x": 1.0}]}, 1.0)
                state = digest(bandit)
                bandit._store.close()  # killed
                bandit._held.close()
                bandit._held = None
            with mock.patch("time.time", return_value=1e3), db.Bandit.open(path) as again:
                yield 1, [] if digest(again) == state else ["another state after the clock was set back"]


def fork_and_spawn(seed: int, _: float) -> Iterator[Result]:
    """Children made either way use the file or are told why not; the parent's stays whole."""
    with folder() as top:
        path = top / "x.bandit"
        with db.Bandit.open(path) as bandit:
            while True:
                d = bandit.decide(offer(seed))
                child = os.fork()
                if child == 0:
                    try:
                        bandit.reward(d.id, 1.0)
                    except db.DriftBanditsError:
                        os._exit(0)
                    os._exit(1)
                wrong = [] if os.waitpid(child, 0)[1] == 0 else ["a forked child wrote through its parent's connection"]
                spawned = multiprocessing.get_context("spawn").Process(target=_follow, args=(str(path), d.id))
                spawned.start()
                spawned.join()
                if spawned.exitcode != 0:
                    wrong.append("a spawned follower failed")
                info = bandit.info()
                if info["rewards"] != info["decisions"] - info["pending"]:
                    wrong.append("a reward was lost or doubled")
                yield 2, wrong


def _follow(path: str, id_: str) -> None:
    with db.Bandit.follow(path) as follower:
        follower.reward(id_, 1.0)


def soak(seed: int, _: float) -> Iterator[Result]:
    """Hostile regimes without end: huge and tiny numbers, new features and items, late and repeated rewards; memory stays bounded."""
    rng = np.random.default_rng(seed)
    bandit = db.Bandit(max_items=20, max_pending=200, on_repeat="ignore", features="disjoint")
    waiting: list[str] = []
    while True:
        wrong = []
        for _ in range(200):
            names = [f"i{k}" for k in rng.choice(60, size=int(rng.integers(1, 8)), replace=False)]
            scale = float(10.0 ** rng.integers(-12, 13))
            d = bandit.decide(names, {"x": scale * float(rng.normal()), f"new{rng.integers(5)}": 1.0})
            total = sum(d.propensities.values())
            if not (math.isfinite(total) and abs(total - 1.0) < 1e-9):
                wrong.append(f"propensities sum to {total}")
            waiting.append(d.id)
            if rng.random() < 0.7:
                id_ = waiting.pop(int(rng.integers(len(waiting))))
                with contextlib.suppress(db.DriftBanditsError):
                    bandit.reward(id_, float(rng.normal() * scale))
            del waiting[:-150]
        if len(bandit._pending.open) > 200:
            wrong.append("more decisions wait than max_pending")
        yield 200, wrong
