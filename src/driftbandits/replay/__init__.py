"""Off-policy evaluation: logs, estimators, evaluation over time, and the choice of settings by estimated value.

`driftbandits.replay` is this package and the function in it: calling the package calls `evaluation.replay`.
"""

import inspect
import sys
import types
from typing import Any

from .evaluation import replay
from .log import Log
from .result import Difference, Replay
from .tuning import Tuned, tune

__all__ = ["Difference", "Log", "Replay", "Tuned", "replay", "tune"]


class _Function(types.ModuleType):
    """A callable package. Importing the package replaces the function of the same name in `driftbandits`, so it can be called too."""

    __signature__ = inspect.signature(replay)

    def __call__(self, *args: Any, **options: Any) -> Replay:
        return replay(*args, **options)


sys.modules[__name__].__class__ = _Function
