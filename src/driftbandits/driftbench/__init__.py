"""DriftBench: a frozen suite of drifting worlds, and a leaderboard.

>>> from driftbandits.driftbench import WORLDS, Runner
>>> len(WORLDS) >= 24
True

``driftbandits bench-suite my_learner.py`` plays a learner of your own, an object with `select` and `update`, and writes one JSON;
``driftbandits leaderboard DIR`` makes a page and a LaTeX table of many. docs/driftbench.md is the guide.
"""

from .run import Runner
from .scores import standing
from .suite import VERSION, WORLDS
from .task import Task

__all__ = ["VERSION", "WORLDS", "Runner", "Task", "standing"]
