r"""Sums to estimates, forecasts, and the learning of one observation.

An item that is not observed keeps the mean of its own effect while its certainty wears off: the prior of its effect fades with its sums,
by f_i = exp(−H(newest) + H(last_i)), until it is observed again. With R_i = (M_i + K)⁻¹, all own effects eliminated,

    E = Σ f_i S_iᵀR_iS_i ,  e = Σ f_i S_iᵀR_it_i ,  A = V + Λ − E ,  θ̂ = A⁻¹(b − e) ;
    d = φ − S_iᵀR_iψ :     mean dᵀθ̂ + ψᵀR_it_i ,     variance/σ² = dᵀA⁻¹d + min(ψᵀR_iψ/f_i, ψᵀK⁻¹ψ) .

E and e fade with V and b, so one observation changes the part of its own item alone: O(p³) for the factor, O(k²p + kp²) for the item,
whatever the number of items. All shrinks around the mean reward r̄ of today: estimates are kept for y and for the constant, θ = θ₀ − r̄θ₁,

    σ̂² = (min_{θ,u} [Σ w(y − r̄ − …)² + ‖θ‖²_Λ + Σf_i‖u_i‖²_K] + 5·Var r) / (Σw + 5) .
"""

import math

from ..core.kernel import kernel, solver, sqrt
from ..core.linalg import Matrix, Vector, cholesky, dot, inverse, log_det, solve, solve_lower
from ..core.simd4 import load, store
from .explained import SPLIT, G, H, add_explained, add_explained_alike, add_scaled, split_priors
from .sums import ADAPTIVE, COUNT, LANES, NARROW, NEVER, NEWEST, R0, SQUARES, STATIC, SUM, UNNAMED, State, Work

LEAST = 1e-200  # what has faded below this is zero: denormal numbers are slow and mean nothing
PSEUDO = 5.0  # observations of Var r in σ̂²


@kernel
def adaptive(state: State) -> int:
    """The number of memories that compete; a static one comes after them, if there are several."""
    M = state.rate.shape[0]
    return M - 1 if M > 1 else 1


@kernel
def voice(state: State, m: int) -> int:
    """Whose prior memory m has."""
    return STATIC if m >= adaptive(state) else ADAPTIVE


@kernel
def felt(state: State, m: int, since: float, until: float) -> float:
    """H_m(until) − H_m(since), 0 where time does not pass."""
    cut = state.cut[m]
    before = max(0.0, min(until, cut) - since)
    after = max(0.0, until - max(since, cut))
    total = 0.0
    if before > 0.0 and state.cut_rate[m] > 0.0:
        total += state.cut_rate[m] * before
    if after > 0.0 and state.rate[m] > 0.0:
        total += state.rate[m] * after
    return total


@kernel
def faded(state: State, m: int, since: float, until: float) -> float:
    """exp(−(H_m(until) − H_m(since)))."""
    f = math.exp(-min(felt(state, m, since, until), 700.0))
    return f if f > LEAST else 0.0


@kernel
def mean_reward(state: State) -> float:
    """r̄ − r₀."""
    n = state.numbers
    return float(n[SUM] / n[COUNT]) if n[COUNT] > 0.0 else 0.0


@kernel
def variance_of_rewards(state: State) -> float:
    """Var r, of all rewards alike."""
    n = state.numbers
    if n[COUNT] <= 0.0:
        return 0.0
    away = n[SUM] / n[COUNT]
    return float(max(n[SQUARES] / n[COUNT] - away * away, 0.0))


@kernel
def noise(state: State, m: int) -> float:
    """σ̂² of memory m; 0 before the first reward."""
    if state.numbers[COUNT] <= 0.0:
        return 0.0
    away, rest = mean_reward(state), state.rest[m]
    left = rest[0] - 2.0 * away * rest[1] + away * away * rest[2]
    return float((max(left, 0.0) + PSEUDO * variance_of_rewards(state)) / (max(state.n[m], 0.0) + PSEUDO))


@kernel
def unknown_noise(state: State, m: int) -> float:
    """What is said of σ² while all rewards have been equal: 5·r²/(Σw + 5), or of 1 if they were 0. Nothing is sure after one reward."""
    r = state.numbers[R0] + mean_reward(state)
    return float(PSEUDO * (r * r if r != 0.0 else 1.0) / (max(state.n[m], 0.0) + PSEUDO))


# --------------------------------------------------------------------------------------------------------------- forecasts


@kernel
def forecast(state: State, m: int, i: int, width: bool, work: Work) -> tuple[float, float]:
    """Expected reward of (φ, ψ) in `work` for item i, −1 if it was never seen; with `width` also its variance in units of σ²."""
    phi, d, theta = work.phi, work.d, state.theta[m]
    p, k = phi.shape[0], work.psi.shape[0]
    away = mean_reward(state)
    mean, q = state.numbers[R0] + away, 0.0
    for j in range(p):
        d[j] = phi[j]
    if k > 0 and i > UNNAMED:
        seen = i >= 0 and state.last[max(i, 0)] > NEVER
        R = state.own_R[i, m] if seen else state.Kinv[voice(state, m)]
        for a in range(k):
            work.Rpsi[a] = dot(R[a], work.psi)
        q = dot(work.Rpsi, work.psi)
        if seen:
            S, t = state.own_S[i, m], state.own_t[i, m]
            for a in range(k):
                c, row = work.Rpsi[a], S[a]
                mean += c * (t[a] - away * row[0])
                for j in range(p):
                    d[j] -= c * row[j]
            wear = faded(state, m, state.last[i], state.numbers[NEWEST])
            if wear < 1.0:
                q = min(q / max(wear, LEAST), _prior_width(state, voice(state, m), work))
    for j in range(p):
        mean += d[j] * (theta[0, j] - away * theta[1, j])
    if width:
        solve_lower(state.U[m], d, work.u)
        q += dot(work.u, work.u)
    return mean, max(q, 0.0)


@kernel
def own_mean(R: Matrix, S: Matrix, t: Vector, psi: Vector, away: float, theta: Vector) -> float:
    """ψᵀR_i(t_i − r̄S_i0 − S_iθ): what an item's own effect adds to φᵀθ in one memory, θ being that of rewards around today's mean."""
    total = 0.0
    for a in range(psi.shape[0]):
        total += dot(R[a], psi) * (t[a] - away * S[a, 0] - dot(S[a], theta))
    return total


@kernel
def _prior_width(state: State, v: int, work: Work) -> float:
    """ψᵀK⁻¹ψ."""
    q = 0.0
    for a in range(work.psi.shape[0]):
        q += work.psi[a] * dot(state.Kinv[v, a], work.psi)
    return q


# ---------------------------------------------------------------------------------------------------------------- learning


@kernel
def fold(state: State, m: int, i: int, tick: float, y: float, w: float, work: Work) -> None:
    """Add an observation of weight w, made at `tick`, to all sums of memory m; a negative weight takes one back.

    `NEWEST` and `last` are as before the observation; the caller moves them on when all memories have learned it.
    """
    phi, newest = work.phi, state.numbers[NEWEST]
    V, b = state.V[m], state.b[m]
    fade, new = 1.0, w
    if newest > NEVER:
        fade, new = faded(state, m, newest, tick), w * faded(state, m, tick, newest)
    _add(V, fade, new, phi, phi)
    for j in range(phi.shape[0]):
        b[j] = fade * b[j] + new * y * phi[j]
    state.Q[m] = fade * state.Q[m] + new * y * y
    state.n[m] = fade * state.n[m] + new
    if work.psi.shape[0] > 0:
        if i < 0:
            _fade_own(state, m, fade)
            return
        _fold_own(state, m, i, tick, max(newest, tick), fade, y, w, work)


@kernel
def _fold_own(
    state: State, m: int, i: int, tick: float, newest: float, fade: float, y: float, w: float, work: Work
) -> None:
    """The item's own sums, and its part of E, e and τ."""
    psi, last = work.psi, state.last[i]
    M, S, t = state.own_M[i, m], state.own_S[i, m], state.own_t[i, m]
    _fade_own(state, m, fade)
    now, new = 1.0, w
    if last > NEVER:
        add_own_part(state, m, i, -faded(state, m, last, newest), work)
        now, new = faded(state, m, last, tick), w * faded(state, m, tick, last)
    _add(M, now, new, psi, psi)
    _add(S, now, new, psi, work.phi)
    for a in range(psi.shape[0]):
        t[a] = now * t[a] + new * y * psi[a]
    invert_own(state, m, i, work)
    add_own_part(state, m, i, faded(state, m, max(last, tick), newest), work)


@kernel
def _fade_own(state: State, m: int, fade: float) -> None:
    """E, e and τ fade with the shared sums."""
    if fade < 1.0:
        _scale(state.E[m], fade)
        for j in range(state.e.shape[1]):
            state.e[m, j] *= fade
        state.tau[m] *= fade


@kernel
def _add(A: Matrix, fade: float, new: float, x: Vector, z: Vector) -> None:
    """A ← fade·A + new·xzᵀ."""
    for i in range(x.shape[0]):
        add_scaled(A[i], fade, new * x[i], z)


@kernel
def _scale(A: Matrix, c: float) -> None:
    for i in range(A.shape[0]):
        row = A[i]
        for j in range(A.shape[1]):
            row[j] *= c


@kernel
def invert_own(state: State, m: int, i: int, work: Work) -> float:
    """R_i = (M_i + K)⁻¹; returns log|M_i + K|."""
    M, R, K = state.own_M[i, m], state.own_R[i, m], state.Kap[voice(state, m)]
    k = M.shape[0]
    if k == 1:
        R[0, 0] = 1.0 / (M[0, 0] + K[0, 0])
        return -math.log(R[0, 0])
    W, U, B = work.Wk[0], work.Wk[1], work.Wk[2]
    for a in range(k):
        for j in range(k):
            W[a, j] = M[a, j] + K[a, j]
    cholesky(W, 0.0, U)
    inverse(U, B, R)
    return log_det(U)


@kernel
def add_own_part(state: State, m: int, i: int, f: float, work: Work) -> None:
    """E += f·SᵀRS, e += f·SᵀRt, τ += f·tᵀRt."""
    S, t, R, v, split = state.own_S[i, m], state.own_t[i, m], state.own_R[i, m], voice(state, m), work.split
    if split[SPLIT, v % split.shape[1]] == 1.0:
        u, D = state.Kap[v, 0], split[v]
        state.tau[m] += add_explained_alike(S, t, R, u, D, f, state.E[m], state.e[m], split[G], split[H])
    else:
        state.tau[m] += add_explained(S, t, R, f, state.E[m], state.e[m], work.B)


@solver
def retire(state: State, i: int, work: Work) -> None:
    """Forget the own effect of item i: what it explained leaves the shared sums, so that no other estimate changes."""
    if state.last[i] <= NEVER:
        return
    for m in range(state.rate.shape[0]):
        f = -faded(state, m, state.last[i], state.numbers[NEWEST])
        S, t, R = state.own_S[i, m], state.own_t[i, m], state.own_R[i, m]
        state.tau[m] += add_explained(S, t, R, f, state.E[m], state.e[m], work.B)
        state.Q[m] += add_explained(S, t, R, f, state.V[m], state.b[m], work.B)
        _scale(state.own_M[i, m], 0.0)
        _scale(state.own_S[i, m], 0.0)
        for a in range(work.psi.shape[0]):
            state.own_t[i, m, a] = 0.0
    state.last[i] = NEVER


# --------------------------------------------------------------------------------------------------------------- estimates


@solver
def renew(state: State, m: int, work: Work) -> None:
    """The factor of V + Λ − E, θ̂, and the sum of squares left, from the sums of memory m."""
    p, W, u = work.phi.shape[0], work.W, work.u
    V, E, Lam, theta, rest = state.V[m], state.E[m], state.Lam[voice(state, m)], state.theta[m], state.rest[m]
    own = work.psi.shape[0] > 0
    first = work.d  # column 0 of V − E: the right-hand side of the constant
    for i in range(p):
        for j in range(p):
            W[i, j] = V[i, j] - E[i, j] if own else V[i, j]
        first[i] = W[i, 0]
        u[i] = state.b[m, i] - state.e[m, i]
        for j in range(p):
            W[i, j] += Lam[i, j]
    cholesky(W, 0.0, state.U[m])
    solve(state.U[m], u, theta[0])
    solve(state.U[m], first, theta[1])
    rest[0] = state.Q[m] - state.tau[m] - dot(u, theta[0])
    rest[1] = u[0] - dot(u, theta[1])
    rest[2] = first[0] - dot(first, theta[1])


@solver
def renew_from(state: State, first: int, work: Work) -> None:
    """`renew` of every memory from this one on."""
    M = state.rate.shape[0]
    if work.phi.shape[0] > NARROW:
        for m in range(first, M):
            renew(state, m, work)
        return
    for m in range(first, M, LANES):
        _renew_lanes(state, m, min(M - m, LANES), work)


@solver
def _renew_lanes(state: State, m: int, many: int, work: Work) -> None:
    """`renew` of memories m…m+many−1 side by side: a small matrix is too short to fill registers, four of them are not."""
    p, A, right = work.phi.shape[0], work.lanes, work.right
    own = work.psi.shape[0] > 0
    for lane in range(LANES):
        _load_lane(state, m + min(lane, many - 1), lane, own, work)
    for k in range(p):
        for q in range(k):
            c = load(A[q, k], 0)
            for j in range(k, p):
                store(A[k, j], 0, load(A[k, j], 0) - c * load(A[q, j], 0))
            for side in range(2):
                store(right[side, k], 0, load(right[side, k], 0) - c * load(right[side, q], 0))
        for lane in range(LANES):
            A[k, k, lane] = 1.0 / sqrt(A[k, k, lane])
        scale = load(A[k, k], 0)
        for j in range(k + 1, p):
            store(A[k, j], 0, scale * load(A[k, j], 0))
        for side in range(2):
            store(right[side, k], 0, scale * load(right[side, k], 0))
    for lane in range(many):  # with z = U⁻ᵀc: cᵀA⁻¹c = zᵀz
        _rest_of_lane(state, m + lane, lane, work)
    for k in range(p - 1, -1, -1):
        scale = load(A[k, k], 0)
        for side in range(2):
            x = load(right[side, k], 0)
            for j in range(k + 1, p):
                x = x - load(A[k, j], 0) * load(right[side, j], 0)
            store(right[side, k], 0, scale * x)
    for lane in range(many):
        U, theta = state.U[m + lane], state.theta[m + lane]
        for k in range(p):
            theta[0, k], theta[1, k] = right[0, k, lane], right[1, k, lane]
            for j in range(k, p):
                U[k, j] = A[k, j, lane]


@kernel
def _load_lane(state: State, m: int, lane: int, own: bool, work: Work) -> None:
    """V + Λ − E (its upper triangle) and both right-hand sides of memory m."""
    V, E, Lam = state.V[m], state.E[m], state.Lam[voice(state, m)]
    for i in range(work.phi.shape[0]):
        for j in range(i, work.phi.shape[0]):
            left = V[i, j] - E[i, j] if own else V[i, j]
            work.lanes[i, j, lane] = left + Lam[i, j]
            if i == 0:
                work.right[1, j, lane] = left
        work.right[0, i, lane] = state.b[m, i] - state.e[m, i]


@kernel
def _rest_of_lane(state: State, m: int, lane: int, work: Work) -> None:
    """The sum of squares left, from z = U⁻ᵀc of both right-hand sides."""
    right, rest = work.right, state.rest[m]
    squares, product, constant = 0.0, 0.0, 0.0
    for k in range(right.shape[1]):
        y, one = right[0, k, lane], right[1, k, lane]
        squares, product, constant = squares + y * y, product + y * one, constant + one * one
    first = state.V[m, 0, 0] - (state.E[m, 0, 0] if work.psi.shape[0] > 0 else 0.0)
    rest[0] = state.Q[m] - state.tau[m] - squares
    rest[1] = state.b[m, 0] - state.e[m, 0] - product
    rest[2] = first - constant


@solver
def renew_own(state: State, m: int, work: Work) -> tuple[float, float]:
    """R of every item, E, e and τ from the own sums: when K has moved, or to be rid of rounding.

    Returns Σ log|M_i + K| and the number of items in it.
    """
    p = state.e.shape[1]
    logdet, many = 0.0, 0.0
    for j in range(state.E.shape[1]):
        for l in range(state.E.shape[1]):  # noqa: E741
            state.E[m, j, l] = 0.0
    for j in range(p):
        state.e[m, j] = 0.0
    state.tau[m] = 0.0
    if work.psi.shape[0] == 0:
        return 0.0, 0.0
    split_priors(state, work.split)
    for i in range(state.last.shape[0]):
        if state.last[i] > NEVER:
            logdet += invert_own(state, m, i, work)
            many += 1.0
            add_own_part(state, m, i, faded(state, m, state.last[i], state.numbers[NEWEST]), work)
    return logdet, many


@solver
def restart(state: State, m: int, lead: int, tick: float) -> None:
    """Memory m forgets what the leading memory has forgotten, and continues it from the newest rewarded decision on."""
    _copy(state.V[m], state.V[lead])
    _copy(state.E[m], state.E[lead])
    _copy(state.U[m], state.U[lead])
    _copy(state.theta[m], state.theta[lead])
    p = state.b.shape[1]
    for j in range(p):
        state.b[m, j], state.e[m, j] = state.b[lead, j], state.e[lead, j]
    for j in range(3):
        state.rest[m, j] = state.rest[lead, j]
    state.Q[m], state.n[m], state.tau[m] = state.Q[lead], state.n[lead], state.tau[lead]
    for i in range(state.last.shape[0]):
        if state.last[i] > NEVER:
            _copy(state.own_M[i, m], state.own_M[i, lead])
            _copy(state.own_S[i, m], state.own_S[i, lead])
            _copy(state.own_R[i, m], state.own_R[i, lead])
            for a in range(state.own_t.shape[2]):
                state.own_t[i, m, a] = state.own_t[i, lead, a]
    state.cut[m] = max(state.numbers[NEWEST], tick)
    state.cut_rate[m] = state.rate[lead]


@kernel
def _copy(to: Matrix, source: Matrix) -> None:
    for i in range(to.shape[0]):
        for j in range(to.shape[1]):
            to[i, j] = source[i, j]
