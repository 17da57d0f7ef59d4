"""Notices when columns are missing: the evidence, in nats, of own effects of items, of own slopes, of curvature.

The last 400 rewarded observations are kept as raw rows. At checkpoints of rewards (32, 48, 72, …) each group of columns that could be added
is compared with the model as it is (`evidence_of_groups`), standardised over these observations:

items       own intercepts of items (they are always in the model: this says what they are worth)
slopes      own effects of the context of each item
curvature   of the item or of the context: squares and products of numbers, or random Fourier features (`derived`)

Evidence is divided by T (`temper`): rare clicks and heavy tails look like evidence to a normal likelihood. The mean Bayes factor of a group
that is not needed exceeds e¹⁰ with probability ≤ e⁻¹⁰ at any one look (Markov's inequality), if the base is right.
"""

import copy
import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.layout import Columns
from ..core.linalg import Matrix, Vector
from .derived import WAVY, Derived, pairs_of, waves_of
from .evidence_of_groups import Base, Eliminated, Groups, evidence, temper
from .features import NUMBER, Table
from .last_rows import LastRows
from .learner import Memo

FIRST = 32  # rewards before the first look
NATS = 10.0  # tempered evidence at which columns are added
WIDEST = 250  # columns of the base beyond which nothing is looked at
GROUP = 128  # columns of a group that could be added; of more, those that vary most
ITEMS, CONTEXT = "item", "context"
PACKED = ("misfit.rows", "misfit.context", "misfit.rewards")  # names of the arrays in files


class Found(NamedTuple):
    """A group of columns that would help: own slopes, or derived columns of a side."""

    nats: float
    side: str  # "slopes", "item" or "context"
    derived: Derived | None

    def sentence(self) -> str:
        """What is added, in plain words."""
        if self.derived is None:
            what = "the context matters differently for each item: each item now has slopes of its own"
        else:
            how = "squares and products of" if len(self.derived.pairs) else "smooth curves in"
            what = f"the reward is not linear in the numbers of the {self.side}: {how} them are now part of the model"
        return f"{what} (evidence {self.nats:.1f} nats)"


class Misfit:
    """The observations, and what was found at the last look."""

    def __init__(self) -> None:
        self.kept = LastRows()
        self.count = 0  # observations so far
        self.next = FIRST
        self.nats: dict[str, float | None] = {"items": None, "slopes": None, "curvature": None}
        self.events: list[str] = []

    def add(self, memo: Memo, r: float, number: int | None = None) -> None:
        """Keep an observation, the next one or the `number`-th; that again: changes nothing. Rows of an array have no name."""
        number = self.count + 1 if number is None else number
        self.kept.put(number - 1, memo.item if memo.named else None, memo.row, memo.context, r)
        self.count = number

    def copy(self) -> "Misfit":
        """Another one with the same observations, whose findings are its own."""
        new = copy.copy(self)
        new.nats = dict(self.nats)
        return new

    def add_many(self, names: Sequence[Any], rows: Matrix, contexts: Matrix, rewards: Vector) -> None:
        """Keep observations in a row, none of which is due to be looked at."""
        self.kept.put_all(self.count, names, rows, contexts, rewards)
        self.count += len(rewards)

    @property
    def room(self) -> int:
        """How many observations come before the one after which is looked."""
        return self.next - self.count - 1

    @property
    def due(self) -> bool:
        """Whether to look now."""
        return self.count >= self.next

    def look(self, items: Table, context: Table, columns: Columns) -> Found | None:
        """Compute the evidence of every group; the strongest one above ten nats."""
        self.next = self.count + max(self.count // 2, 1)
        try:
            with (
                _one_thread(),
                np.errstate(all="ignore"),
            ):  # numbers near 10¹⁰⁰ overflow; what is not finite is no evidence
                return self._look(items, context, columns)
        except np.linalg.LinAlgError:
            return None

    def _look(self, items: Table, context: Table, columns: Columns) -> Found | None:
        names, one_side, other, y = self.kept.of(self.count)
        rows, who = _rows(items, one_side), _rows(context, other)
        y = y - y.mean()
        spread = y.std()
        if not spread > 0.0 or items.width * context.width > WIDEST:
            return None
        y /= spread
        z, w = _standardised(rows, items), _standardised(who, context)
        own = _indicators(names)
        shared = np.hstack([z, w, _products(z, w)] if columns.products else [z, w])
        slopes = _products(own, w)
        groups = Groups(y)
        places = [groups.add(X[:, :WIDEST]) for X in (shared, own, *([slopes] if columns.slopes else []))]
        base = _tuned(groups, [place for place in places if groups.width(place)])
        model = Eliminated(groups, base)
        T = temper(model.residuals())
        without = Eliminated(groups, [group for group in base if group[0] != places[1]])
        self.nats["items"] = _of(without, own) / T
        found = []
        if not columns.slopes:
            self.nats["slopes"] = nats = _of(model, slopes) / T
            found.append(Found(nats, "slopes", None))
        for side, table, raw in ((ITEMS, items, rows), (CONTEXT, context, who)):
            for derived in _candidates(table, raw):
                X = _centred(np.nan_to_num(derived.values(raw)))
                if side == CONTEXT:
                    X = np.hstack([X, _products(own if columns.slopes else z, X)])
                found.append(Found(_of(model, X) / T, side, derived))
        curved = [f.nats for f in found if f.derived is not None]
        self.nats["curvature"] = max(curved, default=None)
        best = max(found, key=lambda f: f.nats, default=None)
        return best if best is not None and best.nats > NATS else None

    def told(self) -> dict[str, Any]:
        """For `info`."""
        return {**self.nats, "events": list(self.events)}

    def pack(self, items: Table, context: Table) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything, as JSON and arrays."""
        names, rows, who, rewards = self.kept.of(self.count)
        about = {"count": self.count, "next": self.next, "nats": self.nats, "events": self.events, "names": names}
        known = _rows(items, rows), _rows(context, who), rewards
        return about, dict(zip(PACKED, known, strict=True)) if names else {}

    @classmethod
    def unpack(cls, about: Mapping[str, Any] | None, arrays: Mapping[str, Any]) -> "Misfit":
        """What was packed; nothing, of files that have none."""
        new = cls()
        if about is None:
            return new
        new.count, new.next = int(about["count"]), int(about["next"])
        new.events = [str(line) for line in about["events"]]
        new.nats = {name: None if about["nats"][name] is None else float(about["nats"][name]) for name in new.nats}
        if about["names"]:
            rows, who, rewards = (np.array(arrays[name], np.float64) for name in PACKED)
            new.kept.begin = new.count - len(about["names"])
            new.kept.put_all(new.kept.begin, about["names"], rows, who, rewards)
        return new


def _one_thread() -> AbstractContextManager[Any]:
    """Small matrices are solved faster by one thread than by several; where threadpoolctl is not installed, nothing changes."""
    controller = _threads_of_blas()
    limits: AbstractContextManager[Any] = (
        nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")
    )
    return limits


@functools.cache
def _threads_of_blas() -> Any:
    """threadpoolctl's controller of the libraries that are loaded, which takes 2 ms to find; None where it is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def _of(model: Eliminated, X: Matrix) -> float:
    """Evidence of a group beside a base; 0 of one that has no column, or whose numbers overflow."""
    if X.shape[1] > GROUP:  # the columns that vary most: those of items seen most often
        X = X[:, np.argsort(-X.var(axis=0), kind="stable")[:GROUP]]
    nats = evidence(model.profile(model.groups.add(X)))[0] if X.size else 0.0
    return nats if math.isfinite(nats) else 0.0


def _tuned(groups: Groups, places: Sequence[int]) -> Base:
    """The base with precisions by their posterior, group by group, twice."""
    base = [(place, 4.0) for place in places]
    for _ in range(2):
        for g, (place, _) in enumerate(base):
            others = Eliminated(groups, base[:g] + base[g + 1 :])
            base[g] = (place, evidence(others.profile(place))[1])
    return base


def _rows(table: Table, rows: Sequence[Vector]) -> Matrix:
    """Rows as they would be made today: what was missing is missing, and derived columns are filled in."""
    J = table.width
    whole = [row if len(row) == J else np.r_[row, table.missing[len(row) :]] for row in rows]
    made: Matrix = np.array(whole).reshape(-1, J)
    made[:, [*table.marks]] = 0.0  # they are names, and no column
    table.derive(made)
    return made


def _standardised(rows: Matrix, table: Table) -> Matrix:
    """Columns (n, J − 1) of mean 0; numbers have variance 1, the entries of a vector on average."""
    z, present = np.nan_to_num(rows[:, 1:]), ~np.isnan(rows[:, 1:])
    z = np.where(present, z - z.sum(axis=0) / np.maximum(present.sum(axis=0), 1), 0.0)
    variance = z.var(axis=0)
    groups = np.array(table.groups[1:])
    for group in {*groups[np.array(table.kinds[1:]) == NUMBER].tolist()}:
        mine = groups == group
        z[:, mine] /= np.sqrt(max(variance[mine].mean(), 1e-300)) if variance[mine].any() else 1.0
    return _varying(z)


def _centred(X: Matrix) -> Matrix:
    X = X - X.mean(axis=0)
    return _varying(X)


def _varying(X: Matrix) -> Matrix:
    return X[:, X.var(axis=0) > 1e-12]


def _products(a: Matrix, b: Matrix) -> Matrix:
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def _indicators(names: Sequence[Any]) -> Matrix:
    """A column for each item that was observed at least twice, the most frequent ones first."""
    many = [name for name, count in Counter(names).most_common(WIDEST) if count > 1]
    place = {name: j for j, name in enumerate(many)}
    X = np.zeros((len(names), len(many)))
    for row, name in enumerate(names):
        if name in place:
            X[row, place[name]] = 1.0
    return X if len({*names}) > 1 else X[:, :0]


def _candidates(table: Table, rows: Matrix) -> list[Derived]:
    """Curvature of a side's numbers that vary, unless it is in the model already."""
    kinds, groups = table.kinds, Counter(table.groups)
    alone = [j for j in range(1, table.width) if kinds[j] == NUMBER and groups[table.groups[j]] == 1]
    known = {(len(d.pairs) > 0) for d in table.derived}
    derived = {
        slot
        for first, d in zip(table.derived_slots, table.derived, strict=True)
        for slot in range(first, first + d.width)
    }
    sources = [j for j in alone if j not in derived and len({*rows[~np.isnan(rows[:, j]), j].tolist()}) > 2]
    if not sources:
        return []
    mu, s = np.nanmean(rows[:, sources], axis=0), np.nanstd(rows[:, sources], axis=0)
    out = [] if True in known else [pairs_of(sources, mu, s)]
    if len(sources) <= WAVY and False not in known and table.side == ITEMS:
        out.append(waves_of(sources, mu, s))
    return out
