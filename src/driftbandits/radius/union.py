"""Union bounds: the term added to log(1/δ) so that a radius holds in all rounds simultaneously (resolution A5; Wu 2026).

    ONE      0                        the inequality of the paper's lemmas, for each fixed t
    ALL      log T                    all t ≤ T simultaneously: δ/T per round
    ANYTIME  log(2t(1+log t)²)        all t simultaneously, without a horizon: δ_t = δ/(2t(1+log t)²), Σ_t δ_t ≤ δ

With discounted weights no bounded radius can hold for all t simultaneously (Wu 2026), which is why the last two grow.
"""

from typing import Literal

import numpy as np

from ..core.kernel import kernel
from ..errors import InvalidValue, require

ONE, ALL, ANYTIME = 0.0, 1.0, 2.0  # values of the field `uniform`
UniformInTime = bool | Literal["anytime"]


def over_time(uniform_in_time: UniformInTime) -> float:
    """The field `uniform` of a radius: valid in each fixed round, in all rounds up to T, or in all rounds.

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
    """The term added to log(1/δ); `rounds` is T, or the round t for `ANYTIME`."""
    if uniform == ANYTIME:
        return ever(rounds)
    return float(np.log(float(rounds))) if uniform == ALL else 0.0


@kernel
def ever(t: int) -> float:
    """log(δ/δ_t) = log(2t(1+log t)²)."""
    log_t = np.log(max(float(t), 1.0))
    # Σ_t 1/(2t(1+log t)²) ≤ 1: the levels of all rounds sum to at most δ, and β grows like √log t only.
    return float(np.log(2.0) + log_t + 2.0 * np.log(1.0 + log_t))


def check_union(uniform: float) -> None:
    """`uniform` must be one of the three constants."""
    require(
        uniform in (ONE, ALL, ANYTIME),
        "uniform",
        uniform,
        "0, 1 or 2",
        "each fixed round, all rounds up to T, or all rounds",
    )
