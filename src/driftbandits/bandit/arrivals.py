"""Detection of missing rewards: a change detector receives, for each decision, whether its reward came within a number of later decisions.

The horizon is twice what 99 % of the rewards took, rounded up to a power of two, from 64 to 2048 decisions: then a reward that has not come
is missing, and rewards that are loaded once a day are not. Longer waits are not tested. Nor are decisions that were deferred or made
elsewhere. A decision that is given up by `expire` without a reward is one whose reward is missing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from ..alarms.state import (
    BLOCK,
    COUNT,
    DECISION,
    STEPS,
    TOLD,
    TOTAL,
    WEIGHT,
    R,
    State,
    new_fixed,
    new_state,
    new_work,
    restarted,
)
from ..alarms.verdict import Verdict, verdict
from ..core.atomic import wholly
from ..core.linalg import Vector
from ..errors import InvalidValue
from .detector import ARRIVALS, EVERY, machine, packed, unpacked

SIZE = 4096  # decisions that are remembered
OFTEN = 16  # decisions between two looks
SHORTEST, LONGEST = 64, 2048
FEW = 100  # rewards before the first look
ELSEWHERE, WAITING, CAME = 0, 1, 2
FIXED, WORK = new_fixed(np.full((1, 2), -1, np.int64)), new_work(1)
LIMIT = EVERY / ARRIVALS


class Arrived(NamedTuple):
    """What rewards that came change: decisions to be marked in the ring, and the delays afterwards."""

    marked: list[int]
    delays: list[int]


class Arrivals:
    """Which of the last decisions have had their reward, how long rewards take, and the detector."""

    def __init__(self) -> None:
        self.ring = bytearray(SIZE)
        self.delays = [0] * 64  # rewards by the length of the binary number of decisions that they took
        self.state = new_state(1, 1)
        self.begin = 1.0  # decision begin + STEPS is the next to be looked at
        self.horizon = 0
        self.found: Verdict | None = None

    def opened(self, tick: int, *, awaited: bool = True) -> None:
        """A decision was made, here or elsewhere."""
        self.ring[tick % SIZE] = WAITING if awaited else ELSEWHERE

    def opened_all(self, tick: int, many: int) -> None:
        """Many decisions were made here, at most `SIZE`, the first of which is this one."""
        self._view()[np.arange(tick, tick + many) % SIZE] = WAITING

    def elsewhere(self, tick: int, many: int) -> None:
        """Many decisions were made elsewhere, the first of which is this one."""
        self._view()[np.arange(max(tick, tick + many - SIZE), tick + many) % SIZE] = ELSEWHERE

    def came(self, ticks: Sequence[int], now: int) -> None:
        """The rewards of decisions came."""
        self.enter(self.arriving(ticks, now))

    def arriving(self, ticks: Sequence[int], now: int) -> Arrived:
        """What changes when the rewards of these decisions come; changes nothing."""
        marked, delays, ring = dict[int, None](), self.delays.copy(), self.ring
        for tick in ticks:
            place, old = tick % SIZE, now - tick >= SIZE
            if old or (ring[place] == WAITING and place not in marked):
                delays[(now - tick).bit_length()] += 1
            if not old and ring[place] == WAITING:
                marked[place] = None
        return Arrived([*marked], delays)

    def enter(self, arrived: Arrived) -> None:
        """Change it; twice is the same as once, so that an interrupted call can be made again."""
        for place in arrived.marked:
            self.ring[place] = CAME
        self.delays = arrived.delays

    def excused(self, ticks: Sequence[int]) -> None:
        """Rewards of these decisions are no longer expected."""
        for tick in ticks:
            if self.ring[tick % SIZE] == WAITING:
                self.ring[tick % SIZE] = ELSEWHERE

    def look(self, now: int) -> Verdict | None:
        """Test the decisions whose time has come; what was found, if anything. Interrupted and called again, it goes on."""
        horizon = self._horizon()
        if horizon != self.horizon:
            self.__dict__.update(horizon=horizon, state=restarted(self.state))
        if not horizon:
            return None
        oldest = now - SIZE + 1
        start = self.begin + self.state.numbers[STEPS]
        if start < oldest:
            self.begin += oldest - start
            start = oldest
        many = int(now - horizon - start) + 1
        if many > 0 and self.state.numbers[TOTAL] < LIMIT:
            self._test(int(start), many)
        if self.state.numbers[TOTAL] >= LIMIT:
            what = verdict(self.state, FIXED)
            found = None if what.rises else self._dated(what, now)
            self.__dict__.update(state=restarted(self.state), found=found)
        return self.found

    def looks_alarmed(self, now: int) -> bool:
        """`look`, if it finds nothing; else nothing is changed, and it is to be looked step by step."""
        kept = {"state": State(*(array.copy() for array in self.state)), "begin": self.begin, "horizon": self.horizon}
        if self.look(now) is None:
            return False
        self.__dict__.update(kept, found=None)
        return True

    def _test(self, start: int, many: int) -> None:
        told, row, ticks = np.empty((many, TOLD)), np.zeros((many, 0)), np.arange(start, start + many)
        what = self._view()[ticks % SIZE]
        for column, values in (
            (R, what == CAME),
            (WEIGHT, 1.0),
            (DECISION, ticks),
            (BLOCK, -1.0 * (what == ELSEWHERE)),
        ):
            told[:, column] = values
        wholly(machine().walk, self.state, self.state, FIXED, row, row, told, LIMIT, WORK)

    def _dated(self, what: Verdict, now: int) -> Verdict:
        """The decision since which rewards are missing, and the share of rewards before and since.

        A bettor begins where its winnings do, which is where more rewards than usual are missing by chance.
        """
        tested = int(self.begin + self.state.numbers[STEPS])  # the next one
        ticks = np.arange(max(now - SIZE + 1, 0), now - self.horizon + 1)
        ticks = ticks[self._view()[ticks % SIZE] != ELSEWHERE]
        ticks = ticks[max(int((ticks < tested).sum() - self.state.numbers[COUNT]), 0) :]
        came = self._view()[ticks % SIZE] == CAME
        at = fell_at(came)
        told = what._replace(kind="missing rewards", block=-1)
        if at is None:
            return told
        return told._replace(since=int(ticks[at]), before=float(came[:at].mean()), after=float(came[at:].mean()))

    def _view(self) -> NDArray[np.uint8]:
        """The ring as an array, which shares its memory."""
        return np.frombuffer(self.ring, np.uint8)

    def _horizon(self) -> int:
        """The horizon; 0 if there are too few rewards or they take too long."""
        total, seen = sum(self.delays), 0
        if total < FEW:
            return 0
        for bits, many in enumerate(self.delays):
            seen += many
            if seen >= 0.99 * total:
                return max(SHORTEST, 2 << bits) if 2 << bits <= LONGEST else 0
        return 0

    def pack(self) -> tuple[dict[str, Any], Vector, NDArray[np.uint8]]:
        """Everything: as JSON, the detector as one array, and the ring."""
        about = {"delays": self.delays, "begin": self.begin, "horizon": self.horizon}
        return about, packed(self.state), self._view().copy()

    def unpack(self, about: Mapping[str, Any], flat: Vector, ring: NDArray[np.uint8]) -> None:
        """What was packed, in place of what is known."""
        state = unpacked(flat, 1, 1)
        delays = [int(many) for many in about["delays"]]
        known = len(delays) == 64 and min(delays) >= 0 and max(delays) < 1 << 62 and np.isfinite(float(about["begin"]))
        whole = ring.dtype == np.uint8 and ring.shape == (SIZE,)
        if not known or not whole or not np.isin(ring, (ELSEWHERE, WAITING, CAME)).all():
            raise InvalidValue("what is known of the arrival of rewards is not what it must be")
        self.__dict__.update(
            ring=bytearray(ring.tobytes()), delays=delays, begin=float(about["begin"]), state=state,
            horizon=int(about["horizon"]), found=None,
        )  # fmt: skip


def fell_at(came: NDArray[np.bool_]) -> int | None:
    r"""The place k at which a share that falls once is most likely to have fallen; None if it never does.

    argmax_k  k H(p₁) + (n − k) H(p₂),   H(p) = p ln p + (1 − p) ln(1 − p), with the shares p₁ > p₂ before k and since.

    Examples
    --------
    >>> fell_at(np.array([1, 1, 0, 1, 1, 0, 0, 1, 0, 0]) == 1)
    5
    """
    n = len(came)
    k, earlier = np.arange(1, n), np.cumsum(came)[:-1]
    before, since = earlier / k, (came.sum() - earlier) / (n - k)
    likely = np.where(since < before, k * _entropy(before) + (n - k) * _entropy(since), -np.inf)
    return int(likely.argmax()) + 1 if np.isfinite(likely).any() else None


def _entropy(p: Vector) -> Vector:
    return np.asarray(xlogy(p, p) + xlog1py(1.0 - p, -p))


__all__ = ["Arrivals", "State"]
