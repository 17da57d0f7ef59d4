"""A read-only array as the field of a part, such as the mean vector of a prior.

Fields of parts are numbers, because compiled code takes them by value. A prior is d or d² numbers, and as plain fields they would
require a new compilation for every d. `Frozen` arrays are therefore read by Python alone: a part reads them in `blank_sums`, `start` and
similar functions, and puts what compiled code needs into the state. Like every field they are immutable, compare by value and are saved
with the strategy.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidValue


class Frozen:
    """An immutable array of finite numbers.

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
