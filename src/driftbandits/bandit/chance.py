"""Random numbers without state: each is a function of the seed and the decision's number (SplitMix64; Steele, Lea, Flood 2014)."""

import hashlib

import numpy as np
from numpy.typing import NDArray

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


def uniforms(start: int, first: int, n: int) -> NDArray[np.float64]:
    """`uniform` for the first place of n decisions in a row.

    Examples
    --------
    >>> uniforms(seed_of(0), 5, 2).tolist() == [uniform(seed_of(0), 5, 0), uniform(seed_of(0), 6, 0)]
    True
    """
    step = np.arange(n, dtype=np.uint64) * np.uint64(PLACES * GOLDEN & MASK)  # whole numbers wrap around at 2⁶⁴
    z = np.uint64((start + first * PLACES * GOLDEN) & MASK) + step
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
