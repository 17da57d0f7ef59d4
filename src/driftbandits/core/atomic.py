"""State changes that an interrupt cannot leave half done.

Ctrl-C and `MemoryError` may occur between any two lines of Python. The work of an agent is therefore divided into *steps*: each is one
call that changes the state and records its result before Python can be interrupted again. After an interrupt between two steps, the
recorded results tell which steps were completed, and the agent continues from there.
"""

from collections.abc import Callable, Iterable
from types import BuiltinFunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .state import leaves


def once(results: list[Any], step: Callable[..., Any], *args: Any) -> None:
    """Call a step and append its result to `results`, with no chance of an interrupt between the two.

    Python handles signals between byte codes. `list.extend` over `map` calls the step and appends its result inside one call into C.

    Examples
    --------
    >>> results = []
    >>> once(results, pow, 2, 5)
    >>> results
    [32]
    """
    results.extend(map(step, *((arg,) for arg in args)))


def change(results: list[Any], step: Callable[..., Any], state: Any, rng: np.random.Generator, *args: Any) -> None:
    """Run a step that changes the arrays of a state: `step(*args)` takes effect completely or not at all.

    Machine code cannot be interrupted. An interpreted step, which runs while code is being compiled, can be: then the values of every
    array and of the random generator are restored.
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


def wholly(step: Callable[..., Any], arrays: Iterable[NDArray[Any]], *args: Any) -> Any:
    """`step(*args)`, which changes these arrays wholly or, if it is interrupted as Python, not at all.

    Examples
    --------
    >>> total = np.zeros(2)
    >>> def broken(x):
    ...     x[0] = 1.0
    ...     raise KeyboardInterrupt
    >>> try:
    ...     wholly(broken, [total], total)
    ... except KeyboardInterrupt:
    ...     total.tolist()
    [0.0, 0.0]
    """
    if type(step) is BuiltinFunctionType:
        return step(*args)
    kept = [*arrays]
    before = [array.copy() for array in kept]
    try:
        return step(*args)
    except BaseException:
        for array, values in zip(kept, before, strict=True):
            array[...] = values
        raise
