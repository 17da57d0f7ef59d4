r"""Bets on recursive residuals, and the alarm they raise.

f, h     forecast zᵀθ and leverage zᵀPz of the reference of the item that was shown, before its reward r is learned
u        (r − f)/√(1 + h), the recursive residual (Brown, Durbin, Evans 1975): while nothing changes, residuals are uncorrelated with each
         other whatever θ is, so that bets may be learned from earlier ones. Rounds with h ≥ .15 are learned from, and not bet on
v        the variance of u given f: mean and slope in f of earlier u², within [¼, 4] of the mean;   w = u/√v
ι        1 + √Σu⁴/Σu²: one standard error of v on top. No bets are placed before (Σu²)²/Σu⁴ ≥ 20: about 20 clicks, however rare they are;
         nor on an item before 10 over its own rounds
λ        a bettor with direction g and memory m stakes λ = βg, |λ| ≤ 1, β = Σγ^age g w / (Σγ^age g² + 20), γ = 1 − 1/m. Ages of a bettor
         on one item count that item's rounds. The direction "several" is Σ_j z_j β_j (1 − 2/t_j²)₊ over the columns (James–Stein)
e        (1 + λw + λ²w²/2) exp(−ιλ²/2): its mean is at most 1 if E w = 0 and E w² ≤ ι (Catoni 2012), whatever the tails
SR       e (SR + 1), the Shiryaev–Roberts e-detector (Shin, Ramdas, Rinaldo 2022)

An alarm is raised where Σ π SR ≥ C. The bettors on an item are given their 1 only in that item's rounds, each of which belongs to one
item: the sum over all items therefore grows by at most 1 per round, E Σ π SR ≤ n, and the mean number of rounds to a false alarm is at
least C. However many items there are, none pays for the others.
"""

import math

from ..core.kernel import entry, kernel, solver, sqrt
from ..core.linalg import Matrix, Vector
from .state import (
    BEFORE,
    BLOCK,
    CENTRE,
    COLUMN,
    COUNT,
    CUSUM,
    DECISION,
    EARNED,
    F1,
    F2,
    FIELDS,
    FIRST,
    GG,
    GW,
    ITEM,
    ITEM_COLUMN,
    ITEM_SEVERAL,
    LEVEL,
    MEAN,
    MISFIT,
    MUTED,
    NUMBERS,
    OPEN,
    ORIGIN,
    ROUNDS,
    SCALE,
    SEEN,
    SEVERAL,
    SINCE,
    SQUARES,
    SR,
    STEPS,
    SUM,
    TOLD,
    TOTAL,
    U2,
    U2F,
    U4,
    WAVES,
    WEIGHT,
    Cube,
    Fixed,
    R,
    State,
    Work,
)

KAPPA = 20.0  # observations that say "no change", in β
KNOWS = 20.0  # (Σu²)²/Σu⁴ before the first bet …
OWN_KNOWS = 10.0  # … and over an item's rounds before the first bet on that item
LEVERAGE = 0.15  # from which a round is not bet on
LARGEST = 8.0  # a standardised feature
FARTHEST = 1e60  # a reward from the first one: beyond, u⁴ is no float
BEGUN = 20.0  # a change began when the CUSUM was last below this


@solver
def standardise(columns: Matrix, fixed: Fixed, row: Vector, crow: Vector, z: Vector) -> None:
    """Columns of one observation; a column is 0 until it has been seen 20 times and has varied."""
    z[0] = 1.0
    for j in range(1, z.shape[0]):
        i, c = fixed.source[j, 0], fixed.source[j, 1]
        x = (row[i] if i >= 0 else 1.0) * (crow[c] if c >= 0 else 1.0)
        z[j] = 0.0
        if not -math.inf < x < math.inf:  # NaN: it is missing
            continue
        if columns[j, SCALE] > 0.0:
            z[j] = min(max((x - columns[j, CENTRE]) / columns[j, SCALE], -LARGEST), LARGEST)
            continue
        columns[j, SEEN] += 1.0
        delta = x - columns[j, MEAN]
        columns[j, MEAN] += delta / columns[j, SEEN]
        columns[j, SQUARES] += delta * (x - columns[j, MEAN])
        if columns[j, SEEN] >= FIRST and columns[j, SQUARES] > 1e-12 * columns[j, SEEN] * columns[j, MEAN] ** 2:
            columns[j, CENTRE], columns[j, SCALE] = columns[j, MEAN], sqrt(columns[j, SQUARES] / columns[j, SEEN])


@kernel
def bet(b: Vector, stake: float, w: float, iota: float, decision: float, count: float, total: float) -> float:
    """Settle one bet; returns by how much SR grew."""
    lam = min(max(stake, -1.0), 1.0)
    s = lam * w
    e = (1.0 + s + 0.5 * s * s) * math.exp(-0.5 * iota * lam * lam)
    before = b[SR]
    b[SR] = min(e * (before + 1.0), 1e200)
    if b[CUSUM] <= BEGUN:
        b[CUSUM], b[SINCE], b[BEFORE], b[EARNED] = max(b[CUSUM], 1.0), decision, count, total
    b[CUSUM] = min(e * b[CUSUM], 1e200)
    return float(b[SR] - before)


@solver
def bet_columns(
    bettors: Cube, z: Vector, w: float, iota: float, gamma: Vector, shares: Vector, kinds: int, told: Vector, n: float, sum_: float
) -> float:  # fmt: skip
    """All bets on columns of one item, or of all: one by one, and together; returns by how much Σ π SR grew."""
    D, grew = z.shape[0], 0.0
    for m in range(gamma.shape[0]):
        several = 0.0
        for j in range(D):
            if j > 0 and z[j] == 0.0:
                continue
            b = bettors[j, m]
            beta = b[GW] / (b[GG] + KAPPA)
            t2 = b[GW] * beta
            if t2 > 2.0:
                several += beta * (1.0 - 2.0 / t2) * z[j]
            share = shares[kinds] if j == 0 else shares[kinds + 1]
            grew += share * bet(b, beta * z[j], w, iota, told[DECISION], n, sum_)
            b[GW] = gamma[m] * b[GW] + z[j] * w
            b[GG] = gamma[m] * b[GG] + z[j] * z[j]
        if D > 1:
            grew += shares[kinds + 2] * bet(bettors[D, m], several, w, iota, told[DECISION], n, sum_)
    return grew


@solver
def bet_waves(state: State, fixed: Fixed, z: Vector, w: float, iota: float, told: Vector) -> float:
    """Bets that the reward is no linear function of the columns; they never forget."""
    grew = 0.0
    for i in range(WAVES):
        b, wave = state.misfit[i], fixed.waves[i]
        g = math.cos(wave[4] + wave[2] * z[int(wave[0])] + wave[3] * z[int(wave[1])])
        stake = g * b[GW] / (b[GG] + 0.5 * KAPPA)
        grew += fixed.shares[MISFIT] * bet(b, stake, w, iota, told[DECISION], state.numbers[COUNT], state.numbers[SUM])
        b[GW] += g * w
        b[GG] += g * g
    return grew


@solver
def learn(state: State, a: int, r: float, h: float, f: float, work: Work) -> None:
    """Recursive least squares: the reference of block a after a reward."""
    z, Pz, P = work.z, work.Pz, state.P[a]
    D, scale = z.shape[0], 1.0 / (1.0 + h)
    for i in range(D):
        if Pz[i] != 0.0:
            state.theta[a, i] += Pz[i] * (r - f) * scale
            k = Pz[i] * scale
            for j in range(D):
                P[i, j] -= k * Pz[j]


@solver
def step(state: State, fixed: Fixed, row: Vector, crow: Vector, told: Vector, work: Work) -> None:
    """One reward: bet on its residual, then learn it."""
    a, s = int(told[BLOCK]), state.numbers
    if s[COUNT] == 0.0:
        s[ORIGIN] = told[R]
    r = min(max(told[R] - s[ORIGIN], -FARTHEST), FARTHEST)
    z, Pz, P = work.z, work.Pz, state.P[a]
    standardise(state.columns, fixed, row, crow, z)
    D, f, h = z.shape[0], 0.0, 0.0
    for i in range(D):
        total = 0.0
        for j in range(D):
            total += P[i, j] * z[j]
        Pz[i] = total
        h += z[i] * total
        f += z[i] * state.theta[a, i]
    if h < LEVERAGE:
        u = (r - f) / sqrt(1.0 + h)
        u2 = u * u
        n, s2, s4 = s[ROUNDS], s[U2], s[U4]
        if s[OPEN] == 0.0 and s2 * s2 >= KNOWS * s4 > 0.0:
            s[OPEN] = 1.0  # for good: a great change makes Σu⁴ large
        if s[OPEN] > 0.0:
            mean, fbar = s2 / n, s[F1] / n
            fvar = max(s[F2] / n - fbar * fbar, 0.0)
            slope = (s[U2F] - s2 * fbar) / ((n + KAPPA) * fvar) if fvar > 0.0 else 0.0
            t = state.tally[a]
            own = (t[2] + KAPPA * mean) / (t[4] + KAPPA)
            v = max(min(max(mean + slope * (f - fbar), 0.25 * mean), 4.0 * mean), min(own, 4.0 * mean))
            w, iota = u / sqrt(v), 1.0 + sqrt(s4) / s2
            s[TOTAL] += bet_columns(state.shared, z, w, iota, fixed.gamma, fixed.shares, LEVEL, told, s[COUNT], s[SUM])
            if t[5] == 0.0 and t[2] * t[2] >= OWN_KNOWS * t[3] > 0.0:
                t[5] = 1.0
            if t[5] > 0.0:
                s[TOTAL] += bet_columns(state.own[a], z, w, iota, fixed.gamma, fixed.shares, ITEM, told, t[0], t[1])
            if D > 1 and s[MUTED] == 0.0:
                s[TOTAL] += bet_waves(state, fixed, z, w, iota, told)
        s[ROUNDS] += 1.0
        s[U2] += u2
        s[U4] += u2 * u2
        s[F1] += f
        s[F2] += f * f
        s[U2F] += u2 * f
        state.tally[a, 2] += u2
        state.tally[a, 3] += u2 * u2
        state.tally[a, 4] += 1.0
    learn(state, a, r, h, f, work)
    state.tally[a, 0] += 1.0
    state.tally[a, 1] += told[R]
    s[COUNT] += 1.0
    s[SUM] += told[R]


@kernel
def fits(state: State, fixed: Fixed, work: Work, rows: Matrix, crows: Matrix, told: Matrix) -> bool:
    """Whether all shapes and places fit each other: compiled code checks no bounds."""
    N, D = state.theta.shape
    m = fixed.gamma.shape[0]
    same = state.numbers.shape[0] == NUMBERS and state.columns.shape == (D, 5) and state.tally.shape == (N, 6)
    same = same and state.P.shape == (N, D, D) and state.own.shape == (N, D + 1, m, FIELDS)
    same = same and state.shared.shape == (D + 1, m, FIELDS) and state.misfit.shape == (WAVES, FIELDS)
    same = same and fixed.source.shape == (D, 2) and fixed.waves.shape == (WAVES, 5) and fixed.shares.shape[0] == 7
    same = same and work.z.shape[0] == D and work.Pz.shape[0] == D and D > 0
    T = told.shape[0]
    if not (same and told.shape[1] == TOLD and rows.shape[0] == T and crows.shape[0] == T):
        return False
    for j in range(1, D):
        if fixed.source[j, 0] >= rows.shape[1] or fixed.source[j, 1] >= crows.shape[1]:
            return False
    for i in range(WAVES):
        if not (0.0 <= fixed.waves[i, 0] < D and 0.0 <= fixed.waves[i, 1] < D):
            return False
    for t in range(T):  # noqa: SIM110 (generators do not compile)
        if not told[t, BLOCK] < N:
            return False
    return True


@entry(brief=True)
def walk(
    state: State, fixed: Fixed, rows: Matrix, crows: Matrix, told: Matrix, limit: float, work: Work
) -> int:  # fmt: skip
    """Rewards in their order, until Σ π SR ≥ limit; returns how many were learned, or −1 if shapes do not fit: then nothing changed.

    rows (T, J) and crows (T, J') are raw features of the items shown and of the context; told (T, 4) reward, weight, number of the
    decision, and block. What has no weight or no block is passed over.
    """
    if not fits(state, fixed, work, rows, crows, told):
        return -1
    for t in range(told.shape[0]):
        state.numbers[STEPS] += 1.0
        if told[t, WEIGHT] > 0.0 and told[t, BLOCK] >= 0.0:
            step(state, fixed, rows[t], crows[t], told[t], work)
            if state.numbers[TOTAL] >= limit:
                return t + 1
    return int(told.shape[0])


__all__ = ["COLUMN", "ITEM_COLUMN", "ITEM_SEVERAL", "SEVERAL", "bet", "step", "walk"]
