"""What `Bandit` calls: each entry makes a whole change, so that a call that is interrupted has made it or not.

Machine code cannot be interrupted between two lines, so everything that belongs to one change is in one entry, which sets `done` last.
It checks no bounds either: each entry first compares all shapes and places that it was given (about 40 ns), changes nothing if they do
not fit, and returns whether they did.
"""

from ..core.kernel import entry, kernel, solver
from ..core.linalg import Matrix, Vector
from . import steps
from .choice import LAW, MEAN, ROWS, SAVED, SCORE, STATIC_MEAN
from .columns import Scale
from .duel import ticket
from .engine import Engine
from .levels import cells_fit
from .sums import RHO, UNNAMED, Integers, State, fits

# What a decision is told of each place of its ranking: chance in [0, 1); the item; its ticket in the duel; its probability.
CHANCE, ITEM, VOICE, SHARE, PROPENSITY = range(5)
TOLD = 5
# What `decide` does with an offer: forecast it, draw from it, or find the tickets of items that were chosen elsewhere.
FORECAST, DRAW, GIVEN = range(3)
# What an observation consists of.
TICK, REWARD, WEIGHT, JUDGED, BY, BY_SHARE = range(6)
OBSERVED = 6


@solver
def offer_fits(engine: Engine, rows: Matrix, crows: Matrix, who: Integers) -> bool:
    """Whether a model's arrays fit each other, and these rows fit them."""
    state, layout, items, context, slots, work, levels, cells, found = engine
    p, k, N = work.phi.shape[0], work.psi.shape[0], state.last.shape[0]
    J, C, n = items.kind.shape[0], context.kind.shape[0], rows.shape[0]
    if not fits(state, work) or not _scale_fits(items, J) or not _scale_fits(context, C):
        return False
    if rows.shape[1] != J or crows.shape[1] != C or who.shape[0] != n or n == 0 or crows.shape[0] == 0:
        return False
    if slots.zi.shape[0] != J or slots.zc.shape[0] != C:
        return False
    if not cells_fit(cells, levels, found, state.V.shape[0], J, C):
        return False
    if layout.item.shape[0] != p or layout.context.shape[0] != p or layout.source.shape != (p, 4):
        return False
    if layout.own.shape[0] != k or layout.since.shape[0] != k or layout.own_source.shape != (k, 2):
        return False
    sound = all_below(layout.item, 0, J) and all_below(layout.context, 0, C) and all_below(layout.own, 0, C)
    sound = sound and all_below(layout.since, 0, C)
    for r in range(p):
        sound = sound and all_below(layout.source[r], 0, p)
    for r in range(k):
        sound = sound and all_below(layout.own_source[r], 0, k)
    return bool(sound and all_below(who, UNNAMED, N))


@kernel
def _scale_fits(scale: Scale, J: int) -> bool:
    same = (
        scale.group.shape[0] == J and scale.seen.shape[0] == J and scale.mean.shape[0] == J and scale.M2.shape[0] == J
    )
    return bool(
        same
        and scale.anchor.shape[0] == J
        and scale.mu.shape[0] == J
        and scale.s.shape[0] == J
        and scale.awake.shape[0] == J
    )


@kernel
def all_below(values: Integers, least: int, limit: int) -> bool:
    """Whether least ≤ value < limit for all of them."""
    for j in range(values.shape[0]):  # noqa: SIM110 (generators do not compile)
        if values[j] < least or values[j] >= limit:
            return False
    return True


@kernel
def _retire(engine: Engine, retired: Integers) -> None:
    for j in range(retired.shape[0]):
        steps.forget_item(engine, retired[j])


@entry(brief=True)
def place(
    engine: Engine,
    rows: Matrix,
    crow: Matrix,
    who: Integers,
    tick: float,
    retired: Integers,
    when: Vector,
    done: Vector,
) -> bool:
    """Count what decision `tick` offers; `retired` are places of items that lose them, `when` (N,) is when each was last on offer."""
    if not offer_fits(engine, rows, crow, who) or not _fits_places(engine.state, retired, when):
        return False
    _offered(engine, rows, crow, who, tick, retired, when)
    done[0] = 1.0
    return True


@kernel
def _fits_places(state: State, retired: Integers, when: Vector) -> bool:
    N = state.last.shape[0]
    return when.shape[0] == N and all_below(retired, 0, N)


@kernel
def _offered(
    engine: Engine, rows: Matrix, crow: Matrix, who: Integers, tick: float, retired: Integers, when: Vector
) -> None:
    _retire(engine, retired)
    for a in range(who.shape[0]):
        if who[a] >= 0:
            when[who[a]] = tick
    steps.see(engine, rows, crow, tick, True)


@entry(brief=True)
def decide(
    engine: Engine,
    rows: Matrix,
    crow: Matrix,
    who: Integers,
    tick: float,
    retired: Integers,
    when: Vector,
    explore: float,
    mode: int,
    table: Matrix,
    open_: Integers,
    told: Matrix,
    done: Vector,
) -> bool:
    """`place`, unless `tick` < 0, then forecasts and probabilities into `table` (ROWS, n), and a ranking into `told` (places, TOLD)."""
    state, work = engine.state, engine.work
    n, rho = rows.shape[0], state.numbers[RHO]
    if not offer_fits(engine, rows, crow, who) or not _fits_places(engine.state, retired, when):
        return False
    if table.shape != (ROWS, n) or told.shape[1] != TOLD or told.shape[0] > n or open_.shape[0] != n:
        return False
    if mode == GIVEN:
        for k in range(told.shape[0]):
            if told[k, ITEM] < 0.0 or told[k, ITEM] >= n:
                return False
    if tick >= 0.0:
        _offered(engine, rows, crow, who, tick, retired, when)
    for a in range(n):
        open_[a] = 1
    one = work.few[0]  # room for a ticket
    given = -2 if mode == FORECAST else -3  # forecasts alone have a width before the first reward
    steps.decide(engine, rows, crow, who, explore, 0.0, given, table, open_, one)
    for a in range(n):
        table[SCORE, a] = (1.0 - rho) * table[MEAN, a] + rho * table[STATIC_MEAN, a]
    for k in range(told.shape[0] if mode != FORECAST else 0):
        if mode == DRAW:
            told[k, ITEM] = float(steps.draw(table, open_, rho, explore, told[k, CHANCE]))
            told[k, PROPENSITY] = table[LAW, int(told[k, ITEM])]
            if k == 0:
                for j in range(n):
                    table[SAVED, j] = table[LAW, j]
        a = int(told[k, ITEM])
        open_[a] = 0
        ticket(table[MEAN], table[STATIC_MEAN], a, rho, one)
        told[k, VOICE], told[k, SHARE] = one[0] if state.rate.shape[0] > 1 else -1.0, one[1]
    done[0] = 1.0
    return True


@entry(brief=True)
def learn(
    engine: Engine,
    rows: Matrix,
    crows: Matrix,
    who: Integers,
    tick: float,
    retired: Integers,
    when: Vector,
    observed: Matrix,
    done: Vector,
) -> bool:
    """Learn observations (n, OBSERVED) in their order; `tick` ≥ 0 counts each first as the offer of decisions tick, tick + 1, …"""
    n = rows.shape[0]
    if not offer_fits(engine, rows, crows, who) or not _fits_places(engine.state, retired, when):
        return False
    if observed.shape != (n, OBSERVED) or crows.shape[0] != n:
        return False
    _retire(engine, retired)
    for a in range(n):
        row, crow, o = rows[a : a + 1], crows[a : a + 1], observed[a]
        if tick >= 0.0:
            _offered(engine, row, crow, who[a : a + 1], tick + a, retired[:0], when)
        if o[WEIGHT] == 0.0:
            continue
        told = o[BY : BY_SHARE + 1]
        steps.learn(engine, row[0], crow[0], who[a], o[TICK], o[REWARD], o[WEIGHT], o[JUDGED] > 0.0, told)
    done[0] = 1.0
    return True


@entry(brief=True)
def move_prior(
    engine: Engine,
    rows: Matrix,
    crow: Matrix,
    who: Integers,
) -> bool:
    """`steps.move_prior`, for a model that has more columns than before; `rows`, `crow` and `who` are of any offer."""
    if not offer_fits(engine, rows, crow, who):
        return False
    steps.move_prior(engine)
    return True


@entry(brief=True)
def forget_item(engine: Engine, i: int, done: Vector) -> bool:
    """Forget an item's own effect, and renew all estimates."""
    state, work = engine.state, engine.work
    sides = engine.items.kind.shape[0], engine.context.kind.shape[0]
    if not fits(state, work) or i < 0 or i >= state.last.shape[0]:
        return False
    if not cells_fit(engine.cells, engine.levels, engine.found, state.V.shape[0], sides[0], sides[1]):
        return False
    steps.forget_item(engine, i)
    steps.renew_all(state, work)
    done[0] = 1.0
    return True
