"""Change detection: every reward is passed to a detector (`driftbandits.alarms`) once, in the order of arrival.

The detector has a regression of its own for each item, over features of item and context in the slots of the learner's tables. An item
gets its block with its first reward; when there is no room for another block, items that have features share block 0, and others are not
tested. Rewards that replace earlier ones are not tested again. Above 500 columns (`Diagonal`), features are not looked at.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..alarms.state import (
    BLOCK,
    DECISION,
    FIELDS,
    STEPS,
    TOLD,
    TOTAL,
    WEIGHT,
    WIDEST,
    Fixed,
    Integers,
    M,
    R,
    State,
    Work,
    grown,
    new_fixed,
    new_state,
    new_work,
    restarted,
)
from ..alarms.verdict import Verdict, muted, total, verdict
from ..core.atomic import wholly
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue
from .adaptive import Adaptive, in_slots_of_today
from .contributions import labels
from .detector import ARRIVALS, EVERY, machine, packed, unpacked
from .events import DriftEvent
from .learner import Draft, Memo, Observation

LIMIT = EVERY / (1.0 - ARRIVALS)
ROOM = 1 << 16  # numbers in all blocks
REST = 0  # the block of items that have none of their own
TORN = "arrays of the change detector do not fit each other: please report how it came to this"


class Found(NamedTuple):
    """An alarm: what it says, after which of the observations of a call, and when how many decisions had been made."""

    what: Verdict
    row: int
    decision: int


Marks = tuple[frozenset[int], frozenset[int]]  # slots of the items, and of the context


class Now(NamedTuple):
    """All that a reward may change; replaced as a whole, but for the arrays of `state`, which compiled code changes."""

    state: State
    fixed: Fixed
    work: Work
    places: dict[Any, int]  # the block of each item
    widths: tuple[int, int]  # slots of item and context that have been looked at for columns
    found: tuple[Found, ...] = ()  # in this call


class Alarms:
    """The detector of one bandit.

    A call that is interrupted goes on where it stopped when it is made again with the same draft: `state.numbers[STEPS]` counts what was
    handed over.
    """

    def __init__(self) -> None:
        self.now, self._told = _first(0.0), np.empty((1, TOLD))

    def enter(self, draft: Draft, observations: Sequence[Observation], decision: int, learner: Any) -> Sequence[Found]:
        """Test the rewards of a change that was made. A second call with the same draft changes nothing."""
        if len(observations) == 1 and draft.alarmed is None and self._tested(draft, observations[0], decision, learner):
            return ()
        judged = [o for o in observations if o.judge and o.weight > 0.0]
        if not judged:
            return ()
        memos = [o.memo for o in judged]
        rows, crows = _rows(learner, memos)
        blocks = self.blocks([(memo.item, memo.named) for memo in memos], rows, crows, learner)
        told = np.array([(o.reward, o.weight, decision, a) for o, a in zip(judged, blocks, strict=True)], np.float64)
        if draft.alarmed is None:
            draft.alarmed = self.begin()
        return self.walk(rows, crows, told, draft.alarmed)

    def _tested(self, draft: Draft, o: Observation, decision: int, learner: Any) -> bool:
        """Test one reward of an item that has a block, which is what nearly all calls do; False if there is more to do."""
        now, memo = self.now, o.memo
        place = now.places.get(memo.item) if memo.named else REST
        if type(learner) is not Adaptive or not o.judge or o.weight <= 0.0 or place is None or now.found:
            return False
        widths = learner.items.width, learner.context.width
        if widths != now.widths or (len(memo.row), len(memo.context)) != widths:
            return False
        told, numbers = self._told, now.state.numbers
        told[0] = o.reward, o.weight, decision, place
        draft.alarmed = float(numbers[STEPS])
        args = now.state, now.fixed, memo.row[None], memo.context[None], told, LIMIT, now.work
        if wholly(machine().walk, now.state, *args) < 0:
            raise InvalidShape(TORN)
        return bool(numbers[TOTAL] < LIMIT)

    def begin(self) -> float:
        """Forget what earlier calls found; how many observations were handed over."""
        if self.now.found:
            self.now = self.now._replace(found=())
        return float(self.now.state.numbers[STEPS])

    def walk(self, rows: Matrix, crows: Matrix, told: Matrix, begin: float) -> Sequence[Found]:
        """Test rewards in their order, the first of which is the `begin`-th ever; those that were handed over are passed by."""
        while True:
            now = self.now
            done = int(now.state.numbers[STEPS] - begin)
            if now.state.numbers[TOTAL] >= LIMIT:
                what = verdict(now.state, now.fixed)
                state = muted(now.state, now.fixed) if what.kind == "model misfit" else restarted(now.state)
                found = Found(what, done - 1, int(told[done - 1, DECISION]))
                self.now = now._replace(state=state, found=(*now.found, found))
            elif done >= len(told):
                return now.found
            else:
                args = now.state, now.fixed, rows[done:], crows[done:], told[done:], LIMIT, now.work
                if wholly(machine().walk, now.state, *args) < 0:
                    raise InvalidShape(TORN)

    # ------------------------------------------------------------------------------------------------ columns and blocks

    def blocks(self, items: Sequence[tuple[Any, bool]], rows: Matrix, crows: Matrix, learner: Any) -> list[int]:
        """Blocks of items, each with whether it has a name; blocks, and columns for the slots of these rows, are made if there are none."""
        J, C = rows.shape[1], crows.shape[1]
        if self.now.widths != (J, C):
            constant = isinstance(learner, Adaptive)
            self.now = _with_columns(self.now, J, C, _marks(learner), first=int(constant), products=not items[0][1])
        places = self.now.places
        return [places[item] if named and item in places else self._block(item, named, J) for item, named in items]

    def stretch(
        self, names: Sequence[Any], who: Integers, rows: Matrix, crows: Matrix, r: Vector, ticks: Any, learner: Any
    ) -> Sequence[Found]:
        """Test many rewards in their order, with one compiled call between two alarms: row t is one of item names[who[t]].

        `ticks` are the decisions that had been made when each reward came. The results are those of row by row.
        """
        found, first = np.unique(who, return_index=True)
        order = np.argsort(first)  # items get their blocks with their first reward
        block = np.full(len(names), -1, np.int64)
        block[found[order]] = self.blocks([(names[k], True) for k in found[order].tolist()], rows, crows, learner)
        told = np.empty((len(r), TOLD))
        for column, values in ((R, r), (WEIGHT, 1.0), (DECISION, ticks), (BLOCK, block[who])):
            told[:, column] = values
        return self.walk(rows, crows, told, self.begin())

    def _block(self, item: Any, named: bool, J: int) -> int:
        if not named:
            return REST
        now = self.now
        if item in now.places:
            return now.places[item]
        N, D = now.state.theta.shape
        used = {*now.places.values()}
        place = next(free for free in range(1, len(used) + 2) if free not in used)
        if (place + 1) * (5 + D + D * D + (D + 1) * M * FIELDS) > ROOM:
            return REST if J > 1 else -1
        state = now.state if place < N else grown(now.state, D, 2 * N + 1)
        self.now = now._replace(state=state, places={**now.places, item: place})
        return place

    def forget(self, item: Any) -> None:
        """An item was dropped: its block is free for another one, or for itself as a new item."""
        now = self.now
        place = now.places.get(item)
        if place is None:
            return
        state = State(*(array.copy() for array in now.state))
        blank = new_state(state.theta.shape[1], 1)
        for name in ("tally", "theta", "P", "own"):
            getattr(state, name)[place] = getattr(blank, name)[0]
        state.numbers[TOTAL] = total(state, now.fixed)
        self.now = now._replace(state=state, places={name: p for name, p in now.places.items() if p != place})

    def restart(self) -> None:
        """Start the detector again, because the meaning of its columns has changed."""
        self.now = _first(float(self.now.state.numbers[STEPS]))

    # ------------------------------------------------------------------------------------------------------------ events

    def event(self, found: Found, at: float, learner: Any) -> DriftEvent:
        """An alarm as users see it."""
        what, now = found.what, self.now
        item = next((name for name, place in now.places.items() if place == what.block), None)
        feature = None
        if what.column >= 0:
            i, c = now.fixed.source[what.column].tolist()
            feature = _label(learner, i, c)
        return DriftEvent(
            at, what.kind, found.decision, what.since, what.evidence, item, feature, what.before, what.after
        )

    # ------------------------------------------------------------------------------------------------------------ saving

    def pack(self) -> tuple[dict[str, Any], Vector]:
        """Everything, as JSON and one array."""
        now = self.now
        about = {
            "source": now.fixed.source.tolist(),
            "blocks": len(now.state.theta),
            "items": [*now.places],
            "places": [*now.places.values()],
            "widths": list(now.widths),
        }
        return about, packed(now.state)

    def unpack(self, about: Mapping[str, Any], flat: Vector) -> None:
        """What was packed, in place of what is known."""
        source = np.array(about["source"], np.int64).reshape(-1, 2)
        J, C = (int(width) for width in about["widths"])
        N, D = int(about["blocks"]), len(source)
        inside = (source >= -1).all() and (source[:, 0] < max(J, 1)).all() and (source[:, 1] < max(C, 1)).all()
        places = dict(zip(about["items"], map(int, about["places"]), strict=True))
        apart = len({*places.values()}) == len(about["items"]) and all(0 < place < N for place in places.values())
        if not (0 < D <= WIDEST and apart and inside):
            raise InvalidValue("the columns and blocks of its change detector do not fit each other")
        self.now = Now(unpacked(flat, D, N), new_fixed(source), new_work(D), places, (J, C))


def _first(steps: float) -> Now:
    """A detector that has seen nothing, after so many observations."""
    state = new_state(1, 1)
    state.numbers[STEPS] = steps
    return Now(state, new_fixed(np.full((1, 2), -1, np.int64)), new_work(1), {}, (0, 0))


def _with_columns(now: Now, J: int, C: int, marks: Marks, *, first: int, products: bool) -> Now:
    """Columns for slots that are new, from `first` on: of the context, of the item, and without names of items their products."""
    if now.widths[0] > J or now.widths[1] > C:  # another learner
        now = _first(float(now.state.numbers[STEPS]))
    j, c = (max(width, first) for width in now.widths)
    source = [(i, k) for i, k in now.fixed.source.tolist()]
    source += [(-1, k) for k in range(c, C)] + [(i, -1) for i in range(j, J)]
    if products:
        source += [(i, k) for i in range(first, J) for k in range(first, C) if i >= j or k >= c]
    source = [(i, k) for i, k in source if i not in marks[0] and k not in marks[1]]
    fixed = new_fixed(np.array(source[:WIDEST], np.int64).reshape(-1, 2))
    N, D = now.state.theta.shape
    state = now.state if len(fixed.source) == D else grown(now.state, len(fixed.source), N)
    return now._replace(state=state, fixed=fixed, work=new_work(len(fixed.source)), widths=(J, C))


def _marks(learner: Any) -> Marks:
    """Slots of items and context that hold no numbers but marks of levels."""
    return (learner.items.marks, learner.context.marks) if isinstance(learner, Adaptive) else (frozenset(), frozenset())


def _rows(learner: Any, memos: Sequence[Memo]) -> tuple[Matrix, Matrix]:
    """Raw features of items and context in slots; the learner's tables have a constant in slot 0."""
    if isinstance(learner, Adaptive):
        rows = in_slots_of_today([memo.row for memo in memos], learner.items)
        return rows, in_slots_of_today([memo.context for memo in memos], learner.context)
    nothing = np.zeros((len(memos), 0))
    same = {len(memo.row) for memo in memos}
    if hasattr(learner, "strategy") and len(same) == 1:
        return np.array([memo.row for memo in memos]), nothing
    return nothing, nothing


def _label(learner: Any, i: int, c: int) -> str:
    """The name of a feature, or of a product of two."""
    if not isinstance(learner, Adaptive):
        return f"feature {max(i, c)}"
    own, context = labels(learner.items, learner.context, {}, {})
    return " × ".join(name for name in ((own[i] if i >= 0 else None), (context[c] if c >= 0 else None)) if name)


__all__ = ["TOLD", "Alarms", "Found"]
