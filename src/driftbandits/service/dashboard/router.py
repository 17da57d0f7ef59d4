"""The page at `/`, its files, and the state of a loop as server-sent events."""

import asyncio
import pathlib
from collections.abc import AsyncIterator

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from ..problems import Problem, finite
from ..routes import Limits, Open, fast, names_for
from .state import States

PAGE = pathlib.Path(__file__).parent / "page"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    "content-security-policy": "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
EVERY = 2.0  # seconds between looks
router = APIRouter(include_in_schema=False)


@router.get("/")
def index() -> Response:
    """The page."""
    return _file("index.html")


@router.get("/docs")
def docs() -> Response:
    """Every call, from /openapi.json."""
    return _file("docs.html")


@router.get("/dashboard/loops")
def loops_(loops: Open, config: Limits, request: Request) -> Response:
    """Names for the list, and whether calls need a key."""
    names = names_for(request, loops)
    used = [loop for loop in loops.open_now() if loop.name in names]
    latest = max(used, key=lambda loop: loop.used, default=None)
    name = None if latest is None else latest.name
    return fast({"loops": names, "latest": name, "keys": config.keys is not None})


@router.get("/dashboard/live/{loop}")
async def live(loop: str, request: Request, loops: Open) -> Response:
    """The state of a loop now, and again whenever it has changed."""
    states: States = request.app.state.dashboard
    await run_in_threadpool(loops.get, loop)  # 404 as an answer, not inside a stream

    async def events() -> AsyncIterator[bytes]:
        last = b""
        while not await request.is_disconnected():
            try:
                told = orjson.dumps(finite(await run_in_threadpool(states.of, loop)))
            except Problem as problem:
                yield b"event: gone\ndata: " + orjson.dumps(str(problem)) + b"\n\n"
                return
            yield b": alive\n\n" if told == last else b"event: state\ndata: " + told + b"\n\n"
            last = told
            await asyncio.sleep(EVERY)

    return StreamingResponse(events(), media_type="text/event-stream", headers={"cache-control": "no-store"})


@router.get("/dashboard/{name}")
def file(name: str) -> Response:
    """A file of the page."""
    return _file(name)


def _file(name: str) -> Response:
    path = PAGE / name
    if path.parent != PAGE or path.suffix not in KINDS or path not in PAGE.iterdir():
        raise Problem(404, "not_found", "there is no such page")
    return FileResponse(path, media_type=KINDS[path.suffix], headers=HEADERS)
