"""The learner for more than 500 columns: hashed, sparse, one variance per column.

A column is a bucket of the hash of a feature, a category, or a product of two; the model knows each column's mean and variance and takes
columns as independent (a Kalman filter with diagonal covariance), in the order in which rewards arrive:

    e = r − f ,  S = 1/w + Σ_j v_j x_j² ,  θ_j += v_j x_j e/S ,  v_j −= (v_j x_j)²/S ,  v_j ← min(v₀, v_j e^{rate·Δ}) ,

Δ the time since j was last touched.

Numbers are divided by their root mean square and not centred, since a missing one is 0. Memories are judged as in `judging`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from . import sparse
from .adaptive import Adaptive
from .coordinates import Integers
from .features import NUMBER, PRESENT, Reading, Table, mark
from .learner import Memo, Offer, Placed, Refuted
from .memories import Memories, same, same_bank
from .sums import COUNT, LAM, NEVER, PRIOR, SUM, Bank, new_bank

NAME = "\0name"  # the item itself, as a category
REMEMBERED = 1 << 16  # hashes kept at hand


class Diagonal(Memories):
    """One mean and one variance per bucket, for each memory."""

    def __init__(self, mode: str, rates: Sequence[float] | Vector, buckets: int) -> None:
        self.mode = mode  # with products or without; "named" ones tell items apart by their names
        self.rates = np.array(rates, np.float64)
        self.items, self.context = Table("item", buckets), Table("context", buckets)
        self.bank: Bank = new_bank(self.rates, 1, 0)
        self.bank.misc[LAM] = 0.0  # the prior precision, set at the first decision
        self.mean = np.zeros((len(self.rates), buckets))
        self.ratio = np.ones((len(self.rates), buckets))  # v_j/v₀
        self.last = np.full(buckets, NEVER)
        self._compiled: tuple[Any, Any] | None = None
        self._known: dict[str, dict[Any, int]] = {"item": {}, "context": {}}  # buckets already computed
        self.squares = np.zeros(
            (2, buckets)
        )  # how many values of a number have been on offer, and the sum of their squares

    @classmethod
    def of(cls, old: Adaptive) -> "Diagonal":
        """A learner that has become too wide, with what it knew of each column."""
        new = cls(_mode(old), old.rates, old.items.buckets)
        for name in ("numbers", "strings"):
            getattr(new.items, name).update(getattr(old.items, name))
            getattr(new.context, name).update(getattr(old.context, name))
        new.bank.misc[:] = old.bank.misc
        new.bank.weight[:] = old.bank.weight
        new.bank.misc[LAM] = PRIOR * max(1.0, float(old.columns.width) ** 0.5)
        own, who = new._buckets(old.items), new._buckets(old.context)
        for side, table, places in ((0, old.items, own), (1, old.context, who)):
            scale = old.scales[side]
            for slot in (s for s in table.numbers.values() if s < len(scale.seen)):
                new.squares[:, places[slot]] = (
                    scale.seen[slot],
                    scale.M2[slot] + scale.seen[slot] * scale.mean[slot] ** 2,
                )
        if old.shape.shared[0] == 1.0:
            new._inherit(old, own, who)
        return new

    def _inherit(self, old: Adaptive, own: Integers, who: Integers) -> None:
        """Slopes of the pool, in the new units."""
        away = old.bank.misc[SUM] / max(old.bank.misc[COUNT], 1.0)
        unit = [
            _units(self, table, scale, places)
            for table, scale, places in zip((old.items, old.context), old.scales, (own, who), strict=True)
        ]
        for column, (i, c) in enumerate(zip(old.columns.item.tolist(), old.columns.context.tolist(), strict=True)):
            place = int(
                own[i] if c == 0 else who[c] if i == 0 else sparse.product(int(own[i]), int(who[c]), self.mean.shape[1])
            )
            if (i or c) and place >= 0:
                theta = old.bank.theta[:, 0, 0, column] - away * old.bank.theta[:, 0, 1, column]
                self.mean[:, place] = theta * unit[0][i] * unit[1][c]

    def _buckets(self, table: Table) -> Integers:
        """The bucket of each slot of a dense table; −1 where there is none."""
        places = np.full(table.width, -1, np.int64)
        for name, slot in table.numbers.items():
            places[slot] = self._bucket(table.side, name, None)
        for bucket, slot in table.bucket_slots.items():
            places[slot] = bucket
        return places

    def _bucket(self, side: str, name: str, value: str | None) -> int:
        key = name if value is None else (name, value)
        known = self._known[side]
        if key not in known:
            if len(known) >= REMEMBERED:
                known.clear()
            known[key] = mark(side, (name,) if value is None else (name, value)) % self.mean.shape[1]
        return known[key]

    def convert(self, memo: Memo, old: Adaptive) -> Memo:
        """A decision that waited for its reward when the learner became too wide."""
        row = _sparse_row(memo.row, old.items, self._buckets(old.items))
        context = _sparse_row(memo.context, old.context, self._buckets(old.context))
        return Memo(memo.item, row, context, memo.seen)

    # ---------------------------------------------------------------------------------------------------------- reading

    def place(self, offer: Offer, tick: int, *, learn: bool = True) -> Placed:  # noqa: ARG002
        """Rows (n, 1 + 2·most) of a count, buckets and values; numbers in units of their root mean square."""
        named = [str(name) for name in offer.names] if self.mode.startswith("named") else None
        items = self._rows(self.items, offer.items, named, learn)
        context = self._rows(self.context, offer.context, None, learn)
        if learn and self.bank.misc[LAM] == 0.0:
            self.bank.misc[LAM] = PRIOR * max(1.0, float(items[:, 0].mean() * (1.0 + context[0, 0])))
        return Placed(offer.names, items, context, np.zeros(len(offer.names), np.int64))

    def _rows(self, table: Table, reading: Reading, named: list[str] | None, learn: bool) -> Matrix:
        read = reading.rows
        if reading.values is not None:
            read = [(dict(zip(reading.names, row, strict=True)), []) for row in reading.values.tolist()]
        rows, many, known = [], len(read), self._known[table.side]
        for a, (numbers, strings) in enumerate(read):
            places = [known[name] if name in known else self._bucket(table.side, name, None) for name in numbers]
            tokens = [*strings, (NAME, named[a])] if named is not None else strings
            rows.append((places, [*numbers.values()], [self._bucket(table.side, *token) for token in tokens]))
            if learn:
                self._meet(table, numbers, tokens)
        if learn:
            self._square([place for row in rows for place in row[0]], [value for row in rows for value in row[1]])
        most = max(len(places) + len(tokens) for places, _, tokens in rows)
        out = np.zeros((many, 1 + 2 * most))
        for row, (places, values, buckets) in zip(out, rows, strict=True):
            n = len(places) + len(buckets)
            row[0] = n
            row[1 : 1 + n] = places + buckets
            row[1 + most : 1 + most + n] = values + [1.0] * len(buckets)
        self._scale(out, rows, most)
        return out

    def _meet(self, table: Table, numbers: dict[str, float], tokens: Sequence[tuple[str, str]]) -> None:
        """Remember kinds of features, and which category came to a bucket first."""
        if len(table.numbers) < 4 * REMEMBERED:
            table.numbers.update(dict.fromkeys(numbers, 0))
        for token in tokens:
            table.strings[token[0]] = None
            if token not in table._tokens:
                found = mark(table.side, token)
                first = table.first_hash.setdefault(found % self.mean.shape[1], found)
                if first not in (-1, found):
                    table.collisions += 1
                    table.first_hash[found % self.mean.shape[1]] = -1
                if len(table._tokens) >= REMEMBERED:
                    table._tokens.clear()
                table._tokens[token] = 0

    def _square(self, places: list[int], values: list[float]) -> None:
        if places:
            np.add.at(self.squares[0], places, 1.0)
            np.add.at(self.squares[1], places, np.square(values))

    def _scale(self, out: Matrix, rows: list[Any], most: int) -> None:
        """Numbers in units of their root mean square, cut at ± 6."""
        for row, (places, _, _) in zip(out, rows, strict=True):
            if places:
                n, total = self.squares[0, places], self.squares[1, places]
                scale = np.sqrt(total / np.maximum(n, 1.0))
                values = row[1 + most : 1 + most + len(places)]
                values[:] = np.clip(values / np.where(scale > 0.0, scale, np.inf), -6.0, 6.0)

    # ------------------------------------------------------------------------------------------------ deciding, learning

    def _room(self, row: Vector, context: Vector) -> tuple[Integers, Vector]:
        many = (1 + len(row) // 2) * (1 + len(context) // 2) + 1
        return np.empty(many, np.int64), np.empty(many)

    def _code(self) -> tuple[Any, Any]:
        """The machine code for this learner's arrays."""
        if self._compiled is None:
            model, rows, one, cols = (
                sparse.Model(self.mean, self.ratio, self.last),
                np.zeros((1, 1)),
                np.zeros(1),
                np.zeros(1, np.int64),
            )
            decide = sparse.decide.direct(self.bank, model, rows, one, True, 0.0, 0.0, 0, rows, cols, one, cols, one)
            learn = sparse.learn.direct(self.bank, model, one, one, True, 0.0, 0.0, 0.0, one, cols, one)
            self._compiled = decide, learn
        return self._compiled

    def _look(self, placed: Placed, explore: float, u: float, given: int) -> tuple[Matrix, int, Vector]:
        n = len(placed.names)
        table, seen = np.empty((5, n)), np.empty(1 + 2 * len(self.rates))
        cols, vals = self._room(placed.rows[0], placed.context[0])
        a = self._code()[0](
            self.bank,
            sparse.Model(self.mean, self.ratio, self.last),
            placed.rows,
            placed.context[0],
            self.mode.endswith("products"),
            explore,
            u,
            given,
            table,
            np.ones(n, np.int64),
            seen,
            cols,
            vals,
        )
        return table, a, seen

    def accepts(
        self,
        memos: Sequence[Memo | None],  # noqa: ARG002
        rewards: Sequence[float],  # noqa: ARG002
        w: float,  # noqa: ARG002
        *,
        again: bool = False,
        late: bool = False,  # noqa: ARG002
    ) -> None:
        """Late and weighted rewards are learned; nothing can be taken back."""
        if again:
            raise InvalidValue(
                "on_repeat='replace' is not possible with a diagonal covariance: what was learned cannot be taken back"
            )

    def learn(self, memo: Memo, tick: float, r: float, w: float, *, judge: bool = True) -> Refuted | None:
        """Learn a reward, when it arrives; a late one counts for less by its age."""
        cols, vals = self._room(memo.row, memo.context)
        before = self.bank.cut.copy()
        refuted = self._code()[1](
            self.bank,
            sparse.Model(self.mean, self.ratio, self.last),
            memo.row,
            memo.context,
            self.mode.endswith("products"),
            tick,
            r,
            w,
            memo.seen if judge else memo.seen[:0],
            cols,
            vals,
        )
        for j in np.flatnonzero(self.bank.cut != before):
            lead = int(np.argmax(self.bank.weight))
            self.mean[j], self.ratio[j], self.bank.sums[j] = self.mean[lead], self.ratio[lead], self.bank.sums[lead]
        return Refuted(*self.bank.event.tolist()) if refuted else None

    def drop(self, item: Any) -> None:
        """Forget what is known of an item by its name."""
        self.mean[:, self._bucket("item", NAME, str(item))] = 0.0
        self.ratio[:, self._bucket("item", NAME, str(item))] = 1.0

    # ------------------------------------------------------------------------------------------------------------ looking

    def info(self) -> dict[str, Any]:
        """What the learner tells about itself."""
        return self._told(
            float(self.bank.sums[self.use, 0, 0]),
            columns=int((self.last > NEVER).sum()),
            covariance="diagonal",
            items=None,
            evicted=0,
            buckets=self.mean.shape[1],
        )

    def _noise(self) -> float:
        return float(sparse.noise(self.bank))

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything, as JSON and arrays."""
        about = {"diagonal": self.mode, "items": _names(self.items), "context": _names(self.context)}
        arrays = {f"trial.{name}": value for name, value in self.bank._asdict().items() if value.size}
        rest = {"mean": self.mean, "ratio": self.ratio, "last": self.last, "squares": self.squares, "rates": self.rates}
        return about, arrays | rest

    @classmethod
    def unpack(cls, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Diagonal":
        """The learner that was packed."""
        new = cls(about["diagonal"], np.array(arrays["rates"], np.float64), len(arrays["last"]))
        for table, saved in ((new.items, about["items"]), (new.context, about["context"])):
            table.numbers = dict.fromkeys(saved["numbers"], 0)
            table.strings = dict.fromkeys(saved["strings"])
            table.first_hash = {int(b): int(h) for b, h in saved["first_hash"]}
            table.collisions = int(saved["collisions"])
        new.bank = same_bank("trial.", new.bank, arrays)
        for name in ("mean", "ratio", "last", "squares"):
            setattr(new, name, same(name, getattr(new, name), arrays))
        return new


def _names(table: Table) -> dict[str, Any]:
    marks = [[b, h] for b, h in table.first_hash.items()]
    return {
        "numbers": [*table.numbers],
        "strings": [*table.strings],
        "first_hash": marks,
        "collisions": table.collisions,
    }


def _mode(old: Adaptive) -> str:
    named = "named" if old.shape.single[0] == 1.0 else "shared"
    return f"{named} products" if named == "named" or old.columns.products else f"{named} sums"


def _units(new: Diagonal, table: Table, scale: Any, places: Integers) -> Vector:
    """What one unit of a sparse column is in units of the dense one."""
    unit = np.ones(table.width)
    for slot in (s for s in table.numbers.values() if s < len(scale.inv)):
        n, total = new.squares[:, places[slot]]
        unit[slot] = scale.inv[slot] * np.sqrt(total / max(n, 1.0))
    return unit


def _sparse_row(row: Vector, table: Table, places: Integers) -> Vector:
    """A dense row as buckets and values, numbers left out: their units are gone."""
    kinds = np.array(table.kinds[: len(row)])
    keep = [j for j in range(1, len(row)) if row[j] == 1.0 and kinds[j] not in (NUMBER, PRESENT)]
    return np.array([len(keep), *places[keep], *[1.0] * len(keep)], np.float64)
