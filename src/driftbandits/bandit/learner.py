"""The interface between `Bandit` and its learner.

A learner receives rows of features by name. Ids, pending rewards and files are handled by the bandit.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..adaptive.sums import Integers
from ..core.linalg import Matrix, Vector
from .reading import Reading
from .vectors import Row

ENGINE = 4  # of saved files: which arrays a learner has, and their order
UNREFRESHED = 3  # the same, with priors that did not fade


class Memo(NamedTuple):
    """What is kept of one decision until its reward comes."""

    item: Any
    row: Vector  # the item's raw features
    context: Vector
    seen: Vector  # what the learner noted of it
    named: bool = True


class Offer(NamedTuple):
    """Items and context that have been checked, and changed nothing yet."""

    names: Sequence[Any]
    items: Reading
    context: Reading
    named: bool = True  # False: names are positions in an array, and say nothing of the item


class Placed(NamedTuple):
    """An offer in the learner's slots."""

    names: Sequence[Any]
    rows: Matrix
    context: Matrix
    blocks: Integers
    named: bool = True


class Choice(NamedTuple):
    """What was drawn: places of the items in their order, its probability, that of each item to be first, forecasts, what to keep."""

    drawn: list[int]
    propensity: float
    propensities: Vector
    scores: Vector
    memos: list[Memo]


class Observation(NamedTuple):
    """A reward to be learned."""

    memo: Memo
    tick: float  # when the decision was made, by the learner's clock
    reward: float
    weight: float  # negative: take it back
    judge: bool  # whether forecasts are scored by it


class Draft:
    """A prepared change of the learner; `make(draft)` carries it out, and `done[0]` is 1 afterwards.

    Whenever a call is interrupted, `done` says whether the learner has changed, so that the rest of the change is completed or never begun.
    The other fields belong to the learner that prepared the change.
    """

    __slots__ = (
        "alarmed",
        "choice",
        "done",
        "explore",
        "item",
        "kept",
        "make",
        "observation",
        "placed",
        "retired",
        "table",
        "tick",
        "told",
        "watched",
    )  # fmt: skip

    placed: Placed  # the offer, or the rows that are learned
    retired: Integers  # places of items that lose them
    table: Matrix
    told: Matrix
    explore: float
    item: int
    observation: Observation
    watched: int  # rewards looked at for columns that are missing, before
    choice: Choice

    make: Callable[["Draft"], None]

    def __init__(self, tick: int = -1) -> None:
        self.tick = tick  # the number of the decision
        self.done: Vector = np.zeros(1)
        self.alarmed: float | None = None  # observations handed to the change detector before those of this change
        self.kept: Any = None  # what `Learner.undo` needs; None: preparing it changed nothing


class Learner(Protocol):
    """Forecasts rewards of items and learns from them."""

    @property
    def ranks(self) -> bool:
        """Whether several items may be drawn in one decision."""

    @property
    def largest_reward(self) -> float:
        """Rewards beyond ± this would leave no digits of those learned so far, even if they were taken back at once."""

    @property
    def takes_all(self) -> bool:
        """Whether every reward can be learned, so that `accepts` need not be asked."""

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row, *, named: bool = True) -> Offer:
        """Check what is on offer; raise, or change nothing. `named=False`: names are positions in an array."""

    def place(self, offer: Offer, tick: int, *, learn: bool = True, awaited: Mapping[Any, int] = ...) -> Placed:
        """Count what is on offer; `learn=False` looks without counting. Items that are `awaited` must not be forgotten for new ones."""

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """Forecast reward and its standard deviation, for every item."""

    def repeat(self, placed: Placed, k: int) -> None:
        """Change what a decision would, for a choice that has been made."""

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:
        """What to keep of item a, chosen here or elsewhere."""

    # A change has three parts: it is prepared, made, and read. Only `Draft.make` changes what was learned; what preparing it has changed
    # (new columns, places of new items) is taken back by `undo`.

    def keep(self, *, arrays: bool = False) -> Any:
        """What `undo` needs; with `arrays` it takes back changes that were made, too."""

    def undo(self, kept: Any) -> None:
        """Go back to where `keep` was called."""

    def decision(
        self, draft: Draft, offer: Offer, explore: float, chance: Sequence[float], awaited: Mapping[Any, int]
    ) -> None:
        """Prepare a choice of one item, or with several chances of a ranking."""

    def learning(self, draft: Draft, observations: Sequence[Observation], awaited: Mapping[Any, int]) -> None:
        """Prepare the learning of rewards, in their order."""

    def observing(
        self, draft: Draft, offer: Offer, tick: float, r: float, w: float, awaited: Mapping[Any, int]
    ) -> None:
        """Prepare the learning of one item's reward, counted as a decision made elsewhere."""

    def choice(self, draft: Draft) -> Choice:
        """What `decision` has drawn; changes nothing."""

    def observed(self, draft: Draft, r: float, w: float) -> Sequence[Observation]:
        """What `observing` has learned, for `watch` and the change detector."""

    def watch(self, draft: Draft, observations: Sequence[Observation]) -> None:
        """The work that follows the learning of rewards; a second call with the same draft changes nothing."""

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

    def dropping(self, draft: Draft, item: Any) -> None:
        """Prepare to forget an item."""

    def dropped(self, item: Any) -> None:
        """After the change: free what the item had, if it has not been freed."""

    def can_forget(self, feature: str) -> None:
        """Raise if a feature is not known, or cannot be forgotten; changes nothing."""

    def forget_feature(self, feature: str) -> None:
        """From now on the feature is missing; when it comes again it is a new one."""

    def info(self) -> dict[str, Any]:
        """The learner's own statistics, as JSON values."""

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """JSON and arrays from which `unpack` makes the same learner."""


class Stepwise:
    """The changes of a learner that makes each in several steps: an interrupt between two of them is not taken back."""

    def keep(self, *, arrays: bool = False) -> None:
        """Nothing."""

    def undo(self, kept: None) -> None:
        """Nothing can be taken back."""

    def decision(
        self, draft: Draft, offer: Offer, explore: float, chance: Sequence[float], awaited: Mapping[Any, int]
    ) -> None:
        """A choice."""
        learner: Any = self

        def make(draft: Draft) -> None:
            draft.placed = learner.place(offer, draft.tick, awaited=awaited)
            draft.choice = learner.choose(draft.placed, explore, chance)
            draft.done[0] = 1.0

        draft.make = make

    def learning(self, draft: Draft, observations: Sequence[Observation], awaited: Mapping[Any, int]) -> None:
        """Rewards, one after the other."""
        learner: Any = self

        def make(draft: Draft) -> None:
            for o in observations:
                learner.learn(o.memo, o.tick, o.reward, o.weight, judge=o.judge, awaited=awaited)
            draft.done[0] = 1.0

        draft.make = make

    def observing(
        self, draft: Draft, offer: Offer, tick: float, r: float, w: float, awaited: Mapping[Any, int]
    ) -> None:
        """An offer of one item, and its reward."""
        learner: Any = self

        def make(draft: Draft) -> None:
            placed = learner.place(offer, draft.tick, awaited=awaited)
            memo = learner.memo(placed, 0, chosen=False)
            if w != 0.0:
                learner.learn(memo, tick, r, w, awaited=awaited)
            draft.observation = Observation(memo, tick, r, w, True)
            draft.done[0] = 1.0

        draft.make = make

    def dropping(self, draft: Draft, item: Any) -> None:
        """Forget an item."""
        learner: Any = self

        def make(draft: Draft) -> None:
            learner.drop(item)
            draft.done[0] = 1.0

        draft.make = make

    def observed(self, draft: Draft, r: float, w: float) -> Sequence[Observation]:  # noqa: ARG002
        """The one observation of `observing`."""
        return (draft.observation,) if w != 0.0 else ()

    def watch(self, draft: Draft, observations: Sequence[Observation]) -> None:
        """Nothing."""

    def dropped(self, item: Any) -> None:
        """`drop` has freed everything."""

    def choice(self, draft: Draft) -> Choice:
        """What was drawn."""
        return draft.choice
