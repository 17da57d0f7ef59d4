"""The forecast r̂ of the doubly robust estimator: a bandit that has learned all rows before the current one.

Because the forecast uses earlier rows only, it is independent of the noise in the current row. The estimator is therefore unbiased for any
forecast, and a good forecast reduces its variance.
"""

from typing import Any

from ..bandit import Bandit
from ..bandit.changes import Rewarded
from ..bandit.learner import Placed
from ..bandit.pending import Open
from .rows import Row


class Forecast:
    """Expected rewards of every item on offer."""

    def __init__(self) -> None:
        self._bandit = Bandit(reward="value")
        self._placed: Placed | None = None

    def ahead(self, t: int, row: Row) -> dict[Any, float]:
        """Forecasts before the row's reward is known."""
        bandit = self._bandit
        request = bandit._request(row.items, row.context, 0.0, None, 1)._replace(at=float(t))
        bandit.__dict__.update(bandit._after(request, bandit._tick + 1, "decisions"))
        self._placed = bandit._place(request.offer)
        mean, _ = bandit._learner.score(self._placed)
        return dict(zip(request.names, mean.tolist(), strict=True))

    def learn(self, t: int, row: Row) -> None:
        """Learn the row."""
        assert self._placed is not None
        bandit = self._bandit
        memo = bandit._learner.memo(self._placed, list(self._placed.names).index(row.item))
        observations = bandit._observations(Open(bandit._tick, float(t), [memo]), [row.reward], 1.0, judge=True)
        bandit._learn(Rewarded(observations, bandit._counts, (), (), float(t)))
