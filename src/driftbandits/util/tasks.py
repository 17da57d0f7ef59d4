"""Independent tasks: one after the other in this process, or on Dask (threads, processes, a cluster).

Tasks do not know of each other and results come in their order, so an answer does not depend on where it was computed.
"""

import asyncio
import concurrent.futures
import contextlib
import importlib
import logging
import os
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import InvalidState, InvalidValue, said

Map = Callable[[Callable[[Any], Any], list[Any]], list[Any]]
SCHEDULERS = ("threads", "processes", "synchronous")  # of Dask, on this machine
TIMEOUT = 10  # seconds until a scheduler must have answered, and must have a worker
LOST = (OSError, asyncio.CancelledError, concurrent.futures.CancelledError)  # a closed connection is an OSError


def in_turn(function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    """One task after the other, in this process."""
    return [function(task) for task in tasks]


class OnDask:
    """Tasks on Dask: a scheduler ("threads", "processes"), the address of a cluster, or for None what is the default there.

    Examples
    --------
    >>> OnDask("synchronous")(abs, [-1, 2])
    [1, 2]
    """

    def __init__(self, scheduler: str | None) -> None:
        named = isinstance(scheduler, str) and (scheduler in SCHEDULERS or "://" in scheduler)
        if scheduler is not None and not named:
            raise InvalidValue(
                f"scheduler = {said(scheduler)} is not allowed; it must be {', '.join(map(repr, SCHEDULERS))} or an address "
                "like 'tcp://host:8786'"
            )
        self.scheduler = scheduler
        self.here = scheduler is None or scheduler in SCHEDULERS
        self._dask = _imported("dask")

    def __call__(self, function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
        """The results of all tasks, in their order."""
        delayed = self._dask.delayed
        todo = [delayed(function, pure=False, traverse=False)(delayed(task, traverse=False)) for task in tasks]
        if self.here:
            return list(self._dask.compute(*todo, scheduler=self.scheduler))
        with self._client() as client:
            try:
                return list(client.gather(client.compute(todo)))
            except LOST as problem:
                if isinstance(problem, OSError) and not _closed(problem):
                    raise  # of the task itself, such as a file that is missing there
                raise InvalidState(
                    f"scheduler = {self.scheduler!r}: the connection was lost; nothing was kept"
                ) from None
            except _imported("distributed").KilledWorker:
                raise InvalidState(
                    f"scheduler = {self.scheduler!r}: workers died while they ran the same task"
                ) from None

    def workers(self) -> int:
        """How many tasks run at the same time."""
        if self.scheduler == "synchronous":
            return 1
        if self.here:
            return int(self._dask.config.get("num_workers", None) or os.cpu_count() or 1)
        with self._client() as client:
            return sum(client.nthreads().values())

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        """A connection to the cluster, which has at least one worker."""
        distributed = _imported("distributed")
        with quiet():
            try:
                client = distributed.Client(self.scheduler, set_as_default=False, timeout=TIMEOUT)
            except (
                OSError,
                ValueError,
                TypeError,
                AssertionError,
            ) as problem:  # OSError: no answer; Dask asserts that it could start
                reason = (str(problem).splitlines() or [type(problem).__name__])[0]
                raise InvalidValue(f"scheduler = {self.scheduler!r} does not answer: {reason}") from None
            with client:
                try:
                    client.wait_for_workers(1, timeout=TIMEOUT)
                except TimeoutError:
                    raise InvalidValue(
                        f"scheduler = {self.scheduler!r} has no workers; start some with dask worker"
                    ) from None
                yield client


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence Dask's own messages, which are reported in one line instead."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _closed(problem: OSError) -> bool:
    """Whether an error is one of the connection to the scheduler."""
    return type(problem).__module__.partition(".")[0] == "distributed" or isinstance(
        problem, ConnectionError | TimeoutError
    )


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InvalidValue("scheduler=… needs Dask: pip install 'driftbandits[cluster]'") from None
