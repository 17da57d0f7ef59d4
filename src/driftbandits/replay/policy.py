"""The interface of a policy in a replay."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ..bandit.events import DriftEvent
from ..errors import InvalidState
from .rows import Row

NEVER, ADAPTIVE = "never forgets", "tuning-free"  # the two policies that `answer` always replays
HALF_LIFE = "half-life "  # how names of the others begin


class OwnOnly(InvalidState):
    """The policy cannot learn from choices that are not its own."""


class Asked(NamedTuple):
    """The choice of a policy, and its probability of each item on offer."""

    item: Any
    p: Mapping[Any, float]


class Policy(Protocol):
    """One copy of a policy during a replay, in which rows are numbered t = 0, 1, …"""

    learns: bool  # whether it receives rewards

    def ask(self, t: int, row: Row) -> Asked:
        """The choice of the policy in this row."""

    def tell(self, t: int, row: Row) -> None:
        """The reward of the logged choice, of a row it was asked about."""

    def skip(self, t: int) -> None:
        """The policy will not receive the reward of this row."""

    def memory(self) -> float | None:
        """The effective number of observations, if it is known."""

    def events(self) -> list[DriftEvent]:
        """The times of drift that it detected."""
