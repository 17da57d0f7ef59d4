"""Propensities that were rounded before they were logged.

A logger that chose uniformly among n items on offer and wrote 1/7 as 0.14, or 1/30 as 0.03, is off by 2 % and 11 %, and so are all weights.
If every row of a log has 1/n, rounded to the digits that the log has, it is read as 1/n. In all other cases the original value cannot be
recovered.
"""

from dataclasses import dataclass, replace

import numpy as np

from .chunks import Chunk

MOST = 3  # digits, beyond which rounding does not matter


@dataclass
class Digits:
    """How many digits after the point the propensities have (MOST + 1: more), and whether all are 1/n with so many."""

    many: int = 0
    uniform: bool = True
    least: float = 1.0  # the smallest 1/n

    def add(self, chunk: Chunk) -> None:
        """Look at the rows of a chunk."""
        assert chunk.propensity is not None
        p, exact = chunk.propensity, 1.0 / chunk.offers.sizes()
        while self.many <= MOST and not _has(p, self.many).all():
            self.many += 1
        self.least = min(self.least, float(exact.min()))
        near = np.abs(p - exact) <= 0.5 * 10.0**-self.many + 1e-9
        self.uniform = self.uniform and 2 <= self.many <= MOST and bool((near & (p > 0.0)).all())

    def told(self, least: float) -> str:
        """What rounding makes of the smallest propensity, if it matters."""
        half = 0.5 * 10.0**-self.many
        if self.many > MOST or half < 0.02 * least:
            return ""
        digits = f"{self.many} digit{'' if self.many == 1 else 's'}"
        return f" (they have {digits}, and {least:g} may be {max(least - half, 0.0):g} to {least + half:g}: log more digits)"


def _has(p: np.ndarray, digits: int) -> np.ndarray:
    scaled = p * 10.0**digits
    return np.asarray(np.abs(scaled - np.round(scaled)) < 1e-6)


def exactly(chunk: Chunk) -> Chunk:
    """A chunk of a log that was uniform, with 1/n in place of what was rounded."""
    return replace(chunk, propensity=1.0 / chunk.offers.sizes())
