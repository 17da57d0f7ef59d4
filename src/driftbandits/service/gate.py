"""The outermost layer of the service: each request gets an id, its key, rate and size are checked, and it is logged and counted.

This is plain ASGI: the bytes of a body are counted as they arrive, so a body that is too large is refused before it is in memory.
"""

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from . import metrics
from .config import Config
from .keys import ANYBODY, Caller, Keys, given_key, is_loopback
from .problems import Problem, as_answer, content, where

LOG = logging.getLogger("driftbandits.service")
OPEN = ("/healthz",)  # answers without a key
SLOWEST = 1 << 16  # bytes per second of a body that takes longer than `body_timeout`
OF_LOOP = re.compile(r"/(?:loops|dashboard/live)/([^/]*)")
ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Gate:
    """The outermost layer of the application."""

    def __init__(self, app: Any, config: Config, keys: Keys | None) -> None:
        self.app, self.config, self.keys = app, config, keys
        self._rates = Rates(config.rate / max(config.workers, 1))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, headers = time.perf_counter(), dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        id_ = given if ID.fullmatch(given) else secrets.token_hex(16).encode()
        answer: dict[str, Any] = {}

        async def send_(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", id_)]
            await send(message)

        try:
            caller = self._admitted(scope, headers)
            scope["caller"] = caller
            if "\0" in scope["path"]:
                raise Problem(422, "invalid", "the address has the character U+0000, which databases cannot keep")
            body = Body(receive, self._limit(scope, caller), self.config.body_timeout, headers)
            await self.app(scope, body, send_)
        except Problem as problem:
            await self._answer(as_answer(problem), scope, receive, send_, answer)
        except ClientDisconnect:  # the client has gone; noted as 499
            pass
        except Exception as problem:
            LOG.error("request failed", extra={"fields": {"request_id": id_.decode(), "error": where(problem)}})
            internal = JSONResponse(content("internal", "the service failed; its log has the request id"), 500)
            await self._answer(internal, scope, receive, send_, answer)
        finally:
            self._note(scope, answer.get("status", 499), time.perf_counter() - start, id_.decode())

    async def _answer(
        self, response: Any, scope: Message, receive: Receive, send: Send, answer: dict[str, Any]
    ) -> None:
        if "status" not in answer:  # else the answer has begun, and can only be cut off
            await response(scope, receive, send)

    def _admitted(self, scope: Message, headers: dict[bytes, bytes]) -> Caller | None:
        if scope["path"] in OPEN:
            return None
        if self.keys is None:
            _only_from_here(headers)
            caller: Caller | None = ANYBODY
        else:
            key = given_key(headers)
            caller = None if key is None else self.keys.caller(key)
        if caller is None:
            raise Problem(
                401,
                "no_key",
                "a key is needed, and none that is known was given; send it as Authorization: Bearer KEY",
                headers={"WWW-Authenticate": 'Basic realm="driftbandits: any name, the key as password"'},
            )
        _only_own_loops(scope["path"], caller)
        wait = self._rates.wait(caller.name)
        if wait > 0.0:
            raise Problem(
                429,
                "too_many",
                f"key {caller.name!r} may make {self.config.rate:g} requests per second; wait {wait:.2f} s",
                headers={"Retry-After": str(max(1, round(wait)))},
            )
        return caller

    def _limit(self, scope: Message, caller: Caller | None) -> int:
        """Bytes of a body; a loop's own model is larger than any request."""
        model = scope["method"] == "PUT" and scope["path"].endswith("/model")
        return self.config.max_model if model and caller and caller.role == "admin" else self.config.max_body

    def _note(self, scope: Message, status: int, seconds: float, id_: str) -> None:
        path = template_of(scope)
        metrics.observe(path, scope["method"], status, seconds)
        if LOG.isEnabledFor(logging.INFO):
            caller = scope.get("caller")
            fields = {
                "request_id": id_,
                "method": scope["method"] if scope["method"].isalpha() else "?",
                "route": path,
                "status": status,
                "ms": round(seconds * 1e3, 3),
                "key": caller.name if caller else None,
            }
            if self.config.log_bodies:
                fields |= {"path": scope["path"], "body": scope.get("body", b"").decode("utf-8", "replace")}
            LOG.info("request", extra={"fields": fields})


def template_of(scope: Message) -> str:
    """The template of a request's path, for the log and the metrics: names of loops and ids of decisions are the client's.

    A router that is included under a prefix knows its own part of the path only. What is before that part is a prefix of ours, in which
    the name of the loop is the client's.

    Examples
    --------
    >>> from types import SimpleNamespace as Route
    >>> template_of({"path": "/loops/shop/personalizer/rank", "route": Route(path="/rank")})
    '/loops/{loop}/personalizer/rank'
    """
    known = scope.get("template") or getattr(scope.get("route"), "path", None)
    if known is None:
        return "unknown"
    parts = scope["path"].split("/")
    before = parts[: max(0, len(parts) - known.count("/"))]
    if before[1:2] == ["loops"]:
        before[2:3] = ["{loop}"]
    return "/".join(before) + str(known)


def _only_own_loops(path: str, caller: Caller) -> None:
    """A key for some loops reaches no other one, and no page about all of them; lists of loops are filtered where they are made."""
    if caller.loops is None:
        return
    found = OF_LOOP.match(path)
    if path == "/metrics" or (found is not None and not caller.may_use(found[1])):
        raise Problem(403, "forbidden", f"key {caller.name!r} is for {', '.join(sorted(caller.loops))} only")


def _only_from_here(headers: dict[bytes, bytes]) -> None:
    """Without keys, a foreign web page must not be able to call this server through its user's browser (DNS rebinding, request forgery)."""
    if not (_of_this_machine(headers.get(b"host", b"")) and _of_this_machine(headers.get(b"origin", b""))):
        raise Problem(403, "forbidden", "without keys only this machine may call, as localhost or 127.0.0.1")


@lru_cache(256)
def _of_this_machine(given: bytes) -> bool:
    """Whether a header names this machine, or nothing."""
    value = given.decode("latin-1")
    return not value or is_loopback(re.sub(r":\d+$", "", value.partition("://")[2] or value))


class Body:
    """A body that is counted and timed as it comes."""

    def __init__(self, receive: Receive, limit: int, timeout: float, headers: dict[bytes, bytes]) -> None:
        self._receive, self._limit, self._timeout = receive, limit, timeout
        self._read, self._whole = 0, False
        self._begun: float | None = None  # when it was first asked for
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._limit:
            raise self._too_large()

    def _too_large(self) -> Problem:
        return Problem(413, "too_large", f"the body is larger than {self._limit} bytes, which is the limit")

    async def __call__(self) -> Message:
        """The next part."""
        if self._whole:  # somebody waits for the client to hang up
            return await self._receive()
        now = time.monotonic()
        self._begun = self._begun or now
        allowed = self._timeout + self._read / SLOWEST  # for the whole body: a byte now and then does not extend it
        try:
            async with asyncio.timeout(self._begun + allowed - now):
                message = await self._receive()
        except TimeoutError:
            raise Problem(408, "slow", f"the body did not come within {self._timeout:g} s") from None
        self._read += len(message.get("body", b""))
        if self._read > self._limit:
            raise self._too_large()
        self._whole = not message.get("more_body", False)
        return message


class Rates:
    """Token buckets, one for each key: `rate` requests per second, with bursts of up to one second's worth."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, name: str) -> float:
        """Seconds until this key may call again; 0: now, and it is counted."""
        if self.rate <= 0.0:
            return 0.0
        now, most = time.monotonic(), max(self.rate, 1.0)
        left, at = self._buckets.get(name, (most, now))
        left = min(most, left + (now - at) * self.rate)
        if left < 1.0:
            self._buckets[name] = (left, now)
            return (1.0 - left) / self.rate
        self._buckets[name] = (left - 1.0, now)
        return 0.0


class JSONLines(logging.Formatter):
    """One JSON object a line. Messages of the library are written without their values, which may be a client's, unless that is wanted."""

    def __init__(self, values: bool) -> None:
        super().__init__()
        self.values = values

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        message = record.getMessage() if self.values or record.name.startswith("uvicorn") else str(record.msg)
        row = {"time": round(record.created, 3), "level": record.levelname.lower(), "message": message}
        try:
            return orjson.dumps(row | getattr(record, "fields", {})).decode()
        except TypeError:  # half of a character
            return json.dumps(row | getattr(record, "fields", {}))
