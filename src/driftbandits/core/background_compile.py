"""Decide at once, compile meanwhile: what runs while code is not in the cache.

An entry and everything it calls are Python functions, and run as such on the same state, about a hundred times slower: half a
millisecond per decision instead of five to twenty seconds of waiting. `prepared` gives the best that is there:

    "now"         machine code, compiled before the call returns if it is not in the cache
    "background"  machine code if it is in the cache; else Python, while a child process compiles into the cache, and from the first
                  call after that on machine code; the state is the same, so nothing but the speed changes
    "never"       Python

What only this process knows (parts typed at a prompt or in a script, which a child would have to run again) is compiled by a thread
of this process. A compilation that fails is said once, and Python goes on.
"""

import importlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from ..errors import InvalidValue
from . import code_cache, registry
from .kernel import EntryPoint, layout
from .numba_private import CompilerWarning, interpreted

How = Literal["background", "now", "never"]
PATIENCE = 0.02  # seconds in which an agent asks for all of its code
DONE = "done"


def way(asked: How) -> How:
    """How to compile. Where "background" is asked for, the default, DRIFTBANDITS_COMPILE may say otherwise."""
    how = os.environ.get("DRIFTBANDITS_COMPILE") or asked if asked == "background" else asked
    if how not in ("background", "now", "never"):
        raise InvalidValue(f"compile = {how!r} is not allowed; it must be 'background', 'now' or 'never'")
    return cast(How, how)


def prepared(
    entry: EntryPoint[..., Any], args: tuple[Any, ...], how: How, install: Callable[[Callable[..., Any]], None]
) -> Callable[..., Any]:
    """What to call for arguments of these types; when something better is there, `install` is called with it, from within a call."""
    if interpreted() or how == "now" or entry.ready(*args):
        return entry.direct(*args)
    if how == "never":
        return by_python(entry)
    return Meanwhile(entry, _compiler.ask(entry, tuple(map(outline, args))), install)


def lazily(entry: EntryPoint[..., Any], how: How, install: Callable[[Callable[..., Any]], None]) -> Callable[..., Any]:
    """What to call if it may never be called: `prepared` at the first call."""

    def first(*args: Any) -> Any:
        code = prepared(entry, args, how, install)
        install(code)
        return code(*args)

    return first


def by_python(entry: EntryPoint[..., Any]) -> Callable[..., Any]:
    """The entry as the function it was. Compiled code divides by zero and overflows in silence; so does this."""

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return entry.interpreted(*args)

    return run


class Meanwhile:
    """Python, until the code is there."""

    def __init__(
        self, entry: EntryPoint[..., Any], wish: "Wish", install: Callable[[Callable[..., Any]], None]
    ) -> None:
        self.python, self.wish, self.install = by_python(entry), wish, install

    def __call__(self, *args: Any) -> Any:
        """Run, by the best that is there."""
        wish = self.wish
        if wish.over.is_set():
            self.install(wish.code or self.python)
            if wish.code is not None:
                return wish.code(*args)
            say_once(wish.reason)
        return self.python(*args)


_said: set[str] = set()


def say_once(reason: str) -> None:
    """An agent has several pieces of code, and a process many agents: one line."""
    if "failed" not in _said:
        _said.add("failed")
        warnings.warn(
            f"compiling failed ({reason}): decisions go on interpreted, the same but about 100 × slower; "
            "Agent(…, compile='now') shows the whole error",
            CompilerWarning,
            stacklevel=4,
        )


# ---------------------------------------------------------------------------------------------------------- the background


class Wish:
    """A piece of code that somebody waits for."""

    def __init__(self, entry: EntryPoint[..., Any], args: tuple[Any, ...]) -> None:
        self.entry, self.args = entry, args
        self.over = threading.Event()
        self.code: Callable[..., Any] | None = None
        self.reason = ""

    def fulfil(self) -> None:
        """Load the code from the cache, or compile it here."""
        try:
            self.code = self.entry.direct(*self.args)
        except Exception as problem:
            self.reason = first_line(problem)
        self.over.set()

    def give_up(self, reason: str) -> None:
        """Leave it to Python."""
        self.reason = reason
        self.over.set()


class Order(NamedTuple):
    """What a child is asked to compile: an entry by its name, and arguments of the right types."""

    module: str
    name: str
    args: tuple[Any, ...]


class Compiler:
    """One thread of this process that has a child compile what is asked for, and loads it."""

    def __init__(self) -> None:
        self.wishes: queue.SimpleQueue[Wish] = queue.SimpleQueue()
        self.lock = threading.Lock()
        self.asked: dict[Any, Wish] = {}
        self.thread: threading.Thread | None = None

    def ask(self, entry: EntryPoint[..., Any], args: tuple[Any, ...]) -> Wish:
        """Begin to compile, once for all who ask; returns at once."""
        key = entry.interpreted, layout(args)
        with self.lock:
            if key in self.asked:
                return self.asked[key]
            wish = self.asked[key] = Wish(entry, args)
            self._begin(wish)
            return wish

    def _begin(self, wish: Wish) -> None:
        self.wishes.put(wish)
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._serve, name="driftbandits-compiler", daemon=True)
            self.thread.start()

    def forked(self) -> "Compiler":
        """In a process that was forked: threads stay behind, so what is not there yet is asked for again."""
        fresh = Compiler()
        fresh.asked = dict(self.asked)
        for wish in fresh.asked.values():
            if not wish.over.is_set():
                fresh._begin(wish)
        return fresh

    def _serve(self) -> None:
        while True:
            batch = [self.wishes.get()]
            try:
                while True:
                    batch.append(self.wishes.get(timeout=PATIENCE))
            except queue.Empty:
                self._fulfil(batch)

    def _fulfil(self, batch: list[Wish]) -> None:
        orders: dict[Wish, Order] = {}
        for wish in batch:
            order = None if wish.entry.ready(*wish.args) else order_of(wish)
            if order is None:
                wish.fulfil()
            else:
                orders[wish] = order
        waiting = list(orders)
        for answer in run_child(list(orders.values())) if orders else ():
            wish = waiting.pop(0)
            if answer == DONE:
                wish.fulfil()
            else:
                wish.give_up(answer)
        for wish in waiting:  # the child died, or could not be started
            wish.fulfil()


_compiler = Compiler()


def _after_fork() -> None:
    global _compiler
    _compiler = _compiler.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def order_of(wish: Wish) -> Order | None:
    """What to tell a child, or None if it could not know the parts, or keep the code."""
    function = wish.entry.interpreted
    kinds = frozenset(_classes(wish.args))
    here = any(kind.__module__ == "__main__" or "<locals>" in kind.__qualname__ for kind in kinds)
    if (
        here
        or "__main__" in (function.__module__, *registry.helper_modules)
        or code_cache.folder(kinds, function) is None
    ):
        return None
    return Order(function.__module__, function.__qualname__, wish.args)


def _classes(value: Any) -> Iterable[type]:
    if isinstance(value, tuple):
        yield type(value)
        for item in value:
            yield from _classes(item)


def outline(value: Any) -> Any:
    """An argument of the same type for the compiler, without its content."""
    if isinstance(value, np.ndarray):
        return np.zeros((1,) * value.ndim, value.dtype) if value.flags.c_contiguous else value.copy(order="K")
    if isinstance(value, np.random.Generator):
        return np.random.default_rng(0)
    if isinstance(value, tuple) and not hasattr(value, "check"):
        items = map(outline, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


# ---------------------------------------------------------------------------------------------------------------- the child


def run_child(orders: list[Order]) -> Iterator[str]:
    """Compile in another process; for each order, as soon as it is known, `DONE` or why not. Fewer answers if the child dies."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from driftbandits.core.background_compile import serve; serve()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        message = pickle.dumps(sorted(registry.helper_modules)) + pickle.dumps(orders)
        with subprocess.Popen([sys.executable, "-c", program], **pipes) as child:
            with child.stdin as ask:  # type: ignore[union-attr]
                ask.write(message)
            for line in child.stdout:  # type: ignore[union-attr]
                told, _, answer = line.decode(errors="replace").rstrip("\n").partition(" ")
                if told == "compiled":
                    yield answer
    except (OSError, pickle.PicklingError, AttributeError, TypeError):  # no more processes; a part that cannot be sent
        return


def serve() -> None:
    """In the child: compile what stands on standard input into the cache."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever the user's modules print
    for module in pickle.load(sys.stdin.buffer):  # what may be inlined is part of the code's name in the cache
        importlib.import_module(module)
    for order in pickle.load(sys.stdin.buffer):
        try:
            entry = getattr(importlib.import_module(order.module), order.name)
            entry.direct(*order.args)
            answer = DONE
        except Exception as problem:
            answer = first_line(problem)
        print(f"compiled {answer}", file=answers, flush=True)


def first_line(problem: Exception) -> str:
    """What to say of an error in one line."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0][:200]}" if lines else type(problem).__name__
