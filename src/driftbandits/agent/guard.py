"""Nothing that is not finite stays: an update after which θ̂ or β is NaN or infinite is undone.

Undoing needs the state before the update, and copying it each time would cost more than learning does. So it is copied only where an
update can fail at all: a reward of more than `HUGE`, or a ridge so small that rounding may swallow it,

    λ < tr(Σ w x xᵀ) / `LARGE`.

Σ w‖x‖² over all observations bounds the trace, whatever the memory forgets; when the bound comes near, the trace itself is looked up. Every
update is checked afterwards, by a sum over θ̂ that compiled code returns.
"""

import warnings
from typing import Any

from ..core.state import duplicate
from ..errors import NumericalError
from ..protocol import conditioning

HUGE = 1e100  # a reward from which sums and squares may overflow
LARGE = 1e11  # tr/λ from which rounding may swallow λ
BAD = 1e12  # a condition number of V from which θ̂ has few correct digits


class IllConditionedWarning(UserWarning):
    """V is so close to singular that few digits of θ̂ are correct."""


class Guard:
    """Knows whether the updates of one agent can fail, and why one did."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._looks = conditioning.knows(type(strategy))
        self._trace, self._ridge = 0.0, 0.0  # a ridge of 0 looks at the first update
        self._warned = False

    def copy_if_risky(self, state: Any, gain: float, reward: float) -> Any:
        """A copy of the state if the coming update can fail, else None; `gain` ≥ w‖x‖² of the observation, `reward` = w·|r|."""
        self._trace += gain
        if reward > HUGE:
            return duplicate(state)
        if self._trace < LARGE * self._ridge:
            return None
        if self._looks:
            trace, self._ridge, _ = conditioning(self._strategy, state)
            self._trace = trace + gain
            if self._trace < LARGE * self._ridge:
                return None
        return duplicate(state)

    def failure(self, reward: float) -> NumericalError:
        """The error of an update that has been undone."""
        self._ridge = 0.0  # look again
        if reward > HUGE:
            why = f"a reward of size {reward:.3g} makes the sums overflow"
        else:
            why = "beside the sums of x xᵀ the ridge λ is lost in rounding: raise lam, or rescale the arms"
        return NumericalError(f"the update is undone, for θ̂ or β would not be finite: {why}")

    def warn_if_bad(self, state: Any) -> None:
        """Once, if θ̂ has few correct digits."""
        if self._warned or not self._looks:
            return
        condition = conditioning(self._strategy, state)[2]
        if condition > BAD:
            self._warned = True
            warnings.warn(
                f"V is nearly singular, its condition number about {condition:.0e}: few digits of θ̂ are correct; raise lam",
                IllConditionedWarning,
                stacklevel=5,
            )
