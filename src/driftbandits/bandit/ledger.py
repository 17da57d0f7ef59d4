"""What a bandit earned and what other policies would have earned: sums over its decisions, kept as rewards arrive.

A decision counts when its reward comes, once, whatever its weight; of a ranking, the first place counts. Rewards are collected and added
in batches, one after the other, so that the sums do not depend on when they are looked at (`inference.policy_value`).

What is bet on clicks must be fixed before the first reward that counts, and depends on how rare clicks are. The first decisions of a bandit
therefore say how rare they are, and do not count.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..core.background_compile import InterpretedUntilCompiled, compile_mode, prepared
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue, said
from ..inference import outcomes
from ..inference import policy_value as pv
from ..inference.always_valid import RATE, J, stakes
from ..inference.outcomes import BOUNDED, UNBOUNDED, Batch, Stakes
from ..inference.policy_value import EARLY
from .windows import WINDOWS, Buckets, bucketed, no_buckets

BATCH = 256  # rewards that are added at once …
MOST = 8 * BATCH  # … and at most this many while the code that adds them is being compiled
LARGEST = 1e100  # a sum of inverse propensities is below, and its square is a float
ITEMS = 1000  # items with sums of their own; later ones have none
RANDOM, FIRST = "random", "first"
ENOUGH = 20  # of their rewards, to say it; else the forecast for the first decision that counts does


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


class Waiting(NamedTuple):
    """Rewards that are not in the sums yet, as a chain: one more costs the same, however many there are."""

    before: "Waiting | None"
    entries: Sequence[Entry]
    many: int

    def all(self) -> list[Entry]:
        """In the order in which they came."""
        links: list[Sequence[Entry]] = []
        link: Waiting | None = self
        while link is not None:
            links.append(link.entries)
            link = link.before
        return [entry for entries in reversed(links) for entry in entries]


NONE = Waiting(None, (), 0)


class Books(NamedTuple):
    """All sums. A book is replaced as a whole, so that an interrupt leaves the old one or the new one."""

    weights: dict[str, float]  # the largest that each policy was expected to have; single items have that of "first"
    policies: dict[str, Vector]  # (width,)
    places: dict[Any, int]
    items: Matrix  # (N, width)
    buckets: Buckets
    newest: float
    early: tuple[float, float] = (
        0.0,
        0.0,
    )  # rewards of early decisions: their number and sum, until the first one counts
    rate: float | None = None  # how rare rewards in [0, 1] were by then
    waiting: Waiting = NONE


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
        self.bounded, self.explore, self.width = bounded, explore, BOUNDED if bounded else UNBOUNDED
        self.books = Books({}, {}, {}, np.zeros((0, self.width)), no_buckets(), -math.inf)
        machine()  # is compiled as soon as there is a bandit, not when its first batch is full

    def add(self, law: Law, r: float, at: float, *, sign: float = 1.0) -> None:
        """Count a reward, or take one back."""
        self.books = self.after(self.books, [Entry(law, r, at, sign)])

    def after(self, books: Books, entries: Sequence[Entry]) -> Books:
        """Books with further rewards; changes nothing, so that a change can be made twice with the effect of once."""
        before = books.waiting
        many = before.many + len(entries)
        waiting = Waiting(before if before.many else None, entries, many)
        if many < BATCH or (many < MOST and machine().compiling):
            return Books._make((*books[:-1], waiting))
        return self._added(books, waiting.all())

    def add_many(self, entries: Sequence[Entry]) -> None:
        """Count rewards in a row, in the batches in which they would have been added one by one."""
        start = 0
        while start < len(entries):
            end = start + BATCH - self.books.waiting.many % BATCH
            self.books = self.after(self.books, entries[start:end])
            start = end

    def flush(self) -> None:
        """Add what waits to the sums."""
        if self.books.waiting.many:
            self.books = self._added(self.books, self.books.waiting.all())

    # --------------------------------------------------------------------------------------------------------------- adding

    def _added(self, books: Books, entries: list[Entry]) -> Books:
        width, places = self.width, _places(books.places, entries)
        items = np.zeros((len(places), width))
        items[: len(books.items)] = books.items
        early, rate, entries = self._begun(books, entries)
        if not entries:
            return books._replace(places=places, items=items, early=early, rate=rate, waiting=NONE)
        batch = self._batch(entries, places)
        # The largest weight of a policy, as far as it is known when its first offer is counted, decides what is bet.
        most = float(batch.size[0])
        weights = {
            RANDOM: pv.usual_weight(1.0, self.explore),
            FIRST: pv.usual_weight(most, self.explore),
        } | books.weights
        names = [RANDOM, FIRST, *dict.fromkeys(name for entry in entries for name, _ in entry.law.others)]
        for name in names[2:]:
            weights.setdefault(name, weights[FIRST])
        pi, known = _probabilities(names, entries, batch)
        terms = np.empty((len(names), len(entries), width))
        lam = Stakes(
            np.array([_stakes(weights[name], rate) for name in names]),
            _stakes(weights[FIRST], rate),
            _stakes(1.0, rate),
        )
        if machine().count(batch, pi, known, lam, terms, items, np.empty(width), np.empty((2, J))) < 0:
            raise InvalidShape("arrays of decisions do not fit each other: please report how it came to this")
        valued = {
            name: (slice(None) if there.all() else there > 0.0, of_policy)
            for name, of_policy, there in zip(names, terms, known, strict=True)
        }
        policies = dict(books.policies)
        for name, (rows, of_policy) in valued.items():
            policies[name] = pv.in_turn(policies.get(name, np.zeros(width)), of_policy[rows])
        buckets, newest = bucketed(books.buckets, books.newest, [entry.at for entry in entries], valued)
        return Books(weights, policies, places, items, buckets, newest, early, rate)

    def _begun(self, books: Books, entries: list[Entry]) -> tuple[tuple[float, float], float | None, list[Entry]]:
        """Rewards of early decisions, how rare rewards are as soon as that can be told, and the rewards that count."""
        (many, total), rate = books.early, books.rate
        if not self.bounded:
            return books.early, rate, entries
        counted = []
        for entry in entries:
            if entry.tick > EARLY:
                rate = rate or _rate(many, total, entry.law)
                counted.append(entry)
            elif rate is None:
                many, total = many + entry.sign, total + entry.sign * entry.r
        return (many, total), rate, counted

    def _batch(self, entries: list[Entry], places: Mapping[Any, int]) -> Batch:
        """Entries as arrays, one offer after the other."""
        laws = [entry.law for entry in entries]
        size = np.array([len(law.p) for law in laws])
        start = np.concatenate([[0], np.cumsum(size)[:-1]])
        p, forecast = np.concatenate([law.p for law in laws]), np.concatenate([law.forecast for law in laws])
        sign = np.array([entry.sign for entry in entries])
        if self.bounded:
            np.clip(forecast, 0.0, 1.0, out=forecast)
        else:  # without a range, an item that is never shown can be valued by nobody
            sign[np.minimum.reduceat(p, start) <= 0.0] = 0.0
        np.maximum(p, 1e-12, out=p)  # never shown: nothing is assumed of it
        place = np.array([places.get(name, -1) for law in laws for name in law.names], np.int64)
        chosen, r = start + [law.chosen for law in laws], np.array([entry.r for entry in entries], np.float64)
        return Batch(p, forecast, start, size, chosen, r, sign, place)

    # -------------------------------------------------------------------------------------------------------------- looking

    def sums(self, against: Any) -> Vector:
        """The sums beside a policy: "random", "first", a challenger or an item; zeros if it has none."""
        self.flush()
        books = self.books
        if isinstance(against, str) and against in books.policies:
            return books.policies[against]
        place = books.places.get(against)
        return np.zeros(self.width) if place is None else books.items[place]

    def window(self, against: str, window: str, now: float) -> Vector:
        """The sums over the decisions of the last day or week."""
        self.flush()
        length, many = WINDOWS[window]
        last = math.floor(now / length)
        kept = self.books.buckets[window]
        found = [kept[b][against] for b in sorted(kept) if last - many < b <= last and against in kept[b]]
        return np.asarray(sum(found)) if found else np.zeros(self.width)

    def stakes(self, against: Any) -> tuple[list[list[float]], list[list[float]]]:
        """What is bet on the rewards themselves, and on a policy or on an item; long and short."""
        known, rate = self.books.weights, self.books.rate
        own = against if isinstance(against, str) and against in self.books.policies else FIRST
        return _stakes(1.0, rate).tolist(), _stakes(known.get(own, 1.0), rate).tolist()

    def knows(self, against: Any) -> bool:
        """Whether there are sums of this policy."""
        self.flush()
        return against in self.books.policies or against in self.books.places

    def forget(self, challenger: str) -> None:
        """Drop the sums of a challenger."""
        self.flush()
        books = self.books
        without = {name: sums for name, sums in books.policies.items() if name != challenger}
        weights = {name: value for name, value in books.weights.items() if name != challenger}
        buckets = {
            window: {b: {n: s for n, s in sums.items() if n != challenger} for b, sums in kept.items()}
            for window, kept in books.buckets.items()
        }
        self.books = books._replace(weights=weights, policies=without, buckets=buckets)

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
            "weights": books.weights,
            "policies": [*books.policies],
            "items": [*books.places],
            "windows": windows,
            "newest": books.newest if math.isfinite(books.newest) else None,
            "early": list(books.early),
            "rate": books.rate,
        }
        return about, np.concatenate(flat) if flat else np.zeros(0)

    def unpack(self, about: Mapping[str, Any], flat: Vector) -> None:
        """What was packed, in place of what is known; sums of an earlier version, which bet otherwise, are begun anew."""
        if "rate" not in about and self.bounded:
            return
        many = len(about["policies"]) + len(about["items"]) + sum(len(names) for _, _, names in about["windows"])
        if flat.dtype != np.float64 or flat.shape != (many * self.width,) or not np.isfinite(flat).all():
            raise InvalidValue(
                f"the sums of policies are {said(flat)}; they must be {many * self.width} finite numbers"
            )
        if flat.size and np.abs(flat.reshape(many, self.width)[:, outcomes.W]).max() > LARGEST:
            raise InvalidValue(f"the sums of weights have a number beyond ± {LARGEST:g}, which no propensities give")
        if len({*about["items"]}) < len(about["items"]):
            raise InvalidValue("the sums of policies name an item twice")
        rows = iter(flat.reshape(many, self.width).copy())
        policies = {str(name): next(rows) for name in about["policies"]}
        places = {name: place for place, name in enumerate(about["items"])}
        items = np.array([next(rows) for _ in places]).reshape(-1, self.width)
        buckets = no_buckets()
        for window, b, names in about["windows"]:
            buckets[window][int(b)] = {str(name): next(rows) for name in names}
        newest = -math.inf if about["newest"] is None else float(about["newest"])
        weights = {str(name): float(value) for name, value in about["weights"].items()}
        if not all(1.0 <= weight <= pv.LARGEST for weight in weights.values()) or not {*policies} <= {*weights}:
            raise InvalidValue(f"the weights of policies are {said(weights)}; each must be in [1, {pv.LARGEST:g}]")
        known, total = (float(x) for x in about.get("early", (0.0, 0.0)))
        rate = None if about.get("rate") is None else float(about["rate"])
        if not 0.0 <= total <= known <= LARGEST or (rate is not None and not 0.0 < rate < 1.0):
            told = said((known, total, rate))
            raise InvalidValue(f"rewards of the first {EARLY} decisions are {told}: no clicks give these")
        self.books = Books(weights, policies, places, items, buckets, newest, (known, total), rate)


@lru_cache(64)
def _stakes(weight: float, rate: float | None) -> Matrix:
    """The stakes for a weight; they are not changed."""
    return stakes(weight, rate=RATE if rate is None else rate)


def _rate(many: float, total: float, law: Law) -> float:
    """How rare rewards are, as far as is known before the reward of the first decision that counts."""
    if many < ENOUGH:
        forecast = float(np.clip(np.dot(law.p, np.clip(law.forecast, 0.0, 1.0)), 0.0, 1.0))
        many, total = float(EARLY), EARLY * forecast
    return pv.rate_of(many, total)


def _places(places: dict[Any, int], entries: list[Entry]) -> dict[Any, int]:
    """Places of items, with those that are new, as long as there are any."""
    if len(places) >= ITEMS:
        return places
    new = dict.fromkeys(name for entry in entries for name in entry.law.names if name not in places)
    return places | {name: len(places) + i for i, name in enumerate(new) if len(places) + i < ITEMS}


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


class Machine:
    """`count` as machine code if it is in the cache; else as Python, while it is compiled."""

    count: Callable[..., int]

    def __init__(self) -> None:
        one, places = np.ones(1), np.zeros(1, np.int64)
        batch = Batch(one, one, places, places, places, one, one, places)
        args = batch, np.ones((1, 1)), np.ones((1, 1)), Stakes(np.ones((1, 2, J)), np.ones((2, J)), np.ones((2, J)))
        space = np.ones((1, 1, 1)), np.ones((1, 1)), one, np.ones((2, J))
        self.count = prepared(
            outcomes.count, (*args, *space), compile_mode("background"), partial(setattr, self, "count")
        )

    @property
    def compiling(self) -> bool:
        """Whether it will soon be a hundred times faster."""
        return isinstance(self.count, InterpretedUntilCompiled) and not self.count.request.over.is_set()


@cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()
