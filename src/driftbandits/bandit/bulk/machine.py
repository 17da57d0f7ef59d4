"""The machine code that walks through stretches of rows; compiled when it is first needed."""

from collections.abc import Callable
from functools import cache, partial
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from ...adaptive import stretch
from ...adaptive.engine import smallest_engine
from ...core.background_compile import CompileMode, InterpretedUntilCompiled, compile_mode, prepared
from ...core.numba_private import interpreted
from .. import detector

# Rows of a stretch: while code is being compiled, Python walks, and looks often whether it is there.
LONG, SHORT = 4096, 32
WORTH_IT = 1000  # rows from which the compiler, which takes under a minute once, is waited for: Python takes 5 to 20 ms per row


class Machine:
    """What to call: machine code if it is in the cache; else Python, while it is compiled."""

    observe: Callable[..., int]
    decide: Callable[..., int]
    learn: Callable[..., int]
    replay: Callable[..., int]

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Any, tuple[Any, ...]]] = {}
        one, row, many = np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1, 1))
        ints, pairs = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
        engine = smallest_engine()
        self._enter("observe", stretch.observe_rows, engine, many, many, ints, one, 0, one, True, one, one, one)
        asked = engine, many, ints, pairs, one, 0, many, 0.0, one
        self._enter("decide", stretch.decide_rows, *asked, ints, row, row, ints, row, row, row, row)
        logged = ints, ints, one, True, one
        self._enter("replay", stretch.replay_rows, *asked, *logged, ints, row, row, ints, one, row, row)
        self._enter("learn", stretch.learn_rows, engine, row, row, ints, one, one, one, row)

    def _enter(self, name: str, entry: Any, *args: Any) -> None:
        self._entries[name] = entry, args

    def _prepare(self, name: str, how: CompileMode) -> None:
        entry, args = self._entries[name]
        setattr(self, name, prepared(entry, args, how, partial(setattr, self, name)))

    def longest(self, name: str, rows: int) -> int:
        """How many rows to walk through in one call, of so many. A walk is compiled when it is first needed; a long one is waited for."""
        mode = compile_mode("background")
        waits = rows >= WORTH_IT and mode != "never"
        if name not in vars(self) or (waits and not self._is_compiled(name)):
            self._prepare(name, "now" if waits else mode)
        if waits and name != "decide":  # rewards go through the change detector too
            detector.machine().wait()
        return LONG if interpreted() or self._is_compiled(name) else SHORT

    def compiled(self, name: str) -> bool:
        """Whether a walk is machine code, or is to be Python; else it is compiled in the background, and single steps are faster."""
        if name not in vars(self):
            self._prepare(name, compile_mode("background"))
        found = getattr(self, name)
        if isinstance(found, InterpretedUntilCompiled):
            found.install_if_over()
        return self._is_compiled(name) or interpreted()

    def _is_compiled(self, name: str) -> bool:
        return type(getattr(self, name)) is BuiltinFunctionType


@cache
def machine() -> Machine:
    """The one of this process."""
    return Machine()
