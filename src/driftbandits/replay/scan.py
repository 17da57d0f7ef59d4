"""The first pass over a log, which reports errors before hours of replay."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bandit.offers import in_order
from ..errors import InvalidValue
from .chunks import Chunk
from .kinds import Kinds
from .propensity_check import PropensityCheck
from .rounded import Digits, exactly
from .uniform import Uniformity

UNIFORM = 1e-4  # a uniform log is taken for another one so rarely


@dataclass
class Facts:
    """Facts of the whole log: sizes, times, items."""

    rows: int = 0
    dropped: int = 0  # rows without a reward that are left out
    repeated: int = 0  # rows that have the id of an earlier one, and are left out
    items: list[Any] = field(default_factory=list)
    start: float | None = None
    end: float | None = None
    late: bool = False  # does any reward come later than its decision?
    least: float = 1.0  # the smallest propensity
    smallest: float = math.inf  # reward
    largest: float = -math.inf
    impossible: str | None = None  # a row with propensity 0
    untrue: str | None = None  # why its propensities cannot be true
    crooked: str | None = None  # why it is not uniform, if it has no propensities and is not
    rounded: bool = False  # its propensities are 1/n, rounded, and are read as 1/n
    digits: str = ""  # what rounding makes of them, if it matters


def scan(chunks: Iterator[Chunk], name: str, known: bool) -> Facts:
    """Read everything once."""
    facts, items = Facts(), {}  # type: Facts, dict[Any, None]
    uniformity = None if known else Uniformity()
    propensities = PropensityCheck() if known else None
    kinds, digits = Kinds(), Digits()
    seen: object = None
    for chunk in chunks:
        facts.dropped += chunk.dropped
        facts.repeated += chunk.repeated
        if not len(chunk):
            continue
        facts.rows += len(chunk)
        if chunk.offers.distinct is not seen:
            items |= dict.fromkeys(_on_offer(chunk))
            seen = chunk.offers.distinct
        facts.smallest = min(facts.smallest, float(chunk.reward.min()))
        facts.largest = max(facts.largest, float(chunk.reward.max()))
        kinds.add(chunk)
        _times(facts, chunk)
        _chances(facts, chunk)
        if propensities is not None:
            digits.add(chunk)
            propensities.add(exactly(chunk) if digits.uniform else chunk)
        if uniformity is not None:
            for row in chunk.rows():
                uniformity.add(row)
    if not facts.rows:
        raise InvalidValue(f"{name} has no decision with a reward; there is nothing to learn from it")
    kinds.refuse_copies(facts.rows)
    facts.items = in_order(items)
    facts.untrue = None if propensities is None else propensities.problem()
    facts.rounded = propensities is not None and digits.uniform
    facts.least = digits.least if facts.rounded else facts.least
    facts.digits = "" if facts.rounded or propensities is None else digits.told(facts.least)
    if uniformity is not None and uniformity.p_value() < UNIFORM:
        facts.crooked = uniformity.worst(UNIFORM)
    return facts


def _on_offer(chunk: Chunk) -> list[Any]:
    """Names of the items that any row had on offer, in the order in which they appear."""
    offers = chunk.offers
    used, first = np.unique(offers.which, return_index=True)
    order = used[np.argsort(first)].tolist()
    return [name for k in order for name in offers.distinct[k]]


def _times(facts: Facts, chunk: Chunk) -> None:
    facts.late = facts.late or (chunk.rewarded is not None and not bool(np.isnan(chunk.rewarded).all()))
    if chunk.at is None:
        return
    before = np.concatenate([[chunk.at[0] if facts.end is None else facts.end], chunk.at[:-1]])
    back = np.flatnonzero(chunk.at < before)
    if len(back):
        raise InvalidValue(
            f"row {chunk.number[back[0]]} of {chunk.source} is earlier than the row before it; a file must be in order of time: "
            "sort it first, or give a frame, which is sorted here"
        )
    facts.start = float(chunk.at[0]) if facts.start is None else facts.start
    facts.end = float(chunk.at[-1])


def _chances(facts: Facts, chunk: Chunk) -> None:
    p = 1.0 / chunk.offers.sizes() if chunk.propensity is None else chunk.propensity
    least = float(p.min())
    if least == 0.0 and facts.impossible is None:
        facts.impossible = f"row {chunk.number[int(np.argmin(p))]} of {chunk.source}"
    facts.least = min(facts.least, least)
