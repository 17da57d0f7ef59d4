"""What learners with several memories share: forecasts by the memory in use, draws with exact probabilities, what they tell."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from ..io.saving import finite
from .drawing import draw_ranking
from .features import Table
from .learner import Choice, Memo, Offer, Placed
from .sums import CAL_1, CAL_2, CAL_N, USE, Bank
from .vectors import Row


class Memories(ABC):
    """M memories of different lengths, of which one is in use."""

    ranks = True
    rates: Vector  # (M,) of forgetting
    items: Table
    context: Table
    bank: Bank  # evidence of each memory; its sums, where a learner keeps any

    @abstractmethod
    def _look(self, placed: Placed, explore: float, u: float, given: int) -> tuple[Matrix, int, Vector]:
        """Rows of forecasts, standard deviations and probabilities; the item drawn with u, or the given one; what memories say of it."""

    @abstractmethod
    def _noise(self) -> float:
        """σ̂² of the memory in use."""

    # ---------------------------------------------------------------------------------------------------------- deciding

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row) -> Offer:
        """Check what is on offer; raise, or change nothing."""
        return Offer(names, self.items.read(rows), self.context.read((context,)))

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """Forecast reward and its standard deviation, for every item, by the memory in use."""
        table, _, _ = self._look(placed, 0.0, 0.0, -1)
        return table[0], table[1]

    def choose(self, placed: Placed, explore: float, chance: Sequence[float]) -> Choice:
        """Draw place by place without replacement, each time with the exact probabilities of what is left."""
        table, a, seen = self._look(placed, explore, chance[0], -1)
        if len(chance) == 1:
            return Choice([a], float(table[2, a]), table[2], table[0], [_memo(placed, a, seen)])
        drawn, propensity, first = draw_ranking(table[0], table[1], explore, chance)
        return Choice(drawn, propensity, first, table[0], [self.memo(placed, a) for a in drawn])

    def repeat(self, placed: Placed, k: int) -> None:  # noqa: B027
        """Choosing changes nothing."""

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:  # noqa: ARG002
        """Raw features, and every memory's forecast."""
        _, _, seen = self._look(placed, 0.0, 0.0, a)
        return _memo(placed, a, seen)

    def accepts(  # noqa: B027
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

    # ----------------------------------------------------------------------------------------------------------- looking

    @property
    def use(self) -> int:
        """The memory in use."""
        return int(self.bank.misc[USE])

    def _told(self, effective: float, **more: Any) -> dict[str, Any]:
        """What `info` tells of any such learner; `effective` is how many observations the memory in use rests on."""
        m = self.bank.misc
        weights = np.exp(self.bank.weight - self.bank.weight.max())
        beyond = (float(m[CAL_1] / m[CAL_N]), float(m[CAL_2] / m[CAL_N])) if m[CAL_N] > 0 else (None, None)
        lengths = [length(rate) for rate in self.rates]
        return {
            "effective_memory": effective,
            "memory": finite(lengths[self.use]),
            "memories": [[finite(m_), float(w)] for m_, w in zip(lengths, weights / weights.sum(), strict=True)],
            "sigma": math.sqrt(max(self._noise(), 0.0)),
            "calibration": {"beyond_1": beyond[0], "beyond_2": beyond[1]},
            **more,
            "collisions": self.items.collisions + self.context.collisions,
        }


def _memo(placed: Placed, a: int, seen: Vector) -> Memo:
    return Memo(placed.names[a], placed.rows[a].copy(), placed.context[0], seen)


def length(rate: float) -> float:
    """The memory of a rate of forgetting: Σ_s exp(−rate·s)."""
    return math.inf if rate == 0.0 else round(-1.0 / math.expm1(-rate), 9)


# ------------------------------------------------------------------------------------------------------------------ saving


def same(name: str, like: Any, arrays: Mapping[str, Any]) -> Any:
    """An array of the shape and type it must have: compiled code checks no bounds."""
    found = np.array(arrays[name], order="C")
    if found.shape != like.shape or found.dtype != like.dtype:
        raise InvalidValue(f"{name} is {found.dtype} {found.shape}; it must be {like.dtype} {like.shape}")
    return found


def same_bank(prefix: str, like: Bank, arrays: Mapping[str, Any]) -> Bank:
    """The bank that was packed under a prefix; arrays that hold nothing are not in the file."""
    fields = like._asdict().items()
    bank = Bank(*(same(prefix + name, value, arrays) if value.size else value for name, value in fields))
    if not 0 <= bank.misc[USE] < len(bank.rate):
        raise InvalidValue("the memory in use does not exist")
    return bank
