r"""Many rows in one call: what `steps` does for one decision, done for a *stretch* of rows in which nothing new appears.

Nothing new: every item has its place and every feature its slot, so that no array changes its shape on the way. Steps are called in the
order in which `Bandit` calls them, and are the same machine code; the numbers are therefore the same to the last bit as row by row.

Machine code checks no bounds: each entry first compares all shapes and places that it was given, and returns `TORN`, with nothing changed,
if they do not fit each other.
"""

from ..core.kernel import entry, solver
from ..core.linalg import Matrix, Vector
from .choice import LAW, MEAN, ROWS, STATIC_MEAN
from .engine import Engine
from .entries import all_below, offer_fits
from .steps import decide, learn, see
from .sums import RHO, Integers

TORN = -1  # returned where arrays do not fit each other


@solver
def _asked_fits(
    engine: Engine,
    offers: Matrix,
    which: Integers,
    who: Integers,
    when: Vector,
    crows: Matrix,
    u: Vector,
    chosen: Integers,
    rows: Matrix,
    table: Matrix,
    open_: Integers,
    law: Matrix,
    kept: Matrix,
) -> bool:
    """Whether the arrays of T decisions between n of K offers fit the model and each other."""
    T, (K, n, J), N = crows.shape[0], offers.shape, engine.state.last.shape[0]
    if T == 0 or K == 0 or n == 0 or crows.shape[1] != 1 or who.shape != (K, n):
        return False
    if not offer_fits(engine, offers[0], crows[0], who[0]) or when.shape[0] != N:
        return False
    for k in range(K):
        if not all_below(who[k], 0, N):
            return False
    room = rows.shape == (n, J) and table.shape == (ROWS, n) and open_.shape[0] == n
    each = which.shape[0] == T and u.shape[0] == T and chosen.shape[0] == T
    each = each and law.shape == (T, n) and kept.shape == (T, J)
    return bool(room and each and all_below(which, 0, K))


@entry
def observe_rows(
    engine: Engine,
    rows: Matrix,
    crows: Matrix,
    who: Integers,
    when: Vector,
    before: int,
    at: Vector,
    clocked: bool,
    r: Vector,
    w: Vector,
    told: Vector,
) -> int:
    """Learn T choices made elsewhere, after `before` decisions; returns T.

    rows (T, 1, J) and crows (T, 1, J') are raw features, who (T,) places of the items, when (N,) the decision in which the item of each
    place was last on offer, at (T,) times, by which memories forget if they are `clocked`, told (2,) the ticket of a choice made elsewhere.
    """
    T, N = rows.shape[0], engine.state.last.shape[0]
    if T == 0 or rows.shape[1] != 1 or crows.shape[0] != T or crows.shape[1] != 1 or who.shape[0] != T:
        return TORN
    if not offer_fits(engine, rows[0], crows[0], who[:1]) or when.shape[0] != N:
        return TORN
    if at.shape[0] != T or r.shape[0] != T or w.shape[0] != T or told.shape[0] != 2:
        return TORN
    if not all_below(who, 0, N):
        return TORN
    for t in range(T):
        tick = float(before + t + 1)
        when[who[t]] = tick
        see(engine, rows[t], crows[t], tick, True)
        if w[t] == 0.0:
            continue
        age = at[t] if clocked else tick
        row, crow = rows[t, 0], crows[t, 0]
        learn(engine, row, crow, who[t], age, r[t], w[t], True, told)
    return int(T)


@entry
def decide_rows(
    engine: Engine,
    offers: Matrix,
    which: Integers,
    who: Integers,
    when: Vector,
    before: int,
    crows: Matrix,
    explore: float,
    u: Vector,
    chosen: Integers,
    rows: Matrix,
    table: Matrix,
    open_: Integers,
    told: Matrix,
    law: Matrix,
    scores: Matrix,
    kept: Matrix,
) -> int:
    """Decide T times between n items, after `before` decisions, by u (T,) in [0, 1).

    Row t has on offer offers[which[t]] of offers (K, n, J), whose items have the places who[which[t]] of who (K, n). Written are: chosen
    (T,), the probabilities law (T, n), scores (T, n), the tickets told (T, 2), and in kept (T, J) and crows (T, 1, J')
    the features of the items chosen and of the contexts, extreme values cut. rows (n, J), table (ROWS, n) are room to compute in; open_
    (n,) is 1. Returns T.
    """
    T, n, J = crows.shape[0], rows.shape[0], rows.shape[1]
    if not _asked_fits(engine, offers, which, who, when, crows, u, chosen, rows, table, open_, law, kept):  # fmt: skip
        return TORN
    if told.shape != (T, 2) or scores.shape != (T, n):
        return TORN
    rho = engine.state.numbers[RHO]
    for t in range(T):
        k, tick = which[t], float(before + t + 1)
        for a in range(n):
            when[who[k, a]] = tick
            for j in range(J):
                rows[a, j] = offers[k, a, j]
        see(engine, rows, crows[t], tick, True)
        a = decide(engine, rows, crows[t], who[k], explore, u[t], -1, table, open_, told[t])
        chosen[t] = a
        for j in range(n):
            law[t, j] = table[LAW, j]
            scores[t, j] = (1.0 - rho) * table[MEAN, j] + rho * table[STATIC_MEAN, j]
        for j in range(J):
            kept[t, j] = rows[a, j]
    return int(T)


@entry
def learn_rows(
    engine: Engine,
    rows: Matrix,
    crows: Matrix,
    who: Integers,
    tick: Vector,
    r: Vector,
    w: Vector,
    told: Matrix,
) -> int:
    """Learn the rewards of T decisions, made at tick (T,), in this order; returns T."""
    T = rows.shape[0]
    if not offer_fits(engine, rows, crows, who) or crows.shape[0] != T:
        return TORN
    if tick.shape[0] != T or r.shape[0] != T or w.shape[0] != T or told.shape != (T, 2):
        return TORN
    for t in range(T):
        if w[t] == 0.0:
            continue
        learn(engine, rows[t], crows[t], who[t], tick[t], r[t], w[t], True, told[t])
    return int(T)


@entry
def replay_rows(
    engine: Engine,
    offers: Matrix,
    which: Integers,
    who: Integers,
    when: Vector,
    before: int,
    crows: Matrix,
    explore: float,
    u: Vector,
    logged: Integers,
    learns: Integers,
    at: Vector,
    clocked: bool,
    r: Vector,
    chosen: Integers,
    rows: Matrix,
    table: Matrix,
    open_: Integers,
    told: Vector,
    law: Matrix,
    kept: Matrix,
) -> int:
    """`decide_rows` over a log of T rows, in which the items logged (T,) were chosen and earned r (T,).

    After each decision the logged choice is learned as if it were the own one: always where learns (T,) is 2, where it is 1 if the own
    choice is the same, where it is 0 never. kept (T, J) are the features of the items logged. Returns T.
    """
    T, n, J = crows.shape[0], rows.shape[0], rows.shape[1]
    if not _asked_fits(engine, offers, which, who, when, crows, u, chosen, rows, table, open_, law, kept):  # fmt: skip
        return TORN
    if learns.shape[0] != T or at.shape[0] != T or r.shape[0] != T or told.shape[0] != 2:
        return TORN
    if logged.shape[0] != T or not all_below(logged, 0, n):
        return TORN
    for t in range(T):
        k, tick = which[t], float(before + t + 1)
        for a in range(n):
            when[who[k, a]] = tick
            for j in range(J):
                rows[a, j] = offers[k, a, j]
        see(engine, rows, crows[t], tick, True)
        a = decide(engine, rows, crows[t], who[k], explore, u[t], -1, table, open_, told)
        chosen[t] = a
        for j in range(n):
            law[t, j] = table[LAW, j]
        b = logged[t]
        for j in range(J):
            kept[t, j] = rows[b, j]
        if learns[t] == 0 or (learns[t] == 1 and a != b):
            continue
        if a != b:
            decide(engine, rows, crows[t], who[k], 0.0, 0.0, b, table, open_, told)
        age = at[t] if clocked else tick
        learn(engine, rows[b], crows[t, 0], who[k, b], age, r[t], 1.0, True, told)
    return int(T)
