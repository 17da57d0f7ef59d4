"""The lab, served on a free port by a thread, for all tests of a session that ask it."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn

from driftbandits.io.half_open import ClosesHalfOpen
from driftbandits.lab.server import LOOPBACK, application, listener

PATIENCE = 600.0  # seconds, most of which a busy machine may need to compile


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str

    @property
    def data(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]


class Served(NamedTuple):
    port: int

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/"

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """An answer to a request; headers are given with _ for -."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def post(self, path: str, question: Any, **headers: str) -> Answer:
        body = question if isinstance(question, str | bytes) else json.dumps(question)
        return self.request("POST", path, body, **({"content_type": "application/json"} | headers))


@contextmanager
def served() -> Iterator[Served]:
    with listener(0) as own:
        server = uvicorn.Server(
            uvicorn.Config(application(), http=ClosesHalfOpen, log_level="error", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, args=([own],), daemon=True)
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.started
        yield Served(own.getsockname()[1])
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()
