"""The base of learners with several memories, and what `info` reports of the memories."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..adaptive.sums import CAL_1, CAL_2, CAL_N
from ..core.linalg import Vector
from ..errors import InvalidValue
from ..io.saving import finite
from .clock import NEVER_FORGETS
from .features import Table
from .learner import Memo, Offer, Placed
from .reading import NOTHING
from .vectors import Row

NOBODY: Mapping[Any, int] = {}


class Memories:
    """A learner that reads features by name and takes any reward: late, weighted, and again."""

    ranks = True
    takes_all = False
    items: Table
    context: Table

    @property
    def largest_reward(self) -> float:
        """No limit but that of all rewards."""
        return math.inf

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row, *, named: bool = True) -> Offer:
        """Check what is on offer; raise, or change nothing."""
        who = NOTHING if context is None else self.context.read((context,))
        return Offer(names, self.items.read(rows), who, named)

    def repeat(self, placed: Placed, k: int) -> None:
        """Choosing changes nothing."""

    def accepts(
        self,
        memos: Sequence[Memo | None],
        rewards: Sequence[float],
        w: float,
        *,
        again: bool = False,
        late: bool = False,
    ) -> None:
        """Late and weighted rewards are learned exactly, and can be taken back."""

    def can_forget(self, feature: str) -> None:
        """A feature that was seen."""
        if not (self.items.knows(feature) or self.context.knows(feature)):
            raise InvalidValue(f"no feature {feature!r} has been seen; there is nothing to forget")

    def forget_feature(self, feature: str) -> None:
        """It is missing from now on."""
        self.items.forget(feature)
        self.context.forget(feature)


def told_of(
    rates: Vector, use: int, weights: Vector, effective: float, sigma: float, numbers: Vector, **more: Any
) -> dict[str, Any]:
    """What `info` says of the memories: `effective` is how many observations the one in use rests on."""
    n = numbers[CAL_N]
    beyond = (float(numbers[CAL_1] / n), float(numbers[CAL_2] / n)) if n > 0 else (None, None)
    lengths = [length(float(rate)) for rate in rates]
    whole = float(sum(weights[: len(lengths)]))
    return {
        "effective_memory": effective,
        "memory": finite(lengths[use]),
        "memories": [[finite(m), float(w) / whole] for m, w in zip(lengths, weights, strict=False)],
        "sigma": sigma,
        "calibration": {"beyond_1": beyond[0], "beyond_2": beyond[1]},
        **more,
    }


def length(rate: float) -> float:
    """The memory of a rate of forgetting: Σ_s exp(−rate·s); ∞ also for what stands for a half-life without end."""
    return math.inf if rate * NEVER_FORGETS < 1.0 else round(-1.0 / math.expm1(-rate), 9)
