r"""Generalized linear models that never look back: one proximal step per observation (onepass-proof §1; after GLB-OMD).

    Ā_t = γH_t + (1−γ)λI,    Ā_tθ̄_t = γH_tθ_t (ridge)  or  θ̄_t = θ_t (prox)
    θ_{t+1} = argmin ℓ_t(θ) + (1/2η)‖θ − θ̄_t‖²_{Ā_t},    ℓ_t(θ) = b(x_tᵀθ) − r_t x_tᵀθ,  b′ = μ
    H_{t+1} = Ā_t + a_t x_t x_tᵀ,    a_t = 2η·min_{y=±‖x_t‖S} [b(y)−b(z)−μ(z)(y−z)]/(y−z)²,    z = x_tᵀθ_{t+1}

The step moves along Ā⁻¹x only, so that d dimensions collapse to one equation, z + ηq(μ(z)−r) = x_tᵀθ̄ with q = x_tᵀĀ⁻¹x_t. It is the
linear learner with weight a_t instead of 1 and another number instead of the reward:

    A ← γA + a_t xxᵀ,    b ← γb + (a_t z + η(r−μ(z)))x,    θ = (A+λI)⁻¹b,    A = H − λI

State and time per round depend on d alone. With μ(z) = z, η = 1 it is ridge regression. a_t, not μ′(z): what the proof needs is the
curvature between z and x_tᵀθ_*, and with μ′(z) confidence sets fail for S ≥ 4 (onepass-proof §5).

`OnePass`      optimism in the norm H⁻¹, an index on the scale of xᵀθ: with `radius.MixLoss`
`OnePassMean`  the same θ with the bonus in V⁻¹ around μ(xᵀθ): in the place of `Generalized`, with its radii

Observations need not be taken at face value. With the forecast z̄ = x_tᵀθ̄ and q as above,

    `robust` τ > 0    a residual |r − μ(z̄)| > τ√(1+q) is cut to that size and adds nothing to H: Huber's loss (after Wang et al. 2025)
    `caution` c > 0   every observation has weight min(1, c/√q): those that could move θ most count least (after He et al. 2022)

An observation waits in the sums until `estimate`, which has the link; a second one must not come before that.
"""

from typing import Any, NamedTuple

import numpy as np

from ..ball import factor_of
from ..errors import InvalidValue, positive, require
from ..kernel import kernel, solver, sqrt
from ..linalg import (
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
from ..links import ddmu, dmu, log_partition, mu
from ..moments import fade_moments
from ..parts import Model
from ..protocol import (
    Setting,
    absorb,
    blank_estimate,
    blank_sums,
    estimate,
    fade,
    gained,
    linearises,
    mean,
    merit,
    promise,
    report,
)
from ..state import scratch

NEAR = 0.25  # |y−z| below which the curvature is an integral: its four nodes and weights are exact to 1e-13 there
V0, V1, V2, V3 = 0.057104196114517725, 0.2768430136381238, 0.5835904323689168, 0.8602401356562195
W0, W1, W2, W3 = 0.27101382686297704, 0.4069291360205422, 0.25969509521646467, 0.06236194190001617
ROOT_STEPS = 200  # two or three are usual
ROOT_ERROR = 1e-9  # of z before the last step, whose error is the square of this
BALL_STEPS = 200
REWARD, WEIGHT, WAITING = 0, 1, 2  # entries of OnePassSums.news


class OnePass(Model):
    """One proximal step per observation, optimism in the norm H⁻¹: rewards of mean μ(xᵀθ), ‖θ‖ ≤ S, dispersion φ, ridge λ, step η.

    `prox`, `explicit`, `projected` are 0 or 1: the anchor θ̄ = θ_t; one linearisation at θ_t instead of the implicit step; the minimum over
    ‖θ‖ ≤ S instead of everywhere. `damped` = 0 takes a_t = μ′(z), which is right only if projected and η ≥ 1 + MLS.
    """

    link: Any
    lam: float
    S: float
    eta: float = 1.0
    phi: float = 1.0
    prox: float = 0.0
    explicit: float = 0.0
    projected: float = 0.0
    damped: float = 1.0
    robust: float = 0.0  # τ, in units of the reward; 0: no residual is cut
    caution: float = 0.0  # c; 0: no observation counts less

    def check(self) -> None:
        """H must be invertible, and the curvature known."""
        positive("lam", self.lam, "H = λI must be invertible in round 1")
        positive("S", self.S, "it bounds the norm of θ")
        positive("eta", self.eta, "it is the size of a step")
        positive("phi", self.phi, "it is the dispersion of the rewards")
        for name in ("prox", "explicit", "projected", "damped"):
            require(getattr(self, name) in (0.0, 1.0), name, getattr(self, name), "0 or 1", "it is an option")
        require(self.robust >= 0.0, "robust", self.robust, "> 0, or left out", "residuals above it are cut")
        require(
            self.caution >= 0.0, "caution", self.caution, "> 0, or left out", "it limits the weight of an observation"
        )
        if self.robust and (self.explicit or self.projected):
            raise InvalidValue(
                "robust = … goes with the implicit step without a projection: a cut residual has no curvature"
            )
        if not log_partition.knows(type(self.link)):
            raise InvalidValue(
                f"{type(self.link).__name__} has no method of log_partition; a one-pass model needs b, b′ = μ, for its curvature"
            )


class OnePassMean(Model):
    """The θ of `step` in one pass, and V = λI + Σ w x xᵀ beside it: what `Generalized` is, without a past that grows."""

    lam: float
    step: OnePass

    def check(self) -> None:
        """V must be invertible."""
        positive("lam", self.lam, "V = λI must be invertible in round 1")

    @property
    def link(self) -> Any:
        """The link of the step."""
        return self.step.link


def in_one_pass(model: Any) -> OnePassMean:
    """The one-pass model in the place of a `Generalized` one: the same link, λ, regulariser λc_μ and ball."""
    step = OnePass(link=model.link, lam=model.lam * model.c_mu, S=model.projection.S)
    return OnePassMean(lam=model.lam, step=step)


class OnePassSums(NamedTuple):
    """The weighted past of a one-pass learner, and the observation that is not in it yet."""

    n: Vector  # (2,)    Σ w and Σ w²
    A: Matrix  # (d, d)  the matrix of the bonus less λI: Σ w a x xᵀ, or Σ w x xᵀ if V stands beside H
    A2: Matrix  # (d, d)  the same with w², or (0, 0) where no part asks for it
    b: Vector  # (d,)    Hθ
    H: Matrix  # (d, d)  Σ w a x xᵀ, or (0, 0) where A is that
    upsilon: Vector  # (1,)    Υ
    gain: Vector  # (1,)    weight of the last x in A
    x: Vector  # (d,)    the observation that waits,
    news: Vector  # (3,)    its reward and weight, and 1 while it waits


@scratch
class OnePassWork(NamedTuple):
    """Workspace of a step."""

    p: Vector  # (d,)    U⁻ᵀx
    g: Vector  # (d,)    U⁻ᵀ(Āθ̄)
    t: Vector  # (d,)
    s: Vector  # (d,)
    spare: Matrix  # (d, d)  a factor, or (0, 0) where nothing is projected


class OnePassEstimate(NamedTuple):
    """θ, the factors that measure its uncertainty, and Υ."""

    theta: Vector  # (d,)
    factor: Matrix  # (d, d)  of H, or of V if it stands beside H
    factor2: Matrix  # (d, d)  with squared weights, or (0, 0)
    inner: Matrix  # (d, d)  of Ā where `factor` is of V, or (0, 0)
    upsilon: Vector  # (1,)
    cut: Vector  # (1,)    residuals cut so far
    work: OnePassWork


def _sums(d: int, squares: bool, beside: bool) -> OnePassSums:
    d2, dh = d if squares else 0, d if beside else 0
    return OnePassSums(
        n=np.zeros(2),
        A=np.zeros((d, d)),
        A2=np.zeros((d2, d2)),
        b=np.zeros(d),
        H=np.zeros((dh, dh)),
        upsilon=np.zeros(1),
        gain=np.zeros(1),
        x=np.zeros(d),
        news=np.zeros(3),
    )


def _estimate(d: int, squares: bool, beside: bool, projected: bool) -> OnePassEstimate:
    d2, dh, ds = d if squares else 0, d if beside else 0, d if projected else 0
    return OnePassEstimate(
        theta=np.zeros(d),
        factor=np.zeros((d, d)),
        factor2=np.zeros((d2, d2)),
        inner=np.zeros((dh, dh)),
        upsilon=np.zeros(1),
        cut=np.zeros(1),
        work=OnePassWork(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d), np.zeros((ds, ds))),
    )


@blank_sums.register(OnePass)
def _(model: OnePass, setting: Setting, room: int, squares: bool) -> OnePassSums:
    return _sums(setting.dim, squares, beside=False)


@blank_sums.register(OnePassMean)
def _(model: OnePassMean, setting: Setting, room: int, squares: bool) -> OnePassSums:
    return _sums(setting.dim, squares, beside=True)


@blank_estimate.register(OnePass)
def _(model: OnePass, setting: Setting, squares: bool) -> OnePassEstimate:
    return _estimate(setting.dim, squares, False, bool(model.projected))


@blank_estimate.register(OnePassMean)
def _(model: OnePassMean, setting: Setting, squares: bool) -> OnePassEstimate:
    return _estimate(setting.dim, squares, True, bool(model.step.projected))


@linearises.register(OnePass, OnePassMean)
def _(model: Any) -> bool:
    return True


@report.register(OnePass)
def _(model: OnePass, est: OnePassEstimate) -> dict[str, Any]:
    return {"cut": int(est.cut[0])} if model.robust else {}


@mean.register(OnePass)
def _(model: OnePass, z: float) -> float:
    return mu(model.link, z)


@merit.register(OnePass)
def _(model: OnePass, z: float) -> float:
    return z  # μ is increasing: the best index is the best mean, and no constant of μ comes in


@promise.register(OnePass)
def _(model: OnePass, value: float) -> float:
    return mu(model.link, value)


@mean.register(OnePassMean)
def _(model: OnePassMean, z: float) -> float:
    return mu(model.step.link, z)


# ------------------------------------------------------------------------------------------------------------- weighted sums


@fade.register(OnePassSums)
def _(sums: OnePassSums, g: float) -> None:
    fade_moments(sums, g)
    for i in range(sums.H.shape[0]):
        for j in range(sums.H.shape[0]):
            sums.H[i, j] *= g
    sums.upsilon[0] *= g
    sums.news[WEIGHT] *= g
    if g == 0.0:
        sums.news[WAITING] = 0.0


@absorb.register(OnePassSums)
def _(sums: OnePassSums, x: Vector, r: float, slot: int, weight: float) -> None:
    if weight < 0.0 or sums.news[WAITING] != 0.0:  # no place for it: better no number than a wrong one
        sums.b[0] = np.nan
    for i in range(x.shape[0]):
        sums.x[i] = x[i]
    sums.news[REWARD] = r
    sums.news[WEIGHT] = weight
    sums.news[WAITING] = 1.0
    sums.n[0] += weight
    sums.n[1] += weight * weight
    if sums.H.shape[0] > 0:
        add_outer(sums.A, x, weight)
        add_outer(sums.A2, x, weight * weight)
        sums.gain[0] = weight


@gained.register(OnePassSums)
def _(sums: OnePassSums) -> float:
    return float(sums.gain[0])


# ------------------------------------------------------------------------------------------------------------------ the step


@kernel
def meeting_point(link: Any, z_bar: float, c: float, r: float) -> float:
    """The root of z + c(μ(z) − r) = z̄, c ≥ 0: Newton; bisection where that leaves the bracket or does not halve its steps."""
    f = c * (mu(link, z_bar) - r)
    low, high = min(z_bar, z_bar - f), max(z_bar, z_bar - f)
    z = z_bar - f / (1.0 + c * dmu(link, z_bar))
    last = high - low
    for _ in range(ROOT_STEPS):
        f = z + c * (mu(link, z) - r) - z_bar
        if f > 0.0:
            high = z
        else:
            low = z
        step = f / (1.0 + c * dmu(link, z))
        if abs(step) <= ROOT_ERROR * (1.0 + abs(z)):
            return z - step
        new = z - step
        if new <= low or new >= high or 2.0 * abs(step) > last:
            new = 0.5 * (low + high)
        last = abs(new - z)
        z = new
    return z


@kernel
def curvature(link: Any, z: float, y: float) -> float:
    """2[b(y) − b(z) − μ(z)(y−z)]/(y−z)² = 2∫₀¹(1−v)μ′(z+v(y−z))dv: by Gauss–Jacobi where the difference would cancel."""
    gap = y - z
    if abs(gap) < NEAR:
        return (
            W0 * dmu(link, z + V0 * gap)
            + W1 * dmu(link, z + V1 * gap)
            + W2 * dmu(link, z + V2 * gap)
            + W3 * dmu(link, z + V3 * gap)
        )
    return 2.0 * (log_partition(link, y) - log_partition(link, z) - mu(link, z) * gap) / (gap * gap)


@kernel
def slope(model: OnePass, size: float, z: float) -> float:
    """a: the least curvature between z and any y with |y| ≤ ‖x‖S, times η. It is at an end, since μ′ is unimodal."""
    if model.damped == 0.0:
        return dmu(model.link, z)
    reach = size * model.S
    return model.eta * max(min(curvature(model.link, z, reach), curvature(model.link, z, -reach)), 0.0)


@kernel
def volume(model: OnePass, z: float, q: float, weight: float) -> float:
    """log(1 + k·μ′(z)q), the growth of Υ: k = 2αX(ρ√(φαq)), X(s) = (e^{s²/2}−1)/s², ρ = |μ″/μ′|(z)."""
    alpha = 1.5 * model.eta if model.explicit else model.eta
    h = dmu(model.link, z)
    rho = ddmu(model.link, z) / max(h, 1e-300)
    v = 0.5 * rho * rho * model.phi * alpha * q
    y = weight * alpha * h * q
    if v < 1e-8:
        return float(np.log1p(y))
    if v > 30.0:  # e^v would overflow soon
        large = v + np.log(max(y, 1e-300) / v)
        return float(large if large > 30.0 else np.log1p(np.exp(large)))
    return float(np.log1p(y * np.expm1(v) / v))


@kernel
def error_at(model: OnePass, z: float, r: float, z0: float) -> float:
    """μ(z) − r, or its linearisation at z0."""
    if model.explicit:
        return mu(model.link, z0) - r + dmu(model.link, z0) * (z - z0)
    return mu(model.link, z) - r


@kernel
def place(model: OnePass, z_bar: float, c: float, r: float, z0: float) -> float:
    """xᵀθ after the step: z with z + c·(error at z) = z̄."""
    if model.explicit:
        h = dmu(model.link, z0)
        return (z_bar - c * (mu(model.link, z0) - r - h * z0)) / (1.0 + c * h)
    return meeting_point(model.link, z_bar, c, r)


@kernel
def step(model: OnePass, sums: OnePassSums, est: OnePassEstimate, A: Matrix, U: Matrix) -> float:
    """Take in the observation that waits, if one does: θ, A = H − λI and b; U becomes the factor of Ā. Returns the weight of xxᵀ in A."""
    d, w = est.theta.shape[0], est.work
    weight_of_past = 0.0
    for i in range(d):
        weight_of_past += A[i, i]
    if weight_of_past == 0.0:  # nothing yet, or nothing any more
        for i in range(d):
            est.theta[i] = 0.0
    if model.prox:
        hold(model.lam, A, est.theta, sums.b)
    cholesky(A, model.lam, U)
    solve_lower(U, sums.b, w.g)
    if sums.news[WAITING] == 0.0:
        solve_upper(U, w.g, est.theta)
        est.upsilon[0] = sums.upsilon[0]
        return 0.0
    sums.news[WAITING] = 0.0
    r, weight, z0 = sums.news[REWARD], sums.news[WEIGHT], dot(sums.x, est.theta)
    solve_lower(U, sums.x, w.p)
    q = dot(w.p, w.p)
    if model.caution:
        weight = less_trusted(model, sums, weight, q)
    if model.robust:
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
        z = dot(sums.x, est.theta)
    gain = weight * slope(model, norm(sums.x), z)
    add_outer(A, sums.x, gain)
    if bounded:
        hold(model.lam, A, est.theta, sums.b)
    else:
        c = gain * z - push
        for i in range(d):
            sums.b[i] += c * sums.x[i]
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
    """The observation that was counted with one weight has another."""
    sums.n[0] += less - weight
    sums.n[1] += less * less - weight * weight
    sums.news[WEIGHT] = less


@kernel
def cut_short(model: OnePass, sums: OnePassSums, est: OnePassEstimate, U: Matrix, weight: float, error: float) -> float:
    """The step along a residual cut to |error|: the loss is linear there, without curvature, and nothing becomes surer."""
    w, push = est.work, model.eta * weight * error
    for i in range(est.theta.shape[0]):
        w.g[i] -= push * w.p[i]
        sums.b[i] -= push * sums.x[i]
    solve_upper(U, w.g, est.theta)
    recount(sums, weight, 0.0)
    est.upsilon[0] = sums.upsilon[0]
    est.cut[0] += 1.0
    return 0.0


@kernel
def hold(lam: float, A: Matrix, theta: Vector, b: Vector) -> None:
    """b = (A + λI)θ."""
    symmetric_product(A, theta, b)
    for i in range(theta.shape[0]):
        b[i] += lam * theta[i]


@solver
def step_on_ball(
    model: OnePass, sums: OnePassSums, est: OnePassEstimate, A: Matrix, r: float, weight: float, z0: float
) -> None:
    """θ of norm S from the θ of the free step, outside: (Ā+νI)θ = Āθ̄ − η·error·x, with ν ≥ 0 such that ‖θ‖ = S.

    For each ν the same scalar equation; ‖θ(ν)‖ falls with ν, and 1/‖θ(ν)‖ is nearly linear: secants, kept inside a bracket.
    """
    d, w = est.theta.shape[0], est.work
    aim = 1.0 / model.S
    low, high = 0.0, np.inf
    last, value = 0.0, 1.0 / norm(est.theta)
    nu = model.lam * (norm(est.theta) * aim - 1.0)
    for _ in range(BALL_STEPS):
        factor_of(A, model.lam + nu, w.spare)
        solve_lower(w.spare, sums.x, w.t)
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
        slant = (1.0 / size - value) / (nu - last)
        last, value = nu, 1.0 / size
        nu = nu + (aim - value) / slant if slant > 0.0 else -1.0
        if not low < nu < high:
            nu = 0.5 * (low + high) if high < np.inf else 2.0 * low + model.lam
        if nu in (low, high):
            break
    shrink = model.S / norm(est.theta)
    for i in range(d):
        est.theta[i] *= shrink


@estimate.register(OnePass)
def _(model: OnePass, sums: OnePassSums, est: OnePassEstimate) -> None:
    gain = step(model, sums, est, sums.A, est.factor)
    sums.gain[0] = gain
    if gain > 0.0:
        add_outer_to_factor(est.factor, est.work.p, gain, est.work.t, est.work.s)
        add_outer(sums.A2, sums.x, gain * sums.news[WEIGHT])
    cholesky(sums.A2, model.lam, est.factor2)


@estimate.register(OnePassMean)
def _(model: OnePassMean, sums: OnePassSums, est: OnePassEstimate) -> None:
    cholesky(sums.A, model.lam, est.factor)
    cholesky(sums.A2, model.lam, est.factor2)
    step(model.step, sums, est, sums.H, est.inner)
