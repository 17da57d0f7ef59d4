"""Handling of Ctrl-C: the process ends at once during compilation, and in an orderly way while results are written.

LLVM calls back into Python while it compiles; an exception raised there is lost or crashes the process. While an experiment is planned and
compiled, nothing is being written, so an interrupt ends the process immediately. While cells run and files are written, it raises a
`KeyboardInterrupt`: the running cells are finished and stored, and no unfinished file is left.
"""

import contextlib
import os
import signal
import sys
import threading
from types import FrameType

INTERRUPTED = 130
STOPPED = "stopped; finished trials are kept, and the same command resumes"
SHOW_CURSOR = "\r\x1b[K\x1b[?25h"  # a progress bar hides it


def interrupt_at_once() -> None:
    """From now on, an interrupt prints one line and ends the process."""
    _handle(_leave)


def interrupt_in_order() -> None:
    """From now on, an interrupt raises `KeyboardInterrupt`."""
    _handle(signal.default_int_handler)


def _handle(handler: object) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


def _leave(number: int, frame: FrameType | None) -> None:
    util = sys.modules.get("multiprocessing.util")
    if util is not None:  # its semaphores are returned, or a process of its own would complain of them
        with contextlib.suppress(Exception):
            util._run_finalizers(0)
    os.write(2, f"{SHOW_CURSOR if os.isatty(2) else ''}driftbandits: {STOPPED}\n".encode())
    os._exit(INTERRUPTED)
