"""The first reading of a log that is learned by sums: what there is, in the order in which it appears, and how it is scaled.

A `Survey` of a part can be made on any machine; surveys of parts in a row are joined in their order.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...adaptive.columns import CUT, CUT_FROM
from ...core.linalg import Vector
from ...errors import DriftBanditsError, InvalidValue
from ...tables.kinds import Column, Numbers
from ..adaptive import Adaptive
from .blocks import Block
from .copies import Copies
from .fingerprint import Fingerprint
from .fit import check_block, in_order, new_rows

Side = dict[str, "Spread"]


class Spread(NamedTuple):
    """Number, mean and Σ(x − mean)² of values; those of two parts join by Chan's formula."""

    n: float
    mean: float
    M2: float

    def join(self, other: "Spread") -> "Spread":
        """Of both."""
        n = self.n + other.n
        if n == 0.0:
            return self
        away = other.mean - self.mean
        return Spread(n, self.mean + away * other.n / n, self.M2 + other.M2 + away * away * self.n * other.n / n)


EMPTY = Spread(0.0, 0.0, 0.0)


class New(NamedTuple):
    """A row that shows something new."""

    row: int
    choice: dict[str, Any]  # as `observe` takes it
    where: str  # as messages name it


class Survey(NamedTuple):
    """What a part of a log holds."""

    rows: int
    new: list[New]  # rows that show something new within the part
    own: Side
    context: Side
    first: float  # reward
    start: float | None  # times
    end: float | None
    where: str  # its first row, as messages name it
    print: Fingerprint
    copies: Copies


def spread(values: Vector) -> Spread:
    """Of some values, none of them missing."""
    if not len(values):
        return EMPTY
    mean = float(values.mean())
    return Spread(float(len(values)), mean, float(((values - mean) ** 2).sum()))


def survey(bandit: Any, blocks: Iterable[Block]) -> Survey:
    """Read a part; `bandit` is one of the same settings that has seen nothing, and is used up."""
    new: list[New] = []
    own: Side = {}
    context: Side = {}
    rows, last, first, start, where = 0, -np.inf, 0.0, None, ""
    mark, copies = Fingerprint(), Copies()
    for block in blocks:
        last = in_order(block, last)
        check_block(bandit, block)
        if not block.plain:
            raise InvalidValue(
                f"{block.source} has features that are neither numbers nor strings; use exact=True (no row was learned)"
            )
        copies.add(block)
        mark.add(block)
        if rows == 0:
            first, where = float(block.reward[0]), block.where(0)
            start = None if block.at is None else float(block.at[0])
        _meet(bandit, block, rows, new)
        for side, columns in ((own, block.own), (context, block.context)):
            _measure(side, columns)
        rows += len(block)
    end = None if start is None else float(last)
    return Survey(rows, new, own, context, first, start, end, where, mark, copies)


def _meet(bandit: Any, block: Block, before: int, new: list[New]) -> None:
    """Make slots and places for what is new in a block."""
    for t in sorted(set(new_rows(bandit._learner, block))):
        new.append(New(before + t, block.choice(t), block.where(t)))
        meet(bandit, new[-1])


def meet(bandit: Any, new: New) -> None:
    """Make slots and places for what one row shows; nothing is learned."""
    try:
        request, _, _ = bandit._observation(**new.choice)
    except DriftBanditsError as problem:  # a feature may be of another kind in another part
        raise type(problem)(f"{new.where}: {problem} (no row was learned)") from None
    bandit._tick += 1
    bandit._place(request.offer)
    if type(bandit._learner) is not Adaptive:
        raise InvalidValue(
            "a log with more than 500 columns cannot be learned by sums; use exact=True (no row was learned)"
        )
    if bandit._learner.places.evicted:
        raise InvalidValue(
            f"there are more items than max_items = {bandit._config['max_items']}; a log is learned by sums only if each has its place "
            "(no row was learned)"
        )


def _measure(side: Side, columns: dict[str, Column]) -> None:
    for name, column in columns.items():
        if isinstance(column, Numbers):
            there = column.values if column.missing is None else column.values[~column.missing]
            side[name] = side.get(name, EMPTY).join(spread(there.astype(np.float64)))


def joined(surveys: list[Survey]) -> Survey:
    """Of parts in a row."""
    surveys = [s for s in surveys if s.rows]
    if not surveys:
        raise InvalidValue("there are no rows to learn from")
    total = surveys[0]
    for part in surveys[1:]:
        if total.end is not None and part.start is not None and part.start < total.end:
            raise InvalidValue(
                f"{part.where} is earlier than the last row of the part before it; parts must be in order of time (no row was learned)"
            )
        new = [*total.new, *(found._replace(row=total.rows + found.row) for found in part.new)]
        own, context = (_both(a, b) for a, b in ((total.own, part.own), (total.context, part.context)))
        total = total._replace(
            rows=total.rows + part.rows,
            new=new,
            own=own,
            context=context,
            end=part.end,
            print=total.print.joined(part.print),
            copies=total.copies.joined(part.copies),
        )
    return total


def _both(a: Side, b: Side) -> Side:
    return {**a, **{name: a.get(name, EMPTY).join(found) for name, found in b.items()}}


def bounds(side: Side) -> dict[str, tuple[float, float]]:
    """Where values are cut: at six standard deviations of the whole log, once there are 32."""
    answer = {}
    for name, s in side.items():
        far = CUT * float(np.sqrt(s.M2 / s.n)) if s.n >= CUT_FROM else 0.0
        if far > 0.0:
            answer[name] = (s.mean - far, s.mean + far)
    return answer
