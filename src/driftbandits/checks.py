"""What users hand over is checked once, at the door, before any state changes."""

import functools
import math
import warnings
from typing import Any, Literal

import numpy as np

from .errors import InvalidShape, InvalidValue
from .kernel import entry
from .linalg import Matrix

Check = Literal["error", "warn", "off"]
SLACK = 1.0 + 1e-9  # an arm of norm L may exceed it by rounding


class LongArmWarning(UserWarning):
    """An arm is longer than L: the radius, and with it every guarantee, assumes ‖x‖ ≤ L."""


@entry
def largest_square(arms: Matrix) -> float:
    """max ‖x_a‖² over arms (m, d, n); NaN or infinite if any feature is."""
    worst = 0.0
    for t in range(arms.shape[0]):
        for a in range(arms.shape[2]):
            square = 0.0
            for i in range(arms.shape[1]):
                square += arms[t, i, a] * arms[t, i, a]
            if not square <= worst:  # also true for NaN, which then stays
                worst = square
            if not np.isfinite(square):
                return square
    return worst


@functools.cache
def _measure() -> Any:
    """`largest_square` without numba's look at its argument, for contiguous arrays only."""
    return largest_square.direct(np.zeros((1, 1, 1)))


def check_arms(arms: Matrix, L: float, check: Check) -> None:
    """Refuse arms (m, d, n) that are not finite; refuse, or warn of, arms longer than L."""
    if check not in ("error", "warn", "off"):
        raise InvalidValue(f"check = {check!r} is not allowed; it must be 'error', 'warn' or 'off'")
    square = _measure()(np.ascontiguousarray(arms))
    if not math.isfinite(square):
        raise InvalidValue("arms contains NaN or infinity; every feature must be finite")
    if check != "off" and square > (L * SLACK) ** 2:
        message = f"an arm has norm {math.sqrt(square):.6g} > L = {L:.6g}; the radius assumes ‖x‖ ≤ L: raise L, or rescale the arms"
        if check == "error":
            raise InvalidValue(message + " (check='warn' or 'off' accepts it)")
        warnings.warn(message, LongArmWarning, stacklevel=3)


def as_offer(arms: Any, dim: int) -> Matrix:
    """Arms (n, d) of a user as a contiguous (d, n) array."""
    offer = np.ascontiguousarray(np.asarray(arms, np.float64).T)
    if offer.ndim != 2 or offer.shape[0] != dim or offer.shape[1] == 0:
        raise InvalidShape(
            f"arms has shape {np.shape(arms)}; it must be (n, {dim}) with n ≥ 1: one row of {dim} features an arm"
        )
    return offer
