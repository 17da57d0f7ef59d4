r"""Sums over decisions, of each policy and of each item, by the size of the numbers in them.

A reward that is replaced is taken back: its terms are subtracted. After 10²⁰ + x − 10²⁰ nothing is left of x. Decisions whose numbers
are of different size therefore have sums of their own,

    size = ⌊log₂ max(|r|, |forecast|) / 8⌋        (all rewards in [0, 1] are of one size),

and sums of a size of which no decision is left are dropped. So what is taken back leaves rounding of at most about 2¹⁶ · 2⁻⁵³ of the
smallest terms of its own size, and nothing in the others.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ..core.background_compile import InterpretedUntilCompiled, compile_mode, prepared
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape
from ..inference import outcomes
from ..inference import policy_value as pv
from ..inference.always_valid import J
from ..inference.asymptotic import unknown_share
from ..inference.outcomes import Batch, Integers, Stakes
from .windows import Buckets, bucketed, no_buckets

RANDOM, FIRST = "random", "first"
ACTING = ""  # the policy that acts, among the names of others
OCTAVES = 8.0  # binary orders of magnitude of one size
LEAST, MOST = -100, 100  # sizes, beyond which there is one


class Sums(NamedTuple):
    """Sums over the decisions of one size; they are replaced as a whole."""

    policies: dict[str, Vector]  # (width,)
    items: Matrix  # (N, width)
    buckets: Buckets
    mass: dict[str, Vector]  # (N,)  how often each policy shows each item; only of rewards without a known range


Sized = dict[int, Sums]  # by size


class Added(NamedTuple):
    """Decisions to be added, in their order: B of them, with K policies."""

    batch: Batch
    names: list[str]  # (K,)
    pi: Matrix  # (K, F) probabilities of the policies
    known: Matrix  # (K, B) whether there are any
    stakes: Stakes
    made: Vector  # (B,) when they were made
    seen: Vector  # (B,) the newest time that was known when each reward came


def sizes(batch: Batch) -> Integers:
    """The size of each decision (B,)."""
    most = np.maximum(np.abs(batch.r), np.maximum.reduceat(np.abs(batch.forecast), batch.start))
    order = np.floor(np.log2(np.maximum(most, 1e-300)) / OCTAVES)
    return np.clip(order, LEAST, MOST).astype(np.int64)


def added(sums: Sized, new: Added, size: Integers, items: int, width: int) -> Sized:
    """Sums with further decisions, of these sizes, between so many items; changes nothing."""
    found = np.unique(size)
    stacked = np.zeros((len(found) * items, width))
    for i, one in enumerate(found.tolist()):
        if one in sums:
            stacked[i * items : i * items + len(sums[one].items)] = sums[one].items
    terms = _terms(new, np.searchsorted(found, size), stacked, items, width)
    after = dict(sums)
    for i, one in enumerate(found.tolist()):
        here = size == one
        before = sums.get(one) or Sums({}, np.zeros((0, width)), no_buckets(), {})
        valued = {
            name: (here & (there > 0.0), of_policy)
            for name, of_policy, there in zip(new.names, terms, new.known, strict=True)
        }
        policies = dict(before.policies)
        for name, (rows, of_policy) in valued.items():
            policies[name] = pv.in_turn(policies.get(name, np.zeros(width)), of_policy[rows])
        buckets = bucketed(before.buckets, new.made, new.seen, valued)
        mass = _mass(before.mass, new, here, items) if width == outcomes.UNBOUNDED else {}
        after[one] = Sums(policies, stacked[i * items : (i + 1) * items], buckets, mass)
        if policies[RANDOM][outcomes.N] == 0.0:  # all of them were taken back
            del after[one]
    return after


def _mass(before: Mapping[str, Vector], new: Added, here: Vector, items: int) -> dict[str, Vector]:
    """How often each policy shows each of N items, with the decisions of this size, added one after the other."""
    batch = new.batch
    of_item = np.repeat(here * batch.sign, batch.size)
    there = batch.place >= 0
    after = {name: np.pad(shown, (0, items - len(shown))) for name, shown in before.items()}
    acting = ACTING, batch.p, np.ones(len(batch.r))
    for name, pi, known in (acting, *zip(new.names, new.pi, new.known, strict=True)):
        total = after.setdefault(name, np.zeros(items))
        np.add.at(total, batch.place[there], (pi * of_item * np.repeat(known, batch.size))[there])
    return after


def _terms(new: Added, group: Integers, stacked: Matrix, items: int, width: int) -> Matrix:
    """Terms (K, B, width) of the policies; those of items are added to `stacked` (G · items, width), by group (B,) and place."""
    batch = new.batch
    shifted = np.where(batch.place >= 0, batch.place + items * np.repeat(group, batch.size), -1)
    terms = np.empty((len(new.names), len(batch.r), width))
    space = np.empty(width), np.empty((2, J))
    if machine().count(batch._replace(place=shifted), new.pi, new.known, new.stakes, terms, stacked, *space) < 0:
        raise InvalidShape("arrays of decisions do not fit each other: please report how it came to this")
    return terms


def total(found: Sequence[Vector], width: int) -> Vector:
    """The sum over sizes."""
    return found[0] if len(found) == 1 else np.asarray(sum(found, np.zeros(width)))


def of_policy(sums: Sized, name: str, width: int) -> Vector:
    """The sums beside a policy; zeros if there are none."""
    return total([sums[size].policies[name] for size in sorted(sums) if name in sums[size].policies], width)


def of_item(sums: Sized, place: int, width: int) -> Vector:
    """The sums beside the policy that always shows one item."""
    return total([sums[size].items[place] for size in sorted(sums) if place < len(sums[size].items)], width)


def unknown(sums: Sized, name: str, items: int) -> float:
    """The share of what a policy shows, among items that have sums, of which it is not known what it pays (`asymptotic`)."""
    mass, paid, squares = np.zeros(items), np.zeros(items), np.zeros(items)
    for one in sums.values():
        shown = one.mass.get(name, np.zeros(0))
        mass[: len(shown)] += shown
        paid[: len(one.items)] += one.items[:, outcomes.W_PAID]
        squares[: len(one.items)] += one.items[:, outcomes.W2_PAID]
    return unknown_share(mass, paid, squares, float(mass.sum()))


def of_bucket(sums: Sized, window: str, name: str, width: int) -> dict[int, Vector]:
    """The sums beside a policy over each hour of the last day, or day of the last week."""
    found: dict[int, list[Vector]] = {}
    for size in sorted(sums):
        for number, policies in sums[size].buckets[window].items():
            if name in policies:
                found.setdefault(number, []).append(policies[name])
    return {number: total(found[number], width) for number in sorted(found)}


def without(sums: Sized, name: str) -> Sized:
    """The sums without those of a policy."""

    def left(one: Sums) -> Sums:
        policies = {n: s for n, s in one.policies.items() if n != name}
        buckets = {
            window: {b: {n: s for n, s in kept.items() if n != name} for b, kept in of_window.items()}
            for window, of_window in one.buckets.items()
        }
        return Sums(policies, one.items, buckets, {n: s for n, s in one.mass.items() if n != name})

    return {size: left(one) for size, one in sums.items()}


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
