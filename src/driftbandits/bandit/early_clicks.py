"""Estimates how rare clicks are from the rewards of a bandit's first decisions, which are then left out of its value.

The stakes of the bets on clicks must be fixed before the first reward that counts, and the best stakes depend on how rare clicks are.
"""

from typing import NamedTuple

import numpy as np

from ..core.linalg import Vector
from ..inference import policy_value as pv
from ..inference.policy_value import EARLY

ENOUGH = 20  # of their rewards, to say it; else the forecast for the first decision that counts does


class EarlyClicks(NamedTuple):
    """Rewards of early decisions, their number and sum, until the first one counts; then how rare rewards were by then."""

    many: float = 0.0
    total: float = 0.0
    rate: float | None = None

    def heard(self, r: float, sign: float) -> "EarlyClicks":
        """With the reward of an early decision; once the rate is fixed, nothing changes it."""
        return self if self.rate is not None else self._replace(many=self.many + sign, total=self.total + sign * r)

    def fixed(self, p: Vector, forecast: Vector) -> "EarlyClicks":
        """With the rate, before the reward of the first decision that counts, which has these probabilities and forecasts."""
        if self.rate is not None:
            return self
        many, total = self.many, self.total
        if many < ENOUGH:
            mean = float(np.clip(np.dot(p, np.clip(forecast, 0.0, 1.0)), 0.0, 1.0))
            many, total = float(EARLY), EARLY * mean
        return self._replace(rate=pv.rate_of(many, total))
