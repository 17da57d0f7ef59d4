"""Claims tested on the trials.

    left < right        factor·left is less than right: in the mean, and by a paired one-sided t-test over trials at 5 %
                        (times have outliers: there the medians are compared, and the test is the sign test)
    left about right    the two differ by at most `tolerance` of the right one: two such tests, one on each side

A claim about several strategies, or several environments, is one about every pair, and holds if all of them do; its
margin is the smallest. The margin is relative: 0.2 says that factor·left is 20 % below the right (or, for `about`, that
20 % of the right remain of the tolerance). It is positive if the means agree with the claim. With a single trial there
is no test, and the means decide alone.

There are three verdicts. A claim *holds* if the trials show it, *fails* if they show its contrary by the same kind of test, and is
*undecided* if they show neither. The contrary of a claim about several pairs is that one of them is wrong (Bonferroni over the pairs).
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..spec.schema import Claim
from .panel_results import LEVEL, Curve, Verdict
from .statistics import exponents, p_less, p_sign


@dataclass(frozen=True)
class Comparison:
    """One pair of a claim."""

    holds: bool
    margin: float
    p: float
    contrary: float  # p-value of the claim itself: small if the trials show that it is wrong
    detail: str


def judge(claim: Claim, curves: list[Curve], environments: list[str], x: dict[str, float], group: list[str]) -> Verdict:
    """Test a claim in these environments.

    For a claim about an exponent, `group` are the environments on its axis and `x` their abscissas.
    """
    comparisons = []
    if claim.quantity == "exponent":
        for name in claim.left:
            final = [_curve(curves, name, e).final for e in group]
            slopes = exponents([x[e] for e in group], np.column_stack(final))
            comparisons.append(compare(claim, name, slopes, f"{claim.value:g}", np.full(len(slopes), _number(claim))))
    else:
        for place in environments:
            for left, right in itertools.product(claim.left, claim.others or ("",)):
                a = _values(claim, curves, left, place)
                b = _values(claim, curves, right, place) if right else np.full(len(a), _number(claim))
                comparisons.append(compare(claim, left, a, right or f"{claim.value:g}", b))
    worst = min(comparisons, key=lambda c: (c.holds, c.margin))
    return Verdict(
        claim=claim.text,
        holds=all(c.holds for c in comparisons),
        margin=min(c.margin for c in comparisons),
        p=max(c.p for c in comparisons),
        contrary=_any_of([c.contrary for c in comparisons]),
        detail=worst.detail if len(comparisons) == 1 else f"{len(comparisons)} comparisons; closest: {worst.detail}",
        source=claim.source,
    )


def compare(claim: Claim, left: str, a: NDArray[np.float64], right: str, b: NDArray[np.float64]) -> Comparison:
    """Test one pair, trial by trial."""
    centre, test = (np.median, p_sign) if claim.quantity == "time" else (np.mean, p_less)
    mean_a, mean_b = float(centre(a)), float(centre(b))
    unit = {"regret": "", "time": " µs", "exponent": ""}[claim.quantity]
    numbers = (
        f"{left} {mean_a:.4g}{unit} {{}} {right} {mean_b:.4g}{unit}"
        if left and right != f"{mean_b:g}"
        else f"{left} {mean_a:.4g}{unit} {{}} {mean_b:.4g}"
    )
    if claim.relation == "about":
        margin = claim.tolerance - _relative(abs(mean_a - mean_b), mean_b)
        most, least = (1.0 + claim.tolerance) * b, (1.0 - claim.tolerance) * b
        p = max(test(a, most), test(least, a))
        contrary = _any_of([test(most, a), test(a, least)])
        sign = "≈" if margin > 0.0 else "≠"
    else:
        margin = _relative(mean_b - claim.factor * mean_a, mean_b)
        p, contrary = test(claim.factor * a, b), test(b, claim.factor * a)
        sign = "<" if mean_a < mean_b else ">"
    holds = margin > 0.0 and (math.isnan(p) or p < LEVEL)
    detail = numbers.format(sign)
    if claim.factor != 1.0:
        detail += f", a factor of {_relative(mean_b, mean_a):.2f}"
    return Comparison(bool(holds), margin, p, contrary, detail)


def _any_of(p_values: list[float]) -> float:
    """The p-value of "one of these is true" (Bonferroni); NaN if there is none."""
    return math.nan if any(map(math.isnan, p_values)) else min(1.0, len(p_values) * min(p_values))


def _number(claim: Claim) -> float:
    return math.nan if claim.value is None else claim.value


def _relative(part: float, whole: float) -> float:
    """Part / |whole|; where the whole is 0, infinity, or 0 if the part is 0 too."""
    if whole == 0.0:
        return math.copysign(math.inf, part) if part else 0.0
    return part / abs(whole)


def _values(claim: Claim, curves: list[Curve], name: str, place: str) -> NDArray[np.float64]:
    strategy, _, other = name.partition(" @ ")
    curve = _curve(curves, strategy, other or place)
    return curve.microseconds if claim.quantity == "time" else curve.final


def _curve(curves: list[Curve], strategy: str, environment: str) -> Curve:
    for curve in curves:
        if curve.strategy == strategy and curve.environment == environment:
            return curve
    raise KeyError(strategy)
