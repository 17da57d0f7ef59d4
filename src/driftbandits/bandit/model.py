"""What the default learner knows: sums of rewards, statistics of features, and how features become columns.

Everything that compiled code reads is in one tuple, `Model`. It is replaced as a whole when there are more columns or items, so that a call
that is interrupted anywhere leaves the old model or the new one. Every function here returns a new model; only `run` changes the arrays of
an existing one, by one compiled call.
"""

import math
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType
from typing import Any, NamedTuple

import numpy as np

from ..adaptive import sums
from ..adaptive.columns import MARK, Layout, Scale, Slots, new_scale
from ..adaptive.duel import ITEMS, SHARED
from ..adaptive.engine import Engine
from ..adaptive.layout import Columns
from ..adaptive.levels import Cells, Levels, aligned_cells, new_cells, new_found, packed, with_room
from ..adaptive.levels import unpacked as unpacked_cells
from ..adaptive.soundness import check_scale, check_sums
from ..adaptive.sums import ODDS, SEPARATE, State
from ..core.linalg import Vector
from ..errors import InvalidShape, InvalidValue
from .features import Table
from .items import nobody
from .learner import UNREFRESHED
from .machine import machine

TORN = "arrays of the model do not fit each other, or the offer does not fit them: please report how it came to this"
FULL = 500  # columns up to which the covariance is full


class Budget:
    """Bytes that the sums of one model may grow to in this process. A service sets it: its callers choose items and features."""

    most: float = math.inf

    @classmethod
    def check(cls, memories: int, items: int, p: int, k: int) -> None:
        """Refuse a model that is too large, before anything of its size is made."""
        needed = sums.size_of(memories, items, p, k)
        if needed > cls.most:
            raise InvalidValue(
                f"a model of {p} columns with {k} of their own for each of {items} items needs {needed / 2**20:.0f} MiB; at most "
                f"{cls.most / 2**20:.0f} are allowed here: offer fewer items, or give fewer features of the context"
            )


class Model(NamedTuple):
    """All that compiled code reads, of shapes that fit each other."""

    columns: Columns
    engine: Engine
    when: Vector  # (N,)  the decision in which each place's item was last on offer; ∞ for a free place

    @classmethod
    def of(
        cls, columns: Columns, state: State, items: Scale, context: Scale, when: Vector, layout: Layout, cells: Cells
    ) -> "Model":
        """A model of these parts, with room to compute in; raises if the parts do not fit each other."""
        M = len(state.rate)
        work = sums.new_work(M, len(columns.pairs), len(columns.own))
        sums.check(state, work)
        slots = Slots(np.zeros(len(items.kind)), np.zeros(len(context.kind)))
        levels = Levels(np.flatnonzero(items.kind == MARK), np.flatnonzero(context.kind == MARK))
        if len(levels.item) + len(levels.context) and not len(cells.level):
            cells = with_room(cells, 1)
        found, cells = new_found(levels, M), aligned_cells(cells)
        return cls(columns, Engine(sums.placed(state), layout, items, context, slots, work, levels, cells, found), when)

    @property
    def state(self) -> State:
        """What was learned."""
        return self.engine.state

    @property
    def cells(self) -> Cells:
        """What was learned of levels of categories that have many."""
        return self.engine.cells

    @property
    def items(self) -> Scale:
        """Statistics of the features of items."""
        return self.engine.items

    @property
    def context(self) -> Scale:
        """Statistics of the features of the context."""
        return self.engine.context

    def arrays(self) -> list[Any]:
        """Everything that a compiled change writes to, but for its workspace."""
        return [*self.state, *self.items, *self.context, *self.cells, self.when]

    def grown(self, columns: Columns, items: Table, context: Table) -> "Model":
        """The model over the slots of these tables, which have what the model has, and more; its estimates are to be renewed."""
        columns, shared, own = columns.extended(items, context)
        Budget.check(len(self.state.rate), len(self.when), len(shared), len(own))
        scales = scale_of(items, self.items), scale_of(context, self.context)
        state = sums.grown(self.state, shared, own)
        return Model.of(columns, state, *scales, self.when, columns.layout(items, context), self.cells)

    def with_room_for_levels(self, rows: int) -> "Model":
        """The model with room for the cells that so many rewards may need; the same object where there is enough."""
        levels, cells = self.engine.levels, self.cells
        roomy = with_room(cells, rows * (len(levels.item) + len(levels.context)))
        return self if roomy is cells else self._replace(engine=self.engine._replace(cells=aligned_cells(roomy)))

    @property
    def has_levels(self) -> bool:
        """Whether any category has levels without columns."""
        return len(self.engine.found.place) > 0

    def with_room(self, places: int) -> "Model":
        """The model with own sums for so many items, or for those that it has, if they are more."""
        more = places - len(self.when)
        if more <= 0:
            return self
        Budget.check(len(self.state.rate), places, len(self.columns.pairs), len(self.columns.own))
        when = np.r_[self.when, np.full(more, math.inf)]
        return self._replace(engine=self.engine._replace(state=sums.with_items(self.state, places)), when=when)

    def with_prior(self) -> "Model":
        """The prior for the scales of today, and all estimates from the sums; to be called before the model is shared."""
        rows, context = np.zeros((1, len(self.items.kind))), np.zeros((1, len(self.context.kind)))
        if not machine().move_prior(self.engine, rows, context, nobody(1)):
            raise InvalidShape(TORN)
        return self

    def run(self, step: Callable[..., bool], done: Vector, *args: Any) -> None:
        """One compiled change of the arrays.

        Machine code cannot be interrupted. While the code is still being compiled, Python runs it, which can: then the arrays are copied
        first, and what Python began and did not finish is taken back.
        """
        if type(step) is BuiltinFunctionType:
            fits = step(*args, done)
        else:
            kept = self.arrays()
            before = [array.copy() for array in kept]
            try:
                fits = step(*args, done)
            except BaseException:
                if not done[0]:
                    for array, values in zip(kept, before, strict=True):
                        array[...] = values
                raise
        if not fits:
            raise InvalidShape(TORN)

    # ------------------------------------------------------------------------------------------------------------- saving

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns as JSON; sums, statistics and times as arrays."""
        columns = self.columns
        about = {
            "products": columns.products,
            "slopes": columns.slopes,
            "pairs": [list(pair) for pair in columns.pairs],
            "own": list(columns.own),
            "own_effects": columns.own_effects,
        }
        arrays = {f"state.{name}": value for name, value in self.state._asdict().items() if value.size}
        for side, scale in (("items", self.items), ("context", self.context)):
            arrays |= {f"{side}.{name}": value for name, value in scale._asdict().items() if name != "group"}
        if self.has_levels:
            arrays |= {f"cells.{name}": value for name, value in packed(self.cells)._asdict().items()}
        return about, arrays | {"offered": self.when, "rates": self.state.rate}


def first_model(columns: Columns, rates: Vector, items: Table, context: Table, *, separate: bool) -> Model:
    """A model that has learned nothing; `separate`: items are told apart by their own effects alone."""
    columns, shared, own = columns.extended(items, context)
    state = sums.grown(sums.new_state(rates, 0, 0, 0), shared, own)
    state.numbers[[SEPARATE, ODDS]] = float(separate), ITEMS if separate else SHARED
    scales = scale_of(items), scale_of(context)
    return Model.of(columns, state, *scales, np.zeros(0), columns.layout(items, context), new_cells(len(rates)))


def unpacked(about: Mapping[str, Any], arrays: Mapping[str, Any], items: Table, context: Table) -> Model:
    """The model that was packed, over these tables; raises if its arrays do not fit each other, or cannot be sums of rewards."""
    columns = _columns(about, items, context)
    when = np.array(arrays["offered"], np.float64)
    N = len(arrays["state.last"]) if "state.last" in arrays else 0
    if len(when) != N or np.isnan(when).any():
        raise InvalidValue("the times at which its items were on offer are not those of its items")
    like = sums.new_state(np.array(arrays["rates"], np.float64), N, len(columns.pairs), len(columns.own))
    state = State(*(same(f"state.{n}", v, arrays) if v.size else v for n, v in like._asdict().items()))
    scales = _scale("items", items, arrays), _scale("context", context, arrays)
    cells = _cells(arrays, len(like.rate), N)
    model = Model.of(columns, state, *scales, when, columns.layout(items, context), cells)
    if about["engine"] == UNREFRESHED:
        model = model.with_prior()
    check_sums(model.state)
    check_scale("items", model.items)
    check_scale("context", model.context)
    return model


def _cells(arrays: Mapping[str, Any], M: int, N: int) -> Cells:
    """The cells that were packed; none in a file of a bandit without categories of many levels."""
    if "cells.level" not in arrays:
        return new_cells(M)
    like = new_cells(M, np.shape(arrays["cells.level"])[0] if np.ndim(arrays["cells.level"]) == 1 else 0)
    cells = unpacked_cells(Cells(*(same(f"cells.{name}", value, arrays) for name, value in like._asdict().items())))
    if (cells.item >= N).any():
        raise InvalidValue("a cell is of an item that the model does not have; was the file changed?")
    return cells


def _scale(side: str, table: Table, arrays: Mapping[str, Any]) -> Scale:
    """The statistics of a side that were packed; the groups of slots are those of the table."""
    like = scale_of(table)._asdict().items()
    return Scale(*(value if name == "group" else same(f"{side}.{name}", value, arrays) for name, value in like))


def _columns(about: Mapping[str, Any], items: Table, context: Table) -> Columns:
    """The columns that were packed; they must be those that the features of the tables have."""
    columns = Columns(
        products=bool(about["products"]), slopes=bool(about["slopes"]), own_effects=bool(about["own_effects"])
    )
    if columns.count(items, context) > FULL:  # before anything is made of their number squared
        raise InvalidValue(f"it has more than {FULL} columns; a full covariance is kept for at most so many")
    columns.pairs = tuple((int(i), int(c)) for i, c in about["pairs"])
    columns.own = tuple(int(c) for c in about["own"])
    again = columns.extended(items, context)[0]
    if (again.pairs, again.own) != (columns.pairs, columns.own):
        raise InvalidValue("its columns are not those of its features")
    return columns


def same(name: str, like: Any, arrays: Mapping[str, Any]) -> Any:
    """An array of the shape and type it must have, of finite numbers: compiled code checks no bounds."""
    found = np.array(arrays[name], order="C")
    if found.shape != like.shape or found.dtype != like.dtype:
        raise InvalidValue(f"{name} is {found.dtype} {found.shape}; it must be {like.dtype} {like.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise InvalidValue(f"{name} has a number that is not finite")
    return found


def scale_of(table: Table, old: Scale | None = None) -> Scale:
    """Statistics of a table's slots; those of the slots that `old` has are kept."""
    return new_scale(table.kinds, table.groups, old)
