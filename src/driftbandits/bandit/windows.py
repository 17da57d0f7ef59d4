"""Sums over the decisions of the last day and week: by hour and by day, so that old ones can be left out."""

from collections.abc import Mapping

import numpy as np

from ..core.linalg import Matrix, Vector
from ..inference import policy_value as pv

HOUR, DAY = 3600.0, 86400.0
WINDOWS = {"day": (HOUR, 24), "week": (DAY, 7)}  # length of a bucket, and how many are looked at
Buckets = dict[str, dict[int, dict[str, Vector]]]  # of each window: number of the bucket → sums of each policy


def no_buckets() -> Buckets:
    """What is known before the first reward."""
    return {window: {} for window in WINDOWS}


def bucketed(buckets: Buckets, made: Vector, seen: Vector, valued: Mapping[str, tuple[Vector, Matrix]]) -> Buckets:
    """Buckets with further rewards, in their order; decisions that are too old when their reward comes are left out.

    `made` is when their decisions were made, `seen` the newest time that was known when each came. `valued` has of each policy which of
    the rewards it has terms of, and the terms of all.
    """
    found = {}
    for window, (length, many) in WINDOWS.items():
        number, last = np.floor(made / length), np.floor(seen / length)
        recent = (number > last - many) & (number > last[-1] - many)
        kept = {b: dict(sums) for b, sums in buckets[window].items() if b > last[-1] - many}
        for b in np.unique(number[recent]):
            here = recent & (number == b)
            for name, (rows, terms) in valued.items():
                chosen = terms[rows & here]
                if len(chosen):
                    sums = kept.setdefault(int(b), {})
                    sums[name] = pv.in_turn(sums.get(name, np.zeros(chosen.shape[1])), chosen)
        found[window] = kept
    return found
