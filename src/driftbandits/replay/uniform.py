"""A χ² test of whether items were chosen uniformly; a log without propensities can be used only then.

    X² = Σ (O − E)²/E        over cells (group, item): chosen O times, where E = Σ 1/(number on offer) is expected

Groups are the whole log, periods of time, and the values of each context column (numbers are cut at their quartiles), because choices may
look uniform overall and still depend on the context. The smallest p-value is used, times the number of tests (Bonferroni).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Row

GROUPS = 8  # of a context column; further values share one
LOOKED_AT = 1000  # rows whose quartiles cut a number
LEAST = 5.0  # expected in a cell that counts
STRETCHES = 20  # of time, at most
TIME = "(time)"  # the name of the groups by time
REMEMBERED = 10_000  # offers whose places are kept

Cells = NDArray[np.float64]  # (2, items): chosen, expected


class Uniformity:
    """Counts what was chosen, row by row."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}
        self._offers: dict[tuple[Any, ...], NDArray[np.int64]] = {}
        self._times: dict[int, Cells] = {}
        self._contexts: dict[str, dict[Any, Cells]] = {}
        self._waiting: list[Row] = []
        self._cuts: dict[str, Any] | None = None
        self._rows, self._length = 0, 100

    def add(self, row: Row) -> None:
        """Count a row; the first thousand are buffered until the quartiles of numbers are known."""
        if self._cuts is not None:
            self._count(row, self._cuts)
            return
        self._waiting.append(row)
        if len(self._waiting) == LOOKED_AT:
            self._settle()

    def _settle(self) -> None:
        values: dict[str, list[float]] = {}
        for row in self._waiting:
            for name, value in (row.context or {}).items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    values.setdefault(name, []).append(value)
        self._cuts = {name: np.quantile(found, (0.25, 0.5, 0.75)) for name, found in values.items()}
        for row in self._waiting:
            self._count(row, self._cuts)
        self._waiting = []

    def _count(self, row: Row, cuts: dict[str, Any]) -> None:
        offer, chosen = self._offer(row), self._places[row.item]
        stretch = self._stretch()  # first: it may replace self._times
        self._times[stretch] = self._counted(self._times.get(stretch), offer, chosen)
        self._rows += 1
        for name, value in (row.context or {}).items():
            groups = self._contexts.setdefault(name, {})
            if name in cuts and isinstance(value, int | float):
                group: Any = int(np.searchsorted(cuts[name], value))
            else:
                group = value if value in groups or len(groups) < GROUPS else "…"
            groups[group] = self._counted(groups.get(group), offer, chosen)

    def _offer(self, row: Row) -> NDArray[np.int64]:
        names = tuple(row.items)
        places = self._offers.get(names)
        if places is None:
            places = np.array([self._places.setdefault(name, len(self._places)) for name in names])
            if len(self._offers) < REMEMBERED:
                self._offers[names] = places
        return places

    def _stretch(self) -> int:
        """The stretch of time of the next row; when there are too many they are joined in pairs."""
        if self._rows >= STRETCHES * self._length:
            joined: dict[int, Cells] = {}
            for stretch, cells in self._times.items():
                joined[stretch // 2] = _sum(joined.get(stretch // 2), cells)
            self._times, self._length = joined, 2 * self._length
        return self._rows // self._length

    def _counted(self, cells: Cells | None, offer: NDArray[np.int64], chosen: int) -> Cells:
        if cells is None or cells.shape[1] < len(self._places):
            cells = _sum(cells, np.zeros((2, max(8, 2 * len(self._places)))))
        cells[0, chosen] += 1.0
        cells[1, offer] += 1.0 / len(offer)
        return cells

    def p_value(self) -> float:
        """The p-value: the probability of choices at least as uneven as these under uniform choice."""
        found = [p for _, p, _ in self._tests()]
        return min(1.0, min(found) * len(found)) if found else 1.0

    def _tests(self) -> list[tuple[str, float, dict[Any, Cells]]]:
        """Each way to group rows: its name ("" for the whole log), its p-value, and the groups' cells."""
        from scipy.stats import chi2

        if self._cuts is None:
            self._settle()
        found = []
        for name, groups in {"": {0: self._total()}, TIME: self._times, **self._contexts}.items():
            statistic, freedom = 0.0, 0
            for observed, expected in groups.values():
                there = expected >= LEAST
                if there.sum() > 1:
                    statistic += float(((observed - expected)[there] ** 2 / expected[there]).sum())
                    freedom += int(there.sum()) - 1
            if freedom:
                found.append((name, float(chi2.sf(statistic, freedom)), groups))
        return found

    def _total(self) -> Cells:
        total: Cells = np.zeros((2, len(self._places)))
        for cells in self._times.values():
            total = _sum(total, cells)
        return total

    def worst(self, level: float = 0.0) -> str:
        """The largest deviation: the group, the item, its number of choices, and the expected one.

        It is that of the whole log if it is refuted at this level, else of the grouping that is least uniform.
        """
        tests = self._tests()
        name, _, groups = tests[0] if tests[0][1] * len(tests) < level else min(tests, key=lambda test: test[1])
        group, k, chosen, expected = max(
            ((group, *_deviant(cells)) for group, cells in groups.items()),
            key=lambda found: abs(found[2] - found[3]) / max(found[3], 1.0) ** 0.5,
        )
        told = f"item {list(self._places)[k]!r} was chosen {chosen:.0f} times, where uniform choice would give {expected:.0f}"
        return f"{self._group(name, group)}{told}"

    def _group(self, name: str, group: Any) -> str:
        """A group in words, as the beginning of a sentence."""
        if name == TIME:
            return f"in decisions {group * self._length} to {(group + 1) * self._length - 1}, "
        if not name:
            return ""
        cuts = (self._cuts or {}).get(name)
        if cuts is None or not isinstance(group, int):
            return f"where {name!r} = {group!r}, "
        low, high = [-np.inf, *cuts][group], [*cuts, np.inf][group]
        return f"where {low:.4g} < {name!r} ≤ {high:.4g}, "


def _deviant(cells: Cells) -> tuple[int, float, float]:
    """The item with the largest deviation: its place, its number of choices, and the expected number."""
    k = int(np.argmax(np.abs(cells[0] - cells[1]) / np.sqrt(np.maximum(cells[1], 1.0))))
    return k, float(cells[0, k]), float(cells[1, k])


def _sum(a: Cells | None, b: Cells) -> Cells:
    """The sum of two tables of cells, as wide as the wider one."""
    if a is None:
        return b.copy()
    wide = np.zeros((2, max(a.shape[1], b.shape[1])))
    wide[:, : a.shape[1]] += a
    wide[:, : b.shape[1]] += b
    return wide
