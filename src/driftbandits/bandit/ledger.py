"""What a bandit earned and what other policies would have earned: sums over its decisions, kept as rewards arrive.

A decision counts when its reward comes, once, whatever its weight; of a ranking, the first place counts. Rewards are collected and added
in batches, one after the other, so that the sums do not depend on when they are looked at (`inference.policy_value`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue, said
from ..inference import policy_value as pv
from ..inference.policy_value import SUMS, Batch

BATCH = 256  # rewards that are added at once
ITEMS = 1000  # items with sums of their own; later ones have none
HOUR, DAY = 3600.0, 86400.0
WINDOWS = {"day": (HOUR, 24), "week": (DAY, 7)}  # length of a bucket, and how many are looked at
RANDOM, FIRST = "random", "first"


class Law(NamedTuple):
    """What is kept of a decision until its reward comes: the offer, its probabilities and forecasts, and what challengers would do."""

    names: list[Any]
    p: Vector
    forecast: Vector
    chosen: int
    first: int
    others: tuple[tuple[str, Vector], ...] = ()


class Entry(NamedTuple):
    """A reward that has come, of a decision made at `at`; sign −1 takes it back."""

    law: Law
    r: float
    at: float
    sign: float


class Books(NamedTuple):
    """All sums. A book is replaced as a whole, so that an interrupt leaves the old one or the new one."""

    k: dict[str, float]  # of each policy; those of single items have that of "first"
    policies: dict[str, Vector]  # (SUMS,)
    places: dict[Any, int]
    items: Matrix  # (N, SUMS)
    buckets: dict[str, dict[int, dict[str, Vector]]]  # of each window: number of the bucket → sums of each policy
    newest: float
    waiting: list[Entry]


class Ledger:
    """Sums of every policy a bandit is compared with.

    Examples
    --------
    >>> ledger = Ledger(bounded=True, explore=0.5)
    >>> law = Law(["a", "b"], np.array([0.75, 0.25]), np.array([0.5, 0.5]), chosen=0, first=1)
    >>> for r in (1.0, 0.0, 1.0):
    ...     ledger.add(law, r, at=0.0)
    >>> float(ledger.sums("random")[pv.OWN])
    2.0
    """

    def __init__(self, *, bounded: bool, explore: float) -> None:
        self.bounded, self.explore = bounded, explore
        buckets: dict[str, dict[int, dict[str, Vector]]] = {window: {} for window in WINDOWS}
        self.books = Books({}, {}, {}, np.zeros((0, SUMS)), buckets, -math.inf, [])

    def add(self, law: Law, r: float, at: float, *, sign: float = 1.0) -> None:
        """Count a reward, or take one back."""
        self.books = self.after(self.books, [Entry(law, r, at, sign)])

    def after(self, books: Books, entries: Sequence[Entry]) -> Books:
        """Books with further rewards; changes nothing, so that a change can be made twice with the effect of once."""
        books = books._replace(waiting=[*books.waiting, *entries])
        return self._added(books) if len(books.waiting) >= BATCH else books

    def add_many(self, entries: Sequence[Entry]) -> None:
        """Count rewards in a row, in the batches in which they would have been added one by one."""
        start = 0
        while start < len(entries):
            end = start + BATCH - len(self.books.waiting)
            self.books = self.after(self.books, entries[start:end])
            start = end

    def flush(self) -> None:
        """Add what waits to the sums."""
        if self.books.waiting:
            self.books = self._added(self.books)

    # --------------------------------------------------------------------------------------------------------------- adding

    def _added(self, books: Books) -> Books:
        entries = books.waiting
        batch = _batch(entries)
        if not self.bounded:  # without a range, an item that is never shown can be valued by nobody
            batch = batch._replace(sign=np.where(np.minimum.reduceat(batch.p, batch.start) > 0.0, batch.sign, 0.0))
        batch = batch._replace(p=np.maximum(batch.p, 1e-12))  # never shown: nothing is assumed of it
        most = float(batch.size[0])  # k is fixed by the first offer that is counted
        k = {RANDOM: pv.limit(1.0, self.explore), FIRST: pv.limit(most, self.explore)} | books.k
        terms = {RANDOM: pv.outcomes(batch, pv.uniform(batch), bounded=self.bounded, k=k[RANDOM])}
        terms[FIRST] = pv.outcomes(batch, pv.always_first(batch), bounded=self.bounded, k=k[FIRST])
        challengers = dict.fromkeys(name for entry in entries for name, _ in entry.law.others)
        rows: dict[str, Any] = dict.fromkeys(terms, slice(None))
        for name in challengers:
            k.setdefault(name, k[FIRST])
            known = np.array([name in dict(entry.law.others) for entry in entries])
            rows[name], valued = known, [entry for entry in entries if name in dict(entry.law.others)]
            pi = np.concatenate([dict(entry.law.others)[name] for entry in valued])
            terms[name] = pv.outcomes(_batch(valued), pi, bounded=self.bounded, k=k[name])
        policies = dict(books.policies)
        for name, of_policy in terms.items():
            policies[name] = pv.in_turn(policies.get(name, np.zeros(SUMS)), of_policy)
        places, items = self._items(books, batch, entries, k[FIRST])
        buckets, newest = _bucketed(books, entries, terms, rows)
        return Books(k, policies, places, items, buckets, newest, [])

    def _items(self, books: Books, batch: Batch, entries: list[Entry], k: float) -> tuple[dict[Any, int], Matrix]:
        names = entries[0].law.names
        same = all(entry.law.names == names for entry in entries)  # the usual case, ten times as fast
        offers = [names] if same else [entry.law.names for entry in entries]
        places = _places(books.places, offers)
        items = np.zeros((len(places), SUMS))
        items[: len(books.items)] = books.items
        whose = np.array([places.get(name, -1) for offer in offers for name in offer], np.int64)
        kept = whose >= 0
        terms = pv.item_outcomes(batch, bounded=self.bounded, k=k)
        if same:
            items[whose[kept]] = pv.in_turn(items[whose[kept]], terms.reshape(len(entries), -1, SUMS)[:, kept])
        else:
            np.add.at(items, whose[kept], terms[kept])
        return places, items

    # -------------------------------------------------------------------------------------------------------------- looking

    def sums(self, against: Any) -> Vector:
        """The sums beside a policy: "random", "first", a challenger or an item; zeros if it has none."""
        self.flush()
        books = self.books
        if isinstance(against, str) and against in books.policies:
            return books.policies[against]
        place = books.places.get(against)
        return np.zeros(SUMS) if place is None else books.items[place]

    def window(self, against: str, window: str, now: float) -> Vector:
        """The sums over the decisions of the last day or week."""
        self.flush()
        length, many = WINDOWS[window]
        last = math.floor(now / length)
        kept = self.books.buckets[window]
        found = [kept[b][against] for b in sorted(kept) if last - many < b <= last and against in kept[b]]
        return np.asarray(sum(found)) if found else np.zeros(SUMS)

    def k(self, against: Any) -> float:
        """The k of a policy."""
        known = self.books.k
        return known.get(against, known.get(FIRST, 0.0)) if isinstance(against, str) else known.get(FIRST, 0.0)

    def knows(self, against: Any) -> bool:
        """Whether there are sums of this policy."""
        self.flush()
        return against in self.books.policies or against in self.books.places

    def forget(self, challenger: str) -> None:
        """Drop the sums of a challenger."""
        self.flush()
        books = self.books
        without = {name: sums for name, sums in books.policies.items() if name != challenger}
        k = {name: value for name, value in books.k.items() if name != challenger}
        buckets = {
            window: {b: {n: s for n, s in sums.items() if n != challenger} for b, sums in kept.items()}
            for window, kept in books.buckets.items()
        }
        self.books = books._replace(policies=without, k=k, buckets=buckets)

    # --------------------------------------------------------------------------------------------------------------- saving

    def pack(self) -> tuple[dict[str, Any], Vector]:
        """Everything, as JSON and one array."""
        self.flush()
        books = self.books
        flat = [*books.policies.values(), *books.items]
        windows = []
        for window, kept in books.buckets.items():
            for b in sorted(kept):
                windows.append([window, b, [*kept[b]]])
                flat.extend(kept[b].values())
        about = {
            "k": books.k,
            "policies": [*books.policies],
            "items": [*books.places],
            "windows": windows,
            "newest": books.newest if math.isfinite(books.newest) else None,
        }
        return about, np.concatenate(flat) if flat else np.zeros(0)

    def unpack(self, about: Mapping[str, Any], flat: Vector) -> None:
        """What was packed, in place of what is known."""
        many = len(about["policies"]) + len(about["items"]) + sum(len(names) for _, _, names in about["windows"])
        if flat.dtype != np.float64 or flat.shape != (many * SUMS,) or not np.isfinite(flat).all():
            raise InvalidValue(f"the sums of policies are {said(flat)}; they must be {many * SUMS} finite numbers")
        rows = iter(flat.reshape(many, SUMS).copy())
        policies = {str(name): next(rows) for name in about["policies"]}
        places = {name: place for place, name in enumerate(about["items"])}
        items = np.array([next(rows) for _ in places]).reshape(-1, SUMS)
        buckets: dict[str, dict[int, dict[str, Vector]]] = {window: {} for window in WINDOWS}
        for window, b, names in about["windows"]:
            buckets[window][int(b)] = {str(name): next(rows) for name in names}
        newest = -math.inf if about["newest"] is None else float(about["newest"])
        k = {str(name): float(value) for name, value in about["k"].items()}
        self.books = Books(k, policies, places, items, buckets, newest, [])


def _places(places: dict[Any, int], offers: list[list[Any]]) -> dict[Any, int]:
    """Places of items, with those that are new, as long as there are any."""
    new = dict.fromkeys(name for offer in offers for name in offer if name not in places)
    if not new or len(places) >= ITEMS:
        return places
    return places | {name: len(places) + i for i, name in enumerate(new) if len(places) + i < ITEMS}


def _batch(entries: list[Entry]) -> Batch:
    """Entries as arrays, one offer after the other."""
    laws = [entry.law for entry in entries]
    size = np.array([len(law.p) for law in laws])
    start = np.concatenate([[0], np.cumsum(size)[:-1]])
    return Batch(
        np.concatenate([law.p for law in laws]),
        np.concatenate([law.forecast for law in laws]),
        start,
        size,
        start + [law.chosen for law in laws],
        start + [law.first for law in laws],
        np.array([entry.r for entry in entries]),
        np.array([entry.sign for entry in entries]),
    )


def _bucketed(
    books: Books, entries: list[Entry], terms: Mapping[str, Matrix], rows: Mapping[str, Any]
) -> tuple[dict[str, dict[int, dict[str, Vector]]], float]:
    """Sums by hour and by day, of decisions that are not too old when their reward comes."""
    at = np.array([entry.at for entry in entries])
    newest = np.maximum(np.maximum.accumulate(at), books.newest)
    buckets = {}
    for window, (length, many) in WINDOWS.items():
        number, last = np.floor(at / length), np.floor(newest / length)
        recent = number > last - many
        kept = {b: dict(sums) for b, sums in books.buckets[window].items() if b > last[-1] - many}
        for b in np.unique(number[recent & (number > last[-1] - many)]):
            here, sums = recent & (number == b), kept.setdefault(int(b), {})
            for name, of_policy in terms.items():
                chosen = of_policy if here.all() else of_policy[here[rows[name]]]
                if len(chosen):
                    sums[name] = pv.in_turn(sums.get(name, np.zeros(SUMS)), chosen)
        buckets[window] = kept
    return buckets, float(newest[-1])
