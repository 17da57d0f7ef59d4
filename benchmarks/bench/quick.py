"""`make bench-quick`: does what we committed still hold? Ratios in one run against NumPy's LinUCB, and rewards on short streams."""

import os

if __name__ == "__main__":  # before NumPy is loaded: one core for everybody
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import json
import pathlib
import sys

from . import cost, play, streams
from .peers import OURS, module

SHAPES = ("n = 10, d = 10", "n = 10, d = 50", "n = 80, d = 10", "100 items, d = 10")
STREAMS = (  # those on which chance matters least
    "paper's rotation",
    "standing still, d = 5",
    "standing still, d = 20",
    "one jump, delay 100",
    "1000 items come and go",
)
SCALE = 0.5
WORSE = 0.2
COMMITTED = pathlib.Path(__file__).resolve().parents[1] / "results" / "bench.json"


def measure():
    """CPU as multiples of NumPy's LinUCB, and the share of the way from random play to the best choice, of ours."""
    plain = module("numpy")
    base = {shape: cost.micros(plain, *cost.SHAPES[shape]) for shape in SHAPES}
    catalogue = streams.catalogue(SCALE)
    found = {}
    for name in OURS:
        own = module(name)
        for shape in SHAPES:
            found[f"{name}, {shape}: CPU / NumPy's LinUCB"] = cost.micros(own, *cost.SHAPES[shape]) / base[shape]
        for title in STREAMS:
            share = 0.0
            for seed in (0, 1):
                stream = catalogue[title].make(seed)
                told = play.bounds(stream)
                earned = play.play(stream, own.make(stream, seed), 60.0)["reward"]
                share += (earned - told["random"]) / (told["best"] - told["random"]) / 2
            found[f"{name}, {title}: share of the best"] = share
    return found


def compare(before, now):
    """Lines about what got worse by more than 20 %: costs up, or shares down."""
    lines = []
    for name, old in before.items():
        new = now.get(name)
        if new is None:
            lines.append(f"{name}: no longer measured")
        elif "share" in name and new < old - WORSE * abs(old):
            lines.append(f"{name}: {old:.3f} → {new:.3f}")
        elif "CPU" in name and new > old * (1 + WORSE):
            lines.append(f"{name}: {old:.2f} → {new:.2f}")
    return lines


def main():
    now = measure()
    for name, value in now.items():
        print(f"{value:8.3f}  {name}")
    if not COMMITTED.exists():
        sys.exit(f"{COMMITTED} is not there: `make bench` writes it")
    before = json.loads(COMMITTED.read_text())["quick"]
    worse = compare(before, now)
    print("\nworse than committed by more than 20 %:" if worse else "\nnothing got worse by more than 20 %")
    for line in worse:
        print(f"  {line}")


if __name__ == "__main__":
    main()
