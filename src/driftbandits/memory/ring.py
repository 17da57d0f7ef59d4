"""The raw past that a memory keeps."""

import numpy as np

from ..protocol import NO_SLOT, History


def ring(dim: int, length: int) -> History:
    """Room for the last `length` observations."""
    return History(
        clock=np.zeros(1, np.int64),
        x=np.zeros((length, dim)),
        r=np.zeros(length),
        slot=np.full(length, NO_SLOT, np.int64),
    )


def no_ring(dim: int) -> History:
    """Only the clock: the memory works by recursion."""
    return ring(dim, 0)
