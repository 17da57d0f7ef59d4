"""Validation of user input: once, where it enters, before any state changes and before compiled code (without bounds checks) reads it."""

import math
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..errors import InvalidShape, InvalidValue
from .background_compile import CompileMode, InterpretedUntilCompiled, prepared
from .kernel import entry
from .linalg import Matrix

Check = Literal["error", "warn", "off"]
SLACK = 1.0 + 1e-9  # the computed norm of an arm of norm L may exceed L by rounding


class LongArmWarning(UserWarning):
    """An arm is longer than L: the radius, and with it every guarantee, assumes ‖x‖ ≤ L."""


@entry(strict=True, brief=True)
def largest_square(arms: Matrix) -> float:
    """max ‖x_a‖² over arms (m, d, n); NaN or infinite if any feature is."""
    worst = 0.0
    for t in range(arms.shape[0]):
        for a in range(arms.shape[2]):
            square = 0.0
            for i in range(arms.shape[1]):
                square += arms[t, i, a] * arms[t, i, a]
            if not square <= worst:  # true for NaN
                if not square < np.inf:
                    return square
                worst = square
    return worst


def _by_numpy(arms: Matrix) -> float:
    """`largest_square` by NumPy, used until the compiled one is available; it takes five microseconds and detects the same errors."""
    with np.errstate(all="ignore"):
        return float(np.max(np.einsum("tia,tia->ta", arms, arms), initial=0.0))


_measure: Callable[[Matrix], float] = _by_numpy


def prepare(how: CompileMode) -> None:
    """Load or compile the function that checks arms."""
    if _measure is not _by_numpy or how == "never":
        return
    code = prepared(largest_square, (np.zeros((1, 1, 1)),), how, _install)
    if isinstance(code, InterpretedUntilCompiled):
        code.python = _by_numpy
    _install(code)


def _install(code: Callable[[Matrix], float]) -> None:
    global _measure
    _measure = code


def check_arms(arms: Matrix, L: float, check: Check) -> None:
    """Raise if arms (m, d, n) are not finite; raise or warn, as `check` says, if an arm is longer than L."""
    if check not in ("error", "warn", "off"):
        raise InvalidValue(f"check = {check!r} is not allowed; it must be 'error', 'warn' or 'off'")
    square = _measure(np.ascontiguousarray(arms))
    if not math.isfinite(square):
        if np.isfinite(arms).all():
            raise InvalidValue("an arm is so long that the square of its norm overflows; rescale the arms")
        raise InvalidValue("arms contains NaN or infinity; every feature must be finite")
    if check != "off" and square > (L * SLACK) ** 2:
        message = f"an arm has norm {math.sqrt(square):.6g} > L = {L:.6g}; the radius assumes ‖x‖ ≤ L: raise L, or rescale the arms"
        if check == "error":
            raise InvalidValue(message + " (check='warn' or 'off' accepts it)")
        warnings.warn(message, LongArmWarning, stacklevel=3)


def check_same_arms(first: Matrix | None, arms: Matrix, strategy: str) -> Matrix:
    """The arms (d, n) of round 1; raises if the set of arms has changed. The order of the arms does not matter."""
    if first is None:
        return arms.copy()
    if not (np.array_equal(first, arms) or np.array_equal(_in_order(first), _in_order(arms))):
        raise InvalidValue(
            f"the arms on offer are not those of round 1; the change detection of {strategy} compares rounds with the same "
            "arms (check='off' skips this check)"
        )
    return first


def _in_order(arms: Matrix) -> Matrix:
    return arms[:, np.lexsort(arms)]


def as_numbers(name: str, given: Any) -> Matrix:
    """User input as an array of floats; raises for strings, complex numbers, objects and ragged lists."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        raise InvalidShape(f"{name} has rows of different lengths; it must be an array of numbers") from None
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InvalidValue(
            f"{name} has masked entries; every entry must be a number: leave out arms that are not on offer"
        )
    kind = array.dtype.kind
    if kind == "f" or kind in "iub":
        return array.astype(np.float64, copy=False)
    what = {"c": "complex numbers", "O": "objects", "U": "strings", "S": "strings"}.get(kind, str(array.dtype))
    if hasattr(given, "toarray"):
        raise InvalidValue(f"{name} is sparse; it must be an array of real numbers: give {name}.toarray()")
    raise InvalidValue(f"{name} holds {what}; it must be an array of real numbers")


def as_offer(arms: Any, dim: int) -> Matrix:
    """Arms (n, d) of a user as a contiguous (d, n) array."""
    offer = np.ascontiguousarray(as_numbers("arms", arms).T)
    if offer.ndim != 2 or offer.shape[0] != dim or offer.shape[1] == 0:
        raise InvalidShape(
            f"arms has shape {np.shape(arms)}; it must be (n, {dim}) with n ≥ 1: one row of {dim} features per arm"
        )
    return offer
