"""The sums of a ledger as JSON and one array, and back.

Sums that no decisions could have produced are refused, because a file may be damaged or forged.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.linalg import Vector
from ..errors import InvalidValue, said
from ..inference import outcomes
from ..inference import policy_value as pv
from ..inference.policy_value import EARLY
from .early_clicks import EarlyClicks
from .ledger import Books, Ledger
from .policy_sums import Sums
from .windows import no_buckets

MOST = 2.0**53  # decisions
LARGEST = 1e100  # a sum of inverse propensities is below, and its square is a float


def pack(ledger: Ledger) -> tuple[dict[str, Any], Vector]:
    """Everything, as JSON and one array: of each size the sums of policies, of items, and of policies in each bucket."""
    ledger.flush()
    books, sizes, flat = ledger.books, [], []
    for size in sorted(books.sums):
        sums, windows = books.sums[size], []
        flat += [*sums.policies.values(), *sums.items]
        for window, kept in sums.buckets.items():
            for b in sorted(kept):
                windows.append([window, b, [*kept[b]]])
                flat.extend(kept[b].values())
        sizes.append([size, [*sums.policies], len(sums.items), windows])
    about = {
        "columns": ledger.width,
        "weights": books.weights,
        "items": [*books.places],
        "sizes": sizes,
        "mass": [
            {name: shown.tolist() for name, shown in books.sums[size].mass.items()} for size in sorted(books.sums)
        ],
        "newest": books.newest if math.isfinite(books.newest) else None,
        "early": [books.early.many, books.early.total],
        "rate": books.early.rate,
    }
    return about, np.concatenate(flat) if flat else np.zeros(0)


def unpack(ledger: Ledger, about: Mapping[str, Any], flat: Vector) -> None:
    """What was packed, in place of what is known; sums of an earlier version, which were kept otherwise, are begun anew."""
    if "sizes" not in about or about.get("columns", outcomes.BOUNDED) != ledger.width:
        return
    if not ledger.bounded and "mass" not in about:
        return
    names = about["items"]
    if len({*names}) < len(names):
        raise InvalidValue("the sums of policies name an item twice")
    many = sum(
        len(policies) + items + sum(len(kept) for _, _, kept in windows)
        for _, policies, items, windows in about["sizes"]
    )
    rows = _rows(flat, many, ledger.width)
    sums = {}
    for place, (size, policies, items, windows) in enumerate(about["sizes"]):
        if type(items) is not int or not 0 <= items <= len(names):
            raise InvalidValue(f"there are sums of {said(items)} items; the file names {len(names)}")
        mass = {} if ledger.bounded else _mass(about["mass"][place], items)
        sums[int(size)] = _sums(rows, policies, items, windows, ledger.width)._replace(mass=mass)
    weights = {str(name): float(value) for name, value in about["weights"].items()}
    policies = {name for one in sums.values() for name in one.policies}
    if not all(1.0 <= weight <= pv.LARGEST for weight in weights.values()) or not policies <= {*weights}:
        raise InvalidValue(f"the weights of policies are {said(weights)}; each must be in [1, {pv.LARGEST:g}]")
    newest = -math.inf if about["newest"] is None else float(about["newest"])
    if math.isnan(newest) or newest == math.inf:
        raise InvalidValue(f"the time of the newest decision is {said(newest)}; it must be finite")
    ledger.books = Books(weights, {name: place for place, name in enumerate(names)}, sums, newest, _early(about))


def _rows(flat: Vector, many: int, width: int) -> Iterator[Vector]:
    if flat.dtype != np.float64 or flat.shape != (many * width,) or not np.isfinite(flat).all():
        raise InvalidValue(f"the sums of policies are {said(flat)}; they must be {many * width} finite numbers")
    squared = [
        outcomes.W,
        *((outcomes.W_PAID, outcomes.AWAY, outcomes.AWAY_PAID) if width == outcomes.UNBOUNDED else ()),
    ]
    if flat.size and np.abs(flat.reshape(many, width)[:, squared]).max() > LARGEST:
        raise InvalidValue(f"the sums of weights have a number beyond ± {LARGEST:g}, which no propensities give")
    if flat.size and np.abs(flat.reshape(many, width)[:, outcomes.N]).max() > MOST:
        raise InvalidValue(
            f"there are more than {MOST:g} decisions in the sums of policies, more than any bandit can have made"
        )
    return iter(flat.reshape(many, width).copy())


def _sums(rows: Iterator[Vector], policies: Any, items: int, windows: Any, width: int) -> Sums:
    of_policies = {str(name): next(rows) for name in policies}
    of_items = np.array([next(rows) for _ in range(items)]).reshape(-1, width)
    buckets = no_buckets()
    for window, b, names in windows:
        buckets[window][int(b)] = {str(name): next(rows) for name in names}
    return Sums(of_policies, of_items, buckets, {})


def _mass(told: Mapping[str, Any], items: int) -> dict[str, Vector]:
    """How often each policy showed each item."""
    mass = {str(name): np.array(shown, np.float64) for name, shown in told.items()}
    for name, shown in mass.items():
        if shown.shape != (items,) or not (np.abs(shown) <= LARGEST).all():
            raise InvalidValue(f"how often policy {said(name)} showed each of {items} items is {said(shown)}")
    return mass


def _early(about: Mapping[str, Any]) -> EarlyClicks:
    many, total = (float(x) for x in about["early"])
    rate = None if about["rate"] is None else float(about["rate"])
    if not 0.0 <= total <= many <= LARGEST or (rate is not None and not 0.0 < rate < 1.0):
        told = said((many, total, rate))
        raise InvalidValue(f"rewards of the first {EARLY} decisions are {told}: no clicks give these")
    return EarlyClicks(many, total, rate)
