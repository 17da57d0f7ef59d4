"""uvicorn's HTTP with limits for the head, where what is no HTTP is answered in the shape of every other error of this service."""

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..io.half_open import HeadTimer
from .problems import content

HEAD = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n"
MOST = 1 << 16  # bytes of a head; the parser itself has no limit


class JSONProtocol(HeadTimer, HttpToolsProtocol):
    """One connection."""

    _awaits = True  # the first head is to come, or a head has begun and not ended
    _size = 0  # bytes since then

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
