r"""Optimism in the local norm: the bonus follows the slope of the link where the arm lies (Logistic-UCB-2; Faury et al. 2020).

    play argmax μ(xᵀθ̃) + w·μ′(xᵀθ̃)·‖x‖_{H⁻¹(θ̃)} + ½k·w²·‖x‖²_{H⁻¹(θ̃)},     w = (2+4LS)β̃

Why it is an upper bound. θ and θ̃ lie in the ball and ‖g(·) − g(θ̂)‖_{H⁻¹(·)} ≤ β̃ at both. Self-concordance gives G ⪰ H/(1+2LS) for the
mean Hessian G between them, at either end, so

    ‖θ−θ̃‖_{H(θ̃)} ≤ √(1+2LS)·‖g(θ)−g(θ̃)‖_{G⁻¹} ≤ (1+2LS)·(β̃ + β̃) = w,

and Taylor's formula with |μ″| ≤ μ′ ≤ k ends the proof. Only the last term, of second order, does not follow the slope.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import divide_by, factor_of
from ..core.kernel import sqrt
from ..core.linalg import Matrix, Vector, dot
from ..core.parts import Rule
from ..errors import positive
from ..links import dmu, mu
from ..protocol import Setting, blank_work, index, prepare
from ..sums.likelihood import evaluate


class LocalBonus(Rule):
    """Optimism in the norm H⁻¹(θ̃); k bounds |μ″|."""

    k: float

    def check(self) -> None:
        """The bound on the curvature."""
        positive("k", self.k, "it bounds the second derivative of the link")


class LocalWork(NamedTuple):
    """Workspace."""

    value: Vector  # (1,)    index of the last choice
    factor: Matrix  # (d, d)  of H(θ̃)
    x: Vector  # (d,)
    y: Vector  # (d,)


@blank_work.register(LocalBonus)
def _(rule: LocalBonus, setting: Setting) -> LocalWork:
    d = setting.dim
    return LocalWork(value=np.zeros(1), factor=np.zeros((d, d)), x=np.zeros(d), y=np.zeros(d))


@prepare.register(LocalBonus)
def _(rule: LocalBonus, model: Any, sums: Any, est: Any, work: LocalWork, g: float) -> None:
    new = est.newton
    evaluate(model.link, sums, model.lam * model.c_mu, sums.b, est.theta, new.u, new.H)
    factor_of(new.H, 0.0, work.factor)


@index.register(LocalBonus)
def _(
    rule: LocalBonus, model: Any, sums: Any, est: Any, beta: float, work: LocalWork, arms: Matrix, score: Vector
) -> None:
    for a in range(arms.shape[1]):
        for i in range(work.x.shape[0]):
            work.x[i] = arms[i, a]
        divide_by(work.factor, work.x, work.y)
        z, width = dot(work.x, est.theta), beta * sqrt(dot(work.x, work.y))
        score[a] = mu(model.link, z) + dmu(model.link, z) * width + 0.5 * rule.k * width * width
