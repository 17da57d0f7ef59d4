r"""DAL: a stationary learner restarted by a change detector (Gerogiannis, Huang, Bose, Veeravalli 2025).

    play     the base's choice;  with forced exploration at rate α_k in epoch k, in the first N of every ⌈N/α_k⌉ rounds a covering arm
    learn    the base and the detector learn every reward
    alarm    the base and the detector forget everything; the next epoch begins,   α_k = √k·α,   published α = √(N log T/T)

Published detectors (`detectors.LikelihoodRatio`) monitor N arms that span the space. These arms must be played often enough, which requires
forced exploration and a fixed set of arms. `detectors.ChiSquare`, our own, monitors the parameter itself and requires neither. A covering
arm that is not on offer is skipped.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.frozen_array import Frozen
from ..core.kernel import kernel, part
from ..core.linalg import Matrix, Vector
from ..core.state import copy_state, counters, duplicate
from ..errors import InvalidShape, InvalidValue, require
from ..protocol import (
    Integers,
    Limits,
    Setting,
    act,
    describe,
    exact_when_late,
    late_refusal,
    learn,
    learn_late,
    limits,
    ready,
    settle,
    skip,
    start,
)
from ..theory import dal_exploration
from .detectors import LikelihoodRatio, blank_watch, forget, refuted, weigh
from .forwarding import passes_on
from .restarted import answers_as_its_base

LOG = 4096  # the number of restarts that are kept in the log


@part
class Dal(NamedTuple):
    """DAL around `base`; see `zoo.dal`."""

    base: Any
    detector: Any
    forced: float = 0.0  # α; negative: √(N log T/T)
    horizon: float = 0.0  # T in that formula; 0: the horizon of the setting
    cover: Frozen = Frozen("cover", [])  # (N, d), or empty: chosen from the fixed arms

    def check(self) -> None:
        """The rate of forced exploration must not exceed 1."""
        require(self.forced <= 1.0, "forced", self.forced, "≤ 1", "it is the fraction of rounds that explore")


class EpochClock(NamedTuple):
    """Counters, each (1,)."""

    round: Integers  # rounds so far
    since: Integers  # rounds since the last restart
    seen: Integers  # observations
    restarts: Integers


class DalState(NamedTuple):
    """The base of this epoch and the state of the detector."""

    live: Any
    blank: Any  # the state in which every epoch starts
    watch: Any
    cover: Matrix  # (N, d), or (0, d) without forced exploration
    rate: Vector  # (1,) α
    clock: EpochClock
    restarts: Integers  # (LOG, 2) round, and the detector's alarm; entry i is in row i modulo LOG


@settle.register(Dal)
def _(dal: Dal, dim: int) -> Dal:
    return dal._replace(base=settle(dal.base, dim))


@start.register(Dal)
def _(dal: Dal, setting: Setting, rng: np.random.Generator) -> DalState:
    blank = start(dal.base, setting, rng)
    cover = (
        _cover(dal, setting) if dal.forced or isinstance(dal.detector, LikelihoodRatio) else np.zeros((0, setting.dim))
    )
    return DalState(
        live=duplicate(blank),
        blank=blank,
        watch=blank_watch(dal.detector, setting.dim, cover),
        cover=cover,
        rate=np.full(1, _rate(dal, len(cover), setting.horizon)),
        clock=counters(EpochClock),
        restarts=np.zeros((LOG, 2), np.int64),
    )


def _cover(dal: Dal, setting: Setting) -> Matrix:
    """The covering arms (N, d)."""
    given, d = dal.cover.array, setting.dim
    if given.size:
        if given.ndim != 2 or given.shape[1] != d:
            raise InvalidShape(
                f"cover has shape {given.shape}; it must be (N, {d}): the features of arms that span the space"
            )
        return np.array(given)
    if setting.arms.shape[1] == 0:
        raise InvalidValue(
            "forced exploration, which the detectors 'glr' and 'gsr' need, plays arms that recur: give them with cover=…, "
            "or take detector='chi2'"
        )
    return spanning(setting.arms)


def spanning(arms: Matrix) -> Matrix:
    """At most d columns of `arms` (d, n), as rows, each the farthest from the span of those before it (a pivoted QR).

    Examples
    --------
    >>> spanning(np.array([[1.0, 0.0, 0.9], [0.0, 0.5, 0.1]]))
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    left, chosen = np.array(arms.T), []
    for _ in range(arms.shape[0]):
        length = np.linalg.norm(left, axis=1)
        k = int(length.argmax())
        if length[k] <= 1e-9 * np.linalg.norm(arms, axis=0).max():
            break
        chosen.append(k)
        # Gram–Schmidt: what is left of every arm is orthogonal to those chosen, so its length is its distance from their span.
        left -= np.outer(left @ left[k], left[k]) / length[k] ** 2
    return np.ascontiguousarray(arms.T[chosen])


def _rate(dal: Dal, N: int, horizon: int) -> float:
    """α of the first epoch."""
    T = dal.horizon or horizon
    if dal.forced >= 0.0:
        return dal.forced
    if not T:
        raise InvalidValue(
            "the published rate of exploration √(N log T/T) needs the horizon T; give horizon=… or forced=…, a fraction of rounds"
        )
    return dal_exploration(T=int(T), N=N)


# ------------------------------------------------------------------------------------------------------------- strategy


@kernel
def _due(state: DalState) -> int:
    """The covering arm that this round must play, or −1."""
    N, clock = state.cover.shape[0], state.clock
    if N == 0 or state.rate[0] <= 0.0:
        return -1
    # α_k = √k·α in epoch k: the more changes were found, the more is explored.
    rate = min(state.rate[0] * np.sqrt(clock.restarts[0] + 1.0), 1.0)
    # The N covering arms in a row, then ⌈N/α⌉ − N rounds of the base: a share α of all rounds.
    place = clock.since[0] % int(np.ceil(N / rate))
    return place if place < N else -1


@kernel
def _on_offer(x: Vector, arms: Matrix) -> int:
    """The index of an arm among the columns of `arms` (d, n), or −1."""
    for a in range(arms.shape[1]):
        same = True
        for i in range(arms.shape[0]):
            same = same and arms[i, a] == x[i]
        if same:
            return a
    return -1


@kernel
def _detect(dal: Dal, state: DalState, x: Vector, h: float, y: float, weight: float) -> None:
    """Pass an observation to the detector; on an alarm, restart the base and the detector."""
    clock = state.clock
    clock.seen[0] += 1
    alarm = refuted(dal.detector, state.watch, x, h, y, weight)
    if alarm > 0:
        row = clock.restarts[0] % LOG
        state.restarts[row, 0] = clock.round[0]
        state.restarts[row, 1] = alarm
        clock.restarts[0] += 1
        clock.since[0] = 0
        # In place, without allocation: the state before round 1 is kept for this.
        copy_state(state.live, state.blank)
        forget(state.watch)


@act.register(Dal)
def _(dal: Dal, state: DalState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    due = _due(state)
    k = _on_offer(state.cover[due], arms) if due >= 0 else -1
    if k >= 0:
        return k
    return act(dal.base, state.live, arms, score, rng)


@learn.register(Dal)
def _(dal: Dal, state: DalState, x: Vector, r: float, slot: int) -> None:
    # Weighed before the base learns r: the linearisation point must not depend on the reward that is tested.
    h, y = weigh(dal.detector, dal.base, state.live, x, r)
    learn(dal.base, state.live, x, r, slot)
    state.clock.round[0] += 1
    state.clock.since[0] += 1
    _detect(dal, state, x, h, y, 1.0)


# The detector treats a late reward like one of the round of its arrival. A reward of a round before the last restart is not learned,
# because the parameter is assumed to have changed since.


@skip.register(Dal)
def _(dal: Dal, state: DalState) -> None:
    skip(dal.base, state.live)
    state.clock.round[0] += 1
    state.clock.since[0] += 1


@learn_late.register(Dal)
def _(dal: Dal, state: DalState, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    if age >= state.clock.since[0]:
        state.clock.seen[0] += 1
        return
    h, y = weigh(dal.detector, dal.base, state.live, x, r)
    learn_late(dal.base, state.live, x, r, slot, weight, age)
    _detect(dal, state, x, h, y, weight)


@exact_when_late.register(Dal)
def _(dal: Dal) -> bool:
    return False


@limits.register(Dal)
def _(dal: Dal) -> Limits:
    covers = bool(dal.forced) or isinstance(dal.detector, LikelihoodRatio)
    return limits(dal.base)._replace(fixed_arms=covers)


@describe.register(Dal)
def _(dal: Dal, state: DalState) -> dict[str, Any]:
    """The description of this epoch's base, and:

    observations
        the number of observations so far, including those forgotten since
    restarts
        (k, 2) round of each alarm, and its cause: the length of a block, or the number of the covering arm, from 1
    epoch
        rounds since the last restart
    """
    count = int(state.clock.restarts[0])
    kept = state.restarts[:count] if count <= LOG else np.roll(state.restarts, -(count % LOG), axis=0)
    return {
        **describe(dal.base, state.live),
        "observations": int(state.clock.seen[0]),
        "restarts": kept.copy(),
        "epoch": int(state.clock.since[0]),
    }


answers_as_its_base(Dal, DalState)
passes_on(Dal, ready, late_refusal)
