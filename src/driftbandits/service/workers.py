"""uvicorn's worker processes, with immediate detection of a worker that died.

The parent of several workers asks each in turn whether it is alive and waits for the answer, `server.HEALTHY` seconds at most. uvicorn
keeps the worker's end of that pipe open in the parent, so a worker that dies between question and answer leaves the parent waiting for the
whole time: meanwhile no dead worker is replaced, and SIGTERM and SIGHUP are not handled. Without the copy the pipe ends with the worker.
"""

from uvicorn.supervisors import multiprocess


class Worker(multiprocess.Process):
    """A worker process, as its parent sees it."""

    def start(self) -> None:
        """Start it, and leave its end of the pipe to it alone."""
        super().start()
        self.child_conn.close()


def install() -> None:
    """Let uvicorn's supervisor, which names its class of workers itself, use this one."""
    multiprocess.Process = Worker  # type: ignore[misc]
