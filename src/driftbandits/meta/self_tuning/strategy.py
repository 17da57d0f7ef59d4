r"""`SelfTuning`: needs nothing set, runs like any strategy.

Round t:   the randomness of the decision is drawn;  a bank decides, bank e with probability ρ_e (`duel`), by the largest score
(`choice`);
           the reward teaches the duel, judges every forecast (`evidence`), is folded into every model (`models`), and at checkpoints
           everything is re-expressed (`checkpoint`).
"""

from typing import Any

import numpy as np

from ...adaptive.envelope import pick, tied_with_best
from ...core.kernel import kernel, solver
from ...core.linalg import Matrix, Vector, dot, largest, position
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
from .checkpoint import checkpoint
from .choice import means, probabilities, score_arms
from .coordinates import adopt, express, express_one, see
from .duel import judge_banks, settle_duel
from .evidence import judge
from .family import centre, response
from .models import absorb_exponential, absorb_walk, prior_of
from .parts import (
    ARM,
    BANKS,
    CHOSEN,
    CLOCK,
    DISAGREED,
    DRAWN,
    GREEDY,
    OF_CHOICE,
    PICK,
    PROPENSITY,
    REWARD_MEAN,
    REWARD_SQUARES,
    REWARDS,
    ROUND,
    SEEN,
    TICKETS,
    Models,
    SelfTuning,
    SelfTuningState,
    first_state,
    room,
)


@start.register(SelfTuning)
def _(strategy: SelfTuning, setting: Setting, rng: np.random.Generator) -> SelfTuningState:
    if strategy.disjoint and setting.items < 1:
        raise InvalidValue("features='disjoint' has a model per item; say how many: Agent(strategy, dim=d, items=K)")
    if not strategy.disjoint and setting.items > 0:
        raise InvalidValue(
            f"items = {setting.items} is not allowed; features='shared' has no items: use features='disjoint'"
        )
    state = first_state(strategy, setting)
    judge_banks(state, strategy.disjoint == 1.0)
    return state


@make_room.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, n: int) -> SelfTuningState:
    return state if len(state.work.key) >= n else state._replace(work=room(len(state.bank), len(state.scale.offset), n))


@add_item.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> SelfTuningState:
    models = state.models

    def longer(values: Any, axis: int) -> Any:
        shape = list(values.shape)
        shape[axis] = 1
        return np.concatenate([values, np.zeros(shape)], axis)

    grown = {name: longer(getattr(models, name), 1) for name in ("V", "b", "yy", "n", "P", "theta", "since")}
    state = state._replace(models=Models(last=longer(models.last, 0), alive=longer(models.alive, 0), **grown))
    state.models.alive[-1], state.models.last[-1] = 1.0, state.now[CLOCK]
    for m in range(len(state.bank)):
        first, lam = prior_of(state, m)
        state.models.P[m, -1] = np.diag([1.0 / first] + [1.0 / lam] * len(state.x))
    return make_room(strategy, state, len(state.models.alive))  # type: ignore[no-any-return]


@drop_item.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, item: int) -> None:
    state.models.alive[item] = 0.0


# ---------------------------------------------------------------------------------------------------------------- decisions


@ready.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, rng: np.random.Generator) -> None:
    if state.now[DRAWN] == 1.0:
        return
    draw = state.draw
    for i in range(draw.u.shape[0]):
        draw.u[i] = rng.random()
    draw.xi[0] = rng.standard_normal()
    state.now[DRAWN] = 1.0


@kernel
def _look(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, Z: Matrix, n: int) -> None:
    """The arms in coordinates, and every bank's means of them."""
    work = state.work
    express(state, arms, Z, work.key[: arms.shape[1]])
    if strategy.disjoint == 1.0:
        for k in range(n):
            work.key[k] = float(k)
    for bank in range(BANKS):
        means(strategy, state, Z, bank, work.mean[bank, :n])


@act.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    now, work, n = state.now, state.work, score.shape[0]
    see(state, arms)
    Z = work.Z[: (arms.shape[0] + 1) * arms.shape[1]].reshape((arms.shape[0] + 1, arms.shape[1]))
    _look(strategy, state, arms, Z, n)
    score_arms(strategy, state, Z, score)
    k = _choose(state, score)
    _note_duel(strategy, state, Z, k, n)
    column = 0 if strategy.disjoint == 1.0 else k
    for i in range(state.x.shape[0]):
        state.x[i] = arms[i, column]
    state.value[0] = score[k]
    now[DRAWN] = 0.0
    return k


@kernel
def _choose(state: SelfTuningState, score: Vector) -> int:
    tied, n = state.work.p[OF_CHOICE], score.shape[0]
    tied_with_best(score, tied[:n])
    return pick(tied[:n], state.work.key[:n], state.draw.u[PICK])


@kernel
def _note_duel(strategy: SelfTuning, state: SelfTuningState, Z: Matrix, k: int, n: int) -> None:
    """The decision's ticket: did the banks' greedy arms differ, which of them is k, and how likely was k?"""
    work, round_ = state.work, state.now[CLOCK] + 1.0
    ticket = state.duel.tickets[int(round_) % TICKETS]
    ticket[ROUND], ticket[DISAGREED], ticket[PROPENSITY], ticket[CHOSEN] = round_, 0.0, 1.0, float(k)
    first, counts = -1, False
    for bank in range(BANKS):
        mean = work.mean[bank, :n]
        greedy = position(mean, largest(mean))
        ticket[GREEDY + bank] = 1.0 if greedy == k else 0.0
        counts = counts or greedy == k
        if bank == 0:
            first = greedy
        elif greedy != first:
            ticket[DISAGREED] = 1.0
    if ticket[DISAGREED] == 1.0 and counts:
        probabilities(strategy, state, Z, k, work.p[OF_CHOICE, :n])
        ticket[PROPENSITY] = work.p[OF_CHOICE, k]


@scores.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, score: Vector) -> None:
    Z = state.work.Z[: (arms.shape[0] + 1) * arms.shape[1]].reshape((arms.shape[0] + 1, arms.shape[1]))
    _look(strategy, state, arms, Z, score.shape[0])
    score_arms(strategy, state, Z, score)


@propensities.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, arms: Matrix, p: Vector) -> None:
    Z = state.work.Z[: (arms.shape[0] + 1) * arms.shape[1]].reshape((arms.shape[0] + 1, arms.shape[1]))
    _look(strategy, state, arms, Z, p.shape[0])
    probabilities(strategy, state, Z, -1, p)


@optimism.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> float:
    return state.value[0]  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------------------------ learning


@learn.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, x: Vector, r: float, slot: int) -> None:
    state.now[CLOCK] += 1.0
    if not (_is_last(state, x) and settle_duel(state, 0.0, _item(strategy, slot), r)):
        see(state, x.reshape((x.shape[0], 1)))
    _learn(strategy, state, x, r, slot, 1.0, 0.0)


@skip.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> None:
    state.now[CLOCK] += 1.0  # every block fades when it is next observed


@exact_when_late.register(SelfTuning)
def _(strategy: SelfTuning) -> bool:
    return False  # the exponential memories are exact, the random walks and the evidence are not: docs/learner.md


@learn_late.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    if not settle_duel(state, float(age), _item(strategy, slot), r):
        see(state, x.reshape((x.shape[0], 1)))
    if weight > 0.0:
        _learn(strategy, state, x, r, slot, weight, float(age))


@late_refusal.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState, age: int) -> str:
    return ""


@kernel
def _item(strategy: SelfTuning, slot: int) -> int:
    """The block's number, −1 where there is only one."""
    return slot if strategy.disjoint == 1.0 else -1


@kernel
def _is_last(state: SelfTuningState, x: Vector) -> bool:
    """Are these the features last chosen?"""
    same = True
    for i in range(x.shape[0]):
        same = same and x[i] == state.x[i]
    return same


@solver
def _learn(
    strategy: SelfTuning, state: SelfTuningState, x: Vector, r: float, slot: int, weight: float, age: float
) -> None:
    """An observation of weight w made `age` rounds before the clock."""
    now, block = state.now, max(_item(strategy, slot), 0)
    if (
        now[SEEN] == 0.0
    ):  # nothing is known yet: units and centre are what is seen now, and the first reward is no surprise
        adopt(state, False)
        state.scale.offset[0] = centre(strategy.reward, 1.0, r)
    _count(now, r, weight)
    z, gap = state.work.vectors[ARM], now[CLOCK] - state.models.last[block]
    express_one(state, x, z)
    judge(strategy, state, block, z, r, gap, min(weight, 1.0))
    _absorb(strategy, state, block, z, r, gap, age, weight)
    now[SEEN] += 1.0
    state.models.last[block] = now[CLOCK]
    checkpoint(strategy, state)
    judge_banks(state, strategy.disjoint == 1.0)


@kernel
def _count(now: Vector, r: float, weight: float) -> None:
    """Mean and variance of the rewards."""
    now[REWARDS] += weight
    step = r - now[REWARD_MEAN]
    now[REWARD_MEAN] += step * weight / now[REWARDS]
    now[REWARD_SQUARES] += weight * step * (r - now[REWARD_MEAN])


@kernel
def _absorb(
    strategy: SelfTuning, state: SelfTuningState, block: int, z: Vector, r: float, gap: float, age: float, weight: float
) -> None:
    models, E = state.models, state.gamma.shape[0]
    base = dot(state.scale.offset, z)
    for m in range(models.n.shape[0]):
        w, y = response(strategy.reward, dot(models.theta[m, block], z), base, r)
        if m < E:
            absorb_exponential(state, m, block, z, w, y, gap, age, weight)
        else:
            absorb_walk(state, m, block, z, w, y, gap, age, weight)
