r"""Learning in O(p²) instead of O(p³): estimates of the memories of a group while their priors fade with their sums (`fading`).

Between two observations all sums and priors of a memory fade by the same factor f, and with them the inverse of their total; then an
observation (φ, ψ, y) of weight w changes every inverse by a matrix of rank one. An item's sums and prior fade by f_i since it was last
observed. With x = R_iψ/f_i, d = φ − S_iᵀR_iψ, e = y − ψᵀR_it_i and c = w/(1 + wψᵀx),

    R_i ← R_i/f_i − c·xxᵀ ,               V − E ← f(V − E) + c·ddᵀ ,      E ← fE + wφφᵀ − c·ddᵀ ,
    b − e ← f(b − e) + c·e·d ,            Q − τ ← f(Q − τ) + c·e² .

The factor [U | U⁻ᵀ(b − e) | U⁻ᵀ(V − E)₀], multiplied by √f, takes up the row √c·[d | e | d₀] by plane rotations (Golub and Van Loan,
*Matrix Computations*, §6.5.4); what is left of the last two entries belongs to the sum of squares.

In a new cell of time priors are refreshed. That of the shared columns changes everything: then all is computed from the sums
(`regression`), and so it is every `ANEW` rewards or p/2, because rounding adds up; of many columns every `MANY`·p rewards, since computing
all costs p times as much as a step, and would be felt by the requests that wait for it. That of one own column is refreshed like an
observation that the effect was 0, of the weight that the prior had lost: φ = 0, ψ = 1, y = 0.
"""

from ..core.kernel import kernel, solver
from ..core.lane_rows import (
    blend,
    dot_numbers,
    dot_rows,
    fade_add,
    fade_exchange,
    fade_subtract,
    rotate,
    scale_row,
    set_numbers,
    subtract_combined,
)
from ..core.lanes import LANES, solve_upper
from ..core.linalg import Matrix, Vector
from ..core.simd4 import Four, entry_of, get, larger, put, root, set_entry, spread
from .fading import cell, fades, memory_in
from .regression import AFTER, FADE, MASK, NEW, NOW, OWN, prior_shares
from .sums import DIRECT, LEARNED, NEVER, NEWEST, State, Work

ANEW, MANY = 32.0, 8.0


@kernel
def is_steady(state: State, g: int, i: int, tick: float, w: float, work: Work) -> bool:
    """Whether this observation changes the inverses of group g by little: no prior is refreshed but that of a single own column.

    What is taken back is not learned so, nor what was observed before a memory was cut: its sums fade at other rates than its prior.
    """
    newest, k, p = state.numbers[NEWEST], work.psi.shape[0], float(work.phi.shape[0])
    anew = MANY * p if p > DIRECT else max(ANEW, p // 2.0)
    # Taking a reward back subtracts, which a rotation cannot do stably; and every `anew` rewards all is recomputed, which bounds the
    # rounding.
    if w <= 0.0 or newest <= NEVER or state.numbers[LEARNED] % anew == anew - 1.0:
        return False
    if tick > newest and cell(state, g, tick) != cell(state, g, newest):
        return False
    # The whole interval from the oldest time involved to now must lie after the last cut of every memory in the group.
    oldest = min(tick, newest)
    if k > 0 and i >= 0 and state.last[i] > NEVER:
        oldest = min(oldest, state.last[i])
        if k > 1 and tick > state.last[i] and cell(state, g, tick) != cell(state, g, state.last[i]):
            return False
    newest_cut = NEVER
    for lane in range(LANES):
        newest_cut = max(newest_cut, state.cut[memory_in(state, g, lane)])
    return bool(oldest >= newest_cut)


@kernel
def learn_steadily(state: State, g: int, i: int, tick: float, y: float, w: float, work: Work) -> None:
    """Sums and estimates of group g after an observation for which `is_steady`."""
    phi, d, few, newest = work.phi, work.d, work.few, state.numbers[NEWEST]
    now = max(newest, tick)
    # At most one of the two fades is below 1: an observation on time fades the sums, a late one fades itself.
    fades(state, g, newest, now, few[FADE])
    fades(state, g, tick, now, few[NEW])
    fade, new = get(few, FADE), w * get(few, NEW)
    _add_shared(state.V[g], state.b[g], fade, new, phi, y)
    put(state.Q, g, fade * get(state.Q, g) + (y * y) * new)
    put(state.n, g, fade * get(state.n, g) + new)
    if work.psi.shape[0] == 0 or i < 0:
        # An item without own effects explains nothing: d = φ, and the reward itself is what is left.
        set_numbers(d, phi)
        if work.psi.shape[0] > 0:
            _fade_explained(state.E[g], state.e[g], fade)
            put(state.tau, g, fade * get(state.tau, g))
        _take_up(state.U[g], state.rest[g], fade, d, new, spread(y), work.v)
    else:
        _learn_own(state, g, i, tick, y, w, work)
    solve_upper(state.U[g], state.theta[g, 0], state.theta[g, 1])


@kernel
def _learn_own(state: State, g: int, i: int, tick: float, y: float, w: float, work: Work) -> None:
    """The own sums of an item, what they explain, and the factor; `FADE` and `NEW` of the shared sums are known."""
    phi, psi, d, x, few = work.phi, work.psi, work.d, work.x, work.few
    M, S, t, R = state.own_M[i, g], state.own_S[i, g], state.own_t[i, g], state.own_R[i, g]
    E, e, U, rest = state.E[g], state.e[g], state.U[g], state.rest[g]
    last, until = state.last[i], max(state.last[i], tick)
    fade, new, tau = get(few, FADE), w * get(few, NEW), get(state.tau, g)
    fades(state, g, tick, until, few[OWN])
    fades(state, g, until, max(state.numbers[NEWEST], tick), few[AFTER])
    put(few, NOW, spread(1.0))
    if last <= NEVER:
        a, b = prior_shares(state, g, until, work)
        _first(R, 1.0 / (a + b), get(few, MASK), state.Kinv)
    else:
        fades(state, g, last, until, few[NOW])
    own_fade, after = get(few, NOW), get(few, AFTER)
    tau = fade * tau
    # The item's prior entered a new cell. For k = 1 the refreshed precision is the same as observing "the effect was 0" with the
    # precision that was lost.
    if last > NEVER and until > last and cell(state, g, until) != cell(state, g, last):  # k = 1: see `is_steady`
        lost = _own_precision(state, g, until, work) - own_fade * _own_precision(state, g, last, work)
        c, left = _refresh(M, S, t, R, own_fade, lost, d)
        c, own_fade = after * c, spread(1.0)
        _explain_less(E, e, fade, c, left, d)
        tau = tau - c * (left * left)
        _take_up(U, rest, fade, d, c, left, work.v)
        fade = spread(1.0)
    set_numbers(d, phi)
    c, left = _own_step(M, S, t, R, own_fade, w * get(few, OWN), psi, phi, y, x, d)
    c = after * c
    _exchange(E, e, fade, new, phi, y, c, left, d)
    put(state.tau, g, tau + (y * y) * new - c * (left * left))
    _take_up(U, rest, fade, d, c, left, work.v)


@kernel
def _own_precision(state: State, g: int, t: float, work: Work) -> Four:
    """K at time t, of one own column."""
    a, b = prior_shares(state, g, t, work)
    K: Four = state.Kap[0, 0, 0] * a + state.Kap[1, 0, 0] * b
    return K


@solver
def _first(R: Matrix, weaker: Four, static: Four, Kinv: Matrix) -> None:
    """R_i = K⁻¹ of an item that was never observed; K⁻¹ is so many times weaker than in `Kinv`."""
    for a in range(R.shape[0]):
        scale_row(R[a], 0, spread(0.0))
        blend(R[a], 0, weaker * (spread(1.0) - static), weaker * static, Kinv[0, a], Kinv[1, a])


@solver
def _refresh(M: Matrix, S: Matrix, t: Matrix, R: Matrix, fade: Four, lost: Four, d: Matrix) -> tuple[Four, Four]:
    """Let an item's sums fade, and observe that its effect was 0, with the weight that K has lost (k = 1); d; returns c and −R_it_i.

    Nothing is divided by the fade, which is 0 of an item that was not observed for long.
    """
    r = entry_of(R, 0, 0)
    # 1/r = M + K, the precision of the own effect (k = 1); it fades, then `lost` is added.
    before = fade / r
    c = lost * before / (before + lost)
    set_entry(R, 0, 0, 1.0 / (before + lost))
    left = -1.0 * (r * get(t, 0))
    for j in range(d.shape[0]):
        put(d, j, -1.0 * (r * entry_of(S, 0, j)))
    scale_row(M[0], 0, fade)
    scale_row(S[0], 0, fade)
    scale_row(t, 0, fade)
    return c, left


@solver
def _own_step(M: Matrix, S: Matrix, t: Matrix, R: Matrix, fade: Four, w: Four, psi: Vector, phi: Vector, y: float, x: Matrix, d: Matrix) -> tuple[Four, Four]:  # fmt: skip  # noqa: E501
    """The item's own sums and R; d; returns c and y − ψᵀR_it_i."""
    one, back = spread(1.0), 1.0 / fade
    for a in range(psi.shape[0]):
        put(x, a, dot_numbers(R[a], psi))
    # Sherman–Morrison: R ← R/f − c·xxᵀ/f². The clamp keeps rounding from making xᵀψ negative and c infinite.
    c = w / (one + w * back * larger(dot_numbers(x, psi), spread(0.0)))
    left = spread(y) - dot_rows(x, t, 0)
    subtract_combined(d, x, S)
    for a in range(psi.shape[0]):
        fade_subtract(R[a], 0, back, c * (back * back) * get(x, a), x)
        fade_add(M[a], a, fade, psi[a] * w, psi)
        fade_add(S[a], 0, fade, psi[a] * w, phi)
    fade_add(t, 0, fade, y * w, psi)
    return c, left


@solver
def _exchange(E: Matrix, e: Matrix, fade: Four, new: Four, phi: Vector, y: float, c: Four, left: Four, d: Matrix) -> None:  # fmt: skip
    """E ← fE + wφφᵀ − c·ddᵀ, e ← fe + wyφ − c·left·d."""
    for j in range(phi.shape[0]):
        fade_exchange(E[j], j, fade, phi[j] * new, phi, c * get(d, j), d)
    fade_exchange(e, 0, fade, y * new, phi, c * left, d)


@solver
def _explain_less(E: Matrix, e: Matrix, fade: Four, c: Four, left: Four, d: Matrix) -> None:
    """E ← fE − c·ddᵀ, e ← fe − c·left·d."""
    for j in range(d.shape[0]):
        fade_subtract(E[j], j, fade, c * get(d, j), d)
    fade_subtract(e, 0, fade, c * left, d)


@solver
def _fade_explained(E: Matrix, e: Matrix, fade: Four) -> None:
    """E ← fE, e ← fe."""
    for j in range(E.shape[0]):
        scale_row(E[j], j, fade)
    scale_row(e, 0, fade)


@solver
def _add_shared(V: Matrix, b: Matrix, fade: Four, new: Four, phi: Vector, y: float) -> None:
    """V ← fV + wφφᵀ, b ← fb + wyφ."""
    for j in range(phi.shape[0]):
        fade_add(V[j], j, fade, phi[j] * new, phi)
    fade_add(b, 0, fade, y * new, phi)


@solver
def _take_up(U: Matrix, rest: Matrix, fade: Four, d: Matrix, c: Four, left: Four, v: Matrix) -> None:
    """The factor, faded, with one more row, and the sum of squares left."""
    # A row added to a factor enters with the square root of its weight, and the factor fades with the square root of the fade.
    p, size, scale = d.shape[0], root(c), root(fade)
    for j in range(p):
        put(v, j, size * get(d, j))
    # Two more columns, for the right-hand sides y and 1: the rotations update them with the factor, and θ̂ needs one solve.
    put(v, p, size * left)
    put(v, p + 1, size * get(d, 0))
    for k in range(p):
        rotate(U[k], v, k, scale)
    y, one = get(v, p), get(v, p + 1)
    # What the rotations leave in these columns is the part of the observation that θ̂ does not fit: it adds to the residual sums.
    put(rest, 0, fade * get(rest, 0) + y * y)
    put(rest, 1, fade * get(rest, 1) + y * one)
    put(rest, 2, fade * get(rest, 2) + one * one)
