"""`Bandit.reward_batch`: rewards of many decisions, in the order of their rows."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import DriftBanditsError, InvalidValue
from ...tables.frames import missing, plain_value, read_frame
from ...util.collecting import uncollected
from ..adaptive import Adaptive, in_slots_of_today
from ..pending import DEFERRED, DONE, Open
from .blocks import accepted
from .fit import alarm_rewards, by_columns, ready
from .machine import machine
from .stretches import codes_of, walk

if TYPE_CHECKING:
    from ..bandit import Bandit


class Came(NamedTuple):
    """One reward, checked."""

    id: str
    reward: float
    weight: float
    at: Any


def reward_batch(bandit: "Bandit", frame: Any) -> int:
    """Learn a frame of rewards; every row is checked before the first is learned."""
    with uncollected():
        return _learn(bandit, _read(frame))


def _learn(bandit: "Bandit", came: list[Came]) -> int:
    with bandit._turn():
        for row in _suspects(bandit, came):
            one = came[row]
            try:
                bandit._answer(one.id, one.reward, one.at, one.weight)
            except DriftBanditsError as problem:
                raise type(problem)(f"row {row} of the frame: {problem} (no row was learned)") from None
    repeat = bandit._config["on_repeat"]
    if len({one.id for one in came}) < len(came) and repeat == "error":
        raise InvalidValue("an id is in the frame twice; a decision is learned once (no row was learned)")
    with bandit._whole():
        start = 0
        while start < len(came):
            start += _learn_from(bandit, came[start:])
    return len(came)


def _read(frame: Any) -> list[Came]:
    table = read_frame(frame, ["id", "reward"])

    def column(name: str, default: Any) -> list[Any]:
        if name not in table.columns:
            return [default] * len(table)
        return [default if missing(value) else plain_value(value) for value in table[name].to_list()]

    columns = (
        column(name, default) for name, default in (("id", None), ("reward", None), ("weight", 1.0), ("at", None))
    )
    return [*map(Came._make, zip(*columns, strict=True))]


def _suspects(bandit: "Bandit", came: list[Came]) -> list[int]:
    """Rows that `Bandit._answer` must look at; it would find nothing wrong with the others.

    Those are finite numbers of full weight that the kind of reward allows, for a decision that waits to be learned.
    """
    learner, open_ = bandit._learner, bandit._pending.open
    everything = [*range(len(came))]
    if not learner.takes_all:
        return everything
    plain = [_is_plain(one, open_.get(one.id) if type(one.id) is str else None) for one in came]
    rewards = np.array([one.reward if there else 0.0 for one, there in zip(came, plain, strict=True)])
    if rewards.dtype.kind not in "fi":  # an integer is too large for 64 bits
        return everything
    r = rewards.astype(np.float64)
    fine = np.array(plain, np.bool_) & accepted(bandit._config["reward"], r) & (np.abs(r) <= learner.largest_reward)
    return np.flatnonzero(~fine).tolist()


def _is_plain(one: Came, waiting: Open | None) -> bool:
    """A number of full weight, without a time, for a decision that waits to be learned."""
    return (
        waiting is not None
        and waiting.since != DEFERRED
        and waiting.learn
        and type(one.reward) in (float, int)
        and one.at is None
        and type(one.weight) is float
        and one.weight == 1.0
    )


def _learn_from(bandit: "Bandit", came: list[Came]) -> int:
    """Learn as many as one compiled call can, or one; returns how many."""
    learner, open_ = bandit._learner, bandit._pending.open
    if not by_columns(bandit) or bandit._config["on_repeat"] == "replace":
        one = came[0]
        bandit.reward(one.id, one.reward, at=one.at, weight=one.weight)
        return 1
    assert isinstance(learner, Adaptive)
    most = min(machine().longest("learn", len(came)), max(learner.misfit.room, 0)) if ready(learner) else 0
    waiting: list[Open] = []
    seen: set[str] = set()
    for one in came[:most]:
        found = open_.get(one.id)
        if (
            found is None
            or not found.learn
            or one.id in seen
            or not _simple(found)
            or learner.places.get(found.memos[0].item) < 0
        ):
            break
        seen.add(one.id)
        waiting.append(found)
    if not waiting:
        one = came[0]
        bandit.reward(one.id, one.reward, at=one.at, weight=one.weight)
        return 1
    _stretch(bandit, learner, came[: len(waiting)], waiting)
    return len(waiting)


def _simple(found: Open) -> bool:
    """One item, with a name."""
    return len(found.memos) == 1 and found.memos[0].named


def _stretch(bandit: "Bandit", learner: Adaptive, came: list[Came], waiting: list[Open]) -> None:
    """Rewards of decisions with one item each, which has its place."""
    T = len(waiting)
    learner.make_room_for_levels(T)
    m = learner.model
    memos = [opened.memos[0] for opened in waiting]
    rows = in_slots_of_today([memo.row for memo in memos], learner.items)
    crows = in_slots_of_today([memo.context for memo in memos], learner.context)
    who = learner.places.known([memo.item for memo in memos])
    tick = np.array([opened.at if bandit._clocked else opened.tick for opened in waiting], np.float64)
    r, w = (np.array([getattr(one, name) for one in came], np.float64) for name in ("reward", "weight"))
    told = np.array([memo.seen for memo in memos])
    walk(machine().learn, m, rows, crows, who, tick, r, w, told)
    learned = w > 0.0
    names = [memo.item for memo, there in zip(memos, learned.tolist(), strict=True) if there]
    learner.misfit.add_many(names, rows[learned], crows[learned], r[learned])
    bandit._arrivals.came([opened.tick for opened in waiting], bandit._tick)
    bandit._counts["rewards"] += T
    bandit._counts["late"] += sum(opened.tick < bandit._tick for opened in waiting)
    pairs = zip(came, waiting, strict=True)
    bandit._ledger.add_many([e for one, opened in pairs for e in bandit._entries(opened, [float(one.reward)], None)])
    bandit._pending.close([(one.id, DONE) for one in came])
    at = np.array([opened.at for opened in waiting])
    newest = np.maximum(at, bandit._newest)[learned]
    who, distinct = codes_of(names)
    ticks = np.full(len(newest), bandit._tick)
    alarm_rewards(bandit, distinct, who, rows[learned], crows[learned], r[learned], ticks, newest)
