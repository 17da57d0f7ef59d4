"""Where the command `driftbandits` begins: outside the package, whose import takes a second in which Ctrl-C must work."""

import os
import signal
from types import FrameType

STOPPED = b"driftbandits: stopped; nothing was begun\n"


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, STOPPED)
    os._exit(130)  # an exception here would surface in the middle of somebody's import


def main() -> None:
    """Run the command; an interrupt before it has begun is one line and exit code 130, as one after that."""
    signal.signal(signal.SIGINT, _leave)
    from driftbandits.cli import main as run

    run()
