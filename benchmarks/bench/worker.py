"""The cells of one learner, in a process of its own: `python -m bench.worker NAME STORE WANTED`.

What is in the store is not played again.
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

from . import cells, cost, play, streams
from .peers import module


def main(name, path, wanted):
    warnings.simplefilter("ignore")  # peers warn per call
    learner, store, failed = module(name), cells.Store(pathlib.Path(path)), 0
    missing = [key for key in wanted if key not in store]
    if missing:
        warm_up(learner)
    for key in missing:
        try:
            store.add(key, played(learner, key))
        except Exception:
            failed += 1
            print(traceback.format_exc(limit=3), file=sys.stderr)
        print(f"{name}: {key['stream']}, seed {key['seed']}", flush=True)
    return failed


def played(learner, key):
    """The cell's numbers, on the very rounds that its key names."""
    stream = streams.catalogue(key["scale"])[key["stream"]](key["seed"])
    if cells.of_stream(stream) != key["rounds"]:
        raise ValueError(f"{key['stream']}, seed {key['seed']}: not the rounds that were asked for")
    return play.run_cell(stream, learner, key["seed"])


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
    sys.exit(main(sys.argv[1], sys.argv[2], json.loads(pathlib.Path(sys.argv[3]).read_text())) > 0)
