"""Conversion of errors to answers: `{"error": {"code", "message"}}` with the library's one-line message and never a traceback."""

import math
import re
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from ..bandit.pending import AlreadyRewarded, NotActive, UnknownDecision
from ..bandit.store import StoreUnavailable
from ..errors import CannotRead, CannotWrite, DriftBanditsError, InvalidState, said

RETRY_AFTER = 1  # seconds
CODES = {401: "no_key", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}


class Problem(DriftBanditsError, HTTPException):
    """A refusal with a status and a code of its own.

    It is an `HTTPException` too because FastAPI turns every other error that occurs while a body is read into a 400.
    """

    def __init__(self, status: int, code: str, message: str, *, headers: dict[str, str] | None = None) -> None:
        line = str(DriftBanditsError(message))
        HTTPException.__init__(self, status, line, headers)
        self.args = (line,)
        self.status, self.code = status, code

    def __str__(self) -> str:
        return self.detail


# The first row whose class fits decides.
ANSWERS: tuple[tuple[type[DriftBanditsError], int, str], ...] = (
    (UnknownDecision, 404, "unknown_decision"),
    (AlreadyRewarded, 409, "already_rewarded"),
    (NotActive, 409, "not_active"),
    (StoreUnavailable, 503, "store_unavailable"),
    (CannotWrite, 503, "cannot_write"),
    (CannotRead, 503, "cannot_read"),
    (InvalidState, 409, "conflict"),
    (DriftBanditsError, 422, "invalid"),
)


def status_of(problem: DriftBanditsError) -> tuple[int, str]:
    """The status and the code of an error of the library."""
    if isinstance(problem, Problem):
        return problem.status, problem.code
    return next((status, code) for kind, status, code in ANSWERS if isinstance(problem, kind))


def content(code: str, message: str) -> dict[str, dict[str, str]]:
    """The body of every answer that is not a success."""
    return {"error": {"code": code, "message": message}}


def as_answer(problem: DriftBanditsError) -> Response:
    """An error of the library as an answer."""
    status, code = status_of(problem)
    headers = dict(getattr(problem, "headers", None) or {})
    if status == 503:
        headers["Retry-After"] = str(RETRY_AFTER)
    return JSONResponse(content(code, str(problem)), status, headers)


KINDS = {  # what pydantic calls a type -> what must be given
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a string",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "none_required": "null",
    "datetime_type": "a time like 2026-11-17T10:00:00Z",
    "datetime_parsing": "a time like 2026-11-17T10:00:00Z",
    "datetime_from_date_parsing": "a time like 2026-11-17T10:00:00Z",
}
BOUNDS = {  # what pydantic calls a bound -> what must be, with its context
    "greater_than_equal": "must be ≥ {ge:g}",
    "greater_than": "must be > {gt:g}",
    "less_than_equal": "must be ≤ {le:g}",
    "less_than": "must be < {lt:g}",
    "too_short": "must have {min_length} or more entries, and has {actual_length}",
    "too_long": "must have at most {max_length} entries, and has {actual_length}",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have at most {max_length} characters",
    "literal_error": "must be {expected}",
}
BRANCH = re.compile(
    r"int|float|str|bool|none|(dict|list|constrained|function|lax|nullable)\b.*"
)  # of a union, in pydantic's places


def first_fault(errors: Sequence[Any]) -> str:
    """What pydantic found, in one line: where, what is allowed, what was given."""
    # Of a union the branch that fits what was given goes deeper than the others.
    error = next((e for e in errors if _place(e).startswith(f"{_place(errors[0])}.")), errors[0])
    place = _place(error)
    if error["type"] == "json_invalid":
        return f"the body is no JSON: {error.get('ctx', {}).get('error', '')}"
    if error["type"] == "extra_forbidden":
        return f"{place} is not known here; leave it out, or look at /docs for the names"
    if error["type"] == "missing":
        return f"{place} is missing; it is required"
    given = error.get("input")
    shown = "" if given is None or isinstance(given, dict | list) else f" (given: {said(given)})"
    if error["type"] in BOUNDS:
        return f"{place} {BOUNDS[error['type']].format(**error['ctx'])}{shown}"
    if error["type"] == "value_error":
        return f"{place}: {error['ctx']['error']}{shown}"
    kinds = [KINDS[e["type"]] for e in errors if e["type"] in KINDS and _place(e) == place]  # of a union: any of them
    if "a number" in kinds:
        kinds = [kind for kind in kinds if kind != "a whole number"]
    return f"{place} {f'must be {_either(kinds)}' if kinds else 'is not allowed'}{shown}"


def _place(error: Any) -> str:
    """Where it is, without pydantic's names for the branches of a union."""
    steps = [str(step) for step in error["loc"] if step != "body"]
    return ".".join(step for n, step in enumerate(steps) if n == 0 or not BRANCH.fullmatch(step)) or "the body"


def _either(kinds: Sequence[str]) -> str:
    *others, last = dict.fromkeys(kinds)
    return f"{', '.join(others)} or {last}" if others else last


def install(app: FastAPI) -> None:
    """Answer every error in the same shape."""

    @app.exception_handler(DriftBanditsError)
    async def refused(_: Request, problem: DriftBanditsError) -> Response:
        return as_answer(problem)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, problem: RequestValidationError) -> Response:
        faults = problem.errors()
        malformed = faults[0]["type"] == "json_invalid"
        return as_answer(
            Problem(400 if malformed else 422, "malformed" if malformed else "invalid", first_fault(faults))
        )

    @app.exception_handler(HTTPException)
    async def http(request: Request, problem: HTTPException) -> Response:
        code = CODES.get(problem.status_code, "refused")
        headers = dict(problem.headers or {})
        return JSONResponse(content(code, said_plainly(request, problem)), problem.status_code, headers)


def said_plainly(request: Request, problem: HTTPException) -> str:
    """Starlette's own errors as a sentence that says what to do."""
    if problem.status_code == 404 and problem.detail == "Not Found":
        return f"there is no path {said(request.url.path)}; /docs lists every call"
    if problem.status_code == 405 and problem.detail == "Method Not Allowed":
        allowed = (problem.headers or {}).get("Allow", "another method")
        return f"{request.method} is not allowed here, {allowed} is; curl sends POST with -d BODY, others with -X"
    return problem.detail if isinstance(problem.detail, str) else said(problem.detail)


def finite(value: Any) -> Any:
    """A value as JSON has it: infinities and NaN are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value


def where(problem: BaseException) -> str:
    """The kind of an error and its place; its text may hold what a client sent."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(problem).__name__}{place}"
