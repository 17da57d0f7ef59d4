"""The processes that run the application: uvicorn, one or several."""

import contextlib
import os
import resource
import tempfile

import uvicorn

from .app import checked_keys
from .config import Config
from .metrics import MULTIPROCESS

FILES = 8  # open files per loop: the database, its log and index, the lock, and room


def run(config: Config) -> None:
    """Serve until SIGTERM or Ctrl-C; SIGHUP replaces the workers one by one (a new version, without refusing a request)."""
    checked_keys(config)
    _allow_files(config.max_open * FILES)
    config.export()
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
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=10,
            timeout_keep_alive=75,
        )


def _allow_files(wanted: int) -> None:
    """Raise the limit of open files as far as the system lets this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, wanted + 200)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
