"""A connection without a whole request is closed; one that asks is answered, as often as it asks."""

import http.client
import socket
import threading
import time

import pytest
import uvicorn

from driftbandits.io.half_open import ClosesHalfOpen
from driftbandits.service.protocol import JSONProtocol


async def application(scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module", params=[ClosesHalfOpen, JSONProtocol])
def port(request):
    with socket.create_server(("127.0.0.1", 0)) as own:
        config = uvicorn.Config(
            application,
            http=type("Hasty", (request.param,), {"seconds": 0.2}),
            lifespan="off",
            log_level="error",
            timeout_graceful_shutdown=1,
            timeout_keep_alive=60,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([own],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield own.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_connection_without_a_whole_head_is_closed(port, sent):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(sent)
        assert client.recv(100) == b""


def test_a_connection_that_asks_is_answered_until_its_next_head_stops_half_way(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(3):
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"ok"
        time.sleep(0.3)  # longer than the limit: it is not one for pauses between requests
    connection.sock.sendall(b"GET / HT")
    assert connection.sock.recv(100) == b""
    connection.close()
