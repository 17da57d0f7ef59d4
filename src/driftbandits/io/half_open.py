"""Closing connections on which no whole request comes.

uvicorn closes a connection that stays silent *after* an answer, but waits for ever for the first request, and for the rest of a head that
began to come. Each such connection holds a file descriptor, so a client that opens many and sends nothing stops the server.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 30.0  # from the first byte, or from the connection if none comes, to the end of the head


class HeadTimer(asyncio.Protocol):
    """The time limit for the head of each request, for any of uvicorn's protocols of HTTP."""

    seconds = SECONDS
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _timer: asyncio.TimerHandle | None = None

    def awaits_head(self) -> bool:
        """Whether a head is to come, or has not come as a whole."""
        raise NotImplementedError

    def connection_made(self, transport: Any) -> None:
        """A connection was opened: its first request must come in time."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Bytes came: the limit ends with the head, and begins anew with the first bytes of the next one."""
        super().data_received(data)
        if self.awaits_head():
            self._expect_head()
        else:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._timer = None
        if self.awaits_head() and not self.transport.is_closing():
            self.transport.close()


class ClosesHalfOpen(HeadTimer, H11Protocol):
    """HTTP/1.1 in Python."""

    def awaits_head(self) -> bool:
        """As h11 says."""
        return self.conn.their_state is h11.IDLE
