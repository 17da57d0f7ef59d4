"""The processes that run the application: uvicorn, one or several."""

import contextlib
import os
import resource
import socket
import tempfile
from collections.abc import Callable

import uvicorn

from ..errors import InvalidValue
from . import workers
from .app import checked_keys, open_catalogue
from .config import Config
from .file_catalogue import FileCatalogue
from .metrics import MULTIPROCESS
from .protocol import JSONProtocol
from .settings import LoopSettings

FIRST = "default"  # the loop that a new folder has
# Seconds after which a worker that has not begun, or does not answer, is given up. With uvicorn's 5 s a busy machine never gets a worker:
# each is killed while it begins, and SIGHUP keeps the old ones.
HEALTHY = 120
FILES = 8  # open files per loop: the database, its log and index, the lock, and room


def run(config: Config, *, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; SIGHUP replaces the workers one by one (a new version, without refusing a request)."""
    keys = checked_keys(config)
    _check_address(config)
    if config.database is not None:
        _check_database(config.database)
        open_catalogue(config).close()  # refused in one line, before anything is said to be served
    say(_greeting(config, first=_first_loop(config) if keys is None and config.database is None else None))
    _allow_files(config.max_open * FILES)
    config.export()
    workers.install()
    with contextlib.ExitStack() as stack:
        if config.workers > 1:
            os.environ[MULTIPROCESS] = stack.enter_context(tempfile.TemporaryDirectory(prefix="driftbandits-metrics-"))
        uvicorn.run(
            "driftbandits.service.app:worker",
            factory=True,
            host=config.host,
            port=config.port,
            workers=config.workers,
            log_config=None,
            http=JSONProtocol,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nothing here depends on the caller's address
            timeout_graceful_shutdown=10,
            timeout_keep_alive=75,
            timeout_worker_healthcheck=HEALTHY,
        )


def _check_address(config: Config) -> None:
    """Whether this machine has the address and no process listens on it."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((config.host, config.port))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InvalidValue(
            f"{_shown(config)} cannot be served: {reason}; choose another with --host and --port"
        ) from None


def _check_database(url: str) -> None:
    """Whether it can be reached now. Workers that begin later wait for a database that restarts, and their pool does not tell why."""
    from ..bandit.postgres_store import check_reachable

    check_reachable(url)


def _shown(config: Config) -> str:
    return f"http://{f'[{config.host}]' if ':' in config.host else config.host}:{config.port}"


def _first_loop(config: Config) -> str | None:
    """A folder without loops gets one to try: then the first decision is one line in a shell. Its name, if it was made."""
    catalogue = FileCatalogue(config.data, shared=config.workers > 1)
    return FIRST if not catalogue.names() and catalogue.create(FIRST, LoopSettings()) else None


def _greeting(config: Config, first: str | None) -> str:
    address = _shown(config)
    lines = [f"serves {address}  ({address}/docs describes every call; Ctrl-C ends it)"]
    if first is not None:
        lines.append(f'try    curl {address}/loops/{first}/decide -d \'{{"items": ["a", "b"]}}\'')
    return "\n".join(lines)


def _allow_files(wanted: int) -> None:
    """Raise the limit of open files as far as the system lets this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, wanted + 200)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
