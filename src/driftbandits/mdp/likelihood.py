r"""The weighted likelihood of multinomial-logit transitions: counts, gradient, Hessian, and its maximiser.

    F(w) = (λ_wκ/2)‖w‖² − Σ_j α_j log p(s'_j; w)
    ∇F(w) = λ_wκw + Σ_c N_c Σ_{s'} p_c(s')ψ_c(s') − ĝ,     ĝ = Σ_c Σ_{s'} N_c(s')ψ_c(s')
    ∇²F(w) = λ_wκI + Σ_c N_c Cov_{p_c}(ψ_c)

over the classes c of pairs with the same features; N_c(s') is the weighted count of a successor, N_c = Σ_{s'} N_c(s').
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..core.ball import BallWork, bend, definite_shift, divide_by, factor_of, residual, residual_at
from ..core.kernel import solver
from ..core.linalg import Matrix, Vector, dot, norm, scale_vector
from ..protocol import Integers, absorb, fade
from .protocol import Cube
from .softmax_table import softmax

NEWTON_STEPS = 100
SMALL = 1e-9  # Newton decrement, relative, before the last step: the error after it is of the order of its square


class TransitionCounts(NamedTuple):
    """The weighted past of a multinomial learner."""

    n: Vector  # (2,) Σ w and Σ w²
    N: Vector  # (classes·U,) Σ w of every (class, place)


@fade.register(TransitionCounts)
def _(sums: TransitionCounts, g: float) -> None:
    if g == 1.0:  # most steps of pooled stages: nothing fades within an episode, and there may be very many counts
        return
    scale_vector(sums.N, g)
    sums.n[0] *= g
    sums.n[1] *= g * g


@absorb.register(TransitionCounts)
def _(sums: TransitionCounts, x: Vector, r: float, slot: int, sign: float) -> None:
    if slot >= 0:
        sums.N[slot] += sign
    sums.n[0] += sign
    sums.n[1] += sign


class Likelihood(NamedTuple):
    """F of one stage."""

    psi: Cube  # (classes, U, d)
    used: Integers  # (classes,)
    total: Vector  # (classes,) weighted visits
    target: Vector  # (d,) ĝ = Σ α_j ψ(s'_j)
    ridge: float  # λ_wκ
    p: Vector  # (U,) workspace
    mean: Vector  # (d,) workspace


@residual.register(Likelihood)
def _(likelihood: Likelihood, w: Vector, u: Vector, H: Matrix) -> None:
    # u = λκw + Σ N Σ pψ − ĝ,   H = λκI + Σ N (Σ pψψᵀ − (Σ pψ)(Σ pψ)ᵀ)
    d = w.shape[0]
    for i in range(d):
        u[i] = likelihood.ridge * w[i] - likelihood.target[i]
        for j in range(d):
            H[i, j] = 0.0
        H[i, i] = likelihood.ridge
    p, mean = likelihood.p, likelihood.mean
    for c in range(likelihood.total.shape[0]):
        N = likelihood.total[c]
        # A class with one successor has p = 1 whatever w is: it adds a constant to F and nothing to its derivatives.
        if N <= 0.0 or likelihood.used[c] == 1:
            continue
        psi = likelihood.psi[c]
        softmax(psi, likelihood.used[c], w, p)
        for i in range(d):
            mean[i] = 0.0
        for k in range(likelihood.used[c]):
            for i in range(d):
                mean[i] += p[k] * psi[k, i]
        for i in range(d):
            u[i] += N * mean[i]
            for j in range(d):
                H[i, j] -= N * mean[i] * mean[j]
        for k in range(likelihood.used[c]):
            for i in range(d):
                v = N * p[k] * psi[k, i]
                for j in range(d):
                    H[i, j] += v * psi[k, j]


@bend.register(Likelihood)
def _(likelihood: Likelihood, w: Vector, v: Vector, T: Matrix) -> None:
    # T = Σ N Σ p (ψᵀv − mᵀv)(ψ − m)(ψ − m)ᵀ, the third cumulants in direction v
    d = w.shape[0]
    for i in range(d):
        for j in range(d):
            T[i, j] = 0.0
    p, mean = likelihood.p, likelihood.mean
    for c in range(likelihood.total.shape[0]):
        N = likelihood.total[c]
        if N <= 0.0 or likelihood.used[c] == 1:
            continue
        psi = likelihood.psi[c]
        softmax(psi, likelihood.used[c], w, p)
        for i in range(d):
            mean[i] = 0.0
        for k in range(likelihood.used[c]):
            for i in range(d):
                mean[i] += p[k] * psi[k, i]
        centre = dot(mean, v)
        for k in range(likelihood.used[c]):
            weight = N * p[k] * (dot(psi[k], v) - centre)
            for i in range(d):
                x = weight * (psi[k, i] - mean[i])
                for j in range(d):
                    T[i, j] += x * (psi[k, j] - mean[j])


@solver
def likeliest(likelihood: Any, concordance: float, w: Vector, work: BallWork) -> float:
    """w ← argmin F by damped Newton from w; returns ‖∇F‖/(λκ) ≥ ‖w − argmin‖ before the last step.

    If the steps do not suffice, or lead to NaN, the result is infinite.
    The steps are those of a self-concordant function, which never ascend; where its Hessian is singular to rounding they are shortened.
    """
    tolerance = SMALL * (1.0 + norm(likelihood.target))
    error = 0.0
    for _ in range(NEWTON_STEPS):
        residual_at(likelihood, w, work.u, work.H)
        # F is λκ-strongly convex, so ‖w − ŵ‖ ≤ ‖∇F(w)‖/(λκ): a certificate that needs no knowledge of ŵ.
        error = norm(work.u) / likelihood.ridge
        factor_of(work.H, definite_shift(work.H, work.factor), work.factor)
        divide_by(work.factor, work.u, work.y)
        move = concordance * norm(work.y)
        # The step length log(1+m)/m is that of a generalised self-concordant function: it never overshoots, and tends to 1 near the
        # minimum.
        damping = np.log1p(move) / move if move > 1e-8 else 1.0
        for i in range(w.shape[0]):
            w[i] -= damping * work.y[i]
        if dot(work.y, work.u) <= tolerance * tolerance:
            return float(error)
    return math.inf
