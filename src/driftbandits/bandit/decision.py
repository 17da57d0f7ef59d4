"""The result of `Bandit.decide`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.linalg import Vector
from ..util.notebook import card
from .values import plain_row

FORMAT = 1  # of `to_dict`
SHOWN = 5  # items in a notebook


class Decision:
    """One decision: what was chosen, with what probability, and enough to learn from it later.

    Attributes
    ----------
    id
        Unguessable, never used again; hand it to `reward`.
    item, items
        The item chosen; with k > 1 the ranking, of which `item` is the first.
    propensity
        The probability of this choice: of the item, or of the whole ranking.
    at
        When, in seconds since 1970.
    defer, learn, would
        Whether no reward is expected before `activate`; whether its reward is learned; what the bandit would have chosen, where `show`
        said what is shown.
    """

    __slots__ = (
        *("_features", "_names", "_p", "_score", "at", "defer", "id", "item", "items", "learn", "propensity", "tick"),
        "would",
    )
    defer: bool
    learn: bool
    would: list[Any] | None

    def __init__(
        self,
        id: str,  # noqa: A002
        names: list[Any],
        items: list[Any],
        propensity: float,
        p: Vector,
        score: Vector,
        at: float,
        tick: int,
        features: "Features",
    ) -> None:
        self.id = id
        self.item = items[0]
        self.items = items
        self.propensity = propensity
        self.at = at
        self.tick = tick
        self.defer, self.learn, self.would = False, True, None
        self._names, self._p, self._score, self._features = names, p, score, features

    @property
    def propensities(self) -> dict[Any, float]:
        """The probability of every item on offer; of a ranking, to be the first."""
        return dict(zip(self._names, self._p.tolist(), strict=True))

    @property
    def scores(self) -> dict[Any, float]:
        """The reward expected of every item on offer."""
        return dict(zip(self._names, self._score.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON; `reward` accepts it in place of the id when only a log has the decision."""
        chosen = self._features
        return {
            "format": FORMAT,
            "id": self.id,
            "tick": self.tick,
            "at": self.at,
            "item": self.item,
            "items": list(self.items),
            "propensity": self.propensity,
            "propensities": self.propensities,
            "scores": self.scores,
            "features": [plain_row(chosen.rows[a]) for a in chosen.drawn],
            "context": plain_row(chosen.context),
        } | ({} if chosen.named else {"named": False})

    def __repr__(self) -> str:
        shown = self.item if len(self.items) == 1 else self.items
        return f"Decision({shown!r}, propensity={self.propensity:.4g}, id={self.id!r})"

    def _repr_html_(self) -> str:
        """What was chosen and how likely each item was, for notebooks."""
        likely = sorted(self.propensities.items(), key=lambda one: -one[1])
        shown = ", ".join(f"{name}: {p:.3g}" for name, p in likely[:SHOWN])
        more = f" and {len(likely) - SHOWN} more" if len(likely) > SHOWN else ""
        rows = {"propensity": f"{self.propensity:.4g}", "propensities": shown + more, "id": self.id}
        return card(f"Decision: {self.item if len(self.items) == 1 else ', '.join(map(str, self.items))}", rows)


class Features(NamedTuple):
    """What was on offer as it was given, and which of it was chosen; rows are read only when they are needed."""

    rows: Sequence[Any]
    drawn: Sequence[int]
    context: Any
    named: bool  # False: items are positions in an array
