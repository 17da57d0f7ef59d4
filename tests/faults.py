"""Fault injection: the n-th step of writing files fails, or the process dies there.

`driftbandits.io.files` does all its work through `os`; here `os` is replaced by one that counts the steps and fails at a chosen one.
"""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any

from driftbandits.io import files

STEPS = ("open", "write", "fsync", "replace")


class Died(BaseException):
    """The process was killed: from here on nothing happens any more, not even cleaning up."""


class FaultyOS:
    """`os`, of which the n-th call of one of the named steps fails (n = 0: none does); short writes on wish."""

    def __init__(self, steps: tuple[str, ...], fail: int, error: OSError | None, longest: int) -> None:
        self.steps, self.fail, self.error, self.longest = steps, fail, error, longest
        self.count = 0  # steps done so far
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in (*STEPS, "unlink", "close", "stat"):
            return real

        def step(*args: Any, **options: Any) -> Any:
            if self.dead and name != "close":  # the kernel closes what a dead process had open
                raise Died
            if name in self.steps:
                self.count += 1
                if self.count == self.fail:
                    return self._fail(name, args)
            if name == "write":
                args = (args[0], args[1][: self.longest])
            return real(*args, **options)

        return step

    def _fail(self, name: str, args: tuple[Any, ...]) -> Any:
        if name == "write":
            os.write(args[0], args[1][: len(args[1]) // 2])  # half of it still gets through
        if self.error is None:
            self.dead = True
            raise Died
        raise self.error


@contextlib.contextmanager
def faults(
    fail: int, *, steps: tuple[str, ...] = STEPS, error: OSError | None = None, longest: int = sys.maxsize
) -> Iterator[FaultyOS]:
    """The n-th of these steps raises the error while this lasts; without an error the process dies there."""
    faulty = FaultyOS(steps, fail, error, longest)
    files.os = faulty
    try:
        yield faulty
    finally:
        files.os = os


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
READ_ONLY = OSError(errno.EROFS, os.strerror(errno.EROFS))
BROKEN = OSError(errno.EIO, os.strerror(errno.EIO))
