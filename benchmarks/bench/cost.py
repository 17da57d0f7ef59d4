"""What a decision with its learning step costs: CPU time and memory of the process, and how they grow with t, d, n and items."""

import os

if __name__ == "__main__":  # before NumPy is loaded: one core for everybody
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import itertools
import json
import pathlib
import sys
import time
import warnings

import numpy as np

from .peers import module
from .streams import Stream, units

SHAPES = {  # name: (items?, d, n, rounds to warm up, rounds measured)
    "n = 10, d = 5": (False, 5, 10, 50, 150),
    "n = 10, d = 10": (False, 10, 10, 50, 150),
    "n = 10, d = 20": (False, 20, 10, 50, 150),
    "n = 10, d = 50": (False, 50, 10, 30, 100),
    "n = 5, d = 10": (False, 10, 5, 50, 150),
    "n = 20, d = 10": (False, 10, 20, 50, 150),
    "n = 80, d = 10": (False, 10, 80, 30, 80),
    "10 items, d = 10": (True, 10, 10, 50, 150),
    "100 items, d = 10": (True, 10, 100, 20, 40),
    "1000 items, d = 10": (True, 10, 1000, 5, 15),
}
LONG = (False, 10, 10, 2000)  # for growth with t, and memory
STRETCH = 40  # rounds
LIMIT = 8.0  # seconds of CPU for one shape


def made(items, d, n, T, seed=0):
    rng = np.random.default_rng(seed)
    if items:
        X, theta = rng.standard_normal((T, d)), rng.standard_normal((n, d)) / 3
        E = X @ theta.T
    else:
        X, theta = units(rng, T, n, d), units(rng, d)
        E = X @ theta
    return Stream("cost", X, E + 0.3 * rng.standard_normal(E.shape), E, clicks=False)


def step(stream, learner, t):
    offer = stream.offer(t)
    k = learner.decide(offer)
    learner.learn(offer, k, float(stream.R[t, k]), 0)


def micros(peer, items, d, n, warm, rounds):
    """µs per decide + learn, the least of five stretches: others use the machine too. None if it takes too long."""
    stream = made(items, d, n, warm + rounds)
    if peer.refuses(stream):
        return None
    learner, began = peer.make(stream, 1, **peer.SETTINGS[0]), time.process_time()
    for t in range(warm):
        step(stream, learner, t)
        if time.process_time() - began > LIMIT:
            return None
    ends = np.linspace(warm, warm + rounds, 6).astype(int)
    took = []
    for a, b in itertools.pairwise(ends):
        start = time.process_time()
        for t in range(a, b):
            step(stream, learner, t)
        took.append((time.process_time() - start) / (b - a))
    return 1e6 * float(np.min(took))


def resident():
    """MB of memory this process holds."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def long_run(peer):
    """µs in rounds 200–400 and in the last 200, the least of five stretches of each; MB in all, and since round 400.

    What the learner imports and compiles is part of the MB.
    """
    items, d, n, T = LONG
    stream = made(items, d, n, T)
    if peer.refuses(stream):
        stream = made(True, d, n, T)
    before = resident()
    learner = peer.make(stream, 1, **peer.SETTINGS[0])
    ends, held = {0: time.process_time()}, 0.0
    for t in range(T):
        if t == 400:
            held = resident()
        step(stream, learner, t)
        if (t + 1) % STRETCH == 0:
            ends[t + 1] = time.process_time()
    early, late = (
        min(ends[t + STRETCH] - ends[t] for t in range(first, first + 200, STRETCH)) for first in (200, T - 200)
    )
    return {
        "early": 1e6 * early / STRETCH,
        "late": 1e6 * late / STRETCH,
        "MB": resident() - before,
        "MB grown": resident() - held,
    }


def side_by_side(names):
    """µs of every learner at every shape: one process, one shape after the other, so that all of them meet the same load."""
    found = {name: {} for name in names}
    for shape, sizes in SHAPES.items():
        for name in names:
            try:
                found[name][shape] = micros(module(name), *sizes)
            except Exception as problem:
                print(f"{name}, {shape}: {problem!r}", file=sys.stderr)
                found[name][shape] = None
    return found


if __name__ == "__main__":  # `python -m bench.cost shapes|long FILE NAME …`
    warnings.simplefilter("ignore")  # peers warn per call
    what, file, *names = sys.argv[1:]
    found = side_by_side(names) if what == "shapes" else long_run(module(names[0]))
    pathlib.Path(file).write_text(json.dumps(found))
