"""Use everything at once for a long time, and count: `python tools/soak.py MINUTES`.

Four threads share agents of several strategies (decisions, rewards, looks, saves and loads, bad input) and a durable bandit that is
closed and opened again. Ends with an error if a number is not finite, an update is lost, bad input is accepted, a loaded agent differs, a
decision of the store is missing, or memory grows. Everything is used once before memory is measured: machine code is made or loaded at the
first use, and takes some megabytes each time.
"""

import json
import os
import pathlib
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from typing import Any

import numpy as np

import driftbandits as db

os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")  # of the bandit too: none of it is left for later

THREADS = 4
GROWTH = 5_000  # KiB over the second half; in the first, threads, the cache of the store and recent decisions fill up
DIM = 4
LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}
BALL = {"lam": 20.0, "S": 1.0, "L": 1.0, "delta": 0.05}


def strategies() -> dict[str, Any]:
    """One of each kind of memory, model and rule."""
    return {
        "lb_weight_ucb": db.zoo.lb_weight_ucb(gamma=0.99, **LINEAR),
        "d_lin_ucb": db.zoo.d_lin_ucb(gamma=0.99, **LINEAR),
        "sw_ucb": db.zoo.sw_ucb(window=100, **LINEAR),
        "restart_ucb": db.zoo.restart_ucb(period=50, **LINEAR),
        "glb_weight_ucb": db.zoo.glb_weight_ucb(gamma=0.98, **BALL),
        "self_tuning": db.zoo.self_tuning(),
    }


def check(holds: bool, what: str) -> None:
    """End with one line unless it holds."""
    if not holds:
        raise SystemExit(f"soak: {what}")


class Soak:
    """What the threads share."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.agents = {name: db.Agent(s, dim=DIM, seed=0, compile="now") for name, s in strategies().items()}
        self.learned: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.counting = threading.Lock()
        self.bandit = db.Bandit.open(folder / "shop.bandit", reward="value", seed=0)
        self.opening = threading.Lock()  # closing and opening belongs to one thread; the others wait
        self.failures: list[BaseException] = []
        self.stop = threading.Event()

    def count(self, what: str, learned: str = "") -> None:
        """One more."""
        with self.counting:
            self.done[what] += 1
            if learned:
                self.learned[learned] += 1

    def work(self, thread: int) -> None:
        """One thread, until told to stop."""
        rng = np.random.default_rng([7, thread])
        try:
            step = 0
            while not self.stop.is_set():
                step += 1
                self.use_an_agent(rng, list(self.agents)[int(rng.integers(len(self.agents)))])
                if step % 5 == 0:
                    self.use_the_bandit(rng)
                if step % 200 == 0:
                    self.save_and_load(rng, thread, list(self.agents)[int(rng.integers(len(self.agents)))])
        except BaseException as failure:
            self.failures.append(failure)
            self.stop.set()

    def warm_up(self) -> None:
        """Use everything, so that all code is there."""
        rng = np.random.default_rng(7)
        for name, agent in self.agents.items():
            for _ in range(40):  # each kind of call comes up
                self.use_an_agent(rng, name)
            arms = rng.uniform(-0.5, 0.5, (3, DIM))
            agent.scores(arms)
            for _ in range(2):  # a round that passes without its reward
                agent.select(arms)
            self.save_and_load(rng, 0, name)
        for _ in range(2_000):
            self.use_the_bandit(rng)

    def use_an_agent(self, rng: np.random.Generator, name: str) -> None:
        """A decision and its reward, or a refusal."""
        agent = self.agents[name]
        arms = rng.uniform(-0.5, 0.5, (int(rng.integers(1, 12)), DIM))
        if rng.random() < 0.05:
            arms[int(rng.integers(len(arms))), int(rng.integers(DIM))] = rng.choice([np.nan, np.inf, -np.inf, 5.0])
            try:
                agent.select(arms)
            except db.DriftBanditsError:
                self.count("bad offers refused")
                return
            # without a bound L a long arm is no mistake
            check(bool(np.isfinite(arms).all()) and name == "self_tuning", f"{name} accepted {arms}")
        k = agent.select(arms)
        check(0 <= k < len(arms), f"{name} chose {k} of {len(arms)}")
        agent.update(
            float(rng.random() < 0.5), x=arms[k]
        )  # a round of its own: selections of other threads may be open
        self.count("decisions with rewards", name)
        if rng.random() < 0.05:
            told = np.concatenate([agent.scores(arms), agent.theta])
            check(bool(np.isfinite(told).all()), f"{name} is not finite")

    def use_the_bandit(self, rng: np.random.Generator) -> None:
        """A decision and its reward, in the store."""
        with self.opening:
            decision = self.bandit.decide({"a": {"price": float(rng.random())}, "b": {"price": float(rng.random())}})
            self.bandit.reward(decision.id, float(rng.random()))
            self.count("stored decisions")
            if rng.random() < 0.002:
                before = self.bandit.info()["decisions"]
                self.bandit.close()
                self.bandit = db.Bandit.open(self.folder / "shop.bandit", reward="value", seed=0)
                check(self.bandit.info()["decisions"] == before, "the store lost decisions when it was opened again")
                self.count("stores opened again")

    def save_and_load(self, rng: np.random.Generator, thread: int, name: str) -> None:
        """A saved agent is read back as it was when it was saved."""
        path = self.folder / f"agent-{thread}"
        self.agents[name].save(path)
        first, second = (db.Agent.load(path, compile="now") for _ in range(2))
        arms = rng.uniform(-0.5, 0.5, (6, DIM))
        check(bool((first.scores(arms) == second.scores(arms)).all()), f"two loads of one {name} differ")
        check(first.select(arms) == second.select(arms), f"two loads of one {name} choose differently")
        self.count("agents saved and loaded")


def main(minutes: float) -> None:
    """Run, then print what was done as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(pathlib.Path(folder))
        soak.warm_up()
        pool = [threading.Thread(target=soak.work, args=(i,)) for i in range(THREADS)]
        began, cpu, settled, curve = time.monotonic(), time.process_time(), resident(), []
        for thread in pool:
            thread.start()
        while time.monotonic() - began < 60.0 * minutes and not soak.stop.is_set():
            time.sleep(min(1.0, 3.0 * minutes))
            if time.monotonic() - began > 6.0 * minutes * (len(curve) + 1):  # ten times in all
                curve.append(resident() - settled)
        soak.stop.set()
        for thread in pool:
            thread.join()
        if soak.failures:
            raise soak.failures[0]
        for name, agent in soak.agents.items():
            count = agent.info()["observations"]
            check(count == soak.learned[name], f"{name} learned {count} of {soak.learned[name]} rewards")
        stored = soak.bandit.info()["decisions"]
        check(stored == soak.done["stored decisions"], f"{stored} of {soak.done['stored decisions']} decisions stored")
        soak.bandit.close()
        grown = resident() - settled
        told = {
            "minutes": round((time.monotonic() - began) / 60.0, 1),
            "cpu_minutes": round((time.process_time() - cpu) / 60.0, 1),
        }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps(told | {"threads": THREADS, **soak.done, "grown_kib": [*curve, grown], "peak_kib": peak}))
        later = grown - curve[len(curve) // 2]
        check(later < GROWTH, f"memory grew by {later} KiB in the second half")


def resident() -> int:
    """KiB of memory in use."""
    pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() // 1024


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
