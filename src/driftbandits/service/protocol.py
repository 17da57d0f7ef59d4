"""uvicorn's HTTP protocol with limits on the request head.

Input that is not HTTP gets an error in the same form as every other error of this service.
"""

import asyncio
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..io.half_open import HeadTimer
from .problems import content

HEAD = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n"
MOST = 1 << 16  # bytes of a head; the parser itself has no limit


LARGE = 1 << 16  # bytes that are sent at once, so that a transport that is full says so


class JoinedWrites:
    """A transport that sends what is written in one turn of the event loop by one system call.

    uvicorn writes the head and the body of an answer apart. Each call to the system, and each time that the client is woken, costs as much
    as a tenth of a decision.
    """

    __slots__ = ("_loop", "_parts", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send soon; large data now."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)
        if len(data) >= LARGE:
            self._send()

    def _send(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        """Send what was written, and hang up."""
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        """The rest is the transport's."""
        return getattr(self._transport, name)


class JSONProtocol(HeadTimer, HttpToolsProtocol):
    """One connection."""

    _awaits = True  # the first head is to come, or a head has begun and not ended
    _size = 0  # bytes since then

    def connection_made(self, transport: Any) -> None:
        """A connection was opened."""
        super().connection_made(JoinedWrites(transport, self.loop))

    def awaits_head(self) -> bool:
        """Between two requests uvicorn has a limit of its own."""
        return self._awaits

    def on_message_begin(self) -> None:
        """A head begins."""
        self._awaits, self._size = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It has ended."""
        self._awaits = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        super().data_received(data)
        if not self._awaits or self.transport.is_closing():
            return
        self._size += len(data)
        if self._size > MOST:
            self.send_400_response(f"its head has more than {MOST} bytes")

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read, and hang up."""
        body = orjson.dumps(content("malformed", f"this is no HTTP request: {msg.rstrip('.')[:200]}"))
        self.transport.write(HEAD.format(len(body)).encode() + body)
        self.transport.close()
