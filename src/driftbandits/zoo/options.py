"""Options that many algorithms share."""

from typing import Any, Literal

from ..errors import InvalidValue, positive
from ..radius import SelfNormalised, SelfNormalisedDet

RadiusForm = Literal["trace", "det"]


def discount(gamma: float | None, half_life: float | None) -> float:
    """γ from exactly one of γ and the half-life in rounds: γ = 2^(−1/half_life)."""
    if (gamma is None) == (half_life is None):
        given = "neither" if gamma is None else f"both gamma = {gamma!r} and half_life = {half_life!r}"
        raise InvalidValue(f"give either gamma or half_life, they say the same thing; {given} given")
    if half_life is not None:
        return float(2.0 ** (-1.0 / positive("half_life", half_life, "it is a number of rounds")))
    assert gamma is not None
    return gamma


def self_normalised(form: str) -> Any:
    """The radius class of that name."""
    forms = {"trace": SelfNormalised, "det": SelfNormalisedDet}
    if form not in forms:
        raise InvalidValue(f"radius = {form!r} is not allowed; it must be 'trace' (as printed) or 'det' (never larger)")
    return forms[form]


def counts_squares(radius_n: str) -> bool:
    """Does the radius count Σw² in place of Σw?"""
    if radius_n not in ("w", "w2"):
        raise InvalidValue(f"radius_n = {radius_n!r} is not allowed; it must be 'w' (as printed) or 'w2' (smaller)")
    return radius_n == "w2"
