"""The errors of this package. Every message is one sentence that says what was given, what is allowed, and why."""

import math
from typing import Any

import numpy as np

__all__ = [
    "CannotRead",
    "CannotWrite",
    "DriftBanditsError",
    "InvalidShape",
    "InvalidState",
    "InvalidValue",
    "NoMethod",
    "NumericalError",
    "ReadOnly",
    "UnsafeCache",
]


LONGEST = 1000  # characters of a message


class DriftBanditsError(Exception):
    """Base of all errors this library raises on purpose. The message is one line, whatever was given."""

    def __init__(self, *args: Any) -> None:
        if args and isinstance(args[0], str) and ("\n" in args[0] or len(args[0]) > LONGEST):
            args = (one_line(args[0], LONGEST), *args[1:])
        super().__init__(*args)


def one_line(text: str, most: int) -> str:
    """A text on one line, its middle left out if it has more than so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most // 2]} … {line[-most // 2 :]}"


def said(value: Any) -> str:
    """A value as a message shows it: on one line, not too long, and whatever its own `repr` does.

    Examples
    --------
    >>> said([1, 2]), said(10**5000)
    ('[1, 2]', 'a value of type int')
    """
    try:
        return one_line(repr(value), 200)
    except Exception:
        return f"a value of type {type(value).__name__}"


class InvalidValue(DriftBanditsError, ValueError):
    """An argument has a value that is not allowed."""


class InvalidShape(DriftBanditsError, ValueError):
    """An array has the wrong number of axes, rows or columns."""


class InvalidState(DriftBanditsError, RuntimeError):
    """A call came at the wrong moment, e.g. `update` before `select`."""


class ReadOnly(DriftBanditsError, AttributeError):
    """An attribute that is set once was set again."""


class NoMethod(DriftBanditsError, TypeError):
    """An open function was called on a part it has no method for."""


class UnsafeCache(DriftBanditsError, PermissionError):
    """Another user could have put code into the cache folder, and loading it would run that code."""


class CannotWrite(DriftBanditsError, OSError):
    """A file could not be written. The file on disk is intact: it has the old content or, if only the last step failed, the new one."""

    def __init__(self, path: str, problem: OSError) -> None:
        reason = problem.strerror or str(problem)
        self.message = f"{path} cannot be written: {reason[:1].lower()}{reason[1:]}"
        super().__init__(self.message)
        self.errno, self.filename = problem.errno, path

    def __str__(self) -> str:
        return self.message  # not OSError's "[Errno 28] …"


class CannotRead(DriftBanditsError, ValueError):
    """A file is damaged, of another kind, or of a later version; nothing of it was loaded."""


class NumericalError(DriftBanditsError, ArithmeticError):
    """A number that should be finite is not. The call that led to it was undone, or the message says what to do."""


def require(holds: bool, name: str, given: Any, allowed: str, why: str) -> None:
    """Raise `InvalidValue` in one line unless the condition holds.

    Examples
    --------
    >>> require(False, "gamma", 1.5, "in (0, 1]", "weights of the past must not grow")
    Traceback (most recent call last):
    ...
    driftbandits.errors.InvalidValue: gamma = 1.5 is not allowed; it must be in (0, 1]: weights of the past must not grow
    """
    if not holds:
        raise InvalidValue(f"{name} = {said(given)} is not allowed; it must be {allowed}: {why}")


def positive(name: str, value: float, why: str) -> float:
    """Coerce to a finite float > 0, or raise `InvalidValue`."""
    number = real(name, value)
    require(number > 0.0, name, value, "> 0", why)
    return number


def real(name: str, value: Any) -> float:
    """Coerce to a finite float, or raise `InvalidValue`."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, str | bytes):
        raise InvalidValue(f"{name} = {said(value)} is a text; it must be a number")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidValue(
            f"{name} is a whole number of more than 300 digits, which does not fit a floating-point number"
        ) from None
    except Exception:  # whatever the object makes of being asked for a number
        raise InvalidValue(f"{name} = {said(value)} is not a number") from None
    if not math.isfinite(number):
        require(False, name, value, "finite", "nothing can be computed with NaN or infinity")
    return number


def probability(name: str, value: float) -> float:
    """Coerce to a float in (0, 1), or raise `InvalidValue`."""
    number = real(name, value)
    require(0.0 < number < 1.0, name, value, "in (0, 1)", "it is a probability of failure")
    return number


def flag(name: str, value: Any) -> bool:
    """True or False, NumPy's included; nothing else is taken for one of them.

    Examples
    --------
    >>> flag("defer", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidValue(f"{name} = {said(value)} is not allowed; it must be True or False")
    return bool(value)


def integer(name: str, value: Any, *, least: int, why: str) -> int:
    """Coerce to an int ≥ least without rounding, or raise `InvalidValue`.

    Examples
    --------
    >>> integer("seed", 2**60 + 1, least=0, why="it starts a generator") - 2**60
    1
    """
    if isinstance(value, int | np.integer) and not isinstance(
        value, bool
    ):  # no detour by float, which rounds above 2⁵³
        require(int(value) >= least, name, value, f"a whole number ≥ {least}", why)
        return int(value)
    number = real(name, value)
    require(number == int(number) and number >= least, name, value, f"a whole number ≥ {least}", why)
    return int(number)
