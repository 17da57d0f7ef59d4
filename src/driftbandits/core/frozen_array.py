"""Numbers that belong to a strategy and not to its type: a vector or a matrix as the field of a part.

Fields of parts are numbers, because compiled code takes them by value. A prior is d or d² numbers, and compiled code would have to be
made anew for every d. `Frozen` numbers are for Python alone: a part reads them in `blank_sums`, `start` and the like, and puts what
compiled code needs into the state. Like every field they never change, compare by value and are saved with the strategy.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidValue


class Frozen:
    """An array of finite numbers that does not change.

    Examples
    --------
    >>> prior = Frozen("prior_mean", [0.5, 1.0])
    >>> prior == Frozen("other", [0.5, 1.0]), prior.array.flags.writeable
    (True, False)
    """

    __slots__ = ("array",)
    array: NDArray[np.float64]

    def __init__(self, name: str, values: ArrayLike) -> None:
        try:
            array = np.array(values, np.float64)
        except (TypeError, ValueError):
            raise InvalidValue(f"{name} = {values!r:.60} is not an array of numbers") from None
        if not np.isfinite(array).all():
            raise InvalidValue(f"{name} must be finite; nothing can be computed with NaN or infinity")
        array.flags.writeable = False
        self.array = array

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.array.shape, self.array.tobytes()))

    def __repr__(self) -> str:
        return f"Frozen({self.array.tolist()!r})" if self.array.size <= 8 else f"Frozen(shape={self.array.shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, ("numbers", self.array.tolist())
