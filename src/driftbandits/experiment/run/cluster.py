"""The same cells on Dask distributed: `local:4` for processes on this machine, `tcp://host:8786` for a cluster.

Cells are plain data and results do not depend on where they are computed. A worker that dies costs the time of its
cells: Dask gives them to another one. Every worker needs this version of the library; another one is refused.
"""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

from ...errors import DriftBanditsError
from ...util.tasks import LOST, TIMEOUT, quiet
from ..spec.source import SpecError
from .cells import Cell, Result, library, run
from .compilation import compile_one
from .objects import composition, strategy_of, world_of

ALLOWED_FAILURES = 5


class ClusterFailed(DriftBanditsError, RuntimeError):
    """The scheduler or the workers are gone; what is finished is stored, and the same command resumes."""


_ready: set[str] = set()
_lock = threading.Lock()


def run_on_worker(spec: dict[str, Any]) -> Result:
    """Run a cell in a worker; the first of its kind compiles while the worker's other threads wait."""
    with _lock:
        name = composition(strategy_of(spec["strategy"]), world_of(spec["environment"]))
        if name not in _ready:
            compile_one(spec)
            _ready.add(name)
    return run(spec)


def on_cluster(cells: list[Cell], address: str) -> Iterator[tuple[Cell, Result]]:
    """Results as they come."""
    distributed = _distributed()
    try:
        with quiet(), _client(distributed, address) as client:
            yield from _results(distributed, client, cells, address)
    except LOST:
        raise ClusterFailed(
            f"--cluster {address}: the scheduler is gone; what is finished is kept, and the same command resumes"
        ) from None


def _results(distributed: Any, client: Any, cells: list[Cell], address: str) -> Iterator[tuple[Cell, Result]]:
    versions = client.run(library)
    other = {worker: version for worker, version in versions.items() if version != library()}
    if other:
        worker, version = next(iter(other.items()))
        raise SpecError(
            f"--cluster {address}: worker {worker} runs driftbandits {version}, this is {library()}; "
            "install the same version"
        )
    futures = {client.submit(run_on_worker, cell.spec, key=f"cell-{cell.key}", retries=2): cell for cell in cells}
    for future, result in distributed.as_completed(list(futures), with_results=True, raise_errors=False):
        if future.status == "error":
            _raise_error(future.exception(), futures[future], address)
        if future.status != "finished":
            raise asyncio.CancelledError
        yield futures.pop(future), result


def _raise_error(problem: BaseException, cell: Cell, address: str) -> None:
    """Raise an error of the cell as if it had run here; report that too many workers ended."""
    import distributed

    if isinstance(problem, distributed.KilledWorker):
        raise ClusterFailed(
            f"--cluster {address}: {ALLOWED_FAILURES + 1} workers died while they ran '{cell.strategy}' in '{cell.environment}', "
            f"trial {cell.trial}; what is finished is kept, and the same command resumes"
        ) from None
    if isinstance(problem, DriftBanditsError):
        raise problem
    raise ClusterFailed(
        f"--cluster {address}: '{cell.strategy}' in '{cell.environment}', trial {cell.trial}: "
        f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"
    ) from problem


def _distributed() -> Any:
    try:
        import distributed
    except ModuleNotFoundError:
        raise SpecError("--cluster needs Dask distributed: pip install 'driftbandits[cluster]'") from None
    return distributed


def check_address(address: str) -> None:
    """Refuse an address that cannot be one, and a missing Dask, before any work is done."""
    kind, _, rest = address.partition(":")
    if not (kind == "local" and rest.isdigit() and int(rest) > 0) and not (
        kind in ("tcp", "tls") and rest.startswith("//")
    ):
        raise SpecError(
            f"--cluster {address}: it must be local:N, for N processes on this machine, "
            "or the tcp://host:port of a scheduler"
        )
    _distributed()


def _client(distributed: Any, address: str) -> Any:
    import dask

    settings = {"distributed.scheduler.allowed-failures": ALLOWED_FAILURES, "distributed.admin.low-level-log-length": 0}
    if address.startswith("local:"):
        with dask.config.set(settings):
            cluster = distributed.LocalCluster(
                n_workers=int(address.removeprefix("local:")),
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
            )
        return _Owned(distributed.Client(cluster), cluster)
    try:
        return distributed.Client(address, timeout=TIMEOUT)
    except OSError:
        raise SpecError(f"--cluster {address}: no scheduler answers there") from None


class _Owned:
    """A client whose cluster ends with it."""

    def __init__(self, client: Any, cluster: Any) -> None:
        self.client, self.cluster = client, cluster

    def __enter__(self) -> Any:
        return self.client

    def __exit__(self, *_: Any) -> None:
        self.client.close()
        self.cluster.close()
