"""What a replay asks of a policy."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ..bandit.core import DriftEvent
from ..errors import InvalidState
from .rows import Row


class OwnOnly(InvalidState):
    """A policy that cannot learn from what others chose."""


class Asked(NamedTuple):
    """What a policy would have chosen, and the probability of each item on offer."""

    item: Any
    p: Mapping[Any, float]


class Policy(Protocol):
    """One copy of a policy on its way through a log, whose rows are numbered t = 0, 1, …"""

    learns: bool  # does it hear rewards at all?

    def ask(self, t: int, row: Row) -> Asked:
        """What it would choose."""

    def tell(self, t: int, row: Row) -> None:
        """The reward of the logged choice, of a row it was asked about."""

    def skip(self, t: int) -> None:
        """It will never hear of this row."""

    def memory(self) -> float | None:
        """How many observations it rests on, if it knows."""

    def events(self) -> list[DriftEvent]:
        """Drift that it dated."""
