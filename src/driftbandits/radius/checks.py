"""One check for each field of a radius, by its name: λ, S, L, δ mean the same in every lemma."""

from collections.abc import Callable
from typing import Any

from ..errors import positive, probability, require
from .union import check_union

UNIT = "the concentration of self-concordant noise needs ‖x‖ ≤ 1: divide the arms by L, multiply S by it"


def _positive(name: str, why: str) -> Callable[[float], Any]:
    return lambda value: positive(name, value, why)


def _at_least(least: float, name: str, why: str) -> Callable[[float], None]:
    return lambda value: require(value >= least, name, value, f"≥ {least:g}", why)


FIELDS: dict[str, Callable[[float], Any]] = {
    "lam": _positive("lam", "V = λI must be invertible in round 1"),
    "S": _positive("S", "it bounds the norm of θ"),
    "L": _positive("L", "it bounds the norm of every arm"),
    "R": _at_least(0.0, "R", "it is the sub-Gaussian constant of the noise"),
    "sigma": _positive("sigma", "it is the sub-Gaussian constant of the noise"),
    "m": _positive("m", "rewards lie in [0, m]"),
    "k_mu": _positive("k_mu", "it is the largest slope of an increasing link"),
    "delta": lambda value: probability("delta", value),
    "eta": _positive("eta", "it is the size of a step"),
    "phi": _positive("phi", "it is the dispersion of the rewards"),
    "anchor": _positive("anchor", "it is a of aλS²: 1 for the ridge anchor, 4 for the prox anchor"),
    "gamma": lambda value: require(
        0.0 < value < 1.0, "gamma", value, "in (0, 1)", "what lies D rounds back must have faded"
    ),
    "scale": _at_least(0.0, "bonus_scale", "it multiplies the width of an interval; theory is 1"),
    "inflation": _at_least(1.0, "inflation", "it corrects a bound that is too small"),
    "corruption": _at_least(0.0, "corruption", "it is added to the width of an interval"),
    "top": _at_least(0.0, "top", "it is the largest reward, or 0 if there is none"),
    "uniform": check_union,
}


def check_fields(radius: Any) -> None:
    """Refuse constants outside the assumptions of the radius's lemma."""
    for name, value in zip(radius._fields, radius, strict=True):
        if name in FIELDS:
            FIELDS[name](value)


def check_concordant(radius: Any) -> None:
    """The same, and what self-concordant rewards need: 0 < c_μ ≤ k_μ and arms of at most unit length."""
    check_fields(radius)
    slopes = "they are the extreme slopes of an increasing link"
    require(0.0 < radius.c_mu <= radius.k_mu, "c_mu", radius.c_mu, "in (0, k_mu]", slopes)
    require(radius.L <= 1.0, "L", radius.L, "≤ 1", UNIT)
