"""The learner that `Bandit` has by default: the engine of `driftbandits.adaptive` over features and items that come as they come.

Everything that compiled code reads is in one tuple, `Model`, which is replaced as a whole when there are more columns or items: a call that
is interrupted anywhere leaves the model as it was, or the new one.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..adaptive import sums
from ..adaptive.choice import LAW, MEAN, ROWS, SD, STATIC_MEAN, STATIC_SD
from ..adaptive.columns import Layout, Scale, Slots, new_scale
from ..adaptive.duel import ITEMS, SHARED
from ..adaptive.layout import Columns
from ..adaptive.regression import noise
from ..adaptive.sums import NEVER, RHO, SEPARATE, USE, Integers, State, Work
from ..adaptive.tuning import WIDE
from ..core.atomic import wholly
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue
from .features import BUCKETS, Table
from .items import Places
from .learner import Choice, Memo, Offer, Placed, Refuted
from .machine import machine
from .memories import NOBODY, Memories, told_of
from .misfit import Found, Misfit
from .vectors import Row

LOG = logging.getLogger("driftbandits")
FULL = 500  # columns up to which the covariance is full


class TooWide(Exception):
    """More columns than a full covariance is kept for: time for `diagonal`. `Bandit` never lets it out."""


class Model(NamedTuple):
    """All that compiled code reads, of shapes that fit each other."""

    columns: Columns
    state: State
    layout: Layout
    items: Scale
    context: Scale
    slots: Slots
    work: Work


class Adaptive(Memories):
    """Memories of several lengths, two voices, own effects of named items."""

    def __init__(
        self, mode: str, rates: Sequence[float] | Vector | None = None, buckets: int = BUCKETS, max_items: int = 4096
    ) -> None:
        self.mode = mode
        self._machine = machine()
        self.rates = np.array(sums.default_rates() if rates is None else rates, np.float64)
        self.items, self.context = Table("item", buckets), Table("context", buckets)
        self.places = Places(max_items)
        self._started = False
        self._ones = np.ones(16, np.int64)
        self.misfit = Misfit()
        self.model = self._first_model(slopes=mode in ("disjoint", "hybrid"), separate=mode == "disjoint")

    def _first_model(self, *, slopes: bool, separate: bool) -> Model:
        columns = Columns(products=self.mode in ("interact", "hybrid", "linear"), slopes=slopes)
        state = sums.new_state(self.rates, 0, 0, 0)
        state.numbers[SEPARATE] = float(separate)
        state.numbers[sums.ODDS] = ITEMS if separate else SHARED
        return self._grown(columns, state, None, None)

    # ---------------------------------------------------------------------------------------------------------- reading

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row) -> Offer:
        """Check what is on offer; raise, or change nothing."""
        if len(names) > self.places.limit:
            raise InvalidValue(
                f"{len(names)} items are on offer; it must be ≤ {self.places.limit}, max_items: each has a model of its own"
            )
        return super().read(names, rows, context)

    def place(self, offer: Offer, tick: int, *, learn: bool = True, awaited: Mapping[Any, int] = NOBODY) -> Placed:
        """Count what is on offer, and make room for what is new."""
        rows = self.items.write(offer.items, learn=learn)
        context = self.context.write(offer.context, learn=learn)
        if not learn:
            self._see(rows, context, tick, counted=False)
            return Placed(offer.names, rows, context, self.places.known(offer.names))
        if not self._started:
            self._start()
        self._make_columns()
        who = self.places.offered(offer.names, tick, awaited, self._make_room, self._retire)
        self._see(rows, context, tick, counted=True)
        return Placed(offer.names, rows, context, who)

    def _see(self, rows: Matrix, context: Matrix, tick: int, *, counted: bool) -> None:
        m = self.model
        changed = (*m.items, *m.context, m.state.numbers)
        wholly(self._machine.see, changed, m.state, m.items, rows, m.context, context, float(tick), counted)

    def _start(self) -> None:
        """Items that are only names are told apart by their own effects alone."""
        if self.mode in ("interact", "linear") and not self.items.described:
            self.model = self._first_model(slopes=True, separate=True)
        self._started = True

    def _make_columns(self) -> None:
        """Columns for slots that are new."""
        model = self.model
        if self.items.width == len(model.items.kind) and self.context.width == len(model.context.kind):
            return
        if model.columns.count(self.items, self.context) > FULL:
            raise TooWide
        self._move_prior(self._grown(model.columns, model.state, model.items, model.context))

    def _grown(self, columns: Columns, state: State, items: Scale | None, context: Scale | None) -> Model:
        """The model over the slots of today; its estimates are to be renewed."""
        columns, shared, own = columns.extended(self.items, self.context)
        scales = _scale_of(self.items, items), _scale_of(self.context, context)
        state = sums.grown(state, shared, own)
        return self._model(columns, state, *scales)

    def _model(self, columns: Columns, state: State, items: Scale, context: Scale) -> Model:
        work = sums.new_work(len(self.rates), len(columns.pairs), len(columns.own))
        sums.check(state, work)
        slots = Slots(np.zeros(self.items.width), np.zeros(self.context.width))
        return Model(columns, state, columns.layout(self.items, self.context), items, context, slots, work)

    def _make_room(self, items: int) -> None:
        """Own sums for so many items."""
        if items > len(self.model.state.last):
            self.model = self.model._replace(state=sums.with_items(self.model.state, items))

    def _retire(self, place: int) -> None:
        wholly(self._machine.forget_item, self.model.state, self.model.state, place, self.model.work)

    def _move_prior(self, m: Model) -> None:
        """Take a model, with the prior for the scales of today and all estimates from its sums."""
        args = m.state, m.layout, m.items, m.context, m.work
        wholly(self._machine.move_prior, (*m.state, *m.items, *m.context), *args)
        self.model = m

    # ---------------------------------------------------------------------------------------------------------- deciding

    def _look(self, placed: Placed, explore: float, u: float, given: int) -> tuple[Matrix, int, Vector]:
        """The table of `choice`, the item drawn with u or given, and its ticket in the duel."""
        n, m = len(placed.names), self.model
        table, told = np.empty((ROWS, n)), np.empty(2)
        if n > len(self._ones):
            self._ones = np.ones(2 * n, np.int64)
        self._fits(placed.rows, placed.context, placed.blocks)
        a = self._machine.decide(
            m.state, m.layout, m.items, placed.rows, m.context, placed.context, placed.blocks, explore, u, given, table,
            self._ones[:n], told, m.slots, m.work,
        )  # fmt: skip
        return table, a, told

    def _fits(self, rows: Matrix, context: Matrix, who: Integers) -> None:
        """Compiled code checks no bounds."""
        m = self.model
        widths = rows.shape[1] == len(m.items.kind) and context.shape[1] == len(m.context.kind)
        if not widths or len(rows) != len(who) or who.max() >= len(m.state.last):
            raise InvalidShape("an offer does not fit the model: a call was interrupted; decide again")

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """Forecast reward and its standard deviation, for every item."""
        table, _, _ = self._look(placed, 0.0, 0.0, -2)
        return self._mixed(table, MEAN, STATIC_MEAN), self._mixed(table, SD, STATIC_SD)

    def _mixed(self, table: Matrix, adaptive: int, static: int) -> Vector:
        """What the two voices say, weighted by how likely each decides."""
        rho = float(self.model.state.numbers[RHO])
        mixed: Vector = (1.0 - rho) * table[adaptive] + rho * table[static]
        return mixed

    def choose(self, placed: Placed, explore: float, chance: Sequence[float]) -> Choice:
        """Draw place by place without replacement, each time with the exact probabilities of what is left."""
        table, a, told = self._look(placed, explore, chance[0], -1)
        scores = self._mixed(table, MEAN, STATIC_MEAN)
        if len(chance) == 1:
            return Choice([a], float(table[LAW, a]), table[LAW], scores, [_memo(placed, a, told)])
        first, propensity = table[LAW].copy(), float(table[LAW, a])
        drawn, left = [a], np.ones(len(placed.names), np.int64)
        for u in chance[1:]:
            left[a] = 0
            a = self._machine.draw(table, left, float(self.model.state.numbers[RHO]), explore, u)
            drawn.append(a)
            propensity *= float(table[LAW, a])
        return Choice(drawn, propensity, first, scores, [self.memo(placed, a) for a in drawn])

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:
        """Raw features, and the decision's ticket in the duel of the voices; a choice made elsewhere has none."""
        if not chosen or len(self.rates) == 1:
            return _memo(placed, a, np.array([-1.0, 1.0]))
        return _memo(placed, a, self._look(placed, 0.0, 0.0, a)[2])

    # ---------------------------------------------------------------------------------------------------------- learning

    def learn(
        self, memo: Memo, tick: float, r: float, w: float, *, judge: bool = True, awaited: Mapping[Any, int] = NOBODY
    ) -> Refuted | None:
        """Learn a reward with the weight of its own age."""
        self._make_columns()
        row, context = _today(memo.row, self.items), _today(memo.context, self.context)
        i = self.places.get(memo.item)
        if i < 0:
            i = int(self.places.offered([memo.item], tick, awaited, self._make_room, self._retire)[0])
        m = self.model
        self._fits(row[None], context[None], np.array([i]))
        args = m.state, m.layout, m.items, row, m.context, context, i, tick, r, w, judge, memo.seen, m.slots, m.work
        refuted = wholly(self._machine.learn, (*m.state, *m.items, *m.context), *args)
        event = Refuted(*m.state.event.tolist()) if refuted else None
        if judge and w > 0.0:
            self._watch(memo, r)
        return event

    def _watch(self, memo: Memo, r: float) -> None:
        """Look for columns that are missing, and add them if that is allowed."""
        self.misfit.add(memo, r)
        if not self.misfit.due:
            return
        model = self.model
        found = self.misfit.look(self.items, self.context, model.columns)
        if found is None or self.mode != "interact" or not self._has_room(found):
            return
        columns = model.columns
        if found.derived is None:
            columns = columns.with_slopes()
        else:
            (self.items if found.side == self.items.side else self.context).add_derived(found.derived)
        self._move_prior(self._grown(columns, model.state, model.items, model.context))
        self.misfit.events.append(f"after {self.misfit.count} rewards: {found.sentence()}")
        LOG.info(self.misfit.events[-1])

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

    def drop(self, item: Any) -> None:
        """Forget an item's own effect."""
        self.places.drop(item, self._retire)
        self._machine.renew_all(self.model.state, self.model.work)

    # ------------------------------------------------------------------------------------------------------------ looking

    def info(self) -> dict[str, Any]:
        """What the learner tells about itself."""
        state = self.model.state
        use = int(state.numbers[USE])
        return told_of(
            state.rate[: len(self.rates) - (len(self.rates) > 1)],
            use,
            state.trust @ state.mix,
            float(state.n[use]),
            math.sqrt(max(float(noise(state, use)), 0.0)),
            state.numbers,
            static=float(state.numbers[RHO]) if len(self.rates) > 1 else None,
            columns=len(self.model.layout.item),
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
        m = self.model
        about = {
            "engine": 2,
            "mode": self.mode,
            "items": self.items.to_json(),
            "context": self.context.to_json(),
            "products": m.columns.products,
            "slopes": m.columns.slopes,
            "pairs": [list(pair) for pair in m.columns.pairs],
            "own": list(m.columns.own),
            "places": self.places.to_json(),
            "started": self._started,
        }
        arrays = {f"state.{name}": value for name, value in m.state._asdict().items() if value.size}
        for side, scale in (("items", m.items), ("context", m.context)):
            arrays |= {f"{side}.{name}": value for name, value in scale._asdict().items() if name != "group"}
        about["misfit"], kept = self.misfit.pack(self.items, self.context)
        return about, arrays | {"offered": self.places.when, "rates": self.rates} | kept

    @classmethod
    def unpack(cls, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Adaptive":
        """The learner that was packed; raises if arrays do not fit each other."""
        learner = cls(about["mode"], np.array(arrays["rates"], np.float64))
        learner.items = Table.from_json("item", about["items"])
        learner.context = Table.from_json("context", about["context"])
        columns = Columns(products=bool(about["products"]), slopes=bool(about["slopes"]))
        columns.pairs = tuple((int(i), int(c)) for i, c in about["pairs"])
        columns.own = tuple(int(c) for c in about["own"])
        if columns.extended(learner.items, learner.context)[0].pairs != columns.pairs:
            raise InvalidValue("its columns are not those of its features")
        learner.places = Places.from_json(about["places"], np.array(arrays["offered"], np.float64))
        learner._started = bool(about["started"])
        N = len(arrays["state.last"]) if "state.last" in arrays else 0
        like = sums.new_state(learner.rates, N, len(columns.pairs), len(columns.own))
        fields = like._asdict().items()
        state = State(*(same(f"state.{n}", v, arrays) if v.size else v for n, v in fields))
        scales = [
            Scale(
                *(same(f"{side}.{n}", v, arrays) if n != "group" else v for n, v in _scale_of(table)._asdict().items())
            )
            for side, table in (("items", learner.items), ("context", learner.context))
        ]
        learner.model = learner._model(columns, state, *scales)
        learner.misfit = Misfit.unpack(about.get("misfit"), arrays)
        return learner


def same(name: str, like: Any, arrays: Mapping[str, Any]) -> Any:
    """An array of the shape and type it must have, of finite numbers: compiled code checks no bounds."""
    found = np.array(arrays[name], order="C")
    if found.shape != like.shape or found.dtype != like.dtype:
        raise InvalidValue(f"{name} is {found.dtype} {found.shape}; it must be {like.dtype} {like.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise InvalidValue(f"{name} has a number that is not finite")
    return found


def _scale_of(table: Table, old: Scale | None = None) -> Scale:
    """Statistics of a table's slots; those of the slots that `old` has are kept."""
    return new_scale(table.kinds, table.groups, old)


def _memo(placed: Placed, a: int, told: Vector) -> Memo:
    return Memo(placed.names[a], placed.rows[a].copy(), placed.context[0], told)


def _today(row: Vector, table: Table) -> Vector:
    """A row made before some slots existed, with what it holds there; columns for curvature are filled in."""
    if len(row) == table.width:
        return row
    made: Vector = np.r_[row, table.missing[len(row) :]]
    table.derive(made[None])
    return made


__all__ = ["NEVER", "Adaptive", "TooWide", "same"]
