"""A real server for tests: the application under uvicorn, in a thread, on a port of its own."""

import contextlib
import socket
import threading
import time

import uvicorn

from driftbandits.service.app import create_app
from driftbandits.service.config import Config


@contextlib.contextmanager
def serving(data, **settings):
    """The address of a server over a folder."""
    config = Config(data=data, **settings)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(config), log_config=None, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    assert server.started, "the server did not start"
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
