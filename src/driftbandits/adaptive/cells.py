r"""What levels of a category add to a forecast, and how cells learn (`levels` says what a cell is).

In each memory, with f the forecast of everything but cells, and the sums of a cell as of its newest observation,

    v_c = t_c/(n_c + κ) ,    mean f + Σ_c v_c ,    variance of v_c :  s²·min(1/((n_c + κ)·f_c), 1/κ) ;

    an observation y of weight w:    left = y − f − Σ_{c'≠c} v_{c'} ,    n_c ← f_c n_c + w ,    t_c ← f_c t_c + w·left ,

f_c how much the cell has faded since: as items do, it keeps its mean, and its certainty wears off. κ = s²/τ², where τ² is the variance of
v between cells: two observations of one cell have independent noise, so the expected product of what is left at the second with the mean
of those before is τ²,

    τ̂² = (Σ g·left·(t_c/n_c) + B·s²·ρ) / (Σ g + B) ,    g = n_c/(n_c + 1) ,    B = 20, ρ = .05 .

Where levels mean nothing τ̂² goes to 0 and cells fall silent. For the shared sums cells are noise: they learn y itself, so that they stay
sums of rewards whatever the order in which these come. Of their σ̂² the share s²/σ̂² = Σ(y − f − Σv)²/Σ(y − f)² is left.

What is left depends on what was known when the reward came: of late rewards, and of those that are taken back, cells are right up to how
far forecasts have moved since.
"""

from ..core.kernel import kernel, solver
from ..core.lanes import LANES
from ..core.linalg import Vector
from ..core.simd4 import Four, get, larger, put, spread, store
from .engine import Engine
from .fading import LEAST, faded, fades, memory_in
from .forecasting import forecast
from .levels import (
    ALL,
    CONTEXT_SIDE,
    ITEM_SIDE,
    LARGEST_MARK,
    NO_LEVEL,
    PAIRS,
    PRODUCT,
    UNKNOWN,
    WITH,
    WITHOUT,
    Cells,
    first_place,
)
from .regression import AFTER, BEFORE, NEW, NOW, noise, variance_of_rewards
from .sums import NEVER, NEWEST, SHORTEST, UNNAMED

PRIOR_PAIRS, PRIOR_SHARE = 20.0, 0.05  # B and ρ
LEAST_SHARE, MOST_SHARE = 1e-6, 1e3  # of τ²/s²
LEAST_LEFT, PRIOR_SQUARES = 0.05, 20.0  # the share of the noise that is left is at least this; it begins at 1
KEPT = 0.999  # variances are over about a thousand rewards


@kernel
def has_levels(engine: Engine) -> bool:
    """Whether any category has levels without columns."""
    return bool(engine.found.place.shape[0] > 0)


@kernel
def _probe(cells: Cells, level: int, item: int) -> int:
    """The place of a cell, or the free one where it would be; `UNKNOWN` if it is not there and the table is full."""
    room = cells.level.shape[0]
    at = first_place(level, item, room)
    for _ in range(room):
        if cells.level[at] == 0 or (cells.level[at] == level and cells.item[at] == item):
            return int(at)
        at = (at + 1) & (room - 1)
    return UNKNOWN


@kernel
def find(cells: Cells, level: int, item: int) -> int:
    """The place of a cell; `UNKNOWN` if there is none."""
    at = _probe(cells, level, item)
    return at if at >= 0 and cells.level[at] != 0 else UNKNOWN


@kernel
def _add(cells: Cells, level: int, item: int) -> int:
    """The place of a new cell; `UNKNOWN` if the table is full."""
    at = _probe(cells, level, item)
    if at >= 0:
        cells.level[at], cells.item[at], cells.last[at] = level, item, NEVER
        cells.used[0] += 1.0
    return at


@kernel
def mark_in(row: Vector, slot: int) -> int:
    """The mark of the level that a row holds, 0 for none."""
    x = row[slot]
    return int(x) if 1.0 <= x < LARGEST_MARK else 0


@solver
def look_up(engine: Engine, row: Vector, crow: Vector, i: int, add: bool) -> None:
    """The cells of one item, and new ones with `add`; an item that is not known has none, a row without a name has none of its own."""
    levels, found, cells = engine.levels, engine.found, engine.cells
    F = levels.item.shape[0]
    for j in range(found.place.shape[0]):
        level = mark_in(row, levels.item[j]) if j < F else mark_in(crow, levels.context[j - F])
        item = ALL if j < F else i
        found.place[j] = NO_LEVEL
        if level > 0 and (j < F or i > UNNAMED):
            found.place[j] = find(cells, level, item) if j < F or i >= 0 else UNKNOWN
            if add and found.place[j] == UNKNOWN and (j < F or i >= 0):
                found.place[j] = _add(cells, level, item)


@solver
def settle_shares(engine: Engine) -> None:
    """κ of each side and what is left of the noise, in every memory: the same for all items of a decision."""
    state, cells, found = engine.state, engine.cells, engine.found
    for g in range(found.left.shape[0]):
        for lane in range(LANES):
            m = memory_in(state, g, lane)
            before, after = cells.squares[WITHOUT, g, lane], cells.squares[WITH, g, lane]
            sigma2 = noise(state, m)
            extra = PRIOR_SQUARES * sigma2
            left = (after + extra) / (before + extra) if before + extra > 0.0 else 1.0
            left = min(max(left, LEAST_LEFT), 1.0)
            found.left[g, lane] = left
            for side in range(2):
                share = PRIOR_SHARE
                if sigma2 > 0.0:
                    known, pairs = cells.spread[side, PRODUCT, g, lane], cells.spread[side, PAIRS, g, lane]
                    share = (known / (left * sigma2) + PRIOR_PAIRS * PRIOR_SHARE) / (pairs + PRIOR_PAIRS)
                found.kappa[side, g, lane] = 1.0 / min(max(share, LEAST_SHARE), MOST_SHARE)


@solver
def expect(engine: Engine, g: int, width: bool) -> tuple[Four, Four]:
    """Σv of the cells found, and with `width` the sum of their variances in units of s², in the memories of group g."""
    found, cells = engine.found, engine.cells
    F = engine.levels.item.shape[0]
    total, widths = spread(0.0), spread(0.0)
    for j in range(found.place.shape[0]):
        at = found.place[j]
        put(found.mean, j, spread(0.0))
        if at == NO_LEVEL:
            continue
        kappa = get(found.kappa[ITEM_SIDE if j < F else CONTEXT_SIDE], g)
        if at < 0 or cells.last[max(at, 0)] <= NEVER:
            widths = widths + 1.0 / kappa
            continue
        mean = get(cells.t[at], g) / (get(cells.n[at], g) + kappa)
        put(found.mean, j, mean)
        total = total + mean
        if width:
            widths = widths + _worn(engine, g, at, kappa)
    return total, widths


@kernel
def _worn(engine: Engine, g: int, at: int, kappa: Four) -> Four:
    """min(1/((n + κ)f), 1/κ) in the lanes of a group."""
    state, cells, room = engine.state, engine.cells, engine.work.few[NOW]
    for lane in range(LANES):
        f = faded(state, memory_in(state, g, lane), cells.last[at], state.numbers[NEWEST])
        room[lane] = min(1.0 / ((cells.n[at, g, lane] + kappa[lane]) * max(f, LEAST)), 1.0 / kappa[lane])
    return get(engine.work.few, NOW)


@solver
def learn_cells(engine: Engine, i: int, tick: float, r: float, w: float, judged: bool) -> None:
    """Let the cells that were looked up learn a reward, before the rest of the model does: φ and ψ are in `work`."""
    state, found, work = engine.state, engine.found, engine.work
    for g in range(int(state.numbers[SHORTEST]) // LANES, found.left.shape[0]):
        base, _ = forecast(state, g, i, False, work)
        total, _ = expect(engine, g, False)
        error = spread(r) - base
        if judged and w > 0.0 and variance_of_rewards(state) > 0.0:
            _count_squares(engine, g, error, error - total)
        for j in range(found.place.shape[0]):
            if found.place[j] >= 0:
                left = error - total + get(found.mean, j)
                _learn_cell(engine, g, j, tick, left, w, judged)
    for j in range(found.place.shape[0]):
        at = found.place[j]
        if at >= 0:
            engine.cells.last[at] = max(engine.cells.last[at], tick)


@kernel
def _count_squares(engine: Engine, g: int, before: Four, after: Four) -> None:
    squares = engine.cells.squares
    put(squares[WITHOUT], g, KEPT * get(squares[WITHOUT], g) + before * before)
    put(squares[WITH], g, KEPT * get(squares[WITH], g) + after * after)


@kernel
def _learn_cell(engine: Engine, g: int, j: int, tick: float, left: Four, w: float, judged: bool) -> None:
    """One observation of cell j, whose `last` is moved on when all groups have learned it."""
    state, cells, few = engine.state, engine.cells, engine.work.few
    at = engine.found.place[j]
    side = ITEM_SIDE if j < engine.levels.item.shape[0] else CONTEXT_SIDE
    last, n, t = cells.last[at], cells.n[at], cells.t[at]
    until = max(last, tick)
    if last > NEVER:
        fades(state, g, last, until, few[BEFORE])
    else:
        store(few[BEFORE], 0, spread(1.0))
    fades(state, g, tick, until, few[NEW])
    fade, new = get(few, BEFORE), w * get(few, NEW)
    if judged and w > 0.0 and last > NEVER:
        store(few[AFTER], 0, larger(get(n, g), spread(LEAST)))
        many = get(few, AFTER)
        gain = get(n, g) / (get(n, g) + 1.0)
        pairs = cells.spread[side]
        put(pairs[PRODUCT], g, KEPT * get(pairs[PRODUCT], g) + gain * left * (get(t, g) / many))
        put(pairs[PAIRS], g, KEPT * get(pairs[PAIRS], g) + gain)
    put(n, g, larger(fade * get(n, g) + new, spread(0.0)))
    put(t, g, fade * get(t, g) + new * left)


@solver
def restart_cells(engine: Engine, m: int, lead: int) -> None:
    """Memory m continues the leading memory (`regression.restart`)."""
    cells = engine.cells
    g, h, l, j = m // LANES, lead // LANES, m % LANES, lead % LANES  # noqa: E741
    for at in range(cells.level.shape[0]):
        cells.n[at, g, l], cells.t[at, g, l] = cells.n[at, h, j], cells.t[at, h, j]
    for side in range(2):
        for a in range(2):
            cells.spread[side, a, g, l] = cells.spread[side, a, h, j]
        cells.squares[side, g, l] = cells.squares[side, h, j]


@solver
def forget_cells(engine: Engine, i: int) -> None:
    """Forget what levels say of item i, whose place another item may take. Places stay taken until the table is made anew."""
    cells = engine.cells
    for at in range(cells.level.shape[0]):
        if cells.level[at] != 0 and cells.item[at] == i:
            cells.last[at] = NEVER
            for g in range(cells.n.shape[1]):
                put(cells.n[at], g, spread(0.0))
                put(cells.t[at], g, spread(0.0))
