r"""Two kinds of forgetting, of a block last observed Δ rounds ago (Δ = 1 for shared features).

exponential, memory 1/(1−γ):   V ← γ^ΔV + w zzᵀ,  b ← γ^Δb + w y z,  P = (V + γ^s Λ)⁻¹,  θ = Pb

    where s counts the observations since P was last computed from V: between those the prior fades with the data, so that P is updated
    in O(p²).
    An observation that comes `age` rounds late enters with γ^age, which is exact. While nothing comes a width grows to the prior's: q ←
    min(q/γ^(Δ−1), zᵀΛ⁻¹z).

random walk, rate q:   κ = 1 − (1 − min(qλ, ½))^Δ,   P ← (1−κ)P + κΛ⁻¹,   then the Kalman update

    the mean stays, the variance never exceeds the prior's, nothing is ever inverted. A late observation is of a θ that has moved since:
    its noise
    is larger by κ_age·zᵀΛ⁻¹z. That is not what filtering in time would have given, for which the whole past would have to be kept.
"""

import math

from ...core.kernel import kernel, solver, sqrt
from ...core.linalg import FLOOR, Matrix, Vector, cholesky, dot, inverse, log_det, solve_lower
from .parts import CLOCK, HALF, LAM, LAM_INTERCEPT, SPREAD, SPREAD_INTERCEPT, SelfTuningState

OFTEN = 16.0  # observations between two computations of P from V, or p of them if that is more: rounding adds up
FRESH = 0.7  # a prior that would fade below this is restored at once


@kernel
def precision(state: SelfTuningState, i: int) -> float:
    """Λ_ii."""
    return float(state.now[LAM_INTERCEPT] if i == 0 else state.now[LAM])


@kernel
def prior_width(state: SelfTuningState, z: Vector) -> float:
    """zᵀΛ⁻¹z."""
    return float(z[0] * z[0] / state.now[LAM_INTERCEPT] + (dot(z, z) - z[0] * z[0]) / state.now[LAM])


@kernel
def elapsed(state: SelfTuningState, block: int) -> float:
    """Δ of the coming round."""
    return float(state.now[CLOCK] + 1.0 - state.models.last[block])


@kernel
def renewal(state: SelfTuningState, m: int, gap: float) -> float:
    """κ of random walk m: the share of the variance that is the prior's again."""
    share = min(state.rate[m - state.gamma.shape[0]] * state.now[LAM], 0.5)
    return float(share) if gap == 1.0 else float(1.0 - (1.0 - share) ** max(gap, 0.0))


@kernel
def widened(state: SelfTuningState, m: int, q: float, prior: float, gap: float) -> float:
    """The width q = zᵀPz of a block that has not been observed for a while."""
    if m >= state.gamma.shape[0]:
        kappa = renewal(state, m, gap)
        return (1.0 - kappa) * q + kappa * prior
    if gap <= 1.0 or state.gamma[m] == 1.0:
        return q
    return min(prior, q * math.exp(min(20.0, -math.log(state.gamma[m]) * (gap - 1.0))))


@kernel
def quadratic(P: Matrix, z: Vector) -> float:
    """zᵀPz."""
    total = 0.0
    for i in range(z.shape[0]):
        total += z[i] * dot(P[i], z)
    return total


# ------------------------------------------------------------------------------------------------------------------ learning


@kernel
def absorb_exponential(
    state: SelfTuningState, m: int, block: int, z: Vector, w: float, y: float, gap: float, age: float, weight: float
) -> None:
    """Fade a block by Δ = `gap` rounds, then fold in an observation made `age` rounds ago: as if it had come in time."""
    models, gamma = state.models, state.gamma[m]
    V, b, P, theta = models.V[m, block], models.b[m, block], models.P[m, block], models.theta[m, block]
    g = gamma if gap == 1.0 else math.exp(max(math.log(gamma) * gap, -400.0))
    if age > 0.0:
        weight *= math.exp(max(math.log(gamma) * age, -400.0))
    w *= weight
    models.n[m, block] = g * models.n[m, block] + weight
    models.yy[m, block] = g * models.yy[m, block] + w * y * y
    _fold(V, b, z, g, w, y)
    models.since[m, block] += 1.0
    p = z.shape[0]
    period = max(p, OFTEN)
    if gamma < 1.0:
        period = min(period, max(1.0, 0.25 / (1.0 - gamma)))
    if models.since[m, block] >= period or g < FRESH or w <= 0.0:
        recompute(state, m, block)
    else:
        _update(P, theta, z, state.work.Pz[m], w, y, 1.0 / g, 0.0, 1.0, 1.0)


@solver
def _fold(V: Matrix, b: Vector, z: Vector, g: float, w: float, y: float) -> None:
    """V ← gV + w zzᵀ and b ← gb + w y z."""
    for i in range(z.shape[0]):
        c, row = w * z[i], V[i]
        for j in range(z.shape[0]):
            v = g * row[j] + c * z[j]
            row[j] = v if abs(v) > FLOOR else 0.0
        b[i] = g * b[i] + y * c


@solver
def _update(
    P: Matrix,
    theta: Vector,
    z: Vector,
    Pz: Vector,
    w: float,
    y: float,
    a: float,
    kappa: float,
    first: float,
    lam: float,
) -> None:
    """P ← Q − k·Qz(Qz)ᵀ and θ ← θ + k·e·Qz with Q = aP + κΛ⁻¹, Λ = diag(first, lam, …), k = w/(1 + w·zᵀQz), e = y − zᵀθ."""
    spread, e = 0.0, y
    for i in range(z.shape[0]):
        Pz[i] = a * Pz[i] + kappa * z[i] / (first if i == 0 else lam)  # Qz
        spread += z[i] * Pz[i]
        e -= z[i] * theta[i]
    gain = w / (1.0 + w * spread)
    for i in range(z.shape[0]):
        theta[i] += gain * e * Pz[i]
        c, row = gain * Pz[i], P[i]
        for j in range(z.shape[0]):
            row[j] = a * row[j] - c * Pz[j]
        row[i] += kappa / (first if i == 0 else lam)


@kernel
def absorb_walk(
    state: SelfTuningState, m: int, block: int, z: Vector, w: float, y: float, gap: float, age: float, weight: float
) -> None:
    """One Kalman step; an observation made `age` rounds ago is noisier by the drift since."""
    models, now = state.models, state.now
    keep = 1.0 - sqrt(state.rate[m - state.gamma.shape[0]])
    models.n[m, block] = models.n[m, block] * keep**gap + weight * keep**age
    w *= weight
    if age > 0.0:
        w /= 1.0 + w * renewal(state, m, age) * prior_width(state, z)
    P, theta, kappa = models.P[m, block], models.theta[m, block], renewal(state, m, gap)
    _update(P, theta, z, state.work.Pz[m], w, y, 1.0 - kappa, kappa, now[LAM_INTERCEPT], now[LAM])


@solver
def recompute(state: SelfTuningState, m: int, block: int) -> None:
    """P = (V + Λ)⁻¹ and θ = Pb of an exponential model."""
    models, work = state.models, state.work
    P, theta, b, p = models.P[m, block], models.theta[m, block], models.b[m, block], models.b.shape[2]
    models.since[m, block] = 0.0
    first, lam = prior_of(state, m)
    if models.n[m, block] <= 0.0:
        for i in range(p):
            theta[i] = 0.0
            for j in range(p):
                P[i, j] = 0.0
            P[i, i] = 1.0 / (first if i == 0 else lam)
        return
    ridge(state, models.V[m, block], first, lam)
    factorise(work.A, work.U)
    inverse(work.U, work.A, P)
    for i in range(p):
        theta[i] = dot(P[i], b)


@solver
def factorise(A: Matrix, U: Matrix) -> None:
    """`cholesky`, compiled once for all who need it here."""
    cholesky(A, 0.0, U)


@kernel
def prior_of(state: SelfTuningState, m: int) -> tuple[float, float]:
    """Λ of exponential model m: of the intercept, of every slope. With items the static model, the last one, has its own."""
    now, items = state.now, state.models.last.shape[0] > 1
    if items and m == state.gamma.shape[0] - 1:
        return now[SPREAD_INTERCEPT], now[SPREAD]
    return now[LAM_INTERCEPT], now[LAM]


@kernel
def ridge(state: SelfTuningState, V: Matrix, first: float, lam: float) -> None:
    """work.A = V + diag(first, lam, …)."""
    A = state.work.A
    for i in range(V.shape[0]):
        for j in range(V.shape[0]):
            A[i, j] = V[i, j]
        A[i, i] += first if i == 0 else lam


@kernel
def fit(state: SelfTuningState, b: Vector) -> tuple[float, float]:
    """Log det (V+Λ) and bᵀ(V+Λ)⁻¹b of work.A = V + Λ, which is factored into work.U."""
    work = state.work
    factorise(work.A, work.U)
    half = work.vectors[HALF]
    solve_lower(work.U, b, half)
    return log_det(work.U), dot(half, half)
