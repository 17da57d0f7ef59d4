"""The application: `create_app(config)`."""

import contextlib
import gc
import logging
import math
import sys
from collections.abc import AsyncIterator

from fastapi import FastAPI

from .. import __version__
from ..bandit.model import Budget
from ..errors import InvalidValue
from . import problems, routes
from .catalogue import Catalogue
from .config import Config
from .dashboard import router as dashboard
from .dashboard.state import States
from .direct import Direct
from .file_catalogue import FileCatalogue
from .gate import Gate, JSONLines
from .keys import Keys, is_loopback
from .loops import Loops
from .personalizer import router as personalizer

RETIRED = "/loops/{loop}/personalizer"
VERSIONS = (
    "v1.0",
    "v1.1-preview.1",
    "v1.1-preview.2",
    "v1.1-preview.3",
)  # of the retired protocol, in paths of its earlier clients


def create_app(config: Config) -> FastAPI:
    """The service over the loops of a folder, or of a database.

    `app.state.loops` are the open loops and `app.state.config` is the configuration, for every router.
    """
    keys = checked_keys(config)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.loops = Loops(open_catalogue(config), most=config.max_open)
        app.state.personalizer = personalizer.State(app.state.loops)
        app.state.dashboard = States(app.state.loops)
        app.state.loops.start()
        Budget.most = config.max_memory * 2.0**20
        try:
            yield
        finally:
            Budget.most = math.inf
            app.state.personalizer.close()
            app.state.loops.close()

    app = FastAPI(
        title="driftbandits",
        version=__version__,
        description="Decisions over HTTP: choose one of your items, tell the reward when it comes, and the loop learns, also while the "
        "world drifts.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's pages load their scripts from other servers; ours is in `dashboard`
        redoc_url=None,
        redirect_slashes=False,  # a redirection names the Host that the caller sent, and a client would send its key there
    )
    app.state.config = config
    app.include_router(routes.router)
    app.include_router(dashboard.router)
    app.include_router(personalizer.router, prefix=RETIRED)
    for version in VERSIONS:  # the same paths again
        app.include_router(personalizer.router, prefix=f"{RETIRED}/{version}", include_in_schema=False)
    problems.install(app)
    app.add_middleware(Direct, calls=routes.DIRECT, request=routes.BoundedRequest)
    app.add_middleware(Gate, config=config, keys=keys)
    return app


def checked_keys(config: Config) -> Keys | None:
    """The keys; without any, only this machine may be listened to."""
    if config.keys is not None:
        return Keys(config.keys)
    if not is_loopback(config.host):
        raise InvalidValue(
            f"without keys only this machine may call, and {config.host} is open to others; make a key with "
            "driftbandits serve --keys keys.toml --new-key NAME, then start with --keys keys.toml"
        )
    return None


def open_catalogue(config: Config) -> Catalogue:
    """The catalogue of loops that the configuration names."""
    if config.database is not None:
        from .postgres_catalogue import PostgresCatalogue

        return PostgresCatalogue(config.database)
    return FileCatalogue(config.data, shared=config.workers > 1)


def log_to_stderr(config: Config) -> None:
    """JSON lines, without what clients sent unless that is wanted."""
    # These fields are not in our log lines, and collecting them takes half the time of a line (the list is from the logging HOWTO).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JSONLines(config.log_bodies))
    for name, level in (("driftbandits", logging.INFO), ("uvicorn", logging.INFO), ("psycopg", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def collect_less() -> None:
    """Run Python's garbage collector less often.

    A loop keeps up to `max_pending` decisions, each of about ten objects, none of which is garbage. With Python's default thresholds a
    quarter of the time of a batch is spent on scanning them repeatedly.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def worker() -> FastAPI:
    """The application of a process that `server.run` has started."""
    config = Config.imported()
    collect_less()
    log_to_stderr(config)
    return create_app(config)
