"""Thompson sampling for discounted linear bandits (D-LinTS; Kim and Tewari 2020).

θ̃ = θ̂ + β·V⁻¹Ṽ^{1/2}z,  z ~ N(0, I);   play argmax xᵀθ̃;   the first d decisions are uniformly random
"""

from typing import Any, NamedTuple

import numpy as np

from ..kernel import part
from ..linalg import Matrix, Vector, inner_products, solve
from ..protocol import Setting, anticipate, choose, index, mean, prepare, renew, wants_squares, workspace
from .ties import best_arm


@part
class ThompsonSampling(NamedTuple):
    """A parameter drawn around the estimate."""


class PosteriorWork(NamedTuple):
    """Workspace of Thompson sampling."""

    value: Vector  # (1,) index of the last choice
    theta: Vector  # (d,) the drawn parameter θ̃
    z: Vector  # (d,)
    decisions: Vector  # (1,) drawn so far


@wants_squares.register(ThompsonSampling)
def _(rule: ThompsonSampling) -> bool:
    return True


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
        s = work.z[i] / est.factor2[i, i]
        for j in range(i):
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
