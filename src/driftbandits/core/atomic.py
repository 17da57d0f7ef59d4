"""Steps that an interrupt cannot tear apart.

Ctrl-C and `MemoryError` may come between any two lines of Python. What an agent does is therefore cut into *steps*: each is one call that
changes the state, and notes its result before Python can be interrupted again. Whoever is interrupted between two steps knows from the
results which of them were made, and goes on from there.
"""

from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from .state import leaves


def once(results: list[Any], step: Callable[..., Any], *args: Any) -> None:
    """Call a step and append its result: one call into C, so that no signal is handled between the two.

    Examples
    --------
    >>> results = []
    >>> once(results, pow, 2, 5)
    >>> results
    [32]
    """
    results.extend(map(step, *((arg,) for arg in args)))


def change(results: list[Any], step: Callable[..., Any], state: Any, rng: np.random.Generator, *args: Any) -> None:
    """A step that changes the arrays of a state: `step(*args)`, wholly or not at all.

    Machine code is not interrupted. As Python, which runs while code is being compiled, a step may be: then every array and the random
    generator get back what they held.
    """
    if type(step) is BuiltinFunctionType:
        once(results, step, *args)
        return
    known, before, chance = len(results), [array.copy() for _, array in leaves(state)], rng.bit_generator.state
    try:
        once(results, step, *args)
    except BaseException:
        if len(results) == known:
            for (_, array), values in zip(leaves(state), before, strict=True):
                array[...] = values
            rng.bit_generator.state = chance
        raise
