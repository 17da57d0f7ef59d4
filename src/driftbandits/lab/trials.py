"""One trial of one learner, where all learners of a trial play the same rounds: these are made once, and kept while sliders move.

Arms depend on the trial, θ on the path, random numbers on the trial alone: γ, λ and the bonus change nothing of a world, its noise only the
factor of the random numbers, and its speed θ and the best arms.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..core.checks import prepare as prepare_checks
from ..core.linalg import Vector
from ..env import Bandit
from ..experiment.run.cells import one_run
from ..experiment.run.objects import strategy_of, world_of
from ..protocol import settle
from ..simulate.runs import play, spread_rounds, streams
from ..simulate.world_blocks import Block, block_size, made

# Kept, 128 MB: the changing arms of 20 trials at d = 2, n = 50, T = 6000 are three quarters of it.
MOST_NUMBERS = 1 << 24


class Kept:
    """What was made last, as long as its arrays have at most so many numbers together."""

    def __init__(self, most: int) -> None:
        self.most, self.numbers = most, 0
        self._made: OrderedDict[Hashable, tuple[list[Any], int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], list[Any]], count: Callable[[Any], int]) -> list[Any]:
        """What has this key; it is made if it is not there, by every thread that misses it."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key][0]
        found = make()
        numbers = sum(map(count, found))
        with self._lock:
            if key not in self._made:
                self._made[key] = found, numbers
                self.numbers += numbers
            while self.numbers > self.most:
                self.numbers -= self._made.popitem(last=False)[1][1]
        return found


_kept = Kept(MOST_NUMBERS)


def regret_of(spec: dict[str, Any]) -> Vector:
    """Cumulative regret at the checkpoints of a cell: what `cells.run` finds, without a look at anything else."""
    world, strategy = world_of(spec["environment"]), strategy_of(spec["strategy"])
    if not isinstance(world, Bandit):
        return one_run(strategy, world, spec).regret
    prepare_checks("now")
    marks = spread_rounds(spec["checkpoints"], world.horizon)
    rng = np.random.default_rng(streams(np.random.SeedSequence(spec["seed"]))[1])
    return play(settle(strategy, world.dim), world, course_of(spec, world), rng, marks).regret


def course_of(spec: dict[str, Any], world: Bandit) -> list[Block]:
    """The rounds of a cell's world. No two learners of a trial wait for them twice."""
    tree, size = spec["environment"], block_size(world)
    arms, path = json.dumps(tree["arms"], sort_keys=True), json.dumps(tree["path"], sort_keys=True)

    def make() -> list[Block]:
        offered = _kept.get(("arms", arms, size), lambda: list(world.arms.blocks(world.horizon, size)), np.size)
        theta = _kept.get(("path", path, size), lambda: list(world.path.blocks(size)), np.size)
        return list(
            made(offered, theta, world.reward, np.random.default_rng(streams(np.random.SeedSequence(spec["seed"]))[0]))
        )

    key = (arms, path, type(world.reward), json.dumps(tree.get("link")), *spec["seed"])
    return _kept.get(key, make, lambda block: block.best.size + block.draw.size)
