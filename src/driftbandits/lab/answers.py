"""The response to a request of the page, in parts and in the order in which the page needs them:

    compiling   the learners whose code is still compiled; the curves of all others are sent meanwhile
    preview     every learner over a fifth of the trials: a picture while the slider still moves
    curves      every learner over all trials, on all cores; what was computed before is not computed again
    inside      details of the first trial
    gamma       the regret of the weighted learner for many γ: a curve that falls and rises

A request is converted to TOML text, and its cells are those that `driftbandits run` would run. Parameters of a learner are plain floats at
run time, so only a new combination of parts has to be compiled, by other processes and into the common cache. A request whose client has
disconnected is stopped after the current trial.
"""

import asyncio
import contextlib
import functools
import os
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from ..core.linalg import Matrix, Vector
from ..core.numba_private import interpreted
from ..errors import DriftBanditsError
from ..experiment.run.cells import Cell
from ..experiment.run.compilation import compile_apart, compile_one, is_compiled
from ..simulate.runs import spread_rounds
from . import river
from . import trial_view as inside
from .asked import Asked, ask, changed, gammas, preview_trials
from .learners import DEFAULTS, Learner
from .question import Question, read
from .specification import CHECKPOINTS
from .trials import regret_of

Event = dict[str, Any]
A = TypeVar("A")
KEPT = 20_000  # curves of single trials
GRACE = 0.03  # seconds after a preview in which a page whose slider still moves may ask the next question
PATIENCE = 0.5  # seconds between two signs of life while compiling
COMPILERS = 2  # processes that compile at the same time
#: Questions whose learners `Laboratory.compile_ahead` compiles in advance: the worlds of the story, then the river.
AHEAD: tuple[dict[str, Any], ...] = (
    {"learners": DEFAULTS["linear"]},
    {"learners": DEFAULTS["generalized"], "link": "logistic"},
    {"learners": DEFAULTS["river"], "world": "river"},
)


class Dropped(Exception):
    """The client has disconnected."""


class Laboratory:
    """The worker threads, and a cache of their results."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1
        self.pool = ThreadPoolExecutor(self.threads, thread_name_prefix="lab")
        self.kept: OrderedDict[str, Vector] = OrderedDict()
        self.loading: dict[str, asyncio.Task[None]] = {}  # by composition; done when this process has its code
        self.cost: dict[str, float] = {}  # CPU seconds of the latest trial of each composition
        self.compilers = asyncio.Semaphore(COMPILERS)
        self.one_at_a_time = asyncio.Lock()  # loading code into this process

    def close(self) -> None:
        """Stop the threads."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    async def ask(self, question: Question) -> Asked:
        """Resolve a request in a worker thread, so that the event loop is not blocked."""
        return await self._beside(ask, question)

    async def answer(self, asked: Asked) -> AsyncIterator[Event]:
        """All parts of the response."""
        began = time.perf_counter()
        stop = threading.Event()
        try:
            yield _told(asked)
            async for event in self._compiled(asked, stop):
                yield event
                began = time.perf_counter()  # what is told is the time of the trials
            async for event in self._curves(asked, stop):
                yield event
            yield {"kind": "curves", "seconds": time.perf_counter() - began}
            yield await self._inside(asked)
            async for event in self._gammas(asked, stop):
                yield event
            yield {"kind": "done", "seconds": time.perf_counter() - began}
        except DriftBanditsError as problem:
            yield {"kind": "error", "message": str(problem)}
        finally:
            stop.set()

    def _beside(self, function: Callable[..., A], *args: Any) -> "asyncio.Future[A]":
        return asyncio.get_running_loop().run_in_executor(self.pool, functools.partial(function, *args))

    # ------------------------------------------------------------------------------------------------------- compilation

    async def compile_ahead(self) -> None:
        """Compile the default learners of the usual worlds, one after another, so that a visitor who opens them later need not wait."""
        for question in AHEAD if not interpreted() else ():
            for trials in (await self.ask(read(question))).cells:
                await self._code(trials[0])

    async def _compiled(self, asked: Asked, stop: threading.Event) -> AsyncIterator[Event]:
        """Load or compile the code of every learner. Meanwhile: progress messages, and the curves of learners whose code is there."""
        if interpreted():
            return
        pairs = list(zip(asked.question.chosen, asked.cells, strict=True))
        tasks = [self._code(trials[0]) for _, trials in pairs]
        if all(task.done() for task in tasks):
            return  # as always but the first time
        drawn: set[str] = set()
        while len(drawn) < len(pairs):
            for (learner, cells), task in zip(pairs, tasks, strict=True):
                if task.done() and learner.key not in drawn:
                    task.result()
                    drawn.add(learner.key)
                    yield await self._curve(learner, cells, stop)
            absent = [cells[0].strategy for (_, cells), task in zip(pairs, tasks, strict=True) if not task.done()]
            if absent:
                yield {"kind": "compiling", "names": absent}
                await asyncio.wait(tasks, timeout=PATIENCE)

    def _code(self, cell: Cell) -> "asyncio.Task[None]":
        """The task that loads or compiles the code of a cell. If the client disconnects it goes on: the next request can use it."""
        name = cell.composition
        if name not in self.loading:
            self.loading[name] = asyncio.create_task(self._load(cell))
        return self.loading[name]

    async def _load(self, cell: Cell) -> None:
        try:
            if not is_compiled(cell.composition):
                async with self.compilers:
                    await _in_daemon(compile_apart, [cell.spec])
            async with self.one_at_a_time:
                with contextlib.suppress(DriftBanditsError):  # this learner cannot run in this world: its curve says so
                    await _in_daemon(compile_one, cell.spec)  # loads what was kept, and compiles what could not be
        except BaseException:
            del self.loading[cell.composition]  # the next request tries again
            raise

    # ------------------------------------------------------------------------------------------------------------ curves

    async def _curves(self, asked: Asked, stop: threading.Event) -> AsyncIterator[Event]:
        """Each learner as soon as its trials are done: first some of them, then all, of which the first are known."""
        each = sum(self.cost.get(cells[0].composition, 0.0) for cells in asked.cells)
        few = preview_trials(asked.question.trials, self.threads, each)
        if few:
            async for event in self._curves_of(asked, few, stop):
                yield {**event, "preview": True}
            yield {"kind": "preview", "trials": few}
            # A trial that has begun is played to its end, and the next question would wait for it.
            await asyncio.sleep(GRACE)
        async for event in self._curves_of(asked, asked.question.trials, stop):
            yield event

    async def _curves_of(self, asked: Asked, trials: int, stop: threading.Event) -> AsyncIterator[Event]:
        # The quick learners first: their curves are drawn while the slow ones, which may take ten times as long, still play.
        pairs = zip(asked.question.chosen, asked.cells, strict=True)
        ordered = sorted(pairs, key=lambda pair: self.cost.get(pair[1][0].composition, 0.0))
        tasks = [asyncio.create_task(self._curve(learner, cells[:trials], stop)) for learner, cells in ordered]
        try:
            for task in asyncio.as_completed(tasks):
                yield await task
        finally:
            for task in tasks:
                task.cancel()

    async def _curve(self, learner: Learner, cells: list[Cell], stop: threading.Event) -> Event:
        try:
            regret = await self._regrets(cells, stop)
        except DriftBanditsError as problem:  # this learner cannot run in this world; the others continue
            return {"kind": "curve", "learner": learner.key, "error": str(problem)}
        rounds = spread_rounds(CHECKPOINTS, cells[0].horizon)
        return {"kind": "curve", "learner": learner.key, "rounds": rounds.tolist(), **_band(regret)}

    async def _regrets(self, cells: list[Cell], stop: threading.Event) -> Matrix:
        """(trials, c), on all threads."""
        if stop.is_set():
            raise Dropped
        shares = [share.tolist() for share in np.array_split(np.arange(len(cells)), self.threads) if len(share)]
        found = await asyncio.gather(
            *(self._beside(self._run, [cells[i] for i in share], stop) for share in shares),
        )
        return np.array([regret for share in found for regret in share])

    def _run(self, cells: list[Cell], stop: threading.Event) -> list[Vector]:
        return [self._regret(cell, stop) for cell in cells]

    def _regret(self, cell: Cell, stop: threading.Event) -> Vector:
        found = self.kept.get(cell.key)
        if found is None:
            if stop.is_set():
                raise Dropped
            began = time.thread_time()
            found = self.kept[cell.key] = regret_of(cell.spec)
            self.cost[cell.composition] = time.thread_time() - began
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return found

    # ----------------------------------------------------------------------------------------------------- inside, and γ

    async def _inside(self, asked: Asked) -> Event:
        view: Any = river if asked.question.world == "river" else inside
        looks = await asyncio.gather(*(self._beside(_or_nothing, view.look, trials[0]) for trials in asked.cells))
        told = {learner.key: seen for learner, seen in zip(asked.question.chosen, looks, strict=True) if seen}
        rounds: list[int] = next((seen["round"] for seen in told.values()), [])
        scene = await self._beside(view.scene, asked.cells[0][0], rounds) if rounds else {}
        learners = {key: {k: v for k, v in seen.items() if k != "round"} for key, seen in told.items()}
        return {"kind": "inside", "world": asked.question.world, "round": rounds, "scene": scene, "learners": learners}

    async def _gammas(self, asked: Asked, stop: threading.Event) -> AsyncIterator[Event]:
        """Regret of the weighted learner for each γ, a coarse grid first."""
        if asked.weighted is None:
            return
        learner, cells = asked.question.chosen[asked.weighted], asked.cells[asked.weighted]
        for gamma in gammas(asked.question.T, asked.theory["gamma"]):
            twins = [changed(cell, strategy={**cell.spec["strategy"], "gamma": gamma}) for cell in cells]
            final = (await self._regrets(twins, stop))[:, -1]
            yield {
                "kind": "gamma",
                "learner": learner.key,
                "gamma": gamma,
                "mean": float(final.mean()),
                "std": float(final.std(ddof=1)) if len(final) > 1 else 0.0,
            }


async def _in_daemon(function: Callable[..., A], *args: Any) -> A:
    """Run in a daemon thread, which the process does not wait for at its end, because compiling takes seconds."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[A] = loop.create_future()

    def tell(setter: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            setter(value)

    def run() -> None:
        try:
            told: tuple[Any, Any] = (answer.set_result, function(*args))
        except Exception as problem:
            told = (answer.set_exception, problem)
        with contextlib.suppress(RuntimeError):  # the loop is gone
            loop.call_soon_threadsafe(tell, *told)

    threading.Thread(target=run, daemon=True, name="lab-compiler").start()
    return await answer


def _band(regret: Matrix) -> Event:
    """Mean ± 1 standard deviation over trials."""
    mean = regret.mean(axis=0)
    std = regret.std(axis=0, ddof=1) if len(regret) > 1 else np.zeros_like(mean)
    series = {"mean": mean, "low": mean - std, "high": mean + std}
    drawn = {name: np.round(values, 3).tolist() for name, values in series.items()}
    return {**drawn, "final": float(mean[-1]), "std": float(std[-1])}


def _told(asked: Asked) -> Event:
    """The first message: the learners and their parameters."""
    numbers = [
        {key: value for key, value in trials[0].spec["strategy"].items() if isinstance(value, int | float)}
        for trials in asked.cells
    ]
    learners = [{"key": x.key, "numbers": n} for x, n in zip(asked.question.chosen, numbers, strict=True)]
    return {"kind": "plan", "learners": learners, "theory": asked.theory}


def _or_nothing(look: Callable[[Cell], Any], cell: Cell) -> Any:
    """The details of a trial, or None for a learner that cannot run in this world; its curve already reported the error."""
    try:
        return look(cell)
    except DriftBanditsError:
        return None
