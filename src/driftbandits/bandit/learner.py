"""What `Bandit` asks of whoever learns.

A learner sees rows of features by name; it knows nothing of ids, rewards that are pending, or files.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..adaptive.sums import Integers
from ..core.linalg import Matrix, Vector
from .features import Reading
from .vectors import Row


class Memo(NamedTuple):
    """What is kept of one decision until its reward comes."""

    item: Any
    row: Vector  # the item's raw features
    context: Vector
    seen: Vector  # what the learner noted of it


class Offer(NamedTuple):
    """Items and context that have been checked, and changed nothing yet."""

    names: Sequence[Any]
    items: Reading
    context: Reading


class Placed(NamedTuple):
    """An offer in the learner's slots."""

    names: Sequence[Any]
    rows: Matrix
    context: Matrix
    blocks: Integers


class Choice(NamedTuple):
    """What was drawn: places of the items in their order, its probability, that of each item to be first, forecasts, what to keep."""

    drawn: list[int]
    propensity: float
    propensities: Vector
    scores: Vector
    memos: list[Memo]


class Refuted(NamedTuple):
    """The longest memory was refuted: how many observations it rested on, how many it rests on now, and the evidence in nats."""

    before: float
    after: float
    evidence: float


class Learner(Protocol):
    """Forecasts rewards of items and learns from them."""

    @property
    def ranks(self) -> bool:
        """Whether several items may be drawn in one decision."""

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row) -> Offer:
        """Check what is on offer; raise, or change nothing."""

    def place(self, offer: Offer, tick: int, *, learn: bool = True, awaited: Mapping[Any, int] = ...) -> Placed:
        """Count what is on offer; `learn=False` looks without counting. Items that are `awaited` must not be forgotten for new ones."""

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """Forecast reward and its standard deviation, for every item."""

    def choose(self, placed: Placed, explore: float, chance: Sequence[float]) -> Choice:
        """Draw one item, or with several chances a ranking."""

    def repeat(self, placed: Placed, k: int) -> None:
        """Change what `choose` would, for a choice that has been made."""

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:
        """What to keep of item a, chosen here or elsewhere."""

    def learn(
        self, memo: Memo, tick: float, r: float, w: float, *, judge: bool = True, awaited: Mapping[Any, int] = ...
    ) -> Refuted | None:
        """Learn a reward; `judge` says whether forecasts are scored by it."""

    def accepts(
        self,
        memos: Sequence[Memo | None],
        rewards: Sequence[float],
        w: float,
        *,
        again: bool = False,
        late: bool = False,
    ) -> None:
        """Raise if one of these rewards cannot be learned; changes nothing.

        A memo of None is of a decision that only a log has; `late`: other decisions were made after it. `again`: in place of rewards
        that were learned.
        """

    def drop(self, item: Any) -> None:
        """Forget an item."""

    def can_forget(self, feature: str) -> None:
        """Raise if a feature is not known, or cannot be forgotten; changes nothing."""

    def forget_feature(self, feature: str) -> None:
        """From now on the feature is missing; when it comes again it is a new one."""

    def info(self) -> dict[str, Any]:
        """What the learner tells about itself, JSON-able."""

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """JSON and arrays from which `unpack` makes the same learner."""
