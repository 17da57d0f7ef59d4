"""Requests to a bandit, and the changes that they will make, as plain tuples. Creating one changes nothing."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .arrivals import Arrived
from .events import DriftEvent
from .learner import Observation, Offer
from .ledger import Entry, Place
from .logged import Logged
from .pending import Closed, Open
from .vectors import Row


class Wanted(NamedTuple):
    """A decision that is asked for: the arguments of `Bandit.decide`."""

    items: Any
    context: Any = None
    at: Any = None
    k: int = 1
    id: str | None = None
    defer: bool = False
    show: Any = None
    learn: bool = True

    @property
    def ordinary(self) -> bool:
        """Whether one item is to be chosen, and its reward expected and learned."""
        plain = type(self.k) is int and self.k == 1 and self.defer is False and self.show is None and self.learn is True
        return plain and not hasattr(self.items, "__array__")


class Request(NamedTuple):
    """A decision asked for, checked; nothing has changed yet."""

    names: list[Any]
    rows: Sequence[Row]
    context: Row
    offer: Offer
    at: float
    given: bool  # was the time given?
    k: int
    first: Any = None  # the item that the application listed first


class Way(NamedTuple):
    """How a decision is made, where it is not the ordinary way."""

    defer: bool = False  # no reward is expected before `activate`
    show: list[Any] | None = None  # what is shown, whatever the learner would choose
    learn: bool = True  # False: the log alone keeps the reward


ORDINARY = Way()


class Rewarded(NamedTuple):
    """Rewards to be learned, and everything else that changes with them."""

    observations: Sequence[Observation]
    counts: dict[str, int]
    answers: Sequence[tuple[str, Closed]]
    entries: Sequence[Entry]  # of the ledger
    at: float
    arrived: Arrived | None = None  # for the test of missing rewards


class Before(NamedTuple):
    """What a change adds to, as it was before."""

    events: list[DriftEvent]
    unreported: list[DriftEvent]
    ledger: Place


class Answer(NamedTuple):
    """A reward that came, checked; nothing has changed yet."""

    id: str
    found: Open | Closed | Logged | None  # None: it is to be ignored
    rewards: list[float]  # one for each item shown, NaN where there is none
    weight: float
    came: float | None  # when, if that was given
    learn: bool = True  # False: of a decision that is for the log alone


def shown(found: Open | Closed | Logged) -> list[Any]:
    """The items that a decision showed."""
    if isinstance(found, Logged):
        return list(found.offer.names)
    opened = found if isinstance(found, Open) else found.open
    assert opened is not None
    return [memo.item for memo in opened.memos]


def first_listed(request: Request) -> int:
    """The place of the item that the application listed first."""
    return 0 if request.first is None else request.names.index(request.first)
