"""Optimism in the face of uncertainty: play argmax mean(xᵀθ̂) + β·‖x‖.

`Bonus`            ‖x‖_{V⁻¹}, one matrix (LB-WeightUCB, OFUL, …; paper, Algorithm 1, line 3)
`SandwichBonus`    ‖x‖_{V⁻¹ṼV⁻¹}, two matrices (D-LinUCB; Russac et al. 2019); never larger, since Ṽ ⪯ V
`WideSandwich`     the same norm where Ṽ may exceed V, so that bounds in V⁻¹ do not apply and every arm is scored
`RandomisedBonus`  the sandwich bonus times a·Z, with one Z ~ N(0, 1) per round for all arms (D-RandLinUCB; Kim and Tewari 2020)
"""

from typing import Any

import numpy as np

from ..core.kernel import kernel
from ..core.linalg import Matrix, Vector, inverse_norms, quadratic_forms, row_of_factor, solve
from ..core.parts import Rule
from ..errors import require
from ..protocol import Setting, anticipate, blank_work, choose, gained, index, prepare, renew, wants_squares
from .width import (
    WidthWork,
    blank_width_work,
    carry_bounds,
    choose_widest,
    cross_widths,
    score_all,
    squared_width,
    squared_widths,
)


class Bonus(Rule):
    """Optimism in the norm V⁻¹."""


class SandwichBonus(Rule):
    """Optimism in the norm V⁻¹ṼV⁻¹, where Ṽ has the squared weights."""


class WideSandwich(Rule):
    """Optimism in the norm V⁻¹ṼV⁻¹ for any Ṽ; every arm is scored in every round."""


class RandomisedBonus(Rule):
    """A sandwich bonus multiplied by a·Z, or by a·|Z| if optimistic = 1."""

    a: float = 1.0
    optimistic: float = 0.0

    def check(self) -> None:
        """The scale a must not be negative."""
        require(self.a >= 0.0, "a", self.a, "≥ 0", "it scales a symmetric perturbation")


@wants_squares.register(SandwichBonus, WideSandwich, RandomisedBonus)
def _(rule: Any) -> bool:
    return True


@blank_work.register(Bonus)
def _(rule: Bonus, setting: Setting) -> WidthWork:
    return blank_width_work(setting, metric=False)


@blank_work.register(SandwichBonus, RandomisedBonus)
def _(rule: Any, setting: Setting) -> WidthWork:
    return blank_width_work(setting, metric=True)


@blank_work.register(WideSandwich)
def _(rule: WideSandwich, setting: Setting) -> WidthWork:
    # Lazy scoring bounds widths by ‖x‖_{V⁻¹}, which is not an upper bound here; without fixed arms every arm is scored.
    unknown = setting._replace(arms=np.zeros((setting.dim, 0)))
    return blank_width_work(unknown, metric=True)


@anticipate.register(Bonus, SandwichBonus, RandomisedBonus)
def _(rule: Any, est: Any, work: WidthWork, x: Vector) -> None:
    cross_widths(est, work, x)


@prepare.register(Bonus)
def _(rule: Bonus, model: Any, sums: Any, est: Any, work: WidthWork, g: float) -> None:
    carry_bounds(model.lam, gained(sums), est, work, g)


@prepare.register(SandwichBonus, WideSandwich, RandomisedBonus)
def _(rule: Any, model: Any, sums: Any, est: Any, work: WidthWork, g: float) -> None:
    carry_bounds(model.lam, gained(sums), est, work, g)
    sandwich(est.factor, est.factor2, work.root, work.metric)


@renew.register(RandomisedBonus)
def _(rule: RandomisedBonus, est: Any, beta: float, work: WidthWork, rng: np.random.Generator) -> None:
    z = rng.standard_normal()
    work.noise[0] = rule.a * (abs(z) if rule.optimistic else z)


@choose.register(Bonus, SandwichBonus, WideSandwich, RandomisedBonus)
def _(
    rule: Any,
    model: Any,
    sums: Any,
    est: Any,
    beta: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    return choose_widest(rule, model, est, beta * work.noise[0], work, arms, score, rng)


@index.register(Bonus, SandwichBonus, WideSandwich, RandomisedBonus)
def _(rule: Any, model: Any, sums: Any, est: Any, beta: float, work: WidthWork, arms: Matrix, score: Vector) -> None:
    score_all(rule, model, est, beta * work.noise[0], work, arms, score)


@squared_widths.register(Bonus)
def _(rule: Bonus, est: Any, work: WidthWork, arms: Matrix, first: int, m: int) -> None:
    inverse_norms(arms, first, m, est.factor, work.Z, work.q)


@squared_width.register(Bonus)
def _(rule: Bonus, est: Any, work: WidthWork, x: Vector, inverse: float) -> float:
    return inverse


@squared_widths.register(SandwichBonus, WideSandwich, RandomisedBonus)
def _(rule: Any, est: Any, work: WidthWork, arms: Matrix, first: int, m: int) -> None:
    quadratic_forms(arms, first, m, work.metric, work.Z, work.q)


@squared_width.register(SandwichBonus, WideSandwich, RandomisedBonus)
def _(rule: Any, est: Any, work: WidthWork, x: Vector, inverse: float) -> float:
    return quadratic_form(work.metric, x)


@kernel
def quadratic_form(M: Matrix, x: Vector) -> float:
    """xᵀMx."""
    total = 0.0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[0]):
            s += M[i, j] * x[j]
        total += s * x[i]
    return total


@kernel
def sandwich(factor: Matrix, factor2: Matrix, B: Matrix, M: Matrix) -> None:
    """M = V⁻¹ṼV⁻¹ = BᵀB with Ṽ = ŨᵀŨ and B = ŨV⁻¹, whose row i is V⁻¹ times row i of Ũ."""
    d = factor.shape[0]
    for i in range(d):
        row_of_factor(factor2, i, B[i])
        solve(factor, B[i], B[i])
    for i in range(d):
        for j in range(d):
            M[i, j] = 0.0
        for k in range(d):
            c = B[k, i]
            for j in range(d):
                M[i, j] += c * B[k, j]
