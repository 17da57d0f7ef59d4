"""Chance that needs no state: a draw is a function of the seed and the decision's number (SplitMix64; Steele, Lea, Flood 2014)."""

import hashlib

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
PLACES = 1 << 12  # draws for one decision


def seed_of(seed: int) -> int:
    """64 well-mixed bits from any whole number."""
    return int.from_bytes(hashlib.blake2b(str(seed).encode(), digest_size=8).digest(), "little")


def uniform(start: int, tick: int, place: int) -> float:
    """A number in [0, 1) for one place of decision `tick`.

    Examples
    --------
    >>> 0.0 <= uniform(seed_of(0), 1, 0) < 1.0
    True
    """
    z = (start + (tick * PLACES + place) * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53
