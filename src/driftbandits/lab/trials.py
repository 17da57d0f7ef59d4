"""One trial of one learner. All learners of a trial play the same rounds, which are generated once and cached while sliders move.

Arms and random numbers depend on the trial, θ on the path. Changing γ, λ or the bonus does not change a world; changing its noise changes
only the factor of the random numbers, and changing its speed changes θ and the best arms.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..core.checks import prepare as prepare_checks
from ..core.linalg import Vector
from ..env import World
from ..experiment.run.cells import one_run
from ..experiment.run.objects import strategy_of, world_of
from ..protocol import settle
from ..simulate.runs import play, spread_rounds, streams
from ..simulate.world_blocks import Block, block_size, made

# Kept, 128 MB: the changing arms of 20 trials at d = 2, n = 50, T = 6000 are three quarters of it.
MOST_NUMBERS = 1 << 24


class Kept:
    """A cache of the latest results, with a limit on the total number of numbers in its arrays."""

    def __init__(self, most: int) -> None:
        self.most, self.numbers = most, 0
        self._made: OrderedDict[Hashable, tuple[list[Any], int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], list[Any]], count: Callable[[Any], int]) -> list[Any]:
        """The value of this key. If it is absent, each thread that needs it computes it."""
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
    """Cumulative regret at the checkpoints of a cell: the same as `cells.run`, which records more."""
    world, strategy = world_of(spec["environment"]), strategy_of(spec["strategy"])
    if not isinstance(world, World):
        return one_run(strategy, world, spec).regret
    prepare_checks("now")
    marks = spread_rounds(spec["checkpoints"], world.horizon)
    rng = np.random.default_rng(streams(np.random.SeedSequence(spec["seed"]))[1])
    return play(settle(strategy, world.dim), world, world_blocks_of(spec, world), rng, marks).regret


def world_blocks_of(spec: dict[str, Any], world: World) -> list[Block]:
    """The rounds of a cell's world, from the cache if another learner of the trial has generated them."""
    tree, size = spec["environment"], block_size(world)
    arms, path = json.dumps(tree["arms"], sort_keys=True), json.dumps(tree["path"], sort_keys=True)

    def make() -> list[Block]:
        offered = _kept.get(
            ("arms", arms, size, world.horizon), lambda: list(world.arms.blocks(world.horizon, size)), np.size
        )
        theta = _kept.get(("path", path, size, world.horizon), lambda: list(world.path.blocks(size)), np.size)
        return list(
            made(offered, theta, world.reward, np.random.default_rng(streams(np.random.SeedSequence(spec["seed"]))[0]))
        )

    key = (arms, path, world.horizon, type(world.reward), json.dumps(tree.get("link")), *spec["seed"])
    return _kept.get(key, make, lambda block: block.best.size + block.draw.size)
