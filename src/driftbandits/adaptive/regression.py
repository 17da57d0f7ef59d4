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

from ..core.kernel import kernel, solver
from ..core.lane_rows import (
    blend,
    copy_rows,
    difference,
    fade_add,
    scale_row,
)
from ..core.lanes import LANES, factor, invert, solve_upper
from ..core.linalg import Matrix, Vector
from ..core.simd4 import Four, entry_of, get, larger, load, put, set_entry, spread, store
from .explained import SPLIT, add_explained, add_explained_alike, split_priors, weighted_prior
from .fading import fades, prior_weights
from .sums import COUNT, NEVER, NEWEST, R0, SQUARES, STATIC, SUM, State, Work, voice

PSEUDO = 5.0  # observations of Var r in σ̂²
ROUNDING = 1e-14  # of a pivot, relative to the sums it is a difference of
# Rows of `Work.few`, one number for each lane.
FADE, NEW, BEFORE, NOW, OWN, AFTER, PRIOR, MASK, WIDTH, WEIGHT = range(10)


@kernel
def masks(state: State, g: int, out: Vector) -> None:
    """1 in the lanes of the static voice."""
    for lane in range(LANES):
        out[lane] = 1.0 if voice(state, g * LANES + lane) == STATIC else 0.0


@kernel
def weight_of(state: State, m: int) -> float:
    """Σw of memory m."""
    return float(state.n[m // LANES, m % LANES])


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
    g, l, away = m // LANES, m % LANES, mean_reward(state)  # noqa: E741
    rest = state.rest[g]
    # The residual sum is quadratic in r̄: `rest` holds it for y², y·1 and 1·1, so shrinking towards another mean needs no new factor.
    left = rest[0, l] - 2.0 * away * rest[1, l] + away * away * rest[2, l]
    return float((max(left, 0.0) + PSEUDO * variance_of_rewards(state)) / (max(weight_of(state, m), 0.0) + PSEUDO))


@kernel
def unknown_noise(state: State, m: int) -> float:
    """What is said of σ² while all rewards have been equal: 5·r²/(Σw + 5), or of 1 if they were 0. Nothing is sure after one reward."""
    r = state.numbers[R0] + mean_reward(state)
    return float(PSEUDO * (r * r if r != 0.0 else 1.0) / (max(weight_of(state, m), 0.0) + PSEUDO))


# ---------------------------------------------------------------------------------------------------------------- learning


@kernel
def fold(state: State, g: int, i: int, tick: float, y: float, w: float, work: Work) -> None:
    """Add an observation of weight w, made at `tick`, to all sums of group g; a negative weight takes one back.

    `NEWEST` and `last` are as before the observation; the caller moves them on when all groups have learned it.
    """
    phi, newest, few = work.phi, state.numbers[NEWEST], work.few
    if newest > NEVER:
        # A late observation (tick < newest) fades before it is added, and the sums do not; one on time is the other way round.
        fades(state, g, newest, tick, few[FADE])
        fades(state, g, tick, newest, few[NEW])
    else:
        put(few, FADE, spread(1.0))
        put(few, NEW, spread(1.0))
    fade, new = get(few, FADE), w * get(few, NEW)
    V = state.V[g]
    for j in range(phi.shape[0]):
        fade_add(V[j], j, fade, phi[j] * new, phi)
    fade_add(state.b[g], 0, fade, y * new, phi)
    store(state.Q[g], 0, fade * load(state.Q[g], 0) + (y * y) * new)
    store(state.n[g], 0, fade * load(state.n[g], 0) + new)
    if work.psi.shape[0] > 0:
        _fade_own(state, g, newest < tick, fade)
        if i >= 0:
            _fold_own(state, g, i, tick, max(newest, tick), y, w, work)


@kernel
def _fold_own(state: State, g: int, i: int, tick: float, newest: float, y: float, w: float, work: Work) -> None:
    """The item's own sums, and its part of E, e and τ."""
    psi, last, few = work.psi, state.last[i], work.few
    M, S, t = state.own_M[i, g], state.own_S[i, g], state.own_t[i, g]
    now, new = spread(1.0), spread(w)
    if last > NEVER:
        fades(state, g, last, newest, few[BEFORE])
        if tick < newest:
            fades(state, g, last, tick, few[NOW])
        else:
            put(few, NOW, get(few, BEFORE))
        fades(state, g, tick, last, few[OWN])
        # E is a sum over items, so the item's old part is subtracted, its sums change, and its new part is added below.
        add_own_part(state, g, i, -1.0 * get(few, BEFORE), last, work)
        now, new = get(few, NOW), w * get(few, OWN)
    for a in range(psi.shape[0]):
        c = psi[a] * new
        fade_add(M[a], a, now, c, psi)
        fade_add(S[a], 0, now, c, work.phi)
    fade_add(t, 0, now, y * new, psi)
    last = max(last, tick)
    invert_own(state, g, i, last, work)
    fades(state, g, last, newest, few[AFTER])
    add_own_part(state, g, i, get(few, AFTER), last, work)


@kernel
def _fade_own(state: State, g: int, fades_now: bool, fade: Four) -> None:
    """E, e and τ fade with the shared sums."""
    if fades_now:
        E = state.E[g]
        for j in range(E.shape[0]):
            scale_row(E[j], j, fade)
        scale_row(state.e[g], 0, fade)
        store(state.tau[g], 0, fade * load(state.tau[g], 0))


@kernel
def prior_shares(state: State, g: int, t: float, work: Work) -> tuple[Four, Four]:
    """By how much the prior of the adaptive voice, and of the static one, counts at time t in the lanes of a group."""
    few = work.few
    masks(state, g, few[MASK])
    prior_weights(state, g, t, few[WEIGHT])
    weight, mask = get(few, WEIGHT), get(few, MASK)
    return weight * (spread(1.0) - mask), weight * mask


@kernel
def invert_own(state: State, g: int, i: int, last: float, work: Work) -> None:
    """R_i = (M_i + K)⁻¹ of an item that was last observed then; the factor of M_i + K stays in the first matrix of `Wk`."""
    a, b = prior_shares(state, g, last, work)
    _invert_own(state.own_M[i, g], state.Kap, a, b, work.own_least, work.Wk, state.own_R[i, g])


@kernel
def size_of(x: Four) -> Four:
    """|x|: sums of squares can be below 0 after rewards were taken back, and a pivot is never replaced by less than 0."""
    return larger(x, -1.0 * x)


@solver
def _invert_own(M: Matrix, K: Matrix, a: Four, b: Four, least: Matrix, room: Matrix, R: Matrix) -> None:
    W, k = room[0], M.shape[0]
    for j in range(k):
        copy_rows(W[j], j, M[j])
        blend(W[j], j, a, b, K[0, j], K[1, j])
        # A pivot below this is the rounding of a difference of large numbers; `factor` treats it as 0 and leaves the direction out.
        put(least, j, ROUNDING * size_of(entry_of(W, j, j)))
    factor(W, least)
    if k == 1:
        # The factor's diagonal holds 1/√(M + K), so its square is the inverse.
        set_entry(R, 0, 0, entry_of(W, 0, 0) * entry_of(W, 0, 0))
        return
    invert(W, room[1], R)


@kernel
def add_own_part(state: State, g: int, i: int, f: Four, last: float, work: Work) -> None:
    """E += f·SᵀRS, e += f·SᵀRt, τ += f·tᵀRt of an item that was last observed then."""
    t, R, split = state.own_t[i, g], state.own_R[i, g], work.split
    G, tau = split.shape[0] - 2, state.tau[g]
    if work.kind[0] == SPLIT:
        M = state.own_M[i, g]
        prior_weights(state, g, last, work.few[WEIGHT])
        weighted_prior(split[g], get(work.few, WEIGHT), split[G + 1])
        store(tau, 0, load(tau, 0) + add_explained_alike(M, t, R, split[G + 1], f, state.E[g], state.e[g], split[G]))
    else:
        S = state.own_S[i, g]
        store(tau, 0, load(tau, 0) + add_explained(S, t, R, f, state.E[g], state.e[g], work.B))


@solver
def retire(state: State, i: int, work: Work) -> None:
    """Forget the own effect of item i: what it explained leaves the shared sums, so that no other estimate changes."""
    if state.last[i] <= NEVER:
        return
    for g in range(state.V.shape[0]):
        fades(state, g, state.last[i], state.numbers[NEWEST], work.few[BEFORE])
        f = -1.0 * load(work.few[BEFORE], 0)
        S, t, R = state.own_S[i, g], state.own_t[i, g], state.own_R[i, g]
        store(state.tau[g], 0, load(state.tau[g], 0) + add_explained(S, t, R, f, state.E[g], state.e[g], work.B))
        # V, b and Q lose what E, e and τ lose: V − E, b − e and Q − τ, from which all is estimated, do not change.
        store(state.Q[g], 0, load(state.Q[g], 0) + add_explained(S, t, R, f, state.V[g], state.b[g], work.B))
        for a in range(work.psi.shape[0]):
            scale_row(state.own_M[i, g, a], 0, spread(0.0))
            scale_row(state.own_S[i, g, a], 0, spread(0.0))
        scale_row(state.own_t[i, g], 0, spread(0.0))
    state.last[i] = NEVER


# --------------------------------------------------------------------------------------------------------------- estimates


@solver
def renew(state: State, g: int, work: Work) -> None:
    """The factor of V + Λ − E, θ̂, and the sum of squares left, from the sums of group g.

    Both right-hand sides, b − e and column 0 of V − E, are two more columns of the matrix that is factored.
    """
    p, U, V, E = work.phi.shape[0], state.U[g], state.V[g], state.E[g]
    own, b, e, rest = work.psi.shape[0] > 0, state.b[g], state.e[g], state.rest[g]
    one, two = prior_shares(state, g, state.numbers[NEWEST], work)
    for j in range(p):
        if own:
            difference(U[j], j, V[j], E[j])
        else:
            copy_rows(U[j], j, V[j])
        set_entry(U, j, p, get(b, j) - get(e, j))
    for j in range(p):  # the first row is complete, and has no prior yet
        set_entry(U, j, p + 1, entry_of(U, 0, j))
    for l in range(LANES):  # noqa: E741
        rest[0, l] = state.Q[g, l] - state.tau[g, l]
        rest[1, l], rest[2, l] = U[0, p, l], U[0, p + 1, l]
    for j in range(p):
        blend(U[j], j, one, two, state.Lam[0, j], state.Lam[1, j])
    for j in range(p):  # V − E + Λ is known up to the rounding of V and Λ, not of their difference
        prior = state.Lam[0, j, j] * one + state.Lam[1, j, j] * two
        put(work.least, j, ROUNDING * (size_of(entry_of(V, j, j)) + prior))
    factor(U, work.least)
    squares, both, ones = get(rest, 0), get(rest, 1), get(rest, 2)
    for j in range(p):
        y, x = entry_of(U, j, p), entry_of(U, j, p + 1)  # with z = U⁻ᵀc: cᵀA⁻¹c = zᵀz
        squares, both, ones = squares - y * y, both - y * x, ones - x * x
    put(rest, 0, squares)
    put(rest, 1, both)
    put(rest, 2, ones)
    solve_upper(U, state.theta[g, 0], state.theta[g, 1])


@solver
def renew_from(state: State, first: int, work: Work) -> None:
    """`renew` of every memory from this one on."""
    for g in range(first // LANES, state.V.shape[0]):
        renew(state, g, work)


@solver
def renew_faded(state: State, first: int, work: Work) -> None:
    """`renew` of every memory from this one on, but for groups whose estimates are up to date already."""
    for g in range(first // LANES, state.V.shape[0]):
        if work.steady[g] == 0.0:
            renew(state, g, work)


@solver
def renew_own(state: State, g: int, m: int, work: Work) -> tuple[float, float]:
    """R of every item, E, e and τ of group g from the own sums: when K has moved, or to be rid of rounding.

    Returns Σ log|M_i + K| in memory m of the group, and the number of items in it.
    """
    E, e = state.E[g], state.e[g]
    logdet, many = 0.0, 0.0
    for j in range(E.shape[0]):
        scale_row(E[j], 0, spread(0.0))
    scale_row(e, 0, spread(0.0))
    store(state.tau[g], 0, spread(0.0))
    if work.psi.shape[0] == 0:
        return 0.0, 0.0
    split_priors(state, work)
    for i in range(state.last.shape[0]):
        if state.last[i] > NEVER:
            invert_own(state, g, i, state.last[i], work)
            logdet += log_det(work.Wk[0], m % LANES)
            many += 1.0
            fades(state, g, state.last[i], state.numbers[NEWEST], work.few[AFTER])
            add_own_part(state, g, i, load(work.few[AFTER], 0), state.last[i], work)
    return logdet, many


@kernel
def log_det(U: Matrix, lane: int) -> float:
    """log|UᵀU| of one lane of a factor."""
    total = 0.0
    for j in range(U.shape[0]):
        total -= 2.0 * math.log(U[j, j, lane])
    return total


@solver
def restart(state: State, m: int, lead: int, tick: float) -> None:
    """Memory m forgets what the leading memory has forgotten, and continues it from the newest rewarded decision on.

    Estimates of its group are to be renewed by the caller: R and E by `renew_own`, the others with the next observation.
    """
    g, h, l, j = m // LANES, lead // LANES, m % LANES, lead % LANES  # noqa: E741
    _copy_lane3(state.V[g], l, state.V[h], j)
    _copy_lane3(state.U[g], l, state.U[h], j)
    _copy_lane3(state.theta[g], l, state.theta[h], j)
    _copy_lane(state.b[g], l, state.b[h], j)
    _copy_lane(state.rest[g], l, state.rest[h], j)
    state.Q[g, l], state.n[g, l] = state.Q[h, j], state.n[h, j]
    for i in range(state.last.shape[0]):
        if state.last[i] > NEVER:
            _copy_lane3(state.own_M[i, g], l, state.own_M[i, h], j)
            _copy_lane3(state.own_S[i, g], l, state.own_S[i, h], j)
            _copy_lane(state.own_t[i, g], l, state.own_t[i, h], j)
    # Rewards of decisions made before the cut are still to come. They must fade as the leader's do, at the rate that held when they were
    # made.
    state.cut[m] = max(state.numbers[NEWEST], tick)
    state.cut_rate[m] = state.rate[lead]


@kernel
def _copy_lane(to: Matrix, l: int, source: Matrix, j: int) -> None:  # noqa: E741
    for a in range(to.shape[0]):
        to[a, l] = source[a, j]


@kernel
def _copy_lane3(to: Matrix, l: int, source: Matrix, j: int) -> None:  # noqa: E741
    for a in range(to.shape[0]):
        _copy_lane(to[a], l, source[a], j)
