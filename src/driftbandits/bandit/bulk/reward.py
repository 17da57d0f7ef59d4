"""`Bandit.reward_batch`: rewards of many decisions, in the order of their rows."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import DriftBanditsError, InvalidValue
from ...tables.frames import missing, plain_value, read_frame
from ...util.collecting import uncollected
from ..adaptive import Adaptive, in_slots_of_today
from ..ledger import Entry
from ..pending import DEFERRED, Open
from .blocks import accepted
from .fit import alarm_rewards, by_columns, ready
from .machine import machine
from .stretches import codes_of, walk

if TYPE_CHECKING:
    from ..bandit import Bandit

WHOLE = {str, int, bool}  # types that have no value for "missing"
NUMBERS = {float, int}


class Came(NamedTuple):
    """Rewards, column by column, in the order of their rows."""

    id: list[Any]
    reward: list[Any]
    weight: list[Any]
    at: list[Any]

    def answer(self, bandit: "Bandit", t: int) -> None:
        """Learn row t by itself."""
        bandit.reward(self.id[t], self.reward[t], at=self.at[t], weight=self.weight[t])


def reward_batch(bandit: "Bandit", frame: Any) -> int:
    """Learn a frame of rewards; every row is checked before the first is learned."""
    with uncollected():
        return _learn(bandit, _read(frame))


def _learn(bandit: "Bandit", came: Came) -> int:
    with bandit._turn():
        for row in _suspects(bandit, came):
            try:
                bandit._answer(came.id[row], came.reward[row], came.at[row], came.weight[row])
            except DriftBanditsError as problem:
                raise type(problem)(f"row {row} of the frame: {problem} (no row was learned)") from None
    T = len(came.id)
    repeats = len({*came.id}) < T
    if repeats and bandit._config["on_repeat"] == "error":
        raise InvalidValue("an id is in the frame twice; a decision is learned once (no row was learned)")
    with bandit._whole():
        start = 0
        while start < T:
            start += _learn_from(bandit, came, start)
    return T


def _read(frame: Any) -> Came:
    table = read_frame(frame, ["id", "reward"])

    def column(name: str, default: Any) -> list[Any]:
        return _plain_values(table[name].to_list(), default) if name in table.columns else [default] * len(table)

    return Came(column("id", None), column("reward", None), column("weight", 1.0), column("at", None))


def _plain_values(values: list[Any], default: Any) -> list[Any]:
    """Values as Python has them; a default where there is none."""
    kinds = {*map(type, values)}
    if kinds <= WHOLE or (kinds == {float} and not np.isnan(values).any()):
        return values
    return [default if missing(value) else plain_value(value) for value in values]


def _suspects(bandit: "Bandit", came: Came) -> list[int]:
    """Rows that `Bandit._answer` must look at; it would find nothing wrong with the others.

    Those are finite numbers of full weight that the kind of reward allows, for a decision that waits to be learned.
    """
    learner, open_ = bandit._learner, bandit._pending.open
    everything = [*range(len(came.id))]
    usual = {*map(type, came.reward)} <= NUMBERS and {*map(type, came.weight)} == {float} and {*came.weight} == {1.0}
    if not learner.takes_all or not usual or any(at is not None for at in came.at) or {*map(type, came.id)} != {str}:
        return everything
    waiting = [one is not None and one.since != DEFERRED and one.learn for one in map(open_.get, came.id)]
    rewards = np.array(came.reward)
    if rewards.dtype.kind not in "fi":  # an integer is too large for 64 bits
        return everything
    r = rewards.astype(np.float64)
    fine = np.array(waiting, np.bool_) & accepted(bandit._config["reward"], r) & (np.abs(r) <= learner.largest_reward)
    return np.flatnonzero(~fine).tolist()


def _learn_from(bandit: "Bandit", came: Came, start: int) -> int:
    """Learn as many as one compiled call can, or one; returns how many."""
    learner = bandit._learner
    if not by_columns(bandit) or bandit._config["on_repeat"] == "replace":
        came.answer(bandit, start)
        return 1
    assert isinstance(learner, Adaptive)
    T = len(came.id)
    most = min(machine().longest("learn", T), max(learner.misfit.room, 0)) if ready(learner) else 0
    waiting = _together(bandit, learner, came.id[start : start + most])
    if not waiting:
        came.answer(bandit, start)
        return 1
    _stretch(bandit, learner, came, start, waiting)
    return len(waiting)


def _together(bandit: "Bandit", learner: Adaptive, ids: list[Any]) -> list[Open]:
    """The decisions with these ids, up to one that must be looked at by itself."""
    open_, place = bandit._pending.open, learner.places.get
    waiting: dict[str, Open] = {}
    for id_ in ids:
        found = open_.get(id_)
        if found is None or not found.learn or id_ in waiting or len(found.memos) > 1:
            break
        memo = found.memos[0]
        if not memo.named or place(memo.item) < 0:
            break
        waiting[id_] = found
    return [*waiting.values()]


def _stretch(bandit: "Bandit", learner: Adaptive, came: Came, start: int, waiting: list[Open]) -> None:
    """Rewards of decisions with one item each, which has its place."""
    T, these = len(waiting), slice(start, start + len(waiting))
    learner.make_room_for_levels(T)
    m = learner.model
    memos = [opened.memos[0] for opened in waiting]
    rows = in_slots_of_today([memo.row for memo in memos], learner.items)
    crows = in_slots_of_today([memo.context for memo in memos], learner.context)
    who, distinct = codes_of([memo.item for memo in memos])
    made = np.array([opened.tick for opened in waiting])
    at = np.array([opened.at for opened in waiting])
    r, w = np.array(came.reward[these], np.float64), np.array(came.weight[these], np.float64)
    told = np.concatenate([memo.seen for memo in memos]).reshape(T, -1)
    tick = at if bandit._clocked else made.astype(np.float64)
    walk(machine().learn, m, rows, crows, learner.places.known(distinct)[who], tick, r, w, told)
    learned = w > 0.0
    kept = rows[learned], crows[learned], r[learned]
    names = [distinct[k] for k in who[learned].tolist()]
    learner.misfit.add_many(names, *kept)
    bandit._arrivals.came(made.tolist(), bandit._tick)
    bandit._counts["rewards"] += T
    bandit._counts["late"] += int((made < bandit._tick).sum())
    bandit._ledger.add_many(
        [
            Entry(opened.law, reward, opened.at, 1.0, opened.tick)
            for opened, reward in zip(waiting, r.tolist(), strict=True)
            if opened.law is not None
        ]
    )
    bandit._pending.close_all(came.id[these])
    newest = np.maximum(at, bandit._newest)[learned]
    who, distinct = codes_of(names)
    ticks = np.full(len(newest), bandit._tick)
    alarm_rewards(bandit, distinct, who, *kept, ticks, newest)
