r"""One decision, one reward, one checkpoint, each over one `State`: what `Bandit` (through `entries`) and `zoo.self_tuning` both call.

Each is emitted once and not inlined, so that both learners run the same machine code: the same numbers to the last bit.
"""

import math

from ..core.kernel import kernel, solver, sqrt
from ..core.lane_rows import take_lane
from ..core.lanes import LANES, squared_norms
from ..core.linalg import Matrix, Vector
from ..core.simd4 import get, put, store
from .cells import expect, forget_cells, has_levels, learn_cells, look_up, restart_cells, settle_shares
from .choice import MEAN, SD, STATIC_MEAN, STATIC_SD, law, pick
from .columns import count, cut, hold_still, settle_scale, shift, wake
from .duel import discredit, rho_of, settle, ticket
from .engine import Engine
from .evidence import average, contest, exclude, readmit, robust_score, select
from .explained import split_priors
from .forecasting import forecast, measure_prior, worn
from .regression import (
    fold,
    noise,
    renew_faded,
    renew_from,
    renew_own,
    restart,
    retire,
    unknown_noise,
    variance_of_rewards,
)
from .steady import is_steady, learn_steadily
from .sums import (
    ADAPTIVE,
    CAL_1,
    CAL_2,
    CAL_N,
    COUNT,
    DIRECT,
    DUE,
    FIRST,
    FOURTH,
    KNOWN,
    LEARNED,
    NEWEST,
    NEXT,
    NEXT_TUNED,
    NORMAL,
    OFFERED,
    R0,
    RHO,
    SECOND,
    SEPARATE,
    SHORTEST,
    SQUARES,
    STALE,
    STATIC,
    SUM,
    USE,
    Integers,
    State,
    Work,
    adaptive,
)
from .tuning import set_prior, tune

NEGLIGIBLE = 1e-3  # a memory of less weight is left out of the average
PER_ITEM = 2.0  # a memory of fewer rounds per item has forgotten most of them
SETTLED = 8.0  # rewards before residuals say anything of the noise's tails: σ̂² of two or three is anything
FARTHEST = 1e50  # a standardised squared error: beyond, its fifth power is no float
KEPT = 0.999  # calibration is over about a thousand rewards


@kernel
def columns_of(engine: Engine, row: Vector, crow: Vector, again: bool) -> None:
    """φ and ψ of one item into `work`; the context is read when it is a new one."""
    layout, slots, work = engine.layout, engine.slots, engine.work
    shift(engine.items, row, slots.zi)
    if again:
        shift(engine.context, crow, slots.zc)
        for j in range(work.psi.shape[0]):
            work.psi[j] = slots.zc[layout.own[j]] * slots.zc[layout.since[j]]
    for j in range(work.phi.shape[0]):
        work.phi[j] = slots.zi[layout.item[j]] * slots.zc[layout.context[j]]


# ---------------------------------------------------------------------------------------------------------------- deciding


@solver
def decide(
    engine: Engine, rows: Matrix, crow: Matrix, who: Integers, explore: float, u: float, given: int, table: Matrix, open_: Integers,
    told: Vector,
) -> int:  # fmt: skip
    """Forecast every item, and draw one by u ∈ [0, 1); `given` ≥ 0 was chosen before, −2 only forecasts.

    who (n,) are the items' places, −1 for one that was never seen. Into `table` (ROWS, n): mean and standard deviation by each voice,
    probabilities. Into `told` (2,): the decision's ticket in the duel.
    """
    state, work = engine.state, engine.work
    n, M = rows.shape[0], state.rate.shape[0]
    use = int(state.numbers[USE])
    sigma2 = noise(state, use)
    # While all rewards are equal the noise is estimated as 0. A decision may treat that as certain; a forecast shown to a user may not.
    if given == -2 and sigma2 <= 0.0:
        sigma2 = unknown_noise(state, use)
    rho = state.numbers[RHO] if M > 1 else 0.0
    _mix_memories(state, work)
    levels = has_levels(engine)
    if levels:
        settle_shares(engine)
    for a in range(n):
        columns_of(engine, rows[a], crow[0], a == 0)
        if a == 0:
            measure_prior(state, work)
        if levels:
            look_up(engine, rows[a], crow[0], who[a], False)
        _look_at(engine, who[a], use, a % LANES, levels)
        mean = 0.0
        for m in range(int(state.numbers[FIRST]), adaptive(state)):
            if work.share[m] > 0.0:
                mean += work.share[m] * work.f[0, m]
        table[MEAN, a], table[STATIC_MEAN, a] = mean, work.f[0, M - 1]
        table[SD, a] = worn(state, use, who[a], work.f[1, use], work)
        table[STATIC_SD, a] = worn(state, M - 1, who[a], work.f[1, M - 1], work)
        if levels:
            table[SD, a] += _left(engine, use) * work.f[2, use]
            table[STATIC_SD, a] += _left(engine, M - 1) * work.f[2, M - 1]
        # Variances are computed for four items at a time, one in each lane, since a single memory is asked and its lanes would be idle.
        if a % LANES == LANES - 1 or a == n - 1:
            _measure(state, use, a - a % LANES, a + 1, sigma2, table, work)
    told[0], told[1] = -1.0, 1.0
    chosen = given
    if given == -1:
        law(table, open_, rho, explore)
        chosen = pick(table, open_, u)
    if M > 1 and chosen >= 0:
        ticket(table[MEAN], table[STATIC_MEAN], chosen, rho, told)
    return chosen


@kernel
def _mix_memories(state: State, work: Work) -> None:
    """The weight of each memory in the mean, 0 where it is negligible."""
    last, first, share = adaptive(state), int(state.numbers[FIRST]), work.share
    best, total = 0.0, 0.0
    for m in range(share.shape[0]):
        share[m] = 0.0
    for m in range(first, last):
        for a in range(state.trust.shape[0]):
            share[m] += state.trust[a] * state.mix[a, m]
        best = max(best, share[m])
    for m in range(first, last):
        # A group of which no memory has weight need not be forecast at all (`_look_at`).
        if share[m] < NEGLIGIBLE * best:
            share[m] = 0.0
        total += share[m]
    for m in range(first, last):
        share[m] /= total


@kernel
def _look_at(engine: Engine, i: int, use: int, place: int, levels: bool) -> None:
    """Forecasts of (φ, ψ) into `f`: means of every memory that has a weight, what an item's own effect adds to the variance, and cells.

    d in the memory in use, and in the static one, goes into lane `place` of `arms`.
    """
    state, work = engine.state, engine.work
    static = state.rate.shape[0] - 1
    for g in range(state.V.shape[0]):
        needed = g == use // LANES or g == static // LANES
        for m in range(g * LANES, (g + 1) * LANES):
            needed = needed or work.share[m] > 0.0
        if not needed:
            continue
        # All lanes of the group are forecast, since a register holds all four at no extra cost; `share` picks those that count.
        mean, q = forecast(state, g, i, False, work)
        if levels:
            more, width = expect(engine, g, True)
            mean = mean + more
            store(work.f[2], g * LANES, width)
        store(work.f[0], g * LANES, mean)
        store(work.f[1], g * LANES, q)
        if g == use // LANES:
            take_lane(work.arms[0], place, work.d, use % LANES)
        if g == static // LANES:
            take_lane(work.arms[1], place, work.d, static % LANES)


@kernel
def _left(engine: Engine, m: int) -> float:
    """The share of the noise's variance that cells leave in memory m."""
    return float(engine.found.left[m // LANES, m % LANES])


@kernel
def _measure(state: State, use: int, first: int, last: int, sigma2: float, table: Matrix, work: Work) -> None:
    """Standard deviations of items first…last−1, up to four: one matrix and four vectors, so that here items fill a register."""
    few, static = work.few, state.rate.shape[0] - 1
    put(few, 0, squared_norms(state.U[use // LANES], use % LANES, work.arms[0]))
    if static == use:
        put(few, 1, get(few, 0))
    else:
        put(few, 1, squared_norms(state.U[static // LANES], static % LANES, work.arms[1]))
    for a in range(first, last):
        table[SD, a] = sqrt(sigma2 * max(table[SD, a] + few[0, a - first], 0.0))
        table[STATIC_SD, a] = sqrt(sigma2 * max(table[STATIC_SD, a] + few[1, a - first], 0.0))


@solver
def draw(table: Matrix, open_: Integers, rho: float, explore: float, u: float) -> int:
    """Draw one of the open items by forecasts that are in the table: a further place of a ranking."""
    law(table, open_, rho, explore)
    return pick(table, open_, u)


# ---------------------------------------------------------------------------------------------------------------- learning


@solver
def learn(
    engine: Engine, row: Vector, crow: Vector, i: int, tick: float, r: float, w: float, judged: bool, told: Vector
) -> bool:
    """Learn a reward of weight w of a decision made at `tick`; True if the longest memory was refuted by it.

    Memories are judged by what they forecast now, just before they learn: a forecast of the day of the decision would be old news.
    """
    state, work = engine.state, engine.work
    numbers, M = state.numbers, state.rate.shape[0]
    if numbers[DUE] == 1.0:
        _set_priors(engine)
    columns_of(engine, row, crow, True)
    measure_prior(state, work)
    # The first reward is the origin r₀ of all later ones, so that sums of squares keep their digits where rewards are far from 0.
    if numbers[KNOWN] == 0.0:
        numbers[KNOWN], numbers[R0] = 1.0, r
    levels = has_levels(engine)
    if levels:
        look_up(engine, row, crow, i, w > 0.0)
        settle_shares(engine)
    # Judged before it is learned: a forecast scored on a reward that it has seen would favour the shortest memory.
    refuted = judged and w > 0.0 and _judge(engine, i, r, tick, min(w, 1.0), levels)
    if levels:
        learn_cells(engine, i, tick, r, w, judged)
    # Counts move by whole rewards whatever their weight, so that taking a reward back restores them exactly.
    y, sign = r - numbers[R0], 1.0 if w >= 0.0 else -1.0
    numbers[COUNT] += sign
    numbers[SUM] += sign * y
    numbers[SQUARES] += sign * y * y
    _fold_all(state, i, tick, y, w, work)
    numbers[NEWEST] = max(numbers[NEWEST], tick)
    if work.psi.shape[0] > 0 and i >= 0:
        state.last[i] = max(state.last[i], tick)
    if work.phi.shape[0] <= DIRECT:
        renew_faded(state, int(numbers[SHORTEST]), work)
    if M > 1:
        if judged and w > 0.0 and (told[0] == float(ADAPTIVE) or told[0] == float(STATIC)):
            settle(state.duel, int(told[0]), told[1], r)
        numbers[RHO] = rho_of(state, variance_of_rewards(state))
    _tune_or_renew(engine)
    return refuted


@solver
def _fold_all(state: State, i: int, tick: float, y: float, w: float, work: Work) -> None:
    """Add an observation to the sums of every memory, and to its estimates, where that is a step of rank one."""
    split_priors(state, work)
    numbers, many = state.numbers, work.phi.shape[0] > DIRECT
    for g in range(int(numbers[SHORTEST]) // LANES, state.V.shape[0]):
        work.steady[g] = 1.0 if is_steady(state, g, i, tick, w, work) else 0.0
        if work.steady[g] == 1.0:
            learn_steadily(state, g, i, tick, y, w, work)
        else:
            fold(state, g, i, tick, y, w, work)
            if many:
                numbers[STALE] = max(numbers[STALE], 1.0)


@kernel
def _tune_or_renew(engine: Engine) -> None:
    """At checkpoints the prior is tuned; estimates of many columns that are not up to date are renewed within p/8 rewards."""
    state, work = engine.state, engine.work
    numbers, p = state.numbers, work.phi.shape[0]
    numbers[LEARNED] += 1.0
    if numbers[STALE] > 0.0:
        numbers[STALE] += 1.0
    if state.rate.shape[0] > 1 and numbers[LEARNED] >= numbers[NEXT_TUNED]:
        numbers[NEXT_TUNED] = following(numbers[LEARNED])
        tune(engine)
        _set_priors(engine)
    elif p > DIRECT and numbers[STALE] * 8.0 >= p:
        renew_all(state, work)


@kernel
def following(count: float) -> float:
    """The checkpoint after this one: the next up to 8, then a quarter later."""
    return count + 1.0 if count < 8.0 else count + math.floor(count / 4.0)


@solver
def _judge(engine: Engine, i: int, r: float, tick: float, w: float, levels: bool) -> bool:
    """Score every memory's forecast of r, choose the one to use, restart those refuted."""
    state, work = engine.state, engine.work
    numbers, use, last = state.numbers, int(state.numbers[USE]), adaptive(state)
    sigma2, first = noise(state, use), int(state.numbers[FIRST])
    if sigma2 <= 0.0:
        return False
    for g in range(first // LANES, (last + LANES - 1) // LANES):
        mean, width = forecast(state, g, i, True, work)
        if levels:  # widths are in units of the noise that cells leave
            more, wider = expect(engine, g, True)
            mean, width = mean + more, (1.0 / _left(engine, use)) * width + wider
        store(work.f[0], g * LANES, mean)
        store(work.f[1], g * LANES, width)
    if levels:
        sigma2 *= _left(engine, use)
    # Calibration is that of the memory in use, whose forecast users see.
    _calibrate(numbers, min((r - work.f[0, use]) ** 2 / ((1.0 + max(work.f[1, use], 0.0)) * sigma2), FARTHEST))
    if last == 1:
        return False
    for m in range(first, last):
        q = max(work.f[1, m], 0.0)
        square = min((r - work.f[0, m]) ** 2 / ((1.0 + q) * sigma2), FARTHEST)
        work.f[2, m] = w * robust_score(square, q, numbers[NORMAL] > 0.0)
    average(state.mix, state.trust, work.f[2], first, last)
    # p/2 nats is the mean of ½χ²_p, the log-likelihood ratio of two p-dimensional models that are equally good.
    lead, use = select(state.weight, work.f[2], first, last, 0.5 * work.phi.shape[0], work.refuted)
    numbers[USE] = float(use)
    return _restart(engine, lead, tick, levels)


@kernel
def _restart(engine: Engine, lead: int, tick: float, levels: bool) -> bool:
    """Refuted memories take over the leader's past; True if the longest one is among them: every change refutes it, once."""
    state, work = engine.state, engine.work
    last = adaptive(state)
    refuted = False
    for m in range(lead + 1, last):
        if work.refuted[m] == 0:
            continue
        if m == last - 1:
            refuted = True
            discredit(state)
        restart(state, m, lead, tick)
        if levels:
            restart_cells(engine, m, lead)
        readmit(state.mix, m, lead)
    for g in range((lead + 1) // LANES, state.V.shape[0]):
        for m in range(max(lead + 1, g * LANES), min(last, (g + 1) * LANES)):
            if work.refuted[m] != 0:  # the leader's priors are refreshed at other times
                renew_own(state, g, 0, work)
                break
    return refuted


@kernel
def _calibrate(numbers: Vector, square: float) -> None:
    """Shares of standardised residuals beyond 1 and 2, their kurtosis, and the contest of the normal law with Student's."""
    numbers[CAL_N] = KEPT * numbers[CAL_N] + 1.0
    numbers[CAL_1] = KEPT * numbers[CAL_1] + (1.0 if square > 1.0 else 0.0)
    numbers[CAL_2] = KEPT * numbers[CAL_2] + (1.0 if square > 4.0 else 0.0)
    numbers[SECOND] = KEPT * numbers[SECOND] + square
    numbers[FOURTH] = KEPT * numbers[FOURTH] + square * square
    if numbers[COUNT] >= SETTLED:
        numbers[NORMAL] = contest(numbers[NORMAL], square, 1.0)


# --------------------------------------------------------------------------------------------------------------- checkpoints


@solver
def see(engine: Engine, rows: Matrix, crow: Matrix, tick: float, counted: bool) -> None:
    """Cut extreme values of an offer in place and, unless it is only looked at, count what is on offer.

    At checkpoints of decisions, and when a number first varies, the scales of today are taken for the prior, which moves with the next
    reward: this decision does not depend on it, so that looking at an offer tells what deciding will do. The scales are those of a decision
    and not of a reward, so that late rewards leave the same estimates.
    """
    items, context = engine.items, engine.context
    cut(items, rows)
    cut(context, crow)
    if not counted:
        return
    woken, numbers = count(items, rows), engine.state.numbers
    woken = count(context, crow) or woken
    hold_still(items, rows)
    hold_still(context, crow)
    numbers[OFFERED] = float(rows.shape[0])
    if woken or tick >= numbers[NEXT]:
        # Checkpoints at 1, 2, …, 8, 10, 12, 15, …: a geometric schedule, so the O(p³) work of moving the prior is O(log t) times.
        numbers[NEXT] = following(tick)
        numbers[DUE] = 1.0
        settle_scale(items)
        settle_scale(context)


@solver
def move_prior(engine: Engine) -> None:
    """Λ and K for the scales of today, and all estimates from the sums."""
    settle_scale(engine.items)
    settle_scale(engine.context)
    _set_priors(engine)


@kernel
def _set_priors(engine: Engine) -> None:
    """Λ and K for the scales that were taken last, and all estimates from the sums."""
    state, work = engine.state, engine.work
    wake(engine.items)
    wake(engine.context)
    _take_part(state, work)
    set_prior(engine, ADAPTIVE)
    set_prior(engine, STATIC)
    for g in range(int(state.numbers[SHORTEST]) // LANES, state.V.shape[0]):
        renew_own(state, g, 0, work)
    renew_from(state, int(state.numbers[SHORTEST]), work)
    state.numbers[STALE], state.numbers[DUE] = 0.0, 0.0


@kernel
def _take_part(state: State, work: Work) -> None:
    """Memories shorter than a quarter of the columns cannot know them; with nothing but items, those shorter than two rounds for each.

    Own slopes of the items on offer, which are shrunk towards the shared ones, count half. With many shared columns, of which a prior
    takes long to refresh (`fading`), the first memories are left out for good.
    """
    numbers, last, p, k = state.numbers, adaptive(state), float(work.phi.shape[0]), work.psi.shape[0]
    shortest = int(numbers[SHORTEST])
    # 1/rate is the memory in rounds: below p/4 rounds it cannot determine p coefficients.
    while shortest < last - 1 and state.rate[shortest] * p > 4.0:
        shortest += 1
    if p > DIRECT:
        shortest = max(shortest, min(LANES - 1, last - 1))
    first = shortest
    least = PER_ITEM * numbers[OFFERED] if numbers[SEPARATE] == 1.0 else 0.0
    if k > 1:
        least = max(least, 0.25 * (p + 0.5 * float(k - 1) * numbers[OFFERED]))
    while first < last - 1 and state.rate[first] * least > 1.0:
        first += 1
    numbers[SHORTEST] = float(shortest)
    if first != int(numbers[FIRST]):
        numbers[FIRST] = float(first)
        exclude(state.weight, state.mix, first, last)
        numbers[USE] = max(numbers[USE], float(first))


@solver
def forget_item(engine: Engine, i: int) -> None:
    """Forget an item's own effect, and what levels say of it."""
    retire(engine.state, i, engine.work)
    if has_levels(engine):
        forget_cells(engine, i)


@solver
def renew_all(state: State, work: Work) -> None:
    """All estimates from the sums."""
    renew_from(state, int(state.numbers[SHORTEST]), work)
    state.numbers[STALE] = 0.0
