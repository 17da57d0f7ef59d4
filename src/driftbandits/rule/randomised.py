"""Randomised exploration for discounted linear bandits (Kim and Tewari 2020).

`RandomisedBonus`   D-RandLinUCB: score xᵀθ̂ + a·Z·β·‖x‖_{V⁻¹ṼV⁻¹}, one Z ~ N(0, 1) a round, shared by all arms; |Z| if optimistic
`ThompsonSampling`  D-LinTS: θ̃ = θ̂ + β·V⁻¹Ṽ^{1/2}z with z ~ N(0, I), score xᵀθ̃; the first d decisions are uniformly random
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import require
from ..kernel import part
from ..linalg import Matrix, Vector, inner_products, quadratic_forms, solve
from ..protocol import Setting, anticipate, choose, index, mean, prepare, renew, wants_squares, workspace
from .bonus import quadratic_form, sandwich
from .ties import best_arm
from .width import (
    WidthWork,
    carry_bounds,
    choose_widest,
    cross_widths,
    score_all,
    squared_width,
    squared_widths,
    width_workspace,
)


@part
class RandomisedBonus(NamedTuple):
    """A bonus multiplied by a·Z, or by a·|Z| if optimistic = 1."""

    a: float = 1.0
    optimistic: float = 0.0

    def check(self) -> None:
        """The factor of the bonus is a scale."""
        require(self.a >= 0.0, "a", self.a, "≥ 0", "it scales a symmetric perturbation")


@part
class ThompsonSampling(NamedTuple):
    """A parameter drawn around the estimate."""


class PosteriorWork(NamedTuple):
    """Workspace of Thompson sampling."""

    value: Vector  # (1,) index of the last choice
    theta: Vector  # (d,) the drawn parameter θ̃
    z: Vector  # (d,)
    decisions: Vector  # (1,) drawn so far


@wants_squares.register(RandomisedBonus, ThompsonSampling)
def _(rule: Any) -> bool:
    return True


# ----------------------------------------------------------------------------------------------------------- D-RandLinUCB


@workspace.register(RandomisedBonus)
def _(rule: RandomisedBonus, setting: Setting) -> WidthWork:
    return width_workspace(setting, metric=True)


@anticipate.register(RandomisedBonus)
def _(rule: RandomisedBonus, est: Any, work: WidthWork, x: Vector) -> None:
    cross_widths(est, work, x)


@prepare.register(RandomisedBonus)
def _(rule: RandomisedBonus, model: Any, sums: Any, est: Any, work: WidthWork, g: float) -> None:
    carry_bounds(model.lam, est, work, g)
    sandwich(est.factor, est.factor2, work.root, work.metric)


@renew.register(RandomisedBonus)
def _(rule: RandomisedBonus, est: Any, width: float, work: WidthWork, rng: np.random.Generator) -> None:
    z = rng.standard_normal()
    work.noise[0] = rule.a * (abs(z) if rule.optimistic else z)


@choose.register(RandomisedBonus)
def _(
    rule: Any,
    model: Any,
    sums: Any,
    est: Any,
    width: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    return choose_widest(rule, model, est, width * work.noise[0], work, arms, score, rng)


@index.register(RandomisedBonus)
def _(rule: Any, model: Any, sums: Any, est: Any, width: float, work: WidthWork, arms: Matrix, score: Vector) -> None:
    score_all(rule, model, est, width * work.noise[0], work, arms, score)


@squared_widths.register(RandomisedBonus)
def _(rule: RandomisedBonus, est: Any, work: WidthWork, arms: Matrix, first: int, m: int) -> None:
    quadratic_forms(arms, first, m, work.metric, work.Z, work.q)


@squared_width.register(RandomisedBonus)
def _(rule: RandomisedBonus, est: Any, work: WidthWork, x: Vector, inverse: float) -> float:
    return quadratic_form(work.metric, x)


# ---------------------------------------------------------------------------------------------------------------- D-LinTS


@workspace.register(ThompsonSampling)
def _(rule: ThompsonSampling, setting: Setting) -> PosteriorWork:
    return PosteriorWork(value=np.zeros(1), theta=np.zeros(setting.dim), z=np.zeros(setting.dim), decisions=np.zeros(1))


@anticipate.register(ThompsonSampling)
def _(rule: ThompsonSampling, est: Any, work: PosteriorWork, x: Vector) -> None:
    pass


@prepare.register(ThompsonSampling)
def _(rule: ThompsonSampling, model: Any, sums: Any, est: Any, work: PosteriorWork, g: float) -> None:
    pass


@renew.register(ThompsonSampling)
def _(rule: ThompsonSampling, est: Any, width: float, work: PosteriorWork, rng: np.random.Generator) -> None:
    d = est.theta.shape[0]
    work.decisions[0] += 1.0
    if work.decisions[0] <= d:  # θ̃ = 0: all arms tie, so the choice is uniform
        for i in range(d):
            work.theta[i] = 0.0
        return
    for i in range(d):
        work.z[i] = rng.standard_normal()
    for i in range(d):  # θ̃ = θ̂ + β·V⁻¹Ũᵀz with Ṽ = ŨᵀŨ; Ũᵀz and Ṽ^{1/2}z have the same law
        s = 0.0
        for j in range(i + 1):
            s += est.factor2[j, i] * work.z[j]
        work.theta[i] = width * s
    solve(est.factor, work.theta, work.theta)
    for i in range(d):
        work.theta[i] += est.theta[i]


@choose.register(ThompsonSampling)
def _(
    rule: Any,
    model: Any,
    sums: Any,
    est: Any,
    width: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    inner_products(arms, work.theta, score)
    k = best_arm(score, rng)
    work.value[0] = mean(model, score[k])
    return k


@index.register(ThompsonSampling)
def _(
    rule: Any, model: Any, sums: Any, est: Any, width: float, work: PosteriorWork, arms: Matrix, score: Vector
) -> None:
    inner_products(arms, work.theta, score)
    for a in range(score.shape[0]):
        score[a] = mean(model, score[a])
