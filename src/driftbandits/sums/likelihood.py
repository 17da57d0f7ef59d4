r"""The weighted quasi-likelihood of a generalized linear model, from a past of any length (paper, eq:GLB-estimator).

    g(θ) = ρθ + Σ_s w_s μ(x_sᵀθ) x_s,    H(θ) = ∇g(θ) = ρI + Σ_s w_s μ′(x_sᵀθ) x_s x_sᵀ,    ĝ = Σ_s w_s r_s x_s,    ρ = λc_μ
    θ̂ solves g(θ) = ĝ;  it minimises  F(θ) = (ρ/2)‖θ‖² + Σ_s w_s b(x_sᵀθ) − ĝᵀθ,   b′ = μ

The past enters through *atoms*: feature vectors x_a and the weight N_a that each carries. One representation serves two cases:

fixed arms      the atoms are the arms; N_a is the discounted count of plays. This is exact for every t.
changing arms   the atoms are a ring buffer of raw observations. An observation is overwritten only when its weight is below 1e-12, which
                changes g by at most 1e-12·L·m/(1−γ).

Rewards enter only through ĝ, which is the `b` of the linear moments.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import divide_by, factor_of, quadratic_on_ball
from ..core.kernel import kernel, solver, sqrt
from ..core.linalg import Matrix, Vector, dot, inner_products, norm, scale_vector, symmetric_product
from ..links import ddmu, dmu, log_partition, mu
from ..protocol import NEGLIGIBLE, NO_SLOT, Integers, Setting, absorb, fade, grow, indices_valid, widen
from .moments import absorb_moments, fade_moments

BLOCK = 128  # atoms treated at once
TOLERANCE = 1e-10  # certified error of θ̂, relative to 1 + ‖θ̂‖
CHORD_FROM = 8  # dimension from which short Newton steps reuse the last Hessian (chord method)
FIRST_ROOM = 64  # initial size of a ring buffer that may grow
NEXT, OLDEST, USED, LIVE = 0, 1, 2, 3  # entries of Atoms.place


class Atoms(NamedTuple):
    """The weighted sums of a generalized linear learner: the linear moments, and the atoms."""

    n: Vector  # (2,)    Σ w_s and Σ w_s²
    A: Matrix  # (d, d)  Σ w_s x_s x_sᵀ = V − λI
    A2: Matrix  # (d, d)  Σ w_s² x_s x_sᵀ = Ṽ − λI, or (0, 0) where no part asks for it
    b: Vector  # (d,)    ĝ = Σ w_s r_s x_s
    X: Matrix  # (d, K)  atoms
    N: Vector  # (K,)    weight of each
    place: Integers  # (4,)    ring buffer: next index, oldest index, entries ever used, observations not removed
    scratch: Matrix  # (4, BLOCK)


def blank_atoms(setting: Setting, room: int, squares: bool) -> Atoms:
    """The sums before round 1: the arms as atoms if they are fixed, else a ring buffer of `room` observations (0: one that grows)."""
    d, n = setting.arms.shape
    d2 = d if squares else 0
    K = n or room or FIRST_ROOM
    return Atoms(
        n=np.zeros(2),
        A=np.zeros((d, d)),
        A2=np.zeros((d2, d2)),
        b=np.zeros(d),
        X=setting.arms.copy() if n else np.zeros((d, K)),
        N=np.zeros(K),
        place=np.array([0, 0, n, 0], np.int64),
        scratch=np.zeros((4, BLOCK)),
    )


def full(sums: Atoms) -> bool:
    """Whether the next observation would overwrite one of noticeable weight.

    Also works on many sums with a leading axis, if all of them have received the same observations.
    """
    place = sums.place.reshape(-1, 4)[0]
    return bool(place[LIVE] == sums.N.shape[-1] and (sums.N[..., place[NEXT]] > NEGLIGIBLE).any())


@grow.register(Atoms)
def _(sums: Atoms) -> Atoms:
    return widen(sums) if full(sums) else sums


@widen.register(Atoms)
def _(sums: Atoms) -> Atoms:
    # A ring of twice the size; the observations move to its beginning, oldest first.
    K = sums.N.shape[0]
    live = int(sums.place[LIVE])
    order = (np.arange(live) + sums.place[OLDEST]) % K
    X, N = np.zeros((sums.X.shape[0], 2 * K)), np.zeros(2 * K)
    X[:, :live], N[:live] = sums.X[:, order], sums.N[order]
    return sums._replace(X=X, N=N, place=np.array([live, 0, live, live], np.int64))


@indices_valid.register(Atoms)
def _(sums: Atoms) -> bool:
    K, place = sums.N.shape[-1], sums.place
    inside = (place >= 0) & (place < [K, K, K + 1, K + 1])
    return bool(inside.all() and sums.X.shape[-1] == K)


@fade.register(Atoms)
def _(sums: Atoms, g: float) -> None:
    fade_moments(sums, g)
    scale_vector(sums.N[: sums.place[USED]], g)
    if g == 0.0:  # everything is forgotten: the next observation will be the oldest
        sums.place[OLDEST] = sums.place[NEXT]
        sums.place[LIVE] = 0


@absorb.register(Atoms)
def _(sums: Atoms, x: Vector, r: float, slot: int, weight: float) -> None:
    absorb_moments(sums, x, r, weight)
    if slot != NO_SLOT:
        sums.N[slot] += weight
        return
    K = sums.N.shape[0]
    if weight < 0.0:  # memories always remove their oldest observation, so x need not be looked up
        sums.N[sums.place[OLDEST]] = 0.0
        sums.place[OLDEST] = (sums.place[OLDEST] + 1) % K
        sums.place[LIVE] -= 1
        return
    at = sums.place[NEXT]
    if sums.place[LIVE] == K:  # the ring is full: the new observation replaces the oldest
        sums.place[OLDEST] = (at + 1) % K
    else:
        sums.place[LIVE] += 1
    for i in range(x.shape[0]):
        sums.X[i, at] = x[i]
    sums.N[at] = weight
    sums.place[NEXT] = (at + 1) % K
    sums.place[USED] = max(sums.place[USED], at + 1)


# ------------------------------------------------------------------------------------------------------- values and derivatives


@kernel
def predictors(sums: Atoms, first: int, m: int, theta: Vector, z: Vector) -> None:
    """z_a = x_aᵀθ for the m atoms from `first`."""
    inner_products(sums.X[:, first : first + m], theta, z)


@solver
def evaluate(link: Any, sums: Atoms, ridge: float, target: Vector, theta: Vector, u: Vector, H: Matrix) -> None:
    """Write u = g(θ) − target and, unless H is (0, 0), the Hessian H(θ), with ρ = ridge."""
    d = theta.shape[0]
    z, weight, q = sums.scratch[0], sums.scratch[1], sums.scratch[2]
    bent = H.shape[0]
    for i in range(d):
        u[i] = ridge * theta[i] - target[i]
    for i in range(bent):
        for j in range(i):
            H[i, j] = 0.0
        H[i, i] = ridge
    for first in range(0, sums.place[USED], BLOCK):
        m = min(BLOCK, sums.place[USED] - first)
        predictors(sums, first, m, theta, z)
        N = sums.N[first : first + m]
        for a in range(m):
            weight[a] = N[a] * dmu(link, z[a])
            z[a] = N[a] * mu(link, z[a])
        for i in range(d):
            u[i] += dot(sums.X[i, first : first + m], z)
        for i in range(bent):
            x = sums.X[i, first : first + m]
            for a in range(m):
                q[a] = weight[a] * x[a]
            for j in range(0, i - 2, 4):  # four rows per pass
                y0, y1 = sums.X[j, first : first + m], sums.X[j + 1, first : first + m]
                y2, y3 = sums.X[j + 2, first : first + m], sums.X[j + 3, first : first + m]
                s0 = s1 = s2 = s3 = 0.0
                for a in range(m):
                    s0 += q[a] * y0[a]
                    s1 += q[a] * y1[a]
                    s2 += q[a] * y2[a]
                    s3 += q[a] * y3[a]
                H[i, j] += s0
                H[i, j + 1] += s1
                H[i, j + 2] += s2
                H[i, j + 3] += s3
            for j in range((i + 1) - (i + 1) % 4, i + 1):
                H[i, j] += dot(sums.X[j, first : first + m], q)
    for i in range(bent):
        for j in range(i):
            H[j, i] = H[i, j]


@solver
def loss(link: Any, sums: Atoms, ridge: float, theta: Vector) -> float:
    """F(θ)."""
    z = sums.scratch[0]
    total = 0.5 * ridge * dot(theta, theta) - dot(sums.b, theta)
    for first in range(0, sums.place[USED], BLOCK):
        m = min(BLOCK, sums.place[USED] - first)
        predictors(sums, first, m, theta, z)
        N = sums.N[first : first + m]
        for a in range(m):
            total += N[a] * log_partition(link, z[a])
    return total


@solver
def local_distance(
    link: Any, sums: Atoms, ridge: float, theta: Vector, u: Vector, H: Matrix, U: Matrix, q: Vector, gradient: Vector
) -> float:
    """P(θ) = ‖g(θ) − ĝ‖²_{H⁻¹(θ)} and its gradient; leaves u, H, its factor and q = H⁻¹u.

    ∇P = 2u − Σ_s w_s μ″(x_sᵀθ)(x_sᵀq)² x_s
    """
    evaluate(link, sums, ridge, sums.b, theta, u, H)
    factor_of(H, 0.0, U)
    divide_by(U, u, q)
    for i in range(theta.shape[0]):
        gradient[i] = 2.0 * u[i]
    z, zq = sums.scratch[0], sums.scratch[1]
    for first in range(0, sums.place[USED], BLOCK):
        m = min(BLOCK, sums.place[USED] - first)
        predictors(sums, first, m, theta, z)
        predictors(sums, first, m, q, zq)
        N = sums.N[first : first + m]
        for a in range(m):
            z[a] = N[a] * ddmu(link, z[a]) * zq[a] * zq[a]
        for i in range(theta.shape[0]):
            gradient[i] -= dot(sums.X[i, first : first + m], z)
    return dot(u, q)


# ------------------------------------------------------------------------------------------------------------- solvers


class NewtonWork(NamedTuple):
    """Workspace of the solvers; u, H and its factor are those of the last evaluation."""

    u: Vector  # (d,)    g(θ) − target
    step: Vector  # (d,)
    trial: Vector  # (d,)
    H: Matrix  # (d, d)
    factor: Matrix  # (d, d)
    error: Vector  # (1,)    certified bound of ‖θ − θ̂‖₂


def blank_newton_work(d: int) -> NewtonWork:
    """A new workspace for dimension d."""
    return NewtonWork(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros((d, d)), np.zeros((d, d)), np.zeros(1))


@solver
def newton(link: Any, sums: Atoms, ridge: float, target: Vector, L: float, theta: Vector, work: NewtonWork) -> int:
    """Solve g(θ) = target from θ by Newton's method; returns the number of evaluations.

    Certificate, for |μ″| ≤ μ′: after a step Δ with the H of this point the gradient is at most (L/2)·ΔᵀHΔ, hence the error at most
    L·uᵀΔ/(2ρ); with the H of a point at distance ε/L or less along the path, at most (e^ε−1)(1+ε)·√(uᵀΔ/ρ).
    From d = 8 on, computing H dominates the cost, so short steps reuse the last H.
    A step that overshoots the minimum along its line by far is shortened. This is detected by the derivative F′ along the line, which the
    next evaluation yields at no extra cost.
    """
    d = theta.shape[0]
    evaluate(link, sums, ridge, target, theta, work.u, work.H)
    count = 1
    # fresh: H belongs to the current θ; drift: L × the distance from the point that H belongs to; before: the last Newton decrement uᵀΔ.
    fresh, drift, before = True, 0.0, np.inf
    while count < 100:
        if fresh:
            factor_of(work.H, 0.0, work.factor)
        divide_by(work.factor, work.u, work.step)
        decrement = dot(work.u, work.step)
        length = L * norm(work.step)
        drift += length
        work.error[0] = (
            0.5 * L * decrement / ridge if fresh else np.expm1(drift) * (1.0 + drift) * sqrt(decrement / ridge)
        )
        if work.error[0] <= TOLERANCE * (1.0 + norm(theta)):
            for i in range(d):
                theta[i] -= work.step[i]
            return count
        # Reuse H only while the point is near and the decrement falls a hundredfold per step; otherwise compute it at the next point.
        fresh = d < CHORD_FROM or drift > 0.1 or decrement > 0.01 * before
        before = decrement if not fresh else np.inf
        if fresh:
            drift = 0.0
        tau = 1.0
        while True:
            for i in range(d):
                work.trial[i] = theta[i] - tau * work.step[i]
            if fresh:
                evaluate(link, sums, ridge, target, work.trial, work.u, work.H)
            else:
                evaluate(link, sums, ridge, target, work.trial, work.u, work.H[:0])
            count += 1
            slope = dot(work.u, work.step)
            if slope >= -0.5 * decrement or count >= 100:
                break
            tau *= max(
                0.1, decrement / (decrement - slope)
            )  # the root of the linear interpolation of F′ along the line
        for i in range(d):
            theta[i] = work.trial[i]
    return count


@solver
def newton_on_ball(
    link: Any, sums: Atoms, ridge: float, target: Vector, L: float, S: float, theta: Vector, work: NewtonWork
) -> float:
    """Minimise F(θ) − (target − ĝ)ᵀθ over ‖θ‖ ≤ S from θ; returns the multiplier ν: g(θ) + νθ = target."""
    d = theta.shape[0]
    nu = 0.0
    for _ in range(100):
        # The quadratic model of the objective at θ, minimised exactly over the ball: min ½yᵀHy − (Hθ − u)ᵀy.
        evaluate(link, sums, ridge, target, theta, work.u, work.H)
        symmetric_product(work.H, theta, work.step)
        for i in range(d):
            work.step[i] -= work.u[i]
        nu = quadratic_on_ball(work.H, work.step, S, work.factor, work.trial, work.u)
        for i in range(d):
            work.step[i] = work.trial[i] - theta[i]
        length = L * norm(work.step)
        tau = 1.0 if length <= 0.5 else np.log1p(length) / length  # damping for self-concordant functions, |μ″| ≤ μ′
        for i in range(d):
            theta[i] += tau * work.step[i]
        if length <= 1e-9:
            break
    return nu
