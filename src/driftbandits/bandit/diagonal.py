"""The learner for more than 500 columns: hashed, sparse, one variance per column.

A column is a bucket of the hash of a feature, a category, or a product of two; the model knows each column's mean and variance and takes
columns as independent (a Kalman filter with diagonal covariance), in the order in which rewards arrive:

    e = r − f ,  S = 1/w + Σ_j v_j x_j² ,  θ_j += v_j x_j e/S ,  v_j −= (v_j x_j)²/S ,  v_j ← min(v₀, v_j e^{rate·Δ}) ,

Δ the time since j was last touched.

Numbers are divided by their root mean square and not centred, since a missing one is 0. Memories are judged as in `adaptive.evidence`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..adaptive.choice import LAW, MEAN, ROWS, SD
from ..adaptive.sums import NEVER, USE, Integers
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue, said
from . import sparse
from .features import Table, mark
from .learner import ENGINE, Choice, Memo, Offer, Placed, Stepwise
from .memories import NOBODY, Memories, told_of
from .model import same
from .reading import Reading, by_row
from .sparse import PRIOR, WEIGHT, Trial, new_trial

RIDGE = 0.3  # the prior precision is RIDGE·E‖x‖²
NAME = "\0name"  # the item itself, as a category
REMEMBERED = 1 << 16  # hashes kept at hand
MODES = ("named products", "named sums", "shared products", "shared sums")


class Diagonal(Stepwise, Memories):
    """One mean and one variance per bucket, for each memory."""

    def __init__(self, mode: str, rates: Sequence[float] | Vector, buckets: int) -> None:
        self.mode = mode  # with products or without; "named" ones tell items apart by their names
        self.items, self.context = Table("item", buckets), Table("context", buckets)
        self.trial: Trial = new_trial(np.array(rates, np.float64))
        self.mean = np.zeros((len(rates), buckets))
        self.ratio = np.ones((len(rates), buckets))  # v_j/v₀
        self.last = np.full(buckets, NEVER)
        self._compiled: tuple[Any, Any] | None = None
        self._known: dict[str, dict[Any, int]] = {"item": {}, "context": {}}  # buckets already computed
        self.squares = np.zeros(
            (2, buckets)
        )  # how many values of a number have been on offer, and the sum of their squares

    def buckets_of(self, table: Table) -> Integers:
        """The bucket of each slot of a dense table; −1 where there is none."""
        places = np.full(table.width, -1, np.int64)
        for name, slot in table.numbers.items():
            places[slot] = self.bucket(table.side, name, None)
        for bucket, slot in table.bucket_slots.items():
            places[slot] = bucket
        return places

    def bucket(self, side: str, name: str, value: str | None) -> int:
        """The bucket of a number, or of a category."""
        key = name if value is None else (name, value)
        known = self._known[side]
        if key not in known:
            if len(known) >= REMEMBERED:
                known.clear()
            known[key] = mark(side, (name,) if value is None else (name, value)) % self.mean.shape[1]
        return known[key]

    # ---------------------------------------------------------------------------------------------------------- reading

    def place(self, offer: Offer, tick: int, *, learn: bool = True, awaited: Mapping[Any, int] = NOBODY) -> Placed:  # noqa: ARG002
        """Rows (n, 1 + 2·most) of a count, buckets and values; numbers in units of their root mean square."""
        named = [str(name) for name in offer.names] if self.mode.startswith("named") else None
        items = self._rows(self.items, offer.items, named, learn)
        context = self._rows(self.context, offer.context, None, learn)
        if learn and self.trial.numbers[PRIOR] == 0.0:
            self.trial.numbers[PRIOR] = RIDGE * max(1.0, float(items[:, 0].mean() * (1.0 + context[0, 0])))
        return Placed(offer.names, items, context, np.zeros(len(offer.names), np.int64))

    def _rows(self, table: Table, reading: Reading, named: list[str] | None, learn: bool) -> Matrix:
        read = by_row(reading)
        if learn:
            table.vectors |= reading.vectors
        rows, many, known = [], len(read), self._known[table.side]
        for a, (numbers, strings) in enumerate(read):
            places = [known[name] if name in known else self.bucket(table.side, name, None) for name in numbers]
            tokens = [*strings, (NAME, named[a])] if named is not None else strings
            rows.append((places, [*numbers.values()], [self.bucket(table.side, *token) for token in tokens]))
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

    def unit(self, places: Any) -> Any:
        """The root mean square of the numbers in these buckets."""
        return np.sqrt(self.squares[1, places] / np.maximum(self.squares[0, places], 1.0))

    def _scale(self, out: Matrix, rows: list[Any], most: int) -> None:
        """Numbers in units of their root mean square, cut at ± 6."""
        for row, (places, _, _) in zip(out, rows, strict=True):
            if places:
                scale = self.unit(places)
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
            decide = sparse.decide.direct(self.trial, model, rows, one, True, 0.0, 0.0, True, rows, cols, cols, one)
            learn = sparse.learn.direct(self.trial, model, one, one, True, 0.0, 0.0, 0.0, True, cols, one)
            self._compiled = decide, learn
        return self._compiled

    def _look(self, placed: Placed, explore: float, u: float, draws: bool, open_: Integers) -> tuple[Matrix, int]:
        table = np.zeros((ROWS, len(placed.names)))
        cols, vals = self._room(placed.rows[0], placed.context[0])
        a = self._code()[0](
            self.trial,
            sparse.Model(self.mean, self.ratio, self.last),
            placed.rows,
            placed.context[0],
            self.mode.endswith("products"),
            explore,
            u,
            draws,
            table,
            open_,
            cols,
            vals,
        )
        return table, a

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """Forecast reward and its standard deviation, for every item, by the memory in use."""
        table, _ = self._look(placed, 0.0, 0.0, False, np.ones(len(placed.names), np.int64))
        return table[MEAN], table[SD]

    def choose(self, placed: Placed, explore: float, chance: Sequence[float]) -> Choice:
        """Draw place by place without replacement, each time with the exact probabilities of what is left."""
        left, drawn, propensity = np.ones(len(placed.names), np.int64), [], 1.0
        first: Matrix | None = None
        for u in chance:
            table, a = self._look(placed, explore, u, True, left)
            first = table if first is None else first
            drawn.append(a)
            propensity *= float(table[LAW, a])
            left[a] = 0
        assert first is not None
        return Choice(drawn, propensity, first[LAW], first[MEAN], [self.memo(placed, a) for a in drawn])

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:  # noqa: ARG002
        """Buckets and values."""
        return Memo(placed.names[a], placed.rows[a].copy(), placed.context[0], np.zeros(0))

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

    def learn(
        self,
        memo: Memo,
        tick: float,
        r: float,
        w: float,
        *,
        judge: bool = True,
        awaited: Mapping[Any, int] = NOBODY,  # noqa: ARG002
    ) -> None:
        """Learn a reward, when it arrives; a late one counts for less by its age."""
        cols, vals = self._room(memo.row, memo.context)
        self._code()[1](
            self.trial,
            sparse.Model(self.mean, self.ratio, self.last),
            memo.row,
            memo.context,
            self.mode.endswith("products"),
            tick,
            r,
            w,
            judge,
            cols,
            vals,
        )
        if judge and self.trial.refuted.any():
            lead = int(np.argmax(self.trial.weight))
            for j in np.flatnonzero(self.trial.refuted):
                self.mean[j], self.ratio[j], self.trial.sums[j] = (
                    self.mean[lead],
                    self.ratio[lead],
                    self.trial.sums[lead],
                )
            self.trial.refuted[:] = 0

    def drop(self, item: Any) -> None:
        """Forget what is known of an item by its name."""
        self.mean[:, self.bucket("item", NAME, str(item))] = 0.0
        self.ratio[:, self.bucket("item", NAME, str(item))] = 1.0

    # ------------------------------------------------------------------------------------------------------------ looking

    def info(self) -> dict[str, Any]:
        """What the learner tells about itself."""
        trial, use = self.trial, int(self.trial.numbers[USE])
        return told_of(
            trial.rate,
            use,
            np.exp(trial.weight - trial.weight.max()),
            float(trial.sums[use, WEIGHT]),
            float(np.sqrt(max(sparse.noise(trial), 0.0))),
            trial.numbers,
            columns=int((self.last > NEVER).sum()),
            covariance="diagonal",
            items=None,
            evicted=0,
            buckets=self.mean.shape[1],
            collisions=self.items.collisions + self.context.collisions,
        )

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything, as JSON and arrays."""
        about = {"engine": ENGINE, "diagonal": self.mode, "items": _names(self.items), "context": _names(self.context)}
        arrays = {f"trial.{name}": value for name, value in self.trial._asdict().items()}
        return about, arrays | {"mean": self.mean, "ratio": self.ratio, "last": self.last, "squares": self.squares}

    @classmethod
    def unpack(cls, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Diagonal":
        """The learner that was packed."""
        if about["diagonal"] not in MODES:
            raise InvalidValue(
                f"its diagonal covariance is {said(about['diagonal'])}; it must be one of {', '.join(MODES)}"
            )
        new = cls(about["diagonal"], np.array(arrays["trial.rate"], np.float64), len(arrays["last"]))
        for table, saved in ((new.items, about["items"]), (new.context, about["context"])):
            table.numbers = dict.fromkeys(saved["numbers"], 0)
            table.strings = dict.fromkeys(saved["strings"])
            table.vectors = dict(saved["vectors"])
            table.first_hash = {int(b): int(h) for b, h in saved["first_hash"]}
            table.collisions = int(saved["collisions"])
        found = {**arrays}
        if np.shape(found["trial.sums"])[1:] == (2,):  # written before there was a level
            found["trial.sums"] = np.c_[found["trial.sums"], np.zeros(len(found["trial.sums"]))]
        new.trial = Trial(*(same(f"trial.{name}", value, found) for name, value in new.trial._asdict().items()))
        if not 0 <= new.trial.numbers[USE] < len(new.trial.rate):
            raise InvalidValue("the memory in use does not exist")
        for name in ("mean", "ratio", "last", "squares"):
            setattr(new, name, same(name, getattr(new, name), arrays))
        return new


def _names(table: Table) -> dict[str, Any]:
    marks = [[b, h] for b, h in table.first_hash.items()]
    return {
        "numbers": [*table.numbers],
        "strings": [*table.strings],
        "vectors": table.vectors,
        "first_hash": marks,
        "collisions": table.collisions,
    }
