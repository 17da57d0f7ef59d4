"""The paths of the retired protocol, under `/loops/{loop}/personalizer` and `/loops/{loop}/personalizer/v1.0`."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from fastapi import APIRouter, Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from ..config import Config
from ..keys import Caller
from ..loop import Loop
from ..loops import Loops
from ..problems import Problem
from ..routes import Admin, BoundedRoute, Open, fast
from . import configuration, evaluation, events, jobs, wire
from .apprentice import Tally
from .durations import moment_of

T = TypeVar("T")
NO_POLICY = (
    "Learning settings were the command line of another program; nothing needs it here, since the learner tunes itself"
)
EMPTY = 204
router = APIRouter(route_class=BoundedRoute, tags=["personalizer"])


class Served:
    """One loop of the service, made by the first call to it if the caller may."""

    def __init__(self, loop: str, request: Request, loops: Open) -> None:
        self.name, self.loops = loop, loops
        self.caller = cast(Caller, request.scope["caller"])
        self.state = request.app.state.personalizer
        self.config: Config = request.app.state.config

    def use(self, function: Callable[[Loop], T]) -> T:
        """Call the loop."""
        try:
            return self.loops.use(self.name, function)
        except Problem as problem:
            if problem.code != "unknown_loop" or self.caller.role != "admin":
                raise
        self.loops.put(self.name, configuration.FIRST)
        return self.loops.use(self.name, function)

    @property
    def kept(self) -> dict[str, Any]:
        """What the loop's settings have no place for."""
        self.use(lambda loop: loop.settings)
        return self.loops.catalogue.note(self.name, configuration.NOTE) or {}

    @property
    def aggregation(self) -> str:
        """What becomes of several rewards for one event."""
        return str(self.kept.get("rewardAggregation", "earliest"))


class State:
    """What this protocol keeps in the process: running jobs and tallies."""

    def __init__(self, loops: Loops) -> None:
        self.evaluations = jobs.Jobs("evaluation", loops.catalogue)
        self.importances = jobs.Jobs("importance", loops.catalogue)
        self.tallies: dict[str, Tally] = {}

    def close(self) -> None:
        """Let the jobs that run end."""
        self.evaluations.close()
        self.importances.close()


Here = Annotated[Served, Depends()]


def made(here: Here) -> Served:
    """The loop, which is there from now on."""
    here.use(lambda loop: loop.name)
    return here


Made = Annotated[Served, Depends(made)]


def empty() -> Response:
    """An empty answer: 204."""
    return Response(status_code=EMPTY)


# ------------------------------------------------------------------------------------------------------------------ events


@router.post("/rank", status_code=201, summary="Rank")
def rank(asked: wire.Rank, here: Here) -> Response:
    """Choose an action; `rewardActionId` is the one to show."""
    return fast(here.use(lambda loop: events.rank(loop, asked, here.config)), 201)


@router.post("/events/{event}/reward", status_code=EMPTY, summary="Reward")
def reward(event: str, given: wire.Reward, here: Here) -> Response:
    """Learn the reward of an event."""
    aggregation = here.aggregation
    here.use(lambda loop: events.reward(loop, event, float(given.value), aggregation))
    return empty()


@router.post("/events/{event}/activate", status_code=EMPTY, summary="Activate")
def activate(event: str, here: Here) -> Response:
    """Say that a deferred event was shown."""
    here.use(lambda loop: events.activate(loop, event))
    return empty()


@router.post("/multislot/rank", status_code=201, summary="Rank for several slots")
def rank_slots(asked: wire.MultiSlotRank, here: Here) -> Response:
    """Choose an action for each slot."""
    return fast(here.use(lambda loop: events.rank_slots(loop, asked, here.config)), 201)


@router.post("/multislot/events/{event}/reward", status_code=EMPTY, summary="Reward slots")
def reward_slots(event: str, given: wire.MultiSlotReward, here: Here) -> Response:
    """Learn the rewards of some slots."""
    aggregation = here.aggregation
    here.use(lambda loop: events.reward_slots(loop, event, given, aggregation))
    return empty()


@router.post("/multislot/events/{event}/activate", status_code=EMPTY, summary="Activate slots")
def activate_slots(event: str, here: Here) -> Response:
    """Say that a deferred event with slots was shown."""
    here.use(lambda loop: events.activate_slots(loop, event))
    return empty()


# ----------------------------------------------------------------------------------------------------------- configuration


@router.get("/configurations/service", summary="Configuration")
def get_configuration(here: Made, _: Admin) -> Response:
    """The settings of the loop, as this protocol has them."""
    return fast(_configuration(here))


@router.put("/configurations/service", summary="Change the configuration")
def put_configuration(asked: configuration.Configuration, here: Made, _: Admin) -> Response:
    """Fields that are not sent stay as they are."""
    settings = here.use(lambda loop: loop.settings)
    new, kept = configuration.changes(asked, settings, here.kept)
    if new:
        here.loops.put(here.name, type(settings)(**new))
    here.loops.catalogue.keep_note(here.name, configuration.NOTE, kept)
    return fast(_configuration(here))


def _configuration(here: Served) -> dict[str, Any]:
    told = configuration.shown(here.loops.catalogue.entry(here.name).settings, here.kept)
    tally = here.state.tallies.setdefault(here.name, Tally())
    here.use(lambda loop: loop.call(lambda bandit: tally.follow(bandit.store)))
    metrics = tally.metrics()
    return told | ({} if metrics is None else {"latestApprenticeModeMetrics": metrics})


@router.get("/configurations/policy", summary="Learning settings")
def get_policy(here: Made, _: Admin) -> Response:
    """A fixed learning policy: the learner of a loop has no learning settings to choose from."""
    return fast({"name": "driftbandits", "arguments": NO_POLICY})


@router.put("/configurations/policy", summary="Change learning settings")
@router.post("/configurations/applyFromEvaluation", summary="Apply learning settings")
def put_policy(_: Admin) -> Response:
    """Refused: the learner of a loop has no learning settings to choose from."""
    raise Problem(422, "no_policy", NO_POLICY)


@router.delete("/configurations/policy", summary="Reset learning settings")
def reset_policy(here: Here, caller: Admin) -> Response:
    """Returns the fixed learning policy; there is nothing to reset."""
    return get_policy(here, caller)


# ----------------------------------------------------------------------------------------------------------- model and log


@router.get("/model", summary="The model", response_class=Response)
def get_model(here: Here, _: Admin) -> Response:
    """What the loop knows, as a file that `Bandit.load` reads."""
    data = here.use(lambda loop: loop.call(lambda bandit: bandit.to_bytes()))
    return Response(data, media_type="application/octet-stream")


@router.put("/model", status_code=EMPTY, summary="Replace the model")
async def put_model(request: Request, here: Made, _: Admin) -> Response:
    """Begin again with what a file knows; the loop that was is moved aside."""
    data = await request.body()
    await run_in_threadpool(here.loops.restart, here.name, data)
    return empty()


@router.delete("/model", status_code=EMPTY, summary="Forget the model")
def delete_model(here: Made, _: Admin) -> Response:
    """Begin again with nothing; the loop that was is moved aside."""
    here.loops.restart(here.name, None)
    return empty()


@router.get("/model/properties", summary="Times of the model")
def model_properties(here: Here, _: Admin) -> Response:
    """When the loop was made, and when it last learned."""
    first, last = here.use(lambda loop: loop.call(lambda bandit: bandit.store.span()))
    return fast({"creationTime": _told(first), "lastModifiedTime": _told(last)})


@router.get("/logs/properties", summary="Times of the log")
def log_properties(here: Here, _: Admin) -> Response:
    """The first and the last time in the log."""
    first, last = here.use(lambda loop: loop.call(lambda bandit: bandit.store.span()))
    return fast({"dateRange": {"from": _told(first), "to": _told(last)}})


@router.delete("/logs", status_code=EMPTY, summary="Delete the log")
def delete_logs(here: Here, _: Admin) -> Response:
    """Delete what was learned from; what was learned stays, and decisions that wait for a reward go on waiting."""
    here.use(lambda loop: loop.delete_log())
    return empty()


def _told(seconds: float | None) -> str | None:
    return None if seconds is None else moment_of(seconds)


# -------------------------------------------------------------------------------------------------------------------- jobs


@router.put("/evaluations/{id}", summary="Evaluate")
def put_evaluation(id: str, asked: wire.Job, here: Made, _: Admin) -> Response:  # noqa: A002
    """Replay the log in the background."""
    start, end = (moment.timestamp() for moment in (asked.startTime, asked.endTime))

    def read(after: int, limit: int) -> Any:
        return here.use(lambda loop: loop.call(lambda bandit: bandit.store.rows(after, limit)))

    minutes = next(m for m in (*evaluation.INTERVALS, 1440 * 365) if (end - start) / 60.0 / m <= 1000)
    here.state.evaluations.submit(
        here.name, id, asked, lambda: evaluation.evaluate(evaluation.events(read, start, end), asked, minutes)
    )
    return fast({}, 200)


@router.put("/featureImportances/{id}", summary="Feature importances")
def put_importance(id: str, asked: wire.Job, here: Made, _: Admin) -> Response:  # noqa: A002
    """Compute, in the background, how much each feature moves the estimates of the newest decisions."""

    def work() -> dict[str, Any]:
        return jobs.importances(here.use(lambda loop: loop.call(lambda bandit: bandit.importance())))

    here.state.importances.submit(here.name, id, asked, work)
    return fast({}, 200)


def _looks_after(path: str, jobs_of: Callable[[State], jobs.Jobs]) -> None:
    """The paths that look at jobs of one kind, list them, and forget one."""

    @router.get(f"{path}/{{id}}", summary="A job, with its result")
    def get(id: str, here: Made, _: Admin) -> Response:  # noqa: A002
        """Its status, and its result."""
        return fast(jobs_of(here.state).get(here.name, id))

    @router.get(path, summary="All jobs of this kind")
    def all_(here: Made, _: Admin, top: int = 10**9, skip: int = 0) -> Response:
        """The oldest first."""
        return fast({"value": jobs_of(here.state).all(here.name)[skip : skip + max(0, top)]})

    @router.delete(f"{path}/{{id}}", status_code=EMPTY, summary="Delete a job")
    def delete(id: str, here: Made, _: Admin) -> Response:  # noqa: A002
        """Forget it."""
        jobs_of(here.state).delete(here.name, id)
        return empty()


_looks_after("/evaluations", lambda state: state.evaluations)
_looks_after("/featureImportances", lambda state: state.importances)
