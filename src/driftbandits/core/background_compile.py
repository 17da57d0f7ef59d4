"""Run code interpreted while it is being compiled in the background.

Compiling a new composition takes 5 to 20 seconds, too long to wait for a first decision. An entry and everything it calls are also
Python functions that work on the same state, about a hundred times slower: half a millisecond per decision. `prepared` returns the
fastest form available:

    "now"         machine code, compiled before the call returns if it is not in the cache
    "background"  machine code if it is in the cache; otherwise the Python function, while a child process compiles into the cache, and
                  machine code from the first call after that. Both work on the same state, so nothing but the speed changes.
    "never"       the Python function

Parts that only this process knows (typed at a prompt or defined in a script, which a child would have to run again) are compiled by a
thread of this process. A compilation that fails causes one warning, and the Python function stays in use.
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

CompileMode = Literal["background", "now", "never"]
BATCH_SECONDS = (
    0.02  # requests that arrive within this time go to one child process; an agent makes all of its requests at once
)
DONE = "done"


def compile_mode(asked: CompileMode) -> CompileMode:
    """The mode to use. DRIFTBANDITS_COMPILE overrides "background", which is the default, but not an explicit "now" or "never"."""
    how = os.environ.get("DRIFTBANDITS_COMPILE") or asked if asked == "background" else asked
    if how not in ("background", "now", "never"):
        raise InvalidValue(f"compile = {how!r} is not allowed; it must be 'background', 'now' or 'never'")
    return cast(CompileMode, how)


def prepared(
    entry: EntryPoint[..., Any], args: tuple[Any, ...], how: CompileMode, install: Callable[[Callable[..., Any]], None]
) -> Callable[..., Any]:
    """The function to call for arguments of these types.

    In mode "background" it may be the interpreted one. Once machine code exists, the next call passes it to `install`, so that the
    caller can replace the function it holds.
    """
    if interpreted() or how == "now" or entry.ready(*args):
        return entry.direct(*args)
    if how == "never":
        return by_python(entry)
    return InterpretedUntilCompiled(entry, _compiler.ask(entry, tuple(map(outline, args))), install)


def lazily(
    entry: EntryPoint[..., Any], how: CompileMode, install: Callable[[Callable[..., Any]], None]
) -> Callable[..., Any]:
    """A function that calls `prepared` at its own first call, for entries that may never be needed."""

    def first(*args: Any) -> Any:
        code = prepared(entry, args, how, install)
        install(code)
        return code(*args)

    return first


def by_python(entry: EntryPoint[..., Any]) -> Callable[..., Any]:
    """The entry as a Python function. NumPy's warnings are off, because compiled code divides by zero and overflows silently too."""

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return entry.interpreted(*args)

    return run


class InterpretedUntilCompiled:
    """Calls the Python function until machine code is available."""

    def __init__(
        self, entry: EntryPoint[..., Any], request: "CompileRequest", install: Callable[[Callable[..., Any]], None]
    ) -> None:
        self.python, self.request, self.install = by_python(entry), request, install

    def __call__(self, *args: Any) -> Any:
        """Run the machine code if it is available, otherwise the Python function."""
        return (self.install_if_over() or self.python)(*args)

    def install_if_over(self) -> Callable[..., Any] | None:
        """Install the result of a compilation that is over: machine code, which is returned, or the Python function if it failed."""
        request = self.request
        if not request.over.is_set():
            return None
        self.install(request.code or self.python)
        if request.code is None:
            warn_of_failure(request.reason)
        return request.code


_warned: set[str] = set()


def warn_of_failure(reason: str) -> None:
    """Warn that a compilation failed, once per process: an agent has several entries, and a process may have many agents."""
    if "failed" not in _warned:
        _warned.add("failed")
        warnings.warn(
            f"compiling failed ({reason}): decisions are computed by Python, the same but about 100 × slower; "
            "Agent(…, compile='now') shows the whole error",
            CompilerWarning,
            stacklevel=4,
        )


# ---------------------------------------------------------------------------------------------------------- the background


class CompileRequest:
    """An entry to be compiled for given types, and the result once `over` is set: `code`, or the `reason` of a failure."""

    def __init__(self, entry: EntryPoint[..., Any], args: tuple[Any, ...]) -> None:
        self.entry, self.args = entry, args
        self.over = threading.Event()
        self.code: Callable[..., Any] | None = None
        self.reason = ""

    def load_or_compile(self) -> None:
        """Load the code from the cache, or compile it in this process."""
        try:
            self.code = self.entry.direct(*self.args)
        except Exception as problem:
            self.reason = first_line(problem)
        self.over.set()

    def give_up(self, reason: str) -> None:
        """Record a failure; the Python function stays in use."""
        self.reason = reason
        self.over.set()


class ChildTask(NamedTuple):
    """What a child process compiles: an entry, given by its name, for arguments of the right types."""

    module: str
    name: str
    args: tuple[Any, ...]


class Compiler:
    """A thread of this process that has a child process compile each request, and then loads the code."""

    def __init__(self) -> None:
        self.queue: queue.SimpleQueue[CompileRequest] = queue.SimpleQueue()
        self.lock = threading.Lock()
        self.asked: dict[Any, CompileRequest] = {}
        self.thread: threading.Thread | None = None

    def ask(self, entry: EntryPoint[..., Any], args: tuple[Any, ...]) -> CompileRequest:
        """Request a compilation and return at once. Equal requests are compiled once."""
        key = entry.interpreted, layout(args)
        with self.lock:
            if key in self.asked:
                return self.asked[key]
            request = self.asked[key] = CompileRequest(entry, args)
            self._begin(request)
            return request

    def _begin(self, request: CompileRequest) -> None:
        self.queue.put(request)
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._serve, name="driftbandits-compiler", daemon=True)
            self.thread.start()

    def forked(self) -> "Compiler":
        """The compiler of a forked process. Fork does not copy threads, so unfinished requests are queued again."""
        fresh = Compiler()
        fresh.asked = dict(self.asked)
        for request in fresh.asked.values():
            if not request.over.is_set():
                fresh._begin(request)
        return fresh

    def _serve(self) -> None:
        while True:
            batch = [self.queue.get()]
            try:
                while True:
                    batch.append(self.queue.get(timeout=BATCH_SECONDS))
            except queue.Empty:
                self._compile(batch)

    def _compile(self, batch: list[CompileRequest]) -> None:
        tasks: dict[CompileRequest, ChildTask] = {}
        for request in batch:
            task = None if request.entry.ready(*request.args) else task_of(request)
            if task is None:
                request.load_or_compile()
            else:
                tasks[request] = task
        # The child answers in the order of its tasks; after each answer the code is in the cache, from which this process loads it.
        waiting = list(tasks)
        for answer in run_child(list(tasks.values())) if tasks else ():
            request = waiting.pop(0)
            if answer == DONE:
                request.load_or_compile()
            else:
                request.give_up(answer)
        for request in waiting:  # the child died or could not be started: compile here
            request.load_or_compile()


_compiler = Compiler()


def _after_fork() -> None:
    global _compiler
    _compiler = _compiler.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def task_of(request: CompileRequest) -> ChildTask | None:
    """The task for a child process, or None if a child could not import the parts, or could not store the code."""
    function = request.entry.interpreted
    kinds = frozenset(_classes(request.args))
    here = any(kind.__module__ == "__main__" or "<locals>" in kind.__qualname__ for kind in kinds)
    if (
        here
        or "__main__" in (function.__module__, *registry.helper_modules)
        or code_cache.folder(kinds, function) is None
    ):
        return None
    return ChildTask(function.__module__, function.__qualname__, request.args)


def _classes(value: Any) -> Iterable[type]:
    if isinstance(value, tuple):
        yield type(value)
        for item in value:
            yield from _classes(item)


def outline(value: Any) -> Any:
    """A small argument of the same numba type, to be sent to the compiler in place of the real one."""
    if isinstance(value, np.ndarray):
        return np.zeros((1,) * value.ndim, value.dtype) if value.flags.c_contiguous else value.copy(order="K")
    if isinstance(value, np.random.Generator):
        return np.random.default_rng(0)
    if isinstance(value, tuple) and not hasattr(value, "check"):
        items = map(outline, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


# ---------------------------------------------------------------------------------------------------------------- the child


def run_child(tasks: list[ChildTask]) -> Iterator[str]:
    """Compile in another process and yield, task by task, `DONE` or the reason of a failure. Answers are missing if the child dies."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from driftbandits.core.background_compile import serve; serve()"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        message = pickle.dumps(sorted(registry.helper_modules)) + pickle.dumps(tasks)
        with subprocess.Popen([sys.executable, "-c", program], **pipes) as child:
            with child.stdin as ask:  # type: ignore[union-attr]
                ask.write(message)
            for line in child.stdout:  # type: ignore[union-attr]
                word, _, answer = line.decode(errors="replace").rstrip("\n").partition(" ")
                if word == "compiled":
                    yield answer
    except (
        OSError,
        pickle.PicklingError,
        AttributeError,
        TypeError,
    ):  # no process can be started, or a part cannot be pickled
        return


def serve() -> None:
    """In the child process: compile the tasks read from standard input into the cache."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # keeps what the user's modules print out of the answers
    # All modules with kernels are imported first: the name of the code in the cache depends on which of them are registered.
    for module in pickle.load(sys.stdin.buffer):
        importlib.import_module(module)
    for task in pickle.load(sys.stdin.buffer):
        try:
            entry = getattr(importlib.import_module(task.module), task.name)
            entry.direct(*task.args)
            answer = DONE
        except Exception as problem:
            answer = first_line(problem)
        print(f"compiled {answer}", file=answers, flush=True)


def first_line(problem: Exception) -> str:
    """An error in one line: its type and the first line of its message."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0][:200]}" if lines else type(problem).__name__
