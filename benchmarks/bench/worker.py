"""The cells of some learners, in one process: `python -m bench.worker FOLDER SCALE FIRST LAST NAMES [STREAMS]`.

NAMES and STREAMS are separated by `;`. What is in the folder is not played again.
"""

import os

if __name__ == "__main__":  # before NumPy is loaded: one core for everybody
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import dataclasses
import sys
import traceback
import warnings

from . import cells, cost, play, streams
from .peers import module


def main(names, folder, scale, first=0, last=None, titles=()):
    """Play what is missing of the seeds from `first` to before `last`; how many runs failed."""
    warnings.simplefilter("ignore")  # peers warn per call
    stores, failed = {name: cells.Store(folder, name) for name in names}, 0
    warm = set()
    for title, source in cells.present(scale)[0].items():
        if titles and title not in titles:
            continue
        for seed in cells.seeds(title, source, first, last):
            for name, store in stores.items():
                try:
                    play_seed(name, seed, store, warm)
                except Exception:
                    failed += 1
                    print(f"{name}: {title}\n{traceback.format_exc(limit=3)}", file=sys.stderr)
        print(f"{title}: seeds {first} to {last or source.seeds} of {', '.join(names)}", flush=True)
    return failed


def play_seed(name, seed, store, warm):
    """What is missing of a seed: as documented, what chooses a setting unless that was refused or too slow, and the setting chosen."""
    learner = module(name)
    if learner.refuses(seed.rounds.stream):
        return
    if "reward" not in play_cell(name, seed.rounds, 0, store, warm) or len(learner.SETTINGS) == 1:
        return
    for setting in range(len(learner.SETTINGS)):
        for rounds in seed.tuning:
            play_cell(name, rounds, setting, store, warm)
    play_cell(name, seed.rounds, cells.chosen(name, seed, store), store, warm)


def play_cell(name, rounds, setting, store, warm):
    """One run, unless it is in the store; `warm` are the learners that have played in this process."""
    key = rounds.key(setting)
    if key not in store:
        if name not in warm:
            warm_up(module(name))
            warm.add(name)
        store.add(key, play.run_cell(rounds.stream, module(name), rounds.seed, setting))
    return store.found(key)


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
    folder, scale, first, last, names, *titles = sys.argv[1:]
    told = [title for some in titles for title in some.split(";")]
    most = None if last == "all" else int(last)
    sys.exit(main(names.split(";"), folder, float(scale), int(first), most, told) > 0)
