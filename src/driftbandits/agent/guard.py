"""Undo updates after which θ̂ or β would be NaN or infinite.

Undoing needs the state before the update, and copying it each time would cost more than learning. It is therefore copied only if an update
can fail at all: for a reward above `HUGE`, or if λ is so small that it may be lost in rounding,

    λ < tr(Σ w x xᵀ) / `LARGE`.

Σ w‖x‖² over all observations bounds the trace, whatever the memory forgets; when this bound is reached, the trace itself is computed. Every
update is checked afterwards, by a sum over θ̂ and β that compiled code returns (`protocol.magnitude`).
"""

import warnings
from typing import Any

from ..core.state import duplicate
from ..errors import NumericalError
from ..protocol import conditioning

HUGE = 1e100  # a reward from which sums and squares may overflow
LARGE = 1e11  # tr/λ from which λ may be lost in rounding
BAD = 1e12  # a condition number of V from which θ̂ has few correct digits


class IllConditionedWarning(UserWarning):
    """V is so close to singular that few digits of θ̂ are correct."""


class Guard:
    """Decides whether an update of an agent can fail, and explains why one did."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._looks = conditioning.knows(type(strategy))
        self._trace, self._ridge = 0.0, 0.0  # a ridge of 0 forces a look at the real values before the first update
        self._warned = False

    def copy_if_risky(self, state: Any, gain: float, reward: float) -> Any:
        """A copy of the state if the next update can fail, else None; `gain` ≥ w‖x‖² of the observation, `reward` = w·|r|."""
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
        self._ridge = 0.0  # forces another look at the real values
        if reward > HUGE:
            why = f"a reward of magnitude {reward:.3g} makes the sums overflow"
        else:
            why = "λ is so small compared with the sums of x xᵀ that it is lost in rounding: raise lam, or rescale the arms"
        return NumericalError(f"the update is undone, because θ̂ or β would not be finite: {why}")

    def warn_if_bad(self, state: Any) -> None:
        """Warn, once per agent, if θ̂ has few correct digits."""
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
