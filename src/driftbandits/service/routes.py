"""The service's own protocol: loops, decisions, rewards, and monitoring."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

import orjson
from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from ..bandit.decision import Decision
from ..errors import DriftBanditsError
from . import metrics, models
from .config import Config
from .direct import Call
from .keys import Caller
from .limits import check_offer, parsed
from .loops import Loops
from .problems import Problem, content, finite, first_fault, status_of
from .settings import LoopSettings

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Refused, "description": words}
    for status, words in (
        (401, "No key that is known"),
        (403, "The key's role does not allow it"),
        (404, "Unknown loop or decision"),
        (409, "It was done already, or cannot be changed"),
        (413, "Too large"),
        (422, "Not allowed; the message says what is"),
        (429, "Too many requests"),
        (503, "The store cannot be reached; repeat after Retry-After"),
    )
}


T = TypeVar("T")
JSON = (b"content-type", b"application/json")


class BoundedRequest(Request):
    """A request whose JSON is read within the limits."""

    async def json(self) -> Any:
        """The body."""
        if not hasattr(self, "_json"):
            self._json = parsed(await self.body(), self.app.state.config)
            if self.app.state.config.log_bodies:
                self.scope["body"] = await self.body()
        return self._json


class BoundedRoute(APIRoute):
    """A path whose bodies are read within the limits; every protocol of this service uses it."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """FastAPI's own, with another request."""
        handler = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            kept = [pair for pair in request.scope["headers"] if pair[0] != b"content-type"]
            scope = {**request.scope, "headers": [*kept, JSON]}  # a body is JSON, whatever `curl -d` says it is
            return await handler(BoundedRequest(scope, request.receive))

        return bounded


async def the_loops(request: Request) -> Loops:
    """The open loops."""
    return cast(Loops, request.app.state.loops)


async def the_config(request: Request) -> Config:
    """The limits."""
    return cast(Config, request.app.state.config)


async def admin(request: Request) -> Caller:
    """Refuse a caller whose role is not "admin"."""
    caller = cast(Caller, request.scope["caller"])
    if caller.role != "admin":
        raise Problem(403, "forbidden", f"key {caller.name!r} has the role {caller.role!r}; this needs 'admin'")
    return caller


Open = Annotated[Loops, Depends(the_loops)]
Limits = Annotated[Config, Depends(the_config)]
Admin = Annotated[Caller, Depends(admin)]
router = APIRouter(route_class=BoundedRoute, responses=REFUSALS)


def fast(value: Any, status: int = 200) -> Response:
    """An answer whose type is documented and known to be right."""
    return Response(orjson.dumps(value), status, media_type="application/json")


# ------------------------------------------------------------------------------------------------------------------- loops


def names_for(request: Request, loops: Loops) -> list[str]:
    """The loops that a caller may use."""
    caller = cast(Caller, request.scope["caller"])
    return [name for name in loops.catalogue.names() if caller.may_use(name)]


def shown(loops: Loops, name: str) -> dict[str, Any]:
    """A loop: its settings and its `info`."""

    def look(loop: Any) -> dict[str, Any]:
        info = finite(loop.info())
        return {"name": name, "settings": loop.settings.model_dump(), "info": info}

    return loops.use(name, look)


@router.get("/loops", tags=["loops"], summary="All loops", response_model=models.Loops)
def list_loops(loops: Open, request: Request) -> Response:
    """The names of all loops that the key is for, sorted."""
    return fast({"loops": names_for(request, loops)})


@router.put(
    "/loops/{loop}",
    tags=["loops"],
    summary="Make a loop, or change it",
    response_model=models.LoopShown,
    status_code=201,
    responses={200: {"model": models.LoopShown, "description": "It was there; what can change was changed"}},
)
def put_loop(loop: str, loops: Open, _: Admin, settings: LoopSettings | None = None) -> Response:
    """Settings that are not given are the defaults of a new loop, and stay as they are in one that is there."""
    made = loops.put(loop, settings or LoopSettings())
    return fast(shown(loops, loop), 201 if made else 200)


@router.get("/loops/{loop}", tags=["loops"], summary="A loop", response_model=models.LoopShown)
def get_loop(loop: str, loops: Open) -> Response:
    """The settings of a loop and its `info`."""
    return fast(shown(loops, loop))


@router.delete("/loops/{loop}", tags=["loops"], summary="Delete a loop", response_model=models.Deleted)
def delete_loop(loop: str, loops: Open, _: Admin, confirm: str = "") -> Response:
    """Needs `?confirm=` with the name of the loop; its data is moved aside, not deleted."""
    if confirm != loop:
        raise Problem(422, "invalid", f"to delete loop {loop!r}, repeat its name: ?confirm={loop}")
    return fast({"moved_to": loops.remove(loop)})


# --------------------------------------------------------------------------------------------------------------- decisions


def decided(decision: Decision) -> dict[str, Any]:
    """A decision as it is answered."""
    return {
        "id": decision.id,
        "item": decision.item,
        "items": decision.items,
        "propensity": decision.propensity,
        "propensities": {str(name): p for name, p in decision.propensities.items()},
    }


def _bounded(asked: models.Decide | models.Estimate, config: Config) -> None:
    check_offer(asked.items, asked.context, config)


def _bounded_batch(batch: list[Any], config: Config) -> None:
    if not batch:
        raise Problem(422, "invalid", "the batch is empty; it must have at least one entry")
    if len(batch) > config.max_batch:
        raise Problem(422, "too_many", f"the batch has {len(batch)} entries; at most {config.max_batch} are allowed")


# The calls that are made most read their bodies themselves, and are reached without FastAPI's routing (`direct`).


def body_of(kind: Any) -> dict[str, Any]:
    """The documentation of a body that a path reads itself."""
    schema = TypeAdapter(kind).json_schema()
    if schema.get("type") == "array":  # `$defs` are found from the root of a document, and here it is OpenAPI's
        schema = {**schema, "items": schema.pop("$defs")[schema["items"]["$ref"].rpartition("/")[2]]}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


DECIDE, REWARD, BATCH = TypeAdapter(models.Decide), TypeAdapter(models.Reward), TypeAdapter(list[models.Decide])
MANY = TypeAdapter(list[Any])


async def read_body(request: Request, kind: TypeAdapter[T]) -> T:
    """The body of a request, within the limits."""
    value = await request.json()
    try:
        return kind.validate_python(value)
    except ValidationError as problem:
        raise Problem(422, "invalid", first_fault(problem.errors())) from None


@router.post(
    "/loops/{loop}/decide",
    tags=["decisions"],
    summary="Decide",
    response_model=models.Decided,
    openapi_extra=body_of(models.Decide),
)
async def decide(loop: str, request: Request) -> Response:
    """Choose one of the items on offer, or a ranking of k. The decision is kept when the answer comes."""
    state = request.app.state
    asked = await read_body(request, DECIDE)
    _bounded(asked, state.config)
    made = await state.loops.change(loop, lambda open_: open_.deciding([asked]))
    return fast(decided(made[0]))


@router.post(
    "/loops/{loop}/decide_batch",
    tags=["decisions"],
    summary="Decide many",
    response_model=list[models.Decided],
    openapi_extra=body_of(list[models.Decide]),
)
async def decide_batch(loop: str, request: Request) -> Response:
    """All are decided in one transaction, or none: an error names the first that cannot be."""
    state = request.app.state
    asked = await read_body(request, BATCH)
    _bounded_batch(asked, state.config)
    for one in asked:
        _bounded(one, state.config)
    made = await state.loops.change(loop, lambda open_: open_.deciding(asked), len(asked))
    return fast([decided(one) for one in made])


@router.post("/loops/{loop}/activate", tags=["decisions"], summary="Activate", response_model=models.Activated)
def activate(loop: str, asked: models.Activate, loops: Open) -> Response:
    """Say that a deferred decision was shown: from now on its reward is expected. Again: changes nothing."""
    loops.use(loop, lambda open_: open_.activate(asked.id))
    return fast({"active": True})


@router.post(
    "/loops/{loop}/reward",
    tags=["decisions"],
    summary="Reward",
    response_model=models.Rewarded,
    openapi_extra=body_of(models.Reward),
)
async def reward(loop: str, request: Request) -> Response:
    """Learn the reward of a decision, once. It is kept when the answer comes."""
    given = await read_body(request, REWARD)
    (learned,) = await request.app.state.loops.change(loop, lambda open_: open_.rewarding([given]))
    if isinstance(learned, DriftBanditsError):
        raise learned
    return fast({"learned": learned})


@router.post(
    "/loops/{loop}/reward_batch",
    tags=["decisions"],
    summary="Reward many",
    response_model=list[models.RewardResult],
    openapi_extra=body_of(list[models.Reward]),
)
async def reward_batch(loop: str, request: Request) -> Response:
    """One result each; one that is refused does not spoil the others."""
    given = await read_body(request, MANY)
    _bounded_batch(given, request.app.state.config)
    readable: list[models.Reward] = []
    results: list[dict[str, Any] | None] = []
    for one in given:
        try:
            readable.append(REWARD.validate_python(one))
            results.append(None)
        except ValidationError as problem:
            id_ = one.get("id") if isinstance(one, dict) else None
            fault = content("invalid", first_fault(problem.errors()))
            results.append({"id": id_ if isinstance(id_, str) else "", "learned": False, **fault})
    learned = await request.app.state.loops.change(loop, lambda open_: open_.rewarding(readable), len(readable))
    told = iter(zip(readable, learned, strict=True))
    return fast([_result(*next(told)) if known is None else known for known in results])


def _result(given: models.Reward, learned: bool | DriftBanditsError) -> dict[str, Any]:
    if isinstance(learned, DriftBanditsError):
        return {"id": given.id, "learned": False, **content(status_of(learned)[1], str(learned))}
    return {"id": given.id, "learned": learned}


DIRECT: dict[str, Call] = {
    "decide": decide,
    "decide_batch": decide_batch,
    "reward": reward,
    "reward_batch": reward_batch,
}


# ----------------------------------------------------------------------------------------------------------------- looking


@router.get("/loops/{loop}/events", tags=["looking"], summary="Drift events", response_model=models.Drifts)
def events(loop: str, loops: Open) -> Response:
    """Changes of the world that were noticed, oldest first."""
    found = loops.use(loop, lambda open_: open_.call(lambda bandit: bandit.drift_events()))
    return fast({"events": finite([event.to_dict() for event in found])})


@router.get("/loops/{loop}/explain/{id}", tags=["looking"], summary="Why this item")
def explain(loop: str, id: str, loops: Open) -> Response:  # noqa: A002
    """Estimates, contributions of features, chance, and a sentence."""
    return fast(finite(loops.use(loop, lambda open_: open_.explain(id))))


@router.get("/loops/{loop}/value", tags=["looking"], summary="What the loop earns")
def value(loop: str, loops: Open, against: str = "random", item: str | None = None, alpha: float = 0.05) -> Response:
    """What the loop earns per decision and what it would have earned otherwise, with always-valid bounds."""
    return fast(finite(loops.use(loop, lambda open_: open_.value(against, item, alpha))))


@router.get("/loops/{loop}/health", tags=["looking"], summary="Is it working", response_model=models.LoopHealth)
def health(loop: str, loops: Open) -> Response:
    """A sentence, and what to do."""
    return fast(loops.use(loop, lambda open_: open_.call(lambda bandit: bandit.health().to_dict())))


@router.get("/loops/{loop}/importance", tags=["looking"], summary="Which features matter")
def importance(loop: str, loops: Open, entries: bool = False) -> Response:
    """Features and the mean size of their contributions over the last decisions, largest first; `entries` lists those of vectors."""
    return fast(finite(loops.use(loop, lambda open_: open_.call(lambda bandit: bandit.importance(entries=entries)))))


@router.post("/loops/{loop}/estimate", tags=["looking"], summary="Estimates", response_model=list[models.Estimated])
def estimate(loop: str, asked: models.Estimate, loops: Open, limits: Limits) -> Response:
    """Mean and standard deviation of every item's reward; changes nothing."""
    _bounded(asked, limits)
    found = loops.use(loop, lambda open_: open_.call(lambda bandit: bandit.estimate(asked.items, asked.context)))
    return fast([{"item": item, **finite(one._asdict())} for item, one in found.items()])


@router.get("/metrics", tags=["operations"], summary="Prometheus", response_class=Response)
def prometheus(loops: Open) -> Response:
    """Requests and loops, in Prometheus's text format."""
    return Response(metrics.exposition(loops), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/healthz", tags=["operations"], summary="Alive", response_model=models.Health)
async def healthz() -> Response:
    """The process answers; needs no key."""
    return fast({"status": "alive"})


@router.get("/readyz", tags=["operations"], summary="Ready", response_model=models.Health)
def readyz(loops: Open) -> Response:
    """The store can be reached, and the loops open here have caught up."""
    loops.catalogue.ready()
    behind = [loop.name for loop in loops.open_now() if loop.lag() > MOST_BEHIND]
    if behind:
        raise Problem(503, "behind", f"loop {behind[0]!r} is more than {MOST_BEHIND} rows behind its log")
    return fast({"status": "ready"})


MOST_BEHIND = 10_000  # rows
__all__ = ["Admin", "BoundedRoute", "Limits", "Open", "fast", "names_for", "router", "shown"]
