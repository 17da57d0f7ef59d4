"""What a bandit earned and what other policies would have earned, kept as rewards arrive.

A decision counts when its reward comes, once, whatever its weight; of a ranking, the first place counts. Rewards are collected and added
in batches, one after the other, so that the sums (`policy_sums`) do not depend on when they are looked at.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector
from ..inference import policy_value as pv
from ..inference.always_valid import RATE, stakes
from ..inference.outcomes import BOUNDED, UNBOUNDED, Batch, Integers, Stakes
from ..inference.policy_value import EARLY
from . import policy_sums
from .early_clicks import EarlyClicks
from .policy_sums import FIRST, RANDOM, Added, Sized, machine
from .windows import WINDOWS

BATCH = 256  # rewards that are added at once …
MOST = 8 * BATCH  # … and at most this many while the code that adds them is being compiled
ITEMS = 1000  # items with sums of their own; later ones have none


class Law(NamedTuple):
    """What is kept of a decision until its reward comes: the offer, its probabilities and forecasts, and what challengers would do."""

    names: list[Any]
    p: Vector
    forecast: Vector
    chosen: int
    first: int
    others: tuple[tuple[str, Vector], ...] = ()


class Entry(NamedTuple):
    """A reward that has come, of decision number `tick` made at `at`; sign −1 takes it back."""

    law: Law
    r: float
    at: float
    sign: float
    tick: int = EARLY + 1


class Books(NamedTuple):
    """All sums. They are replaced as a whole, so that an interrupt leaves the old ones or the new ones."""

    weights: dict[str, float]  # the largest that each policy was expected to have; single items have that of "first"
    places: dict[Any, int]  # of items in the sums
    sums: Sized
    newest: float
    early: EarlyClicks = EarlyClicks()


class Place(NamedTuple):
    """How far a ledger has come: its sums, and how many rewards are not in them yet."""

    books: Books
    waiting: int


class Ledger:
    """Sums of every policy a bandit is compared with.

    Examples
    --------
    >>> ledger = Ledger(bounded=True, explore=0.5)
    >>> law = Law(["a", "b"], np.array([0.75, 0.25]), np.array([0.5, 0.5]), chosen=0, first=1)
    >>> for r in (1.0, 0.0, 1.0):
    ...     ledger.add(law, r, at=0.0)
    >>> float(ledger.of_policy("random")[pv.OWN])
    2.0
    """

    def __init__(self, *, bounded: bool, explore: float) -> None:
        self.bounded, self.explore, self.width = bounded, explore, BOUNDED if bounded else UNBOUNDED
        self.books = Books({}, {}, {}, -math.inf)
        self.waiting: list[Entry] = []  # rewards that are not in the sums yet
        machine()  # is compiled as soon as there is a bandit, not when its first batch is full

    def add(self, law: Law, r: float, at: float, *, sign: float = 1.0) -> None:
        """Count a reward, or take one back."""
        self.enter(self.place(), [Entry(law, r, at, sign)])

    def place(self) -> Place:
        """Where `enter` goes on."""
        return Place(self.books, len(self.waiting))

    def enter(self, place: Place, entries: Sequence[Entry]) -> None:
        """Count rewards that come after those of a place; again, if it was interrupted: the same as once."""
        if self.books is not place.books:
            return  # these are among the sums
        self.waiting[place.waiting :] = entries
        many = len(self.waiting)
        if many >= BATCH and (many >= MOST or not machine().compiling):
            self._add()

    def add_many(self, entries: Sequence[Entry]) -> None:
        """Count rewards in a row, in the batches in which they would have been added one by one."""
        start = 0
        while start < len(entries):
            end = start + BATCH - len(self.waiting) % BATCH
            self.enter(self.place(), entries[start:end])
            start = end

    def flush(self) -> None:
        """Add what waits to the sums."""
        if self.waiting:
            self._add()

    def _add(self) -> None:
        self.__dict__.update(books=self._added(self.books, self.waiting), waiting=[])  # both, or neither

    # --------------------------------------------------------------------------------------------------------------- adding

    def _added(self, books: Books, entries: list[Entry]) -> Books:
        places = _places(books.places, entries)
        early, entries = self._begun(books.early, entries)
        if not entries:
            return books._replace(places=places, early=early)
        batch = self._batch(entries, places)
        made = np.array([entry.at for entry in entries])
        seen = np.maximum(np.maximum.accumulate(made), books.newest)
        names = [RANDOM, FIRST, *dict.fromkeys(name for entry in entries for name, _ in entry.law.others)]
        weights = self._weights(books.weights, names, float(batch.size[0]))
        lam = Stakes(
            np.array([_stakes(weights[name], early.rate) for name in names]),
            _stakes(weights[FIRST], early.rate),
            _stakes(1.0, early.rate),
        )
        new = Added(batch, names, *_probabilities(names, entries, batch), lam, made, seen)
        sums = policy_sums.added(books.sums, new, self._sizes(batch), len(places), self.width)
        return Books(weights, places, sums, float(seen[-1]), early)

    def _begun(self, early: EarlyClicks, entries: list[Entry]) -> tuple[EarlyClicks, list[Entry]]:
        """What early rewards say of how rare clicks are, and the rewards that count."""
        if not self.bounded:
            return early, entries
        if early.rate is not None:
            return early, [entry for entry in entries if entry.tick > EARLY]
        counted = []
        for entry in entries:
            if self._counts(entry):
                early = early.fixed(entry.law.p, entry.law.forecast)
                counted.append(entry)
            else:
                early = early.heard(entry.r, entry.sign)
        return early, counted

    def _counts(self, entry: Entry) -> bool:
        """Whether a reward counts: of clicks, those of early decisions do not."""
        return not self.bounded or entry.tick > EARLY

    def _weights(self, known: Mapping[str, float], names: Sequence[str], most: float) -> dict[str, float]:
        """The largest weight of each policy, as far as its first offer (of `most` items) tells: it decides what is bet."""
        usual = {RANDOM: pv.usual_weight(1.0, self.explore), FIRST: pv.usual_weight(most, self.explore)} | dict(known)
        return dict.fromkeys(names, usual[FIRST]) | usual

    def _sizes(self, batch: Batch) -> Integers:
        return np.zeros(len(batch.r), np.int64) if self.bounded else policy_sums.sizes(batch)

    def _batch(self, entries: list[Entry], places: Mapping[Any, int]) -> Batch:
        """Entries as arrays, one offer after the other."""
        laws = [entry.law for entry in entries]
        size = np.array([len(law.p) for law in laws])
        start = np.concatenate([[0], np.cumsum(size)[:-1]])
        p, forecast = np.concatenate([law.p for law in laws]), np.concatenate([law.forecast for law in laws])
        sign = np.array([entry.sign for entry in entries])
        if self.bounded:
            np.clip(forecast, 0.0, 1.0, out=forecast)
        else:  # without a range, an item that is never shown has no value that could be estimated
            sign[np.minimum.reduceat(p, start) <= 0.0] = 0.0
        np.maximum(p, 1e-12, out=p)  # never shown: nothing is assumed of it
        place = np.concatenate(_places_of([law.names for law in laws], places))
        chosen, r = start + [law.chosen for law in laws], np.array([entry.r for entry in entries], np.float64)
        return Batch(p, forecast, start, size, chosen, r, sign, place)

    # -------------------------------------------------------------------------------------------------------------- looking

    def of_policy(self, name: str) -> Vector:
        """The sums beside "random", "first" or a challenger; zeros if there are none."""
        self.flush()
        return policy_sums.of_policy(self.books.sums, name, self.width)

    def of_item(self, name: Any) -> Vector:
        """The sums beside always showing an item; zeros if there are none."""
        self.flush()
        place = self.books.places.get(name)
        return np.zeros(self.width) if place is None else policy_sums.of_item(self.books.sums, place, self.width)

    def unknown(self, name: str) -> float:
        """The share of what a policy shows, or the bandit itself (`ACTING`), of which it is not known what it pays; 0 for clicks."""
        if self.bounded:
            return 0.0
        self.flush()
        return policy_sums.unknown(self.books.sums, name, len(self.books.places))

    def buckets(self, name: str, window: str) -> dict[int, Vector]:
        """The sums beside a policy over each hour of the last day, or day of the last week, as far as they are kept."""
        self.flush()
        length, many = WINDOWS[window]
        found = policy_sums.of_bucket(self.books.sums, window, name, self.width)
        return {b: sums for b, sums in found.items() if b > math.floor(self.books.newest / length) - many}

    def window(self, name: str, window: str, now: float) -> Vector:
        """The sums beside a policy over the decisions of the last day or week."""
        length, many = WINDOWS[window]
        last = math.floor(now / length)
        kept = self.buckets(name, window)
        return policy_sums.total([kept[b] for b in kept if last - many < b <= last], self.width)

    def stakes(self, name: str) -> tuple[list[list[float]], list[list[float]]]:
        """What is bet on the rewards themselves, and on a policy; long and short. What is bet on items is that on "first"."""
        weight, rate = self.books.weights.get(name, 1.0), self.books.early.rate
        return _stakes(1.0, rate).tolist(), _stakes(weight, rate).tolist()

    def policies(self) -> list[str]:
        """The challengers of which there are sums, or will be once the rewards that wait are added; adds nothing."""
        found = dict.fromkeys(name for sums in self.books.sums.values() for name in sums.policies)
        for entry in self.waiting:
            if entry.sign > 0.0 and self._counts(entry):
                found |= dict.fromkeys(name for name, _ in entry.law.others)
        return [name for name in found if name not in (RANDOM, FIRST)]

    def knows_policy(self, name: str) -> bool:
        """Whether there are sums of this challenger."""
        return name in self.policies()

    def knows_item(self, name: Any) -> bool:
        """Whether there are sums of this item."""
        self.flush()
        return name in self.books.places

    def without(self, challenger: str) -> "Ledger":
        """The ledger without the sums of a challenger; this one is not changed."""
        self.flush()
        weights = {name: value for name, value in self.books.weights.items() if name != challenger}
        after = Ledger(bounded=self.bounded, explore=self.explore)
        after.books = self.books._replace(weights=weights, sums=policy_sums.without(self.books.sums, challenger))
        return after


@lru_cache(64)
def _stakes(weight: float, rate: float | None) -> Matrix:
    """The stakes for a weight; they are not changed."""
    return stakes(weight, rate=RATE if rate is None else rate)


def _places(places: dict[Any, int], entries: list[Entry]) -> dict[Any, int]:
    """Places of items, with those that are new, as long as there are any."""
    if len(places) >= ITEMS:
        return places
    offers = {id(entry.law.names): entry.law.names for entry in entries}  # many decisions share a list of names
    new = dict.fromkeys(name for names in offers.values() for name in names if name not in places)
    return places | {name: len(places) + i for i, name in enumerate(new) if len(places) + i < ITEMS}


def _places_of(offers: list[list[Any]], places: Mapping[Any, int]) -> list[Integers]:
    """Places of the items of each offer, −1 of those without; many decisions share a list of names."""
    distinct = {id(names): names for names in offers}
    found = {k: np.array([places.get(name, -1) for name in names], np.int64) for k, names in distinct.items()}
    return [found[id(names)] for names in offers]


def _probabilities(names: list[str], entries: list[Entry], batch: Batch) -> tuple[Matrix, Matrix]:
    """pi (K, F) of policies, and whether they have any (K, B): random choice, the first item, and challengers."""
    pi, known = np.zeros((len(names), len(batch.p))), np.ones((len(names), len(entries)))
    pi[0] = np.repeat(1.0 / batch.size, batch.size)
    pi[1, batch.start + [entry.law.first for entry in entries]] = 1.0
    known[2:] = 0.0
    for t, entry in enumerate(entries) if len(names) > 2 else ():
        for name, law in entry.law.others:
            k = names.index(name)
            known[k, t] = 1.0
            pi[k, batch.start[t] : batch.start[t] + batch.size[t]] = law
    return pi, known
