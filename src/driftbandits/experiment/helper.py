"""Another process, that works through requests: one JSON a line on its standard input, one word in answer to each.

It ends when its input does, so it never outlives the process that started it.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ..errors import DriftBanditsError

DONE, FAILED, DIED = "done", "failed", ""


class Helper:
    """The other process runs `work`, a function that calls `serve`; its imports go on while this process does something else."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {work.__module__} import {work.__name__} as work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> "Helper":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()  # it has answered all that was asked, or nobody waits for it any more
        self._process.communicate()

    def ask(self, request: Any) -> str:
        """Wait for the answer. What is not done, do yourself: you will meet the same error, and can tell it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return DIED
        return self._process.stdout.readline().strip()


def serve(handle: Callable[[Any], object]) -> None:
    """Work through the requests on standard input."""
    for line in sys.stdin:
        try:
            handle(json.loads(line))
            answer = DONE
        except DriftBanditsError:
            answer = FAILED
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
