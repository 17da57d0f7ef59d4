"""The page and its questions over HTTP, for this machine only.

    GET  /             the page; /lab.css, /lab.js, … its files; /colours.css
    GET  /api/options  the learners on offer, and the form of a question
    POST /api/run      a question → its answer as lines of JSON, each as soon as it is known
    POST /api/export   a question → TOML and Python

The server listens on the loopback interface. Another site open in the same browser could still send requests to it, under another name for
this address (DNS rebinding) or from its own page. A request must therefore be addressed to this machine by name (Host) and, if a page sends
it, come from our own page (Origin, Sec-Fetch-Site). An error is one line: {"error": "…"}.
"""

import asyncio
import functools
import json
import pathlib
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ..errors import DriftBanditsError, InvalidValue
from ..io.half_open import SECONDS, ClosesHalfOpen
from ..plots.style import stylesheet
from .answers import Laboratory
from .learners import DEFAULTS, LEARNERS
from .question import CHOICES, SPEEDS, Question, read
from .specification import python, toml

PAGE = pathlib.Path(__file__).parent / "page"
LOOPBACK = "127.0.0.1"
HOSTS = ("127.0.0.1", "localhost", "[::1]")
LARGEST = 64 * 1024  # bytes of a question
POLICY = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(*, ahead: bool = False) -> Starlette:
    """The lab as an ASGI application; `ahead` compiles the learners of the usual worlds in advance."""
    return Starlette(
        routes=[
            Route("/", _file("index.html")),
            *(Route(f"/{path.name}", _file(path.name)) for path in sorted(PAGE.iterdir()) if path.suffix in KINDS),
            Route("/colours.css", _colours),
            Route("/api/options", _options),
            Route("/api/run", _run, methods=["POST"]),
            Route("/api/export", _export, methods=["POST"]),
        ],
        middleware=[Middleware(OnlyThisMachine)],
        exception_handlers={404: _not_found, 405: _not_found, DriftBanditsError: _refused, Exception: _broken},
        lifespan=functools.partial(_lifespan, ahead=ahead),
    )


@asynccontextmanager
async def _lifespan(app: Starlette, ahead: bool) -> AsyncIterator[None]:
    app.state.lab = lab = Laboratory()
    beside = asyncio.create_task(lab.compile_ahead()) if ahead else None
    yield
    if beside is not None:
        beside.cancel()
    lab.close()


# ---------------------------------------------------------------------------------------------------------------- who may ask


class OnlyThisMachine:
    """Refuse requests that are addressed to another host, or that another site's page makes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with one line."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        problem = foreign(Headers(scope=scope))
        if problem:
            await JSONResponse({"error": problem}, 403, HEADERS)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        await self.app(scope, receive, send_with_headers)


def foreign(headers: Headers) -> str:
    """The reason why a request does not come from our own page; "" if it does, or if that cannot be told."""
    host = headers.get("host", "")
    if not _is_here(host):
        return f"the lab answers only on this machine, as {LOOPBACK} or localhost, not as {host[:80]!r}"
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return f"the lab answers only its own page, not one of {origin[:80]!r}"
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return "the lab answers only its own page, not one of another site"
    return ""


def _is_here(host: str) -> bool:
    name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    return (name if colon else host) in HOSTS and (not colon or port.isdigit())


# ------------------------------------------------------------------------------------------------------------------- answers


def _file(name: str) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        return FileResponse(PAGE / name, media_type=KINDS[pathlib.Path(name).suffix])

    return answer


async def _colours(request: Request) -> Response:
    """The colours that figures and reports have too."""
    return Response(stylesheet(), media_type="text/css")


async def _options(request: Request) -> Response:
    """The data from which the page builds its controls."""
    learners = {
        place: [
            {
                "key": learner.key,
                "label": learner.label,
                "colour": learner.colour,
                "line": learner.line,
                "summary": learner.summary,
                "weighs": learner.weighs,
                "fixed_arms": learner.fixed_arms,
                "role": learner.role,
            }
            for learner in rows
        ]
        for place, rows in LEARNERS.items()
    }
    return JSONResponse(
        {
            "version": __version__,
            "learners": learners,
            "default": read({}).model_dump(),
            "defaults": DEFAULTS,
            "choices": CHOICES,
            "speeds": SPEEDS,
        }
    )


async def _run(request: Request) -> Response:
    lab: Laboratory = request.app.state.lab
    asked = await lab.ask(await _question(request))

    async def lines() -> AsyncIterator[bytes]:
        async for event in lab.answer(asked):
            yield json.dumps(event, separators=(",", ":"), allow_nan=False).encode() + b"\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _export(request: Request) -> Response:
    question = await _question(request)
    asked = await request.app.state.lab.ask(question)
    return JSONResponse({"toml": toml(question), "python": await run_in_threadpool(python, question, asked.cells)})


async def _question(request: Request) -> Question:
    """The question in a request's body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise InvalidValue(f"content-type {kind[:40]!r} is not allowed; it must be application/json")
    body = b""
    try:
        async with asyncio.timeout(SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > LARGEST:
                    raise InvalidValue(f"a question may have {LARGEST} bytes; this one has more")
    except TimeoutError:
        raise InvalidValue(f"the question did not come within {SECONDS:g} s") from None
    try:
        data = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise InvalidValue(f"not valid JSON: {problem}") from None
    return read(data)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


async def _refused(request: Request, problem: Exception) -> Response:
    return JSONResponse({"error": " ".join(str(problem).split())}, 400)


async def _not_found(request: Request, problem: Exception) -> Response:
    status = getattr(problem, "status_code", 404)
    return JSONResponse({"error": f"{request.method} {request.url.path[:80]} does not exist in the lab"}, status)


async def _broken(request: Request, problem: Exception) -> Response:
    return JSONResponse({"error": f"{type(problem).__name__}: the lab could not answer; the terminal shows why"}, 500)


# ------------------------------------------------------------------------------------------------------------------- serving


def listener(port: int) -> socket.socket:
    """A socket on the loopback interface; port 0 takes any that is free."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind((LOOPBACK, port))
    except OSError as problem:
        own.close()
        raise InvalidValue(
            f"port {port} cannot be used: {(problem.strerror or str(problem)).lower()}; --port 0 takes a free one"
        ) from None
    return own


def serve(port: int, *, browser: bool, say: Callable[[str], None]) -> None:
    """Serve until interrupted; `say` is called with the address once the server is ready."""
    own = listener(port)
    address = f"http://{LOOPBACK}:{own.getsockname()[1]}/"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            say(address)
            if browser:
                webbrowser.open(address)

    config = uvicorn.Config(
        application(ahead=True), http=ClosesHalfOpen, log_level="warning", timeout_graceful_shutdown=1
    )
    with own:
        Server(config).run([own])
