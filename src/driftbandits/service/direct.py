"""A shortcut for the most frequent calls. They bypass FastAPI's routing, which costs as much as a decision; FastAPI still documents them.

Both ways end in the same function of `routes`.
"""

import re
from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import DriftBanditsError
from .problems import as_answer

Call = Callable[[str, Request], Awaitable[Response]]


class Direct:
    """Answers some POST requests to `/loops/{loop}/…` itself, and hands all others on."""

    def __init__(self, app: ASGIApp, calls: dict[str, Call], request: type[Request]) -> None:
        self.app, self.calls, self.request = app, calls, request
        self._path = re.compile(rf"/loops/([^/]+)/({'|'.join(calls)})")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        found = self._path.fullmatch(scope["path"]) if scope.get("method") == "POST" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        loop, name = found.groups()
        scope["template"] = f"/loops/{{loop}}/{name}"  # of the path, for the log and the metrics
        try:
            answer = await self.calls[name](loop, self.request(scope, receive))
        except DriftBanditsError as problem:
            answer = as_answer(problem)
        await answer(scope, receive, send)
