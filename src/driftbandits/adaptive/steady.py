r"""Learning where nothing fades: estimates of the memories that never forget, in O(p²) instead of O(p³).

If all sums of a group of memories keep their weights, an observation (φ, ψ, y) of weight w changes every inverse by a matrix of rank one.
With x = R_iψ, d = φ − S_iᵀx and c = w/(1 + wψᵀx),

    R_i −= c·xxᵀ ,                   V − E += c·ddᵀ ,      so that  E += wφφᵀ − c·ddᵀ ,
    b − e += c(y − xᵀt_i)·d ,        Q − τ += c(y − xᵀt_i)² .

The factor [U | U⁻ᵀ(b − e) | U⁻ᵀ(V − E)₀] takes up the row √c·[d | y − xᵀt_i | d₀] by plane rotations (Golub and Van Loan, *Matrix
Computations*, §6.5.4); what is left of the last two entries belongs to the sum of squares. Rounding adds up, so that the caller computes
everything anew from the sums every `ANEW` rewards.
"""

from ..core.kernel import kernel, solver
from ..core.lane_rows import dot_numbers, dot_rows, fade_add, rotate, set_numbers, subtract_combined, subtract_rows
from ..core.lanes import LANES, solve_upper
from ..core.linalg import Matrix, Vector
from ..core.simd4 import Four, get, larger, put, root, spread
from .sums import LEARNED, NEVER, NEWEST, State, Work

ANEW = 32.0


@kernel
def is_steady(state: State, g: int, i: int, tick: float, w: float, work: Work) -> bool:
    """Whether this observation leaves all weights of group g as they are: nothing fades, and nothing has faded since the item was seen."""
    if w <= 0.0 or state.numbers[NEWEST] <= NEVER or state.numbers[LEARNED] % ANEW == ANEW - 1.0:
        return False
    own = work.psi.shape[0] > 0
    if own and (i < 0 or state.last[max(i, 0)] <= NEVER):
        return False
    oldest = min(tick, state.last[i]) if own else tick
    for lane in range(LANES):
        m = min(g * LANES + lane, state.rate.shape[0] - 1)
        if state.rate[m] != 0.0 or (state.cut_rate[m] > 0.0 and oldest < state.cut[m]):
            return False
    return True


@kernel
def learn_steadily(state: State, g: int, i: int, y: float, w: float, work: Work) -> None:
    """Sums and estimates of group g after an observation for which `is_steady`."""
    phi, psi, d, v, one = work.phi, work.psi, work.d, work.v, spread(1.0)
    set_numbers(d, phi)
    c, left = spread(w), spread(y)
    if psi.shape[0] > 0:
        M, S, t, R = state.own_M[i, g], state.own_S[i, g], state.own_t[i, g], state.own_R[i, g]
        c, left = _own_step(M, S, t, R, psi, phi, y, w, work.x, d)
        _explain(state.E[g], state.e[g], phi, y, w, c, left, d)
        put(state.tau, g, get(state.tau, g) + (w * y * y) * one - c * (left * left))
    _add_shared(state.V[g], state.b[g], phi, y, w)
    put(state.Q, g, get(state.Q, g) + (w * y * y) * one)
    put(state.n, g, get(state.n, g) + w * one)
    _take_up(state.U[g], state.theta[g], state.rest[g], d, c, left, v)


@solver
def _own_step(M: Matrix, S: Matrix, t: Matrix, R: Matrix, psi: Vector, phi: Vector, y: float, w: float, x: Matrix, d: Matrix) -> tuple[Four, Four]:  # fmt: skip  # noqa: E501
    """The item's own sums and R; d; returns c and y − xᵀt."""
    k, one = psi.shape[0], spread(1.0)
    for a in range(k):
        put(x, a, dot_numbers(R[a], psi))
    c = (w * one) / (one + w * larger(dot_numbers(x, psi), spread(0.0)))
    left = spread(y) - dot_rows(x, t, 0)
    subtract_combined(d, x, S)
    for a in range(k):
        subtract_rows(R[a], 0, c * get(x, a), x)
        fade_add(M[a], a, one, spread(w * psi[a]), psi)
        fade_add(S[a], 0, one, spread(w * psi[a]), phi)
    fade_add(t, 0, one, spread(w * y), psi)
    return c, left


@solver
def _explain(E: Matrix, e: Matrix, phi: Vector, y: float, w: float, c: Four, left: Four, d: Matrix) -> None:
    """E += wφφᵀ − c·ddᵀ, e += wyφ − c(y − xᵀt)·d."""
    one = spread(1.0)
    for j in range(phi.shape[0]):
        fade_add(E[j], j, one, spread(w * phi[j]), phi)
        subtract_rows(E[j], j, c * get(d, j), d)
    fade_add(e, 0, one, spread(w * y), phi)
    subtract_rows(e, 0, c * left, d)


@solver
def _add_shared(V: Matrix, b: Matrix, phi: Vector, y: float, w: float) -> None:
    """V += wφφᵀ, b += wyφ."""
    one = spread(1.0)
    for j in range(phi.shape[0]):
        fade_add(V[j], j, one, spread(w * phi[j]), phi)
    fade_add(b, 0, one, spread(w * y), phi)


@solver
def _take_up(U: Matrix, theta: Matrix, rest: Matrix, d: Matrix, c: Four, left: Four, v: Matrix) -> None:
    """The factor with one more row, both solutions, and the sum of squares left."""
    p, size = d.shape[0], root(c)
    for j in range(p):
        put(v, j, size * get(d, j))
    put(v, p, size * left)
    put(v, p + 1, size * get(d, 0))
    for k in range(p):
        rotate(U[k], v, k)
    y, one = get(v, p), get(v, p + 1)
    put(rest, 0, get(rest, 0) + y * y)
    put(rest, 1, get(rest, 1) + y * one)
    put(rest, 2, get(rest, 2) + one * one)
    solve_upper(U, theta[0], theta[1])
