r"""`SelfTuning`: the engine of `driftbandits.adaptive` behind `select` and `update`, compiled into `simulate` and `Agent`.

Round t:   what is on offer is counted;  every arm is forecast and one is drawn by u_t, uniform on [0, 1), from the exact law of the choice;
           the reward judges every memory's forecast and is folded into its sums.

Each of these is a function of `adaptive.steps`, which `Bandit` calls too: for the same offers, draws and timely rewards both make the same
decisions, to the last bit.
"""

import numpy as np

from ...adaptive import steps, sums
from ...adaptive.choice import LAW, MEAN, ROWS, STATIC_MEAN
from ...adaptive.engine import Engine
from ...core.kernel import kernel
from ...core.linalg import Matrix, Vector, largest
from ...errors import InvalidValue
from ...protocol import (
    Setting,
    act,
    add_item,
    drop_item,
    exact_when_late,
    late_refusal,
    learn,
    learn_late,
    make_room,
    optimism,
    propensities,
    ready,
    scores,
    skip,
    start,
)
from .parts import (
    CLOCK,
    DRAW,
    DRAWN,
    EVENT,
    EVENTS,
    KEPT,
    PROBABILITY,
    ROUND,
    TICKETS,
    VALUE,
    VOICE,
    SelfTuning,
    SelfTuningState,
    first_state,
    room_for,
)


@start.register(SelfTuning)
def _(strategy: SelfTuning, setting: Setting, rng: np.random.Generator) -> SelfTuningState:
    if strategy.disjoint and setting.items < 1:
        raise InvalidValue("features='disjoint' has a model per item; say how many: Agent(strategy, dim=d, items=K)")
    if not strategy.disjoint and setting.items > 0:
        raise InvalidValue(
            f"items = {setting.items} is not allowed; features='shared' has no items: use features='disjoint'"
        )
    return first_state(strategy, setting)


@make_room.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, n: int) -> SelfTuningState:
    room = state.room
    return state if len(room.who) >= n else state._replace(room=room_for(n, room.slots, room.work))


@add_item.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> SelfTuningState:
    N = len(state.alive) + 1
    state = state._replace(engine=sums.with_items(state.engine, N), alive=np.append(state.alive, 1))
    sums.check(state.engine, state.room.work)
    return make_room(strategy, state, N)  # type: ignore[no-any-return]


@drop_item.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, item: int) -> None:
    state.alive[item] = 0


# ---------------------------------------------------------------------------------------------------------------- decisions


@ready.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, rng: np.random.Generator) -> None:
    if state.now[DRAWN] == 0.0:
        state.now[DRAW] = rng.random()
        state.now[DRAWN] = 1.0


@kernel
def _engine(state: SelfTuningState) -> Engine:
    room = state.room
    return Engine(
        state.engine, state.layout, state.items, state.context, room.slots, room.work, room.levels, room.cells, room.found
    )  # fmt: skip


@kernel
def _offer(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, n: int) -> int:
    """What is on offer as rows of the engine, without dropped items; returns their number."""
    room, d = state.room, arms.shape[0]
    if strategy.disjoint == 1.0:
        live = 0
        for k in range(n):
            if state.alive[k] == 1:
                room.who[live] = k
                room.rows[live] = 1.0
                live += 1
        for i in range(d):
            room.crow[0, 1 + i] = arms[i, 0]
        return live
    for a in range(n):
        row = room.rows[a * (d + 1) : (a + 1) * (d + 1)]
        room.who[a], row[0] = a, 1.0
        for i in range(d):
            row[1 + i] = arms[i, a]
    return n


@kernel
def _draw(strategy: SelfTuning, state: SelfTuningState, many: int, counted: bool) -> int:
    """See the `many` rows on offer, forecast them and draw one of them."""
    room, tick = state.room, state.now[CLOCK] + 1.0
    J = state.row.shape[0]
    rows, table = room.rows[: many * J].reshape((many, J)), room.table[: ROWS * many].reshape((ROWS, many))
    engine = _engine(state)
    steps.see(engine, rows, room.crow, tick, counted)
    return steps.decide(
        engine,
        rows,
        room.crow,
        room.who[:many],
        strategy.explore,
        state.now[DRAW],
        -1,
        table,
        room.ones[:many],
        room.told,
    )


@kernel
def _write_scores(state: SelfTuningState, many: int, drawn: int, score: Vector) -> None:
    """Forecasts of the two voices, weighted by how likely each decides; that of the arm drawn is raised to the largest."""
    room, rho = state.room, state.engine.numbers[sums.RHO]
    for a in range(score.shape[0]):
        score[a] = -np.inf
    for a in range(many):
        adaptive, static = room.table[MEAN * many + a], room.table[STATIC_MEAN * many + a]
        score[room.who[a]] = (1.0 - rho) * adaptive + rho * static
    score[room.who[drawn]] = largest(score)


@act.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    many = _offer(strategy, state, arms, score.shape[0])
    drawn = _draw(strategy, state, many, True)
    _write_scores(state, many, drawn, score)
    room, now, J = state.room, state.now, state.row.shape[0]
    k = room.who[drawn]
    for j in range(J):
        state.row[j] = room.rows[drawn * J + j]
    for j in range(state.crow.shape[1]):
        state.crow[0, j] = room.crow[0, j]
    for i in range(state.x.shape[0]):
        state.x[i] = arms[i, 0 if strategy.disjoint == 1.0 else k]
    ticket = state.tickets[int(now[CLOCK] + 1.0) % TICKETS]
    ticket[ROUND], ticket[VOICE], ticket[PROBABILITY] = now[CLOCK] + 1.0, room.told[0], room.told[1]
    now[DRAWN], now[VALUE], now[KEPT] = 0.0, score[k], 1.0
    return k  # type: ignore[no-any-return]


@scores.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, score: Vector) -> None:
    many = _offer(strategy, state, arms, score.shape[0])
    _write_scores(state, many, _draw(strategy, state, many, False), score)


@propensities.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, p: Vector) -> None:
    many = _offer(strategy, state, arms, p.shape[0])
    _draw(strategy, state, many, False)
    for a in range(p.shape[0]):
        p[a] = 0.0
    for a in range(many):
        p[state.room.who[a]] = state.room.table[LAW * many + a]


@optimism.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> float:
    return state.now[VALUE]  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------------------------ learning


@learn.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, x: Vector, r: float, slot: int) -> None:
    state.now[CLOCK] += 1.0
    _learn(strategy, state, x, r, slot, 1.0, 0.0)


@skip.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> None:
    state.now[CLOCK] += 1.0


@learn_late.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    if weight > 0.0:
        _learn(strategy, state, x, r, slot, weight, float(age))


@late_refusal.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, age: int) -> str:
    return ""


@exact_when_late.register(SelfTuning)
def _(strategy: SelfTuning) -> bool:
    return False  # the sums are exact; evidence, tuning of the prior and cutting of extreme values depend on the order


@kernel
def _learn(
    strategy: SelfTuning, state: SelfTuningState, x: Vector, r: float, slot: int, weight: float, age: float
) -> None:
    """A reward of the round `age` rounds before the clock, of weight w."""
    room, now, tick = state.room, state.now, state.now[CLOCK] - age
    ticket, told, i = state.tickets[int(tick) % TICKETS], room.told, 0
    told[0], told[1] = -1.0, 1.0
    decided = ticket[ROUND] == tick
    if decided:
        told[0], told[1] = ticket[VOICE], ticket[PROBABILITY]
        ticket[ROUND] = 0.0
    if not (decided and age == 0.0 and _is_last(state, x)):
        _write_row(strategy, state, x)
        rows = state.row.reshape((1, state.row.shape[0]))
        steps.see(_engine(state), rows, state.crow, tick, not decided)
    if strategy.disjoint == 1.0:
        i = slot
    refuted = steps.learn(_engine(state), state.row, state.crow[0], i, tick, r, weight, True, told)
    if refuted:
        state.events[int(now[EVENT]) % EVENTS] = now[CLOCK]
        now[EVENT] += 1.0


@kernel
def _write_row(strategy: SelfTuning, state: SelfTuningState, x: Vector) -> None:
    """An observation as the row that is learned, in place of the one last chosen."""
    row = state.crow[0] if strategy.disjoint == 1.0 else state.row
    for i in range(x.shape[0]):
        row[1 + i] = x[i]
    state.now[KEPT] = 0.0


@kernel
def _is_last(state: SelfTuningState, x: Vector) -> bool:
    """Are these the features last chosen?"""
    same = bool(state.now[KEPT] == 1.0)
    for i in range(x.shape[0]):
        same = same and x[i] == state.x[i]
    return same
