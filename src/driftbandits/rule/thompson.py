"""Thompson sampling for discounted linear bandits (D-LinTS; Kim and Tewari 2020).

θ̃ = θ̂ + β·V⁻¹Ṽ^{1/2}z,  z ~ N(0, I);   play argmax xᵀθ̃;   without a prior, the first d decisions are uniformly random
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector, inner_products, solve
from ..core.parts import Rule
from ..protocol import Setting, blank_work, index, merit, renew, wants_squares


class ThompsonSampling(Rule):
    """Plays the best arm for a parameter drawn around the estimate; `uniform` = 0 omits the d uniformly random decisions at first."""

    uniform: float = 1.0


class PosteriorWork(NamedTuple):
    """Workspace of Thompson sampling."""

    value: Vector  # (1,) index of the last choice
    theta: Vector  # (d,) the drawn parameter θ̃
    z: Vector  # (d,)
    decisions: Vector  # (1,) decisions so far


@wants_squares.register(ThompsonSampling)
def _(rule: ThompsonSampling) -> bool:
    return True


@blank_work.register(ThompsonSampling)
def _(rule: ThompsonSampling, setting: Setting) -> PosteriorWork:
    return PosteriorWork(value=np.zeros(1), theta=np.zeros(setting.dim), z=np.zeros(setting.dim), decisions=np.zeros(1))


@renew.register(ThompsonSampling)
def _(rule: ThompsonSampling, est: Any, beta: float, work: PosteriorWork, rng: np.random.Generator) -> None:
    d = est.theta.shape[0]
    work.decisions[0] += 1.0
    if rule.uniform and work.decisions[0] <= d:  # θ̃ = 0: all arms tie, so the choice is uniform
        for i in range(d):
            work.theta[i] = 0.0
        return
    for i in range(d):
        work.z[i] = rng.standard_normal()
    for i in range(d):  # θ̃ = θ̂ + β·V⁻¹Ũᵀz with Ṽ = ŨᵀŨ; Ũᵀz and Ṽ^{1/2}z have the same law
        s = work.z[i] / est.factor2[i, i]
        for j in range(i):
            s += est.factor2[j, i] * work.z[j]
        work.theta[i] = beta * s
    solve(est.factor, work.theta, work.theta)
    for i in range(d):
        work.theta[i] += est.theta[i]


@index.register(ThompsonSampling)
def _(
    rule: Any, model: Any, sums: Any, est: Any, beta: float, work: PosteriorWork, arms: Matrix, score: Vector
) -> None:
    inner_products(arms, work.theta, score)
    for a in range(score.shape[0]):
        score[a] = merit(model, score[a])
