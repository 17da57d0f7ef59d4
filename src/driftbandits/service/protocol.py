"""uvicorn's HTTP with a time limit, where what is no HTTP is answered in the shape of every other error of this service."""

import orjson

from ..io.half_open import ClosesHalfOpen
from .problems import content

HEAD = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n"


class JSONProtocol(ClosesHalfOpen):
    """One connection."""

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read, and hang up."""
        body = orjson.dumps(content("malformed", f"this is no HTTP request: {msg.rstrip('.')[:200]}"))
        self.transport.write(HEAD.format(len(body)).encode() + body)
        self.transport.close()
