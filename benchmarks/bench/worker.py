"""All of one learner, in a process of its own: `python -m bench.worker NAME STORE SCALE SEEDS VERSION`.

What is in the store is not run again.
"""

import os

if __name__ == "__main__":  # before NumPy is loaded: one core for everybody
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import json
import pathlib
import sys
import traceback
import warnings

from . import cost, play, streams
from .peers import module


def main(name, store, scale, seeds, version):
    warnings.simplefilter("ignore")  # peers warn per call
    learner = module(name)
    path = pathlib.Path(store)
    done = finished(path)

    def cell(key, run):
        if json.dumps(key) in done:
            return
        try:
            found = run()
        except streams.NotHere as problem:
            found = {"absent": str(problem)}
        except Exception:
            found = {"failed": traceback.format_exc(limit=3)}
        with path.open("a") as lines:
            lines.write(json.dumps({"key": key, "found": found}) + "\n")
        print(f"{name}: {key[1:4]}", flush=True)

    cell([name, "long", "", 0, scale, version], lambda: cost.long_run(learner))  # first, while memory is its own
    warm_up(learner)
    for title, make in streams.catalogue(scale).items():
        for seed in range(seeds):
            cell([name, "reward", title, seed, scale, version], lambda: play.run_cell(make(seed), learner, seed))


def finished(path):
    """Keys of the cells that need not run again; what failed, or had no data, is tried again."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {json.dumps(line["key"]) for line in lines if not {"absent", "failed"} & set(line["found"])}


def warm_up(learner):
    """Imports and compilation are not what is measured."""
    for items in (False, True):
        for clicks in (False, True):
            stream = cost.made(items, 3, 4, 20)
            rewards = (stream.R > 0).astype(float) if clicks else stream.R
            stream = streams.Stream("warm", stream.X, rewards, stream.E, clicks, delay=5)
            if not learner.refuses(stream):
                play.play(stream, learner.make(stream, 0, **learner.SETTINGS[0]))
                play.play(streams.replace(stream, delay=0), learner.make(stream, 0, **learner.SETTINGS[0]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
