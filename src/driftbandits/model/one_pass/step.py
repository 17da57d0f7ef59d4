"""One proximal step in d dimensions: unconstrained, with a clipped residual, or on the ball."""

import numpy as np

from ...core.ball import factor_of
from ...core.kernel import kernel, solver, sqrt
from ...core.linalg import (
    Matrix,
    Vector,
    add_outer,
    add_outer_to_factor,
    cholesky,
    dot,
    norm,
    solve_lower,
    solve_upper,
    symmetric_product,
)
from ...links import mu
from ...protocol import estimate
from .equation import error_at, place, slope, volume
from .parts import OnePass, OnePassMean
from .sums import OnePassEstimate, OnePassSums

BALL_STEPS = 200


@kernel
def step(model: OnePass, sums: OnePassSums, est: OnePassEstimate, A: Matrix, U: Matrix) -> float:
    """Process the waiting observation, if there is one: update θ, A = H − λI and b. Returns the weight of xxᵀ in A.

    U becomes the factor of Ā = A + λI as it was before the observation.
    """
    d, w, x = est.theta.shape[0], est.work, sums.last.x
    weight_of_past = 0.0
    for i in range(d):
        weight_of_past += A[i, i]
    # The trace of A tells whether anything is remembered. Without it, θ would keep a direction from before a restart.
    if weight_of_past == 0.0:  # no observation yet, or all forgotten
        for i in range(d):
            est.theta[i] = 0.0
    if model.prox:
        hold(model.lam, A, est.theta, sums.b)
    # The factor of Ā, before x enters: the step is taken in the metric of the past alone.
    cholesky(A, model.lam, U)
    solve_lower(U, sums.b, w.g)
    if sums.last.waits[0] == 0.0:
        solve_upper(U, w.g, est.theta)
        est.upsilon[0] = sums.upsilon[0]
        return 0.0
    sums.last.waits[0] = 0.0
    r, weight, z0 = sums.last.reward[0], sums.last.weight[0], dot(x, est.theta)
    # With p = U⁻ᵀx and g = U⁻ᵀb: q = xᵀĀ⁻¹x = pᵀp, and the forecast is z̄ = xᵀθ̄ = pᵀg.
    solve_lower(U, x, w.p)
    q = dot(w.p, w.p)
    if model.caution:
        weight = less_trusted(model, sums, weight, q)
    if model.robust:
        # √(1+q) standardises the residual: a forecast in an uncertain direction may err more before it counts as an outlier.
        error, most = mu(model.link, dot(w.p, w.g)) - r, model.robust * sqrt(1.0 + q)
        if abs(error) > most:
            return cut_short(model, sums, est, U, weight, most if error > 0.0 else -most)
    z = place(model, dot(w.p, w.g), model.eta * weight * q, r, z0)
    push = model.eta * weight * error_at(model, z, r, z0)
    for i in range(d):
        w.g[i] -= push * w.p[i]
    solve_upper(U, w.g, est.theta)
    bounded = model.projected and norm(est.theta) > model.S
    if bounded:
        step_on_ball(model, sums, est, A, r, weight, z0)
        z = dot(x, est.theta)
    gain = weight * slope(model, norm(x), z)
    add_outer(A, x, gain)
    if bounded:
        hold(model.lam, A, est.theta, sums.b)
    else:
        # b must satisfy (A + λI)θ = b after A has gained gain·xxᵀ: b ← b + (gain·z − η·error)x.
        c = gain * z - push
        for i in range(d):
            sums.b[i] += c * x[i]
    sums.upsilon[0] += volume(model, z, q, weight)
    est.upsilon[0] = sums.upsilon[0]
    return float(gain)


@kernel
def less_trusted(model: OnePass, sums: OnePassSums, weight: float, q: float) -> float:
    """The weight of the observation, times min(1, c/√q)."""
    less = weight * min(1.0, model.caution / max(sqrt(q), 1e-300))
    recount(sums, weight, less)
    return less


@kernel
def recount(sums: OnePassSums, weight: float, less: float) -> None:
    """Replace the weight with which the last observation was counted."""
    sums.n[0] += less - weight
    sums.n[1] += less * less - weight * weight
    sums.last.weight[0] = less


@kernel
def cut_short(model: OnePass, sums: OnePassSums, est: OnePassEstimate, U: Matrix, weight: float, error: float) -> float:
    """The step for a residual clipped to |error|. The loss is linear there: it has no curvature, so H and the uncertainty do not change."""
    w, push = est.work, model.eta * weight * error
    for i in range(est.theta.shape[0]):
        w.g[i] -= push * w.p[i]
        sums.b[i] -= push * sums.last.x[i]
    solve_upper(U, w.g, est.theta)
    recount(sums, weight, 0.0)
    est.upsilon[0] = sums.upsilon[0]
    est.cut[0] += 1.0
    return 0.0


@kernel
def hold(lam: float, A: Matrix, theta: Vector, b: Vector) -> None:
    """Set b = (A + λI)θ, so that θ is the estimate that A and b define."""
    symmetric_product(A, theta, b)
    for i in range(theta.shape[0]):
        b[i] += lam * theta[i]


@solver
def step_on_ball(
    model: OnePass, sums: OnePassSums, est: OnePassEstimate, A: Matrix, r: float, weight: float, z0: float
) -> None:
    """Replace a θ outside the ball by the constrained one: (Ā+νI)θ = Āθ̄ − η·error·x, with ν ≥ 0 such that ‖θ‖ = S.

    Each ν leads to the same scalar equation. ‖θ(ν)‖ decreases in ν and 1/‖θ(ν)‖ is nearly linear, so ν is found by secant steps on
    1/‖θ(ν)‖ = 1/S, kept inside a bracket.
    """
    d, w = est.theta.shape[0], est.work
    aim = 1.0 / model.S
    low, high = 0.0, np.inf
    last, value = 0.0, 1.0 / norm(est.theta)
    nu = model.lam * (norm(est.theta) * aim - 1.0)
    for _ in range(BALL_STEPS):
        factor_of(A, model.lam + nu, w.spare)
        solve_lower(w.spare, sums.last.x, w.t)
        solve_lower(w.spare, sums.b, w.s)
        c = model.eta * weight * dot(w.t, w.t)
        push = model.eta * weight * error_at(model, place(model, dot(w.t, w.s), c, r, z0), r, z0)
        for i in range(d):
            w.s[i] -= push * w.t[i]
        solve_upper(w.spare, w.s, est.theta)
        size = norm(est.theta)
        if abs(size - model.S) <= 1e-13 * model.S:
            break
        if size > model.S:
            low = nu
        else:
            high = nu
        # A secant step on 1/‖θ(ν)‖, which is nearly linear in ν, where ‖θ(ν)‖ itself would converge slowly.
        slant = (1.0 / size - value) / (nu - last)
        last, value = nu, 1.0 / size
        nu = nu + (aim - value) / slant if slant > 0.0 else -1.0
        if not low < nu < high:
            nu = 0.5 * (low + high) if high < np.inf else 2.0 * low + model.lam
        if nu in (low, high):
            break
    # The last digits: put θ on the sphere exactly.
    shrink = model.S / norm(est.theta)
    for i in range(d):
        est.theta[i] *= shrink


@estimate.register(OnePass)
def _(model: OnePass, sums: OnePassSums, est: OnePassEstimate) -> None:
    gain = step(model, sums, est, sums.A, est.factor)
    sums.gain[0] = gain
    if gain > 0.0:
        # p = U⁻ᵀx is known from the step, so the factor is updated in O(d²) instead of factored anew.
        add_outer_to_factor(est.factor, est.work.p, gain, est.work.t, est.work.s)
        add_outer(sums.A2, sums.last.x, gain * sums.last.weight[0])
    cholesky(sums.A2, model.lam, est.factor2)


@estimate.register(OnePassMean)
def _(model: OnePassMean, sums: OnePassSums, est: OnePassEstimate) -> None:
    cholesky(sums.A, model.lam, est.factor)
    cholesky(sums.A2, model.lam, est.factor2)
    step(model.step, sums, est, sums.H, est.inner)
