r"""The weighted quasi-maximum-likelihood estimator of generalized linear and self-concordant bandits (paper, Section 4).

    λc_μ·θ̂ + Σ_{s≤t} w_{t,s}(μ(x_sᵀθ̂) − r_s)x_s = 0,      θ̃ = θ̂ projected onto ‖θ‖ ≤ S,      V_t = λI + Σ w_{t,s} x_s x_sᵀ

θ̂ is computed by damped Newton steps from the last θ̂, with a certified error; then the projection, a part of its own, is applied. The
sums of `sums.likelihood` keep the past.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector, cholesky
from ..core.parts import Model
from ..core.state import counters
from ..errors import positive
from ..links import mu
from ..protocol import Integers, Setting, blank_estimate, blank_sums, estimate, mean, report, wants_squares
from ..sums.likelihood import Atoms, NewtonWork, blank_atoms, blank_newton_work, newton
from .descent import DescentWork, blank_descent_work
from .projection import project


class Generalized(Model):
    """Rewards with mean μ(xᵀθ): regulariser λc_μ, arms of norm ≤ L, and a projection onto the ball ‖θ‖ ≤ S.

    With `online` = 1 an agent estimates in one pass instead (`model.OnePassMean`). An agent may be offered other arms in every call, and
    with changing arms the exact estimator must keep every observation of noticeable weight.
    """

    link: Any
    lam: float
    c_mu: float
    L: float
    projection: Any
    online: float = 0.0

    def check(self) -> None:
        """The likelihood must be strongly convex."""
        positive("lam", self.lam, "V = λI must be invertible in round 1")
        positive("c_mu", self.c_mu, "it is the smallest slope of an increasing link")
        positive("L", self.L, "it bounds the norm of every arm")


class Tally(NamedTuple):
    """Counters of estimations and projections so far, each (1,)."""

    estimates: Vector
    evaluations: Vector
    projections: Vector
    second_steps: Vector
    projected: Vector  # 1 if the last estimate was projected, else 0


class GeneralizedEstimate(NamedTuple):
    """θ̃, by which the rule scores arms, the factors of V and Ṽ, and θ̂."""

    theta: Vector  # (d,)    θ̃
    factor: Matrix  # (d, d)  of V
    factor2: Matrix  # (d, d)  of Ṽ, or (0, 0) where no part asks for it
    hat: Vector  # (d,)    θ̂
    newton: NewtonWork
    descent: DescentWork
    tally: Tally
    horizon: Integers  # (1,)    T, or 0


@blank_sums.register(Generalized)
def _(model: Generalized, setting: Setting, room: int, squares: bool) -> Atoms:
    return blank_atoms(setting, room, squares or wants_squares(model.projection))


@blank_estimate.register(Generalized)
def _(model: Generalized, setting: Setting, squares: bool) -> GeneralizedEstimate:
    d = setting.dim
    d2 = d if squares or wants_squares(model.projection) else 0
    return GeneralizedEstimate(
        theta=np.zeros(d),
        factor=np.zeros((d, d)),
        factor2=np.zeros((d2, d2)),
        hat=np.zeros(d),
        newton=blank_newton_work(d),
        descent=blank_descent_work(d),
        tally=counters(Tally, float),
        horizon=np.full(1, setting.horizon, np.int64),
    )


@estimate.register(Generalized)
def _(model: Generalized, sums: Atoms, est: GeneralizedEstimate) -> None:
    cholesky(sums.A, model.lam, est.factor)
    # A factor (0, 0) where no part asks for Ṽ: `cholesky` of an empty matrix does nothing.
    cholesky(sums.A2, model.lam, est.factor2)
    est.tally.estimates[0] += 1.0
    # Warm start: the last θ̂ is one observation away, so a few Newton steps suffice.
    est.tally.evaluations[0] += newton(model.link, sums, model.lam * model.c_mu, sums.b, model.L, est.hat, est.newton)
    project(model.projection, model, sums, est)


@mean.register(Generalized)
def _(model: Generalized, z: float) -> float:
    return mu(model.link, z)


@report.register(Generalized)
def _(model: Generalized, est: GeneralizedEstimate) -> dict[str, Any]:
    rounds = max(float(est.tally.estimates[0]), 1.0)
    return {
        "evaluations": float(est.tally.evaluations[0]) / rounds,
        "projected": float(est.tally.projections[0]) / rounds,
        "second_steps": float(est.tally.second_steps[0]) / rounds,
    }
