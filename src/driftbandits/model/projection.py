r"""Projections of θ̂ onto the ball ‖θ‖ ≤ S, with u(θ) = g(θ) − ĝ (paper, eq:GLB-projection, eq:SCB-projection; Faury et al. 2021).

`Unprojected`  θ̃ = θ̂
`FixedMetric`  argmin_{‖θ‖≤S} ‖u(θ)‖_{V⁻¹};   `SquaredMetric`  the same in Ṽ⁻¹                              (GLB-WeightUCB; D-GLUCB)
`LocalMetric`  argmin_{‖θ‖≤S} ‖u(θ)‖_{H⁻¹(θ)}                                                             (SCB-WeightUCB)
`TwoStep`      θ̃ of   min_{‖θ‖≤S, z} ‖V⁻¹z‖₂  s.t.  ‖u(θ) − z‖_{Ṽ⁻¹} ≤ β̄                                (BVD-GLM-UCB)

None of these problems is convex, but ∇½‖u‖²_{M⁻¹} = H·M⁻¹u vanishes only at θ̂, so the minimiser in a fixed metric lies on the sphere. One
descent method solves them all (`descent`). It starts from the last θ̃ if the last round was projected too, and otherwise from Sθ̂/‖θ̂‖ and
from the ball-constrained minimiser of F. The proofs do not need a global minimum, only that ‖u(θ̃)‖ ≤ ‖u(θ_t)‖ in the respective norm;
tests compare with dense grids.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import quadratic_on_ball
from ..core.kernel import generic, kernel, part, solver
from ..core.linalg import Matrix, Vector, dot, norm, row_of_factor, scale, solve, solve_lower, symmetric_product
from ..errors import positive
from ..protocol import anytime, beta, wants_squares
from ..sums.likelihood import Atoms, evaluate, local_distance, newton_on_ball
from .descent import descend, gauss_newton, objective, value_at

S_WHY = "it bounds the norm of θ"


@part
class Unprojected(NamedTuple):
    """θ̃ = θ̂: for rules and radii that allow ‖θ̂‖ > S."""


@part
class FixedMetric(NamedTuple):
    """Projection onto ‖θ‖ ≤ S in the norm V⁻¹."""

    S: float

    def check(self) -> None:
        """The ball must not be empty."""
        positive("S", self.S, S_WHY)


@part
class SquaredMetric(NamedTuple):
    """Projection onto ‖θ‖ ≤ S in the norm Ṽ⁻¹ of the squared weights."""

    S: float

    def check(self) -> None:
        """The ball must not be empty."""
        positive("S", self.S, S_WHY)


@part
class LocalMetric(NamedTuple):
    """Projection onto ‖θ‖ ≤ S in the norm H⁻¹(θ)."""

    S: float

    def check(self) -> None:
        """The ball must not be empty."""
        positive("S", self.S, S_WHY)


@part
class TwoStep(NamedTuple):
    """The parameter selection of BVD-GLM-UCB: `first` is its first step, `confidence` the radius β̄ without the bonus factor."""

    S: float
    first: Any
    confidence: Any

    def check(self) -> None:
        """The ball must not be empty."""
        positive("S", self.S, S_WHY)


@wants_squares.register(Unprojected, FixedMetric, LocalMetric)
def _(kind: Any) -> bool:
    return False


@wants_squares.register(SquaredMetric, TwoStep)
def _(kind: Any) -> bool:
    return True


@generic
def project(kind: Any, model: Any, sums: Atoms, est: Any) -> None:
    """Set est.theta to θ̃, given θ̂ in est.hat."""


# ------------------------------------------------------------------------------------------------------------------- the starts


@kernel
def outside(kind: Any, est: Any) -> bool:
    """Whether θ̂ lies outside the ball and must be projected; if not, this sets θ̃ = θ̂."""
    size = norm(est.hat)
    # A θ̂ inside the ball has distance 0 to itself in every metric: it is its own projection.
    if size <= kind.S:
        for i in range(est.hat.shape[0]):
            est.theta[i] = est.hat[i]
        est.tally.projected[0] = 0.0
        return False
    est.tally.projections[0] += 1.0
    return True


@solver
def descend_from_starts(kind: Any, model: Any, sums: Atoms, est: Any) -> float:
    """Write the best result of the descents from all starting points into est.theta; returns its value."""
    d = est.hat.shape[0]
    w = est.descent
    for i in range(d):
        w.start[i] = est.hat[i] * kind.S / norm(est.hat)
    value = np.inf
    # If the last round was projected too, the descent from its θ̃ suffices, unless the radial projection Sθ̂/‖θ̂‖ is already better.
    if est.tally.projected[0] > 0.0:
        for i in range(d):
            w.best[i] = est.theta[i]
        value = descend(kind, model, sums, est, w.best)
        if value_at(kind, model, sums, est, w.start, w.gradient) >= value:
            for i in range(d):
                est.theta[i] = w.best[i]
            return value
    # k = 0 starts from Sθ̂/‖θ̂‖, k = 1 from the minimiser of F over the ball.
    for k in range(2):
        if k == 1:
            newton_on_ball(model.link, sums, model.lam * model.c_mu, sums.b, model.L, kind.S, w.start, est.newton)
        for i in range(d):
            w.v[i] = w.start[i]
        found = descend(kind, model, sums, est, w.start)
        if found < value:
            value = found
            for i in range(d):
                w.best[i] = w.start[i]
        for i in range(d):
            w.start[i] = w.v[i]
    for i in range(d):
        est.theta[i] = w.best[i]
    est.tally.projected[0] = 1.0
    return value


# ------------------------------------------------------------------------------------------------------------------ no projection


@project.register(Unprojected)
def _(kind: Unprojected, model: Any, sums: Atoms, est: Any) -> None:
    for i in range(est.hat.shape[0]):
        est.theta[i] = est.hat[i]


# ------------------------------------------------------------------------------------------------------------------- fixed metric


@project.register(FixedMetric, SquaredMetric, LocalMetric)
def _(kind: Any, model: Any, sums: Atoms, est: Any) -> None:
    if outside(kind, est):
        descend_from_starts(kind, model, sums, est)


@kernel
def squared_distance(factor: Matrix, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    """½‖u‖²_{M⁻¹} and its gradient H·M⁻¹u, from the factor of M."""
    u, H = est.newton.u, est.newton.H
    evaluate(model.link, sums, model.lam * model.c_mu, sums.b, theta, u, H)
    solve(factor, u, est.descent.t)
    symmetric_product(H, est.descent.t, gradient)
    return 0.5 * dot(u, est.descent.t)


@objective.register(FixedMetric)
def _(kind: FixedMetric, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    return squared_distance(est.factor, model, sums, est, theta, gradient)


@objective.register(SquaredMetric)
def _(kind: SquaredMetric, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    return squared_distance(est.factor2, model, sums, est, theta, gradient)


@gauss_newton.register(FixedMetric)
def _(kind: FixedMetric, est: Any, B: Matrix) -> None:
    square_of_solves(est.factor, est.newton.H, False, est.descent.W, B)


@gauss_newton.register(SquaredMetric)
def _(kind: SquaredMetric, est: Any, B: Matrix) -> None:
    square_of_solves(est.factor2, est.newton.H, False, est.descent.W, B)


@kernel
def gram(W: Matrix, B: Matrix) -> None:
    """B = WWᵀ."""
    for i in range(W.shape[0]):
        for j in range(i + 1):
            B[i, j] = dot(W[i], W[j])
            B[j, i] = B[i, j]


@solver
def square_of_solves(factor: Matrix, H: Matrix, twice: bool, W: Matrix, B: Matrix) -> None:
    """B = H·M⁻¹·H, or H·M⁻²·H if `twice`, from the factor of M."""
    d = H.shape[0]
    for i in range(d):
        for j in range(d):
            W[i, j] = H[i, j]
        if twice:
            solve(factor, W[i], W[i])
        else:
            solve_lower(factor, W[i], W[i])
    gram(W, B)


# ------------------------------------------------------------------------------------------------------------------- local metric


@objective.register(LocalMetric)
def _(kind: LocalMetric, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    new, w = est.newton, est.descent
    ridge = model.lam * model.c_mu
    return local_distance(model.link, sums, ridge, theta, new.u, new.H, w.factor, w.t, gradient)


@gauss_newton.register(LocalMetric)
def _(kind: LocalMetric, est: Any, B: Matrix) -> None:
    for i in range(B.shape[0]):
        for j in range(B.shape[0]):
            # Near a minimiser P ≈ (θ−θ̂)ᵀH(θ−θ̂), whose Hessian is 2H; the derivative of H itself is left to BFGS.
            B[i, j] = 2.0 * est.newton.H[i, j]


# ----------------------------------------------------------------------------------------------------------------------- two steps


@kernel
def near(kind: TwoStep, sums: Atoms, est: Any) -> float:
    """β̄ without the bonus factor. A model does not know the round t; it uses the number of its estimates, which is at least t."""
    rounds = int(est.tally.estimates[0]) if anytime(kind.confidence) else est.horizon[0]
    return beta(kind.confidence, sums.n, est, rounds)


@project.register(TwoStep)
def _(kind: TwoStep, model: Any, sums: Atoms, est: Any) -> None:
    if not outside(kind, est):
        return
    # Is θ̂ within β̄ of the ball? Then θᵖ = θ̂, and θ̃ is the projection in Ṽ⁻¹.
    value = descend_from_starts(kind.first, model, sums, est)
    width = near(kind, sums, est)
    # `value` is ½‖u‖², so this is ‖u(θ̃)‖_{Ṽ⁻¹} ≤ β̄: z = 0 is feasible and optimal.
    if 2.0 * value <= width * width:
        return
    second_step(kind, model, sums, est)


@solver
def second_step(kind: TwoStep, model: Any, sums: Atoms, est: Any) -> None:
    """Minimise ‖V⁻¹z*(θ)‖² over the ball from the first step's θ̃ and from Sθ̂/‖θ̂‖."""
    d = est.hat.shape[0]
    w = est.descent
    est.tally.second_steps[0] += 1.0
    value = descend(kind, model, sums, est, est.theta)
    for i in range(d):
        w.best[i] = est.hat[i] * kind.S / norm(est.hat)
    if descend(kind, model, sums, est, w.best) < value:
        for i in range(d):
            est.theta[i] = w.best[i]


@objective.register(TwoStep)
def _(kind: TwoStep, model: Any, sums: Atoms, est: Any, theta: Vector, gradient: Vector) -> float:
    # For fixed θ the best z is u − Cf with Ṽ = CCᵀ, C = Uᵀ, and f = argmin_{‖f‖≤β̄} ‖V⁻¹(u − Cf)‖²: least squares on a ball.
    # The value is ‖V⁻¹z‖², and by the envelope theorem its gradient 2H·V⁻²z.
    d = theta.shape[0]
    u, H, w = est.newton.u, est.newton.H, est.descent
    evaluate(model.link, sums, model.lam * model.c_mu, sums.b, theta, u, H)
    solve(est.factor, u, w.t)
    for i in range(d):  # row i of W is V⁻¹ times column i of C
        row_of_factor(est.factor2, i, w.W[i])
        solve(est.factor, w.W[i], w.W[i])
        w.q[i] = dot(w.W[i], w.t)
    gram(w.W, est.newton.factor)
    width = near(kind, sums, est)
    quadratic_on_ball(est.newton.factor, w.q, width, w.factor, est.newton.step, est.newton.trial)
    for i in range(d):
        for j in range(d):
            w.t[j] -= w.W[i, j] * est.newton.step[i]  # V⁻¹z
    value = dot(w.t, w.t)
    solve(est.factor, w.t, w.t)
    symmetric_product(H, w.t, gradient)
    for i in range(d):
        gradient[i] *= 2.0
    return value


@gauss_newton.register(TwoStep)
def _(kind: TwoStep, est: Any, B: Matrix) -> None:
    square_of_solves(est.factor, est.newton.H, True, est.descent.W, B)
    scale(B, 2.0)
