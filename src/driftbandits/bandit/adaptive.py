"""The learner that `Bandit` has by default: the engine of `driftbandits.adaptive` over features and items that come as they come."""

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..adaptive import sums
from ..adaptive.choice import ROWS, SAVED, SCORE, SD, STATIC_SD
from ..adaptive.columns import cut
from ..adaptive.entries import (
    BY,
    BY_SHARE,
    CHANCE,
    DRAW,
    FORECAST,
    GIVEN,
    ITEM,
    OBSERVED,
    PROPENSITY,
    SHARE,
    TICK,
    TOLD,
    VOICE,
)
from ..adaptive.layout import Columns
from ..adaptive.regression import noise
from ..adaptive.sums import COUNT, R0, RHO, SQUARES, USE, Integers
from ..adaptive.tuning import WIDE
from ..core.lanes import lane
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from .features import BARE, BUCKETS, OWN_SLOTS, Table
from .items import NONE, Mark, Places, nobody
from .learner import ENGINE, Choice, Draft, Memo, Observation, Offer, Placed
from .machine import machine
from .memories import NOBODY, Memories, told_of
from .misfit import Found, Misfit
from .model import FULL, Model, first_model, unpacked
from .reading import Reading
from .rewards import allowed_size
from .vectors import Row

LOG = logging.getLogger("driftbandits")
BARE_ROW = BARE[0]  # of an item without features where nobody has any; nothing writes to it
NO_TICKET = np.array([-1.0, 1.0])  # in the duel; nothing writes to it


class TooWide(Exception):
    """More columns than a full covariance is kept for: time for `diagonal`. `Bandit` never lets it out."""


class Kept(NamedTuple):
    """What a learner was before a change was prepared."""

    model: Model
    items: Table
    context: Table
    rows_seen: tuple[int, int]
    started: bool
    places: Mark
    arrays: list[Any] | None


class Adaptive(Memories):
    """Memories of several lengths, two voices, own effects of named items."""

    takes_all = True

    def __init__(
        self, mode: str, rates: Sequence[float] | Vector | None = None, buckets: int = BUCKETS, max_items: int = 4096
    ) -> None:
        self.mode = mode
        self._machine = machine()
        self.rates = np.array(sums.default_rates() if rates is None else rates, np.float64)
        self.items, self.context = Table("item", buckets), Table("context", buckets)
        self.places = Places(max_items)
        self._started = False
        self.misfit = Misfit()
        self.model = self._first_model(slopes=mode in ("disjoint", "hybrid"), separate=mode == "disjoint")

    def _first_model(self, *, slopes: bool, separate: bool) -> Model:
        products = self.mode in ("interact", "hybrid", "linear")
        columns = Columns(products=products, slopes=slopes, own_effects=slopes)
        return first_model(columns, self.rates, self.items, self.context, separate=separate)

    # ---------------------------------------------------------------------------------------------------------- reading

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row, *, named: bool = True) -> Offer:
        """Check what is on offer; raise, or change nothing."""
        if named and len(names) > self.places.limit:
            raise InvalidValue(
                f"{len(names)} items are on offer; it must be ≤ {self.places.limit}, max_items: each has a model of its own"
            )
        return super().read(names, rows, context, named=named)

    def place(self, offer: Offer, tick: int, *, learn: bool = True, awaited: Mapping[Any, int] = NOBODY) -> Placed:
        """Count what is on offer, make room for what is new, and move the prior when it is time."""
        if not learn:
            rows = self.items.write(offer.items, learn=False)
            context = self.context.write(offer.context, learn=False)
            cut(self.model.items, rows)
            cut(self.model.context, context)
            who = self.places.known(offer.names) if self._named(offer) else nobody(len(offer.names))
            return Placed(offer.names, rows, context, who, offer.named)
        draft = Draft()
        placed, retired = self._prepare(draft, offer, awaited)
        self.count(placed, tick, retired)
        return placed

    def count(self, placed: Placed, tick: int, retired: Integers) -> None:
        """Count what decision `tick` offers; `retired` are the places of items that lose theirs."""
        m = self.model
        m.run(
            self._machine.place, np.zeros(1), m.engine, placed.rows, placed.context, placed.blocks, float(tick), retired, m.when
        )  # fmt: skip

    def _prepare(self, draft: Draft, offer: Offer, awaited: Mapping[Any, int]) -> tuple[Placed, Integers]:
        """An offer in slots, with columns and places for what is new; the places of items that lose theirs.

        Where nothing is new, nothing changes; otherwise `draft.kept` says how to undo it.
        """
        rows, context = self.items.planned(offer.items), self.context.planned(offer.context)
        if rows is not None and context is not None and self._started:
            columns = self.model.columns
            if not (offer.named or columns.slopes):
                return Placed(offer.names, rows, context, nobody(len(rows)), False), NONE
            who = self.places.all_known(offer.names) if columns.own_effects else None
            if who is not None:
                return Placed(offer.names, rows, context, who, offer.named), NONE
        draft.kept = self.keep()
        return self._prepare_new(offer, awaited)

    def _prepare_new(self, offer: Offer, awaited: Mapping[Any, int]) -> tuple[Placed, Integers]:
        named = self._named(offer)
        own = OWN_SLOTS if named else math.inf  # what levels add is told apart by names of items
        rows, context = self._write("items", offer.items, own), self._write("context", offer.context, own)
        if not self._started:
            self._start()
            named = self._named(offer)
        self._make_columns(named)
        if not named:
            return Placed(offer.names, rows, context, nobody(len(rows)), offer.named), NONE
        who, retired = self.places.admit(offer.names, awaited, self.model.when)
        self.model = self.model.with_room(self.places.room)
        return Placed(offer.names, rows, context, who, offer.named), retired

    def _named(self, offer: Offer) -> bool:
        """Whether items have effects of their own: a position in an array does only where every item has a model of its own."""
        return offer.named or self.model.columns.slopes

    def _write(self, side: str, reading: Reading, own: float) -> Matrix:
        """Rows in slots; new slots are made in a copy of the table, so that `undo` can take them back."""
        table: Table = getattr(self, side)
        if table.lacks(reading):
            table = table.copy()
            table.own_slots = own
            rows = table.write(reading)
            setattr(self, side, table)
            return rows
        return table.write(reading)

    def _start(self) -> None:
        """Items that are only names are told apart by their own effects alone."""
        if self.mode in ("interact", "linear") and not self.items.described:
            self.model = self._first_model(slopes=True, separate=True)
        self._started = True

    def _make_columns(self, named: bool) -> None:
        """Columns for slots that are new; own effects from the first named item on."""
        model = self.model
        named = named or model.columns.own_effects
        wide = self.items.width == len(model.items.kind) and self.context.width == len(model.context.kind)
        if wide and model.columns.own_effects == named:
            return
        if model.columns.count(self.items, self.context) > FULL:
            raise TooWide
        columns = model.columns.with_own_effects() if named else model.columns
        self.model = model.grown(columns, self.items, self.context).with_prior()

    # ----------------------------------------------------------------------------------------------------------- undoing

    def keep(self, *, arrays: bool = False) -> Kept:
        """What `undo` needs; with `arrays` it takes back changes that were made, too."""
        seen = self.items.rows_seen, self.context.rows_seen
        copies = [array.copy() for array in self.model.arrays()] if arrays else None
        return Kept(self.model, self.items, self.context, seen, self._started, self.places.mark(), copies)

    def undo(self, kept: Kept | None) -> None:
        """Go back to where `keep` was called."""
        if kept is None:
            return
        self.__dict__.update(model=kept.model, items=kept.items, context=kept.context, _started=kept.started)
        self.items.rows_seen, self.context.rows_seen = kept.rows_seen
        self.places.undo(kept.places)
        if kept.arrays is not None:
            for array, values in zip(self.model.arrays(), kept.arrays, strict=True):
                array[...] = values

    # ---------------------------------------------------------------------------------------------------------- deciding

    def _look(self, placed: Placed, mode: int, given: Sequence[int] = ()) -> tuple[Matrix, Matrix]:
        """Forecasts of an offer that was placed, and the tickets of given items in the duel."""
        n, m = len(placed.names), self.model
        table, told = np.empty((ROWS, n)), np.zeros((len(given), TOLD))
        told[:, ITEM] = given
        m.run(
            self._machine.decide, np.zeros(1), m.engine, placed.rows, placed.context,
            placed.blocks, -1.0, NONE, m.when, 0.0, mode, table, np.empty(n, np.int64), told
        )  # fmt: skip
        return table, told

    @property
    def largest_reward(self) -> float:
        """By the rewards so far."""
        numbers = self.model.state.numbers
        return allowed_size(float(numbers[R0]), max(float(numbers[SQUARES]), 0.0), float(numbers[COUNT]))

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """Forecast reward and its standard deviation, for every item."""
        table, _ = self._look(placed, FORECAST)
        rho = float(self.model.state.numbers[RHO])
        return table[SCORE], (1.0 - rho) * table[SD] + rho * table[STATIC_SD]

    def decision(
        self, draft: Draft, offer: Offer, explore: float, chance: Sequence[float], awaited: Mapping[Any, int]
    ) -> None:
        """Prepare a choice: place by place without replacement, each time with the exact probabilities of what is left."""
        draft.make = self._decide
        draft.placed, draft.retired = self._prepare(draft, offer, awaited)
        draft.explore = explore
        draft.table, draft.told = np.empty((ROWS, len(offer.names))), np.empty((len(chance), TOLD))
        for k, u in enumerate(chance):
            draft.told[k, CHANCE] = u

    def choice(self, draft: Draft) -> Choice:
        """What was drawn, with exact probabilities."""
        placed, table, told = draft.placed, draft.table, draft.told
        drawn = [int(a) for a in told[:, ITEM].tolist()]
        memos = [_memo(placed, a, told[k, VOICE : SHARE + 1]) for k, a in enumerate(drawn)]
        # Copies: hundreds of decisions are kept, and views would keep their whole tables.
        return Choice(drawn, math.prod(told[:, PROPENSITY].tolist()), table[SAVED].copy(), table[SCORE].copy(), memos)

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:
        """Raw features, and the decision's ticket in the duel of the voices; a choice made elsewhere has none."""
        if not chosen or len(self.rates) == 1:
            return _memo(placed, a, NO_TICKET)
        return _memo(placed, a, self._look(placed, GIVEN, [a])[1][0, VOICE : SHARE + 1])

    # ---------------------------------------------------------------------------------------------------------- learning

    def learning(self, draft: Draft, observations: Sequence[Observation], awaited: Mapping[Any, int]) -> None:
        """Prepare the learning of rewards, each with the weight of its own age."""
        draft.make, draft.watched = self._learn, self.misfit.count
        draft.told = told = np.empty((len(observations), OBSERVED))
        for k, (memo, tick, r, w, judge) in enumerate(observations):
            told[k, :BY] = tick, r, w, judge  # in the order of TICK, REWARD, WEIGHT, JUDGED
            told[k, BY:] = memo.seen
        alone = self._placed_alone(observations[0].memo) if len(observations) == 1 else None
        if alone is not None:
            draft.placed, draft.retired = alone, NONE
            self._make_room_for_levels(draft, 1)
            return
        memos = [o.memo for o in observations]
        rows = np.array([_today(memo.row, self.items) for memo in memos])
        context = np.array([_today(memo.context, self.context) for memo in memos])
        draft.kept = self.keep()
        who, draft.retired = self._whose(memos, awaited)
        draft.placed = Placed((), rows, context, who)
        self._make_room_for_levels(draft, len(observations))

    def _placed_alone(self, memo: Memo) -> Placed | None:
        """What was seen of one item; None where it must be looked at more closely."""
        m = self.model
        if len(memo.row) != len(m.items.kind) or len(memo.context) != len(m.context.kind):
            return None
        if memo.named or m.columns.slopes:
            place = self.places.get(memo.item)
            if place < 0 or not m.columns.own_effects:
                return None
            who = np.array((place,), np.int64)
        else:
            who = nobody(1)
        return Placed((), memo.row.reshape(1, -1), memo.context.reshape(1, -1), who)

    def _whose(self, memos: Sequence[Memo], awaited: Mapping[Any, int]) -> tuple[Integers, Integers]:
        """Places of the items that were chosen; one that was dropped since gets one again."""
        if self.model.columns.slopes or all(memo.named for memo in memos):
            self._make_columns(True)
            who, retired = self.places.admit([memo.item for memo in memos], awaited, self.model.when)
            self.model = self.model.with_room(self.places.room)
            return who, retired
        named = [a for a, memo in enumerate(memos) if memo.named]
        who, retired = nobody(len(memos)).copy(), NONE
        if named:
            who[named], retired = self._whose([memos[a] for a in named], awaited)
        return who, retired

    def observing(
        self, draft: Draft, offer: Offer, tick: float, r: float, w: float, awaited: Mapping[Any, int]
    ) -> None:
        """Prepare the learning of a choice made elsewhere."""
        draft.make, draft.watched = self._learn, self.misfit.count
        draft.placed, draft.retired = self._prepare(draft, offer, awaited)
        self._make_room_for_levels(draft, 1)
        draft.told = np.zeros((1, OBSERVED))
        draft.told[0, : BY_SHARE + 1] = tick, r, w, 1.0, -1.0, 1.0

    def make_room_for_levels(self, rows: int) -> None:
        """Room for the cells that so many rewards may need; to be called before compiled code learns them."""
        if self.model.has_levels:
            self.model = self.model.with_room_for_levels(rows)

    def _make_room_for_levels(self, draft: Draft, rows: int) -> None:
        before = self.keep() if self.model.has_levels and draft.kept is None else None
        self.make_room_for_levels(rows)
        if before is not None and before.model is not self.model:
            draft.kept = before

    def observed(self, draft: Draft, r: float, w: float) -> Sequence[Observation]:
        """The one observation of `observing`."""
        if w == 0.0:
            return ()
        if not hasattr(draft, "observation"):
            draft.observation = Observation(_memo(draft.placed, 0, NO_TICKET), draft.told[0, TICK], r, w, True)
        return (draft.observation,)

    def watch(self, draft: Draft, observations: Sequence[Observation]) -> None:
        """Look for columns that are missing, and add them if that is allowed: after the rewards were learned, once."""
        number = draft.watched
        for o in observations:
            if o.judge and o.weight > 0.0:
                number += 1
                if number > self.misfit.count:
                    self.misfit.add(o.memo, o.reward, number)
                if self.misfit.count >= self.misfit.next:
                    self._add_missing()

    def _add_missing(self) -> None:
        model, misfit = self.model, self.misfit.copy()
        found = misfit.look(self.items, self.context, model.columns)
        after: dict[str, Any] = {"misfit": misfit}
        if found is not None and self.mode == "interact" and self._has_room(found):
            columns, items, context = model.columns, self.items, self.context
            if found.derived is None:
                columns, context = columns.with_slopes(), context.copy()
                context.mark()
            else:
                items, context = items.copy(), context.copy()
                (items if found.side == items.side else context).add_derived(found.derived)
            misfit.events = [*misfit.events, f"after {misfit.count} rewards: {found.sentence()}"]
            after |= {
                "model": model.grown(columns, items, context).with_prior(),
                "items": items,
                "context": context,
            }
            LOG.info(misfit.events[-1])
        self.__dict__.update(after)

    def _has_room(self, found: Found) -> bool:
        """Columns are added up to 200, where prior variances are no longer learned."""
        if found.derived is None:
            return self.context.width <= WIDE // 4
        more, items, context = found.derived.width + 1, self.items.width, self.context.width
        other = (
            1
            if len(found.derived.c) or not self.model.columns.products
            else (context if found.side == self.items.side else items)
        )
        return self.model.columns.count(self.items, self.context) + more * other <= WIDE

    def dropping(self, draft: Draft, item: Any) -> None:
        """Prepare to forget an item's own effect."""
        draft.make, draft.item = self._forget, self.places.get(item)

    def dropped(self, item: Any) -> None:
        """Free the item's place."""
        if self.places.get(item) >= 0:
            self.model.when[self.places.get(item)] = math.inf
            self.places.remove(item)

    def _decide(self, draft: Draft) -> None:
        m, placed = self.model, draft.placed
        m.run(
            self._machine.decide, draft.done, m.engine, placed.rows, placed.context,
            placed.blocks, float(draft.tick), draft.retired, m.when, draft.explore, DRAW, draft.table,
            np.empty(len(placed.names), np.int64), draft.told
        )  # fmt: skip

    def _learn(self, draft: Draft) -> None:
        m, placed = self.model, draft.placed
        m.run(
            self._machine.learn, draft.done, m.engine, placed.rows, placed.context,
            placed.blocks, float(draft.tick), draft.retired, m.when, draft.told
        )  # fmt: skip

    def _forget(self, draft: Draft) -> None:
        m = self.model
        if draft.item < 0:  # it has no effect of its own
            draft.done[0] = 1.0
        else:
            m.run(self._machine.forget_item, draft.done, m.engine, draft.item)

    def forget_feature(self, feature: str) -> None:
        """It is missing from now on."""
        items, context = self.items.copy(), self.context.copy()
        items.forget(feature)
        context.forget(feature)
        self.__dict__.update(items=items, context=context)

    # ------------------------------------------------------------------------------------------------------------ looking

    def info(self) -> dict[str, Any]:
        """What the learner tells about itself."""
        state = self.model.state
        use = int(state.numbers[USE])
        return told_of(
            state.rate[: len(self.rates) - (len(self.rates) > 1)],
            use,
            state.trust @ state.mix,
            float(lane(state.n, use)),
            math.sqrt(max(float(noise(state, use)), 0.0)),
            state.numbers,
            static=float(state.numbers[RHO]) if len(self.rates) > 1 else None,
            columns=len(self.model.columns.pairs),
            covariance="full",
            items=len(self.places),
            evicted=self.places.evicted,
            misfit=self.misfit.told(),
            buckets=self.items.buckets,
            collisions=self.items.collisions + self.context.collisions,
        )

    # ------------------------------------------------------------------------------------------------------------- saving

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything, as JSON and arrays."""
        columns, arrays = self.model.pack()
        misfit, kept = self.misfit.pack(self.items, self.context)
        about = {
            "engine": ENGINE,
            "mode": self.mode,
            "items": self.items.to_json(),
            "context": self.context.to_json(),
            **columns,
            "places": self.places.to_json(),
            "started": self._started,
            "misfit": misfit,
        }
        return about, arrays | kept

    @classmethod
    def unpack(cls, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Adaptive":
        """The learner that was packed; raises if arrays do not fit each other."""
        learner = cls(about["mode"], np.array(arrays["rates"], np.float64))
        learner.items = Table.from_json("item", about["items"])
        learner.context = Table.from_json("context", about["context"])
        learner.places = Places.from_json(about["places"], len(arrays["offered"]))
        learner._started = bool(about["started"])
        learner.model = unpacked(about, arrays, learner.items, learner.context)
        learner.misfit = Misfit.unpack(about.get("misfit"), arrays)
        return learner


def _memo(placed: Placed, a: int, told: Vector) -> Memo:
    rows = placed.rows
    row = BARE_ROW if rows.shape[1] == 1 else rows[a].copy()
    return Memo(placed.names[a], row, placed.context[0], told, placed.named)


def _today(row: Vector, table: Table) -> Vector:
    """A row made before some slots existed, with what it holds there.

    Columns for curvature that were added since stay missing, although they could be computed: a reward that was learned without them is
    taken back without them, and sums stay exact.
    """
    return row if len(row) == table.width else np.r_[row, table.missing[len(row) :]]


def in_slots_of_today(rows: Sequence[Vector], table: Table) -> Matrix:
    """Rows made at different times, some before there were all slots, as one matrix."""
    if {*map(len, rows)} == {table.width}:
        return np.concatenate(rows).reshape(len(rows), -1)  # six times as fast as np.array
    return np.array([_today(row, table) for row in rows])
