"""Interrupt a call at every line of the library that it runs through.

Afterwards the object must work, and must be one to which the call never happened, or one to which it did:

    for each line n:   make the object, raise at its n-th line, then go on with it;   what follows must be what follows without the call,
                       or with it

`sys.settrace` raises the error before a line runs, as a signal or a failed allocation would. Machine code has no lines: it is not
interrupted. With NUMBA_DISABLE_JIT=1 the kernels are Python, and are interrupted too, as they are while code is being compiled.
"""

import pathlib
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple

import driftbandits

PACKAGE = str(pathlib.Path(driftbandits.__file__).parent)
ERRORS: tuple[type[BaseException], ...] = (KeyboardInterrupt, MemoryError)


class Case(NamedTuple):
    """A call, on what, and how to see what became of it."""

    make: Callable[[], Any]  # the object, always the same
    call: Callable[[Any], Any]
    follow: Callable[[Any], Any]  # goes on with the object; returns what can be compared


class Line(NamedTuple):
    """Where it was interrupted, and what went wrong afterwards."""

    place: str
    error: str
    problem: str


class Tracer:
    """Counts the lines of the package that a call runs through; raises before the n-th."""

    def __init__(self, at: int = -1, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.at, self.error, self.count, self.place = at, error, 0, ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        """What Python calls."""
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            if self.count == self.at:
                self.place = f"{frame.f_code.co_filename.removeprefix(PACKAGE)}:{frame.f_lineno}"
                sys.settrace(None)
                raise self.error
            self.count += 1
        return self


def traced(tracer: Tracer, call: Callable[[Any], Any], thing: Any) -> None:
    """Run a call under a tracer; its own error is swallowed, others are not."""
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        call(thing)
    except tracer.error:
        if not tracer.place:
            raise
    finally:
        sys.settrace(before)


def lines(case: Case) -> int:
    """How many lines a call runs through."""
    tracer = Tracer()
    traced(tracer, case.call, case.make())
    return tracer.count


def attack(case: Case, *, every: int = 1, errors: Iterable[type[BaseException]] = ERRORS) -> tuple[int, list[Line]]:
    """Interrupt at every line, or at each `every`-th; returns the number of attempts and what went wrong."""
    never = case.follow(case.make())
    thing = case.make()
    case.call(thing)
    called = case.follow(thing)
    tried, wrong = 0, []
    for error in errors:
        for n in range(0, lines(case), every):
            thing, tracer = case.make(), Tracer(n, error)
            traced(tracer, case.call, thing)
            tried += 1
            try:
                after = case.follow(thing)
            except Exception as problem:
                wrong.append(Line(tracer.place, error.__name__, f"{type(problem).__name__}: {problem}"))
                continue
            if after not in (never, called):
                wrong.append(Line(tracer.place, error.__name__, "neither called nor not called"))
    return tried, wrong


def summary(tried: int, wrong: list[Line]) -> str:
    """For people: how many, and the first places."""
    places = sorted({f"{line.place} ({line.problem})" for line in wrong})
    return f"{len(wrong)} of {tried} interrupted calls left a broken object; {len(places)} places: {places[:12]}"


def holds(case: Case, most: int = 40) -> None:
    """At no more than so many lines, spread evenly over all of them; at every line of a call that has fewer."""
    lines(case)  # the first call imports modules, and runs through more lines than later ones
    many = lines(case)
    tried, wrong = attack(case, every=max(1, many // most))
    assert tried >= min(most, many * len(ERRORS)) > 0
    assert not wrong, summary(tried, wrong)
