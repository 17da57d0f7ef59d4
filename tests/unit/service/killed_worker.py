"""A process that decides, singly and in batches, and rewards in a loop until it is killed; it prints what was acknowledged.

    python killed_worker.py FOLDER-OR-URL SEED

A line is written after the store has acknowledged, so a line that is there must be in the log.
"""

import pathlib
import random
import sys
import time

from driftbandits.bandit.store import StoreUnavailable
from driftbandits.errors import DriftBanditsError
from driftbandits.service.file_catalogue import FileCatalogue
from driftbandits.service.loops import Loops
from driftbandits.service.models import Decide, Reward


def main():
    place, rng = sys.argv[1], random.Random(sys.argv[2])
    if place.startswith("postgresql"):
        from driftbandits.service.postgres_catalogue import PostgresCatalogue

        catalogue = None
        while catalogue is None:
            try:
                catalogue = PostgresCatalogue(place)
            except StoreUnavailable:
                time.sleep(0.1)
    else:
        catalogue = FileCatalogue(pathlib.Path(place), shared=True)
    loops = Loops(catalogue)
    loops.start()
    print("ready", flush=True)
    waiting, sure = [], []
    while True:
        try:
            asked = [Decide(items={"a": {"p": rng.random()}, "b": None}) for _ in range(rng.choice((1, 1, 1, 6)))]
            made = loops.use("shop", lambda loop, asked=asked: loop.decide(asked))
            waiting += [decision.id for decision in made]
            if sure or len(waiting) > rng.randrange(5):
                id_ = sure[0] if sure else waiting.pop(rng.randrange(len(waiting)))
                again, sure = bool(sure), [id_]
                (learned,) = loops.use("shop", lambda loop, i=id_: loop.reward([Reward(id=i, reward=rng.random())]))
                sure = []
                if isinstance(learned, DriftBanditsError) and not again:
                    print("refused", id_, learned, flush=True)
                else:  # a repetition that is refused has arrived before
                    print("reward", id_, flush=True)
        except DriftBanditsError as problem:  # the database restarts: the same reward is sent again
            print("later", type(problem).__name__, flush=True)
            time.sleep(0.05)


if __name__ == "__main__":
    main()
