r"""Two arms whose values swing against each other.

    θ_t = (½ + h·sin(2πct/T), ½ − h·sin(2πct/T)),   t = 1..T,   c cycles, h the height

P_T ≈ 4√2·h·c: each cycle moves every coordinate by 4h. Cheung, Simchi-Levi, Zhu (2019, Section 7) have h = 0.3 and the phase 5B_Tπt/T,
that is c = 2.5·B_T cycles.
"""

from dataclasses import dataclass

import numpy as np

from ..core.linalg import Matrix
from ..errors import positive, real, require
from .paths import Path, Rounds

CENTRE = 0.5


@dataclass(frozen=True)
class _Swinging(Path):
    cycles: float
    height: float

    def at(self, t: Rounds) -> Matrix:
        swing = self.height * np.sin(2.0 * np.pi * self.cycles * (t + 1) / self.horizon)
        return np.stack([CENTRE + swing, CENTRE - swing], axis=1)


def swinging(horizon: int, *, cycles: float = 2.5, height: float = 0.3) -> Path:
    """θ_t = (½ + height·sin(2π·cycles·t/T), ½ − height·sin(2π·cycles·t/T)), for arms (1, 0) and (0, 1).

    Examples
    --------
    >>> swinging(4, cycles=1).to_array().round(3)
    array([[0.8, 0.2],
           [0.5, 0.5],
           [0.2, 0.8],
           [0.5, 0.5]])
    """
    positive("cycles", cycles, "it is how often the two values change places and come back")
    why = "the values of the arms must stay in [0, 1]"
    require(0.0 <= real("height", height) <= CENTRE, "height", height, "in [0, 0.5]", why)
    return _Swinging(horizon, 2, float(np.sqrt(2.0 * (CENTRE**2 + height**2))), cycles, height)
