"""What it costs that a radius holds in every round and not only in one, added to log(1/δ) (resolution A5; Wu 2026).

    ONE      0                        the inequality of the paper's lemmas: each fixed t
    ALL      log T                    all t ≤ T at once: δ/T per round
    ANYTIME  log(2t(1+log t)²)        all t at once, without a horizon: δ_t = δ/(2t(1+log t)²), Σ_t δ_t ≤ δ

A radius that stays bounded cannot hold for all t at once when weights are discounted (Wu 2026): the last two grow.
"""

from typing import Literal

import numpy as np

from ..core.kernel import kernel
from ..errors import InvalidValue, require

ONE, ALL, ANYTIME = 0.0, 1.0, 2.0  # values of the field `uniform`
UniformInTime = bool | Literal["anytime"]


def over_time(uniform_in_time: UniformInTime) -> float:
    """The field `uniform` of a radius: each round by itself, all up to T, or all there are.

    Examples
    --------
    >>> over_time(False), over_time(True), over_time("anytime")
    (0.0, 1.0, 2.0)
    """
    if isinstance(uniform_in_time, str):
        if uniform_in_time != "anytime":
            raise InvalidValue(
                f"uniform_in_time = {uniform_in_time!r} is not allowed; it must be False (each round), "
                "True (all rounds up to the horizon) or 'anytime' (all rounds, no horizon)"
            )
        return ANYTIME
    return ALL if uniform_in_time else ONE


@kernel
def union(uniform: float, rounds: int) -> float:
    """What is added to log(1/δ); `rounds` is T, or the round t for `ANYTIME`."""
    if uniform == ANYTIME:
        return ever(rounds)
    return float(np.log(float(rounds))) if uniform == ALL else 0.0


@kernel
def ever(t: int) -> float:
    """log(δ/δ_t) = log(2t(1+log t)²)."""
    log_t = np.log(max(float(t), 1.0))
    return float(np.log(2.0) + log_t + 2.0 * np.log(1.0 + log_t))


def check_union(uniform: float) -> None:
    """One of the three."""
    require(uniform in (ONE, ALL, ANYTIME), "uniform", uniform, "0, 1 or 2", "one round, all up to T, or all there are")
