"""The cells of one learner, in a process of its own: `python -m bench.worker NAME STORE SCALE [SEEDS]`.

What is in the store is not played again.
"""

import os

if __name__ == "__main__":  # before NumPy is loaded: one core for everybody
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import dataclasses
import pathlib
import sys
import traceback
import warnings

from . import cells, cost, play, streams
from .peers import module


def main(name, path, scale, seeds):
    """Play what is not in the store yet: as documented first, then what chooses settings, then the settings chosen."""
    warnings.simplefilter("ignore")  # peers warn per call
    learner, store, failed = module(name), cells.Store(pathlib.Path(path)), 0
    tasks = cells.wanted([name], scale, seeds)[0][name]
    if all(finished(task, store) for task in tasks):
        return 0
    warm_up(learner)
    for choose in (False, True):
        for task in tasks:
            try:
                play_task(learner, task, store, choose)
            except Exception:
                failed += 1
                print(traceback.format_exc(limit=3), file=sys.stderr)
            print(f"{name}: {task.stream}, seed {task.seed}", flush=True)
    return failed


def finished(task, store):
    """Whether everything of a task is in the store."""
    chosen = task.chosen(store)
    return task.default in store and (not task.tuning or (chosen is not None and task.tuned(chosen) in store))


def play_task(learner, task, store, choose):
    """What is missing of a task; with `choose` the tuned run too, unless the documented one was refused or too slow."""
    play_cell(learner, task.default, store)
    if not choose or not task.tuning or "reward" not in store.found(task.default):
        return
    for keys in task.tuning:
        for key in keys:
            play_cell(learner, key, store)
    play_cell(learner, task.tuned(task.chosen(store)), store)


def play_cell(learner, key, store):
    """One run, unless it is in the store."""
    if key not in store:
        seed = key["seed"] if "seed" in key else key["tuning"][1]
        store.add(key, play.run_cell(cells.stream_of(key), learner, seed, key["setting"]))


def warm_up(learner):
    """Imports and compilation are not what is measured."""
    for items in (False, True):
        for clicks in (False, True):
            stream = cost.made(items, 3, 4, 20)
            rewards = (stream.R > 0).astype(float) if clicks else stream.R
            stream = streams.Stream("warm", stream.X, rewards, stream.E, clicks, delay=5)
            if not learner.refuses(stream):
                play.play(stream, learner.make(stream, 0, **learner.SETTINGS[0]))
                play.play(dataclasses.replace(stream, delay=0), learner.make(stream, 0, **learner.SETTINGS[0]))


if __name__ == "__main__":
    most = int(sys.argv[4]) if len(sys.argv) > 4 else None
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), most) > 0)
