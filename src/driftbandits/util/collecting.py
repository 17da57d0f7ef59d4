"""Python's search for cycles of garbage, which finds nothing while many objects are made that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not search while a batch is under way: each search walks through all objects of the process, again and again as they grow.

    It is for calls whose work is bounded by what they were given: nothing else of the process is searched meanwhile either. Calls of
    several threads may overlap: the first to end switches the search on again, which costs the others time, no more.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if enabled:
            gc.enable()
