r"""The learner behind `Bandit`: memories of several lengths, one of which is in use.

For each memory j and block k (one block for all items, or one for each) the weighted sums of the observations s = 1, 2, …

    V = Σ w_s φ_s φ_sᵀ ,  b = Σ w_s y_s φ_s ,  w_s = exp(H_j(τ_s) − H_j(τ_last)) ,      y = r − r₀ ,

where τ is the decision's number, or its time, and H_j its age as memory j feels it (slope: the rate of forgetting). Sums over s do not
depend on the order of
arrival, so a late reward has the weight it would have had in time. From them P = (V + Λ)⁻¹, Λ = diag(1, λ, …, λ), θ = P(b − r̄V_{·0}),
and the noise

    σ̂² = (Σ_k min_θ [‖y − φθ‖²_w + ‖θ‖²_Λ] + 5·Var r) / (Σw + 5) .

*Choice*: argmax f_k + ½(1+|ξ|)σ̂√q_k, q = φᵀPφ, one ξ ~ N(0,1) for all items; the probabilities are those of the upper envelope of
lines. *Memory in use*: each
memory's forecast, made when the decision was, is scored when the reward comes (Student-t₄ until the normal has earned its place);
longer memories that fall 7 nats behind restart from the leader; in use is the longest one within p/2 nats of it.

With a pool (`hybrid`) block 0 learns from all items and is the prior mean of each: θ_k = P_k(b_k + Λθ_0), q = φᵀP_kφ + φ̃ᵀP_0φ̃, φ̃ =
ΛP_kφ.
"""

import math

from ..core.kernel import entry, kernel, solver, sqrt
from ..core.linalg import Matrix, Vector, cholesky, dot, solve, solve_lower, solve_upper
from .coordinates import Integers, Scale, standardise
from .drawing import choose
from .judging import judge
from .sums import COUNT, DIRECT, KNOWN, LAM, NEVER, NEWEST, R0, SQUARES, SUM, USE, Bank, Shape, Work

# ------------------------------------------------------------------------------------------------------------- estimating


@kernel
def prior(bank: Bank, i: int) -> float:
    """Λ_ii."""
    return bank.misc[LAM] if i > 0 else 1.0


@kernel
def felt(bank: Bank, j: int, since: float, until: float) -> float:
    """H_j(until) − H_j(since): the time that memory j has felt between two moments."""
    cut = bank.cut[j]
    before = max(0.0, min(until, cut) - since)
    after = max(0.0, until - max(since, cut))
    total = 0.0
    if before > 0.0 and bank.cut_rate[j] > 0.0:
        total += bank.cut_rate[j] * before
    if after > 0.0 and bank.rate[j] > 0.0:
        total += bank.rate[j] * after
    return total


@solver
def renew(bank: Bank, j: int, k: int, work: Work) -> None:
    """The factor of V + Λ, θ and the remaining sum of squares of one block, from its sums."""
    p = work.phi.shape[0]
    V, b, U, theta, rest = bank.V[j, k], bank.b[j, k], bank.U[j, k], bank.theta[j, k], bank.rest[j, k]
    for i in range(p):
        for l in range(p):  # noqa: E741
            work.W[i, l] = V[i, l]
        work.W[i, i] += prior(bank, i)
    cholesky(work.W, 0.0, U)
    solve(U, b, theta[0])
    solve(U, V[0], theta[1])
    rest[0] = bank.sums[j, k, 1] - dot(b, theta[0])
    rest[1] = b[0] - dot(b, theta[1])
    rest[2] = V[0, 0] - dot(V[0], theta[1])


@kernel
def noise(bank: Bank, shape: Shape, j: int) -> float:
    """σ̂² of memory j."""
    m = bank.misc
    if m[COUNT] == 0.0:
        return 0.0
    away = m[SUM] / m[COUNT]
    variance = max(m[SQUARES] / m[COUNT] - away * away, 0.0)
    best = math.inf
    for kind in range(2):  # the pool; the items
        on = shape.shared[0] if kind == 0 else shape.single[0]
        if on == 0.0:
            continue
        left, n = 0.0, 0.0
        for k in range(0 if kind == 0 else 1, 1 if kind == 0 else bank.last.shape[0]):
            left += bank.rest[j, k, 0] - 2.0 * away * bank.rest[j, k, 1] + away * away * bank.rest[j, k, 2]
            n += bank.sums[j, k, 0]
        best = min(best, (max(left, 0.0) + 5.0 * variance) / (max(n, 0.0) + 5.0))
    return best


@solver
def columns_of(shape: Shape, items: Scale, row: Vector, context: Scale, crow: Vector, work: Work, again: bool) -> None:
    """φ of one item."""
    standardise(items, row, work.zi)
    if again:
        standardise(context, crow, work.zc)
    for i in range(work.phi.shape[0]):
        work.phi[i] = work.zi[shape.item[i]] * work.zc[shape.context[i]]


@solver
def forecast(bank: Bank, shape: Shape, j: int, k: int, work: Work) -> tuple[float, float]:
    """Expected reward of φ in block k by memory j, and its variance in units of σ²."""
    m = bank.misc
    away = m[SUM] / m[COUNT] if m[COUNT] > 0.0 else 0.0
    phi, p = work.phi, work.phi.shape[0]
    mean = m[R0] + away
    q = 0.0
    if shape.single[0] == 1.0 and k < 0:  # an item nobody has seen
        for i in range(p):
            q += phi[i] * phi[i] / prior(bank, i)
            work.v[i] = phi[i]
    elif shape.single[0] == 1.0:
        theta, U = bank.theta[j, k], bank.U[j, k]
        solve_lower(U, phi, work.u)
        q0 = 0.0
        for i in range(p):
            mean += phi[i] * (theta[0, i] - away * theta[1, i])
            q += work.u[i] * work.u[i]
            q0 += phi[i] * phi[i] / prior(bank, i)
        # What is known of an item that was not tried wears off; its mean is kept.
        q = min(q0, q * math.exp(min(felt(bank, j, bank.last[k], m[NEWEST]), 700.0)))
        if shape.shared[0] == 1.0:
            solve_upper(U, work.u, work.v)
            for i in range(p):
                work.v[i] *= prior(bank, i)
    else:
        for i in range(p):
            work.v[i] = phi[i]
    if shape.shared[0] == 1.0:
        theta = bank.theta[j, 0]
        solve_lower(bank.U[j, 0], work.v, work.u)
        for i in range(p):
            mean += work.v[i] * (theta[0, i] - away * theta[1, i])
            q += work.u[i] * work.u[i]
    return mean, max(q, 0.0)


@entry(brief=True)
def decide(
    bank: Bank,
    shape: Shape,
    items: Scale,
    rows: Matrix,
    context: Scale,
    crow: Matrix,
    blocks: Integers,
    explore: float,
    u: float,
    given: int,
    table: Matrix,
    open_: Integers,
    seen: Vector,
    work: Work,
) -> int:
    """Score every item and draw one; or, if one is given, only note what is forecast for it.

    Into table (5, n): forecasts and standard deviations by the memory in use, probabilities, workspace. Into seen (1 + 2M,), for the item
    chosen: σ̂² in use, every memory's forecast, and its variance in units of σ².
    """
    j, M = int(bank.misc[USE]), bank.rate.shape[0]
    sigma2 = noise(bank, shape, j)
    a = given
    if given < 0:
        for k in range(rows.shape[0]):
            columns_of(shape, items, rows[k], context, crow[0], work, k == 0)
            f, q = forecast(bank, shape, j, blocks[k], work)
            table[0, k] = f
            table[1, k] = sqrt(sigma2 * q)
        a = choose(table[0], table[1], open_, explore, u, table[2], table[3:])
    columns_of(shape, items, rows[a], context, crow[0], work, True)
    seen[0] = sigma2
    for j in range(M):
        seen[1 + j], seen[1 + M + j] = forecast(bank, shape, j, blocks[a], work)
    return a


# --------------------------------------------------------------------------------------------------------------- learning


@entry(brief=True)
def learn(
    bank: Bank,
    shape: Shape,
    items: Scale,
    row: Vector,
    context: Scale,
    crow: Vector,
    k: int,
    tick: float,
    r: float,
    w: float,
    seen: Vector,
    work: Work,
) -> bool:
    """Learn a reward of weight w; `seen` is what `foresee` wrote when the decision was made, or empty. True if a memory was refuted."""
    columns_of(shape, items, row, context, crow, work, True)
    m = bank.misc
    if m[KNOWN] == 0.0:
        m[KNOWN] = 1.0
        m[R0] = r
    refuted = False
    if seen.shape[0] > 0 and w > 0.0:
        refuted = judge(bank, r, tick, seen)
    y = r - m[R0]
    sign = 1.0 if w >= 0.0 else -1.0
    m[COUNT] += sign
    m[SUM] += sign * y
    m[SQUARES] += sign * y * y
    m[NEWEST] = max(m[NEWEST], tick)
    if shape.shared[0] == 1.0:
        fold(bank, 0, tick, y, w, work)
    if shape.single[0] == 1.0:
        fold(bank, k, tick, y, w, work)
    return refuted


@solver
def fold(bank: Bank, k: int, tick: float, y: float, w: float, work: Work) -> None:
    """Add one observation to the sums of a block, in every memory."""
    p, phi = work.phi.shape[0], work.phi
    last = bank.last[k]
    for j in range(bank.rate.shape[0]):
        fade, new = 1.0, w
        if last > NEVER:
            if tick > last:
                fade = math.exp(-felt(bank, j, last, tick))
            else:
                new = w * math.exp(-felt(bank, j, tick, last))
        V, b, sums = bank.V[j, k], bank.b[j, k], bank.sums[j, k]
        if fade < 1e-200:
            fade = 0.0
        for i in range(p):
            c = new * phi[i]
            row = V[i]
            for l in range(p):  # noqa: E741
                row[l] = fade * row[l] + c * phi[l]
            b[i] = fade * b[i] + c * y
        sums[0] = fade * sums[0] + new
        sums[1] = fade * sums[1] + new * y * y
        if p <= DIRECT:
            renew(bank, j, k, work)
    bank.last[k] = max(last, tick)
