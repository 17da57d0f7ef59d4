"""Sequential decisions in a drifting world.

>>> import driftbandits as db
>>> world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(2000), noise=1.0)
>>> strategy = db.zoo.lb_weight_ucb(gamma=0.977, lam=2.0, S=1.0, L=1.0, R=1.0, delta=1e-4)
>>> run = db.simulate(strategy, world, seed=0)
>>> run.rounds[-1], run.regret[-1] < 1000
(np.int64(2000), np.True_)
"""

import importlib
from typing import TYPE_CHECKING, Any

from . import env, features, mdp, theory, zoo
from .agent import Agent
from .errors import DriftBanditsError
from .mdp import EpisodicAgent, run, simulate_mdp
from .simulate import Run, simulate, trials
from .strategy import Optimistic
from .util.old_names import answer_old_names
from .zoo.citations import cite

if TYPE_CHECKING:
    from . import datasets
    from .bandit import Bandit, Decision
    from .replay import Log, replay, tune
    from .service.client import Client

__version__ = "0.2.0"

__all__ = [
    "Agent",
    "Bandit",
    "Client",
    "Decision",
    "DriftBanditsError",
    "EpisodicAgent",
    "Log",
    "Optimistic",
    "Run",
    "cite",
    "datasets",
    "env",
    "features",
    "mdp",
    "replay",
    "run",
    "simulate",
    "simulate_mdp",
    "theory",
    "trials",
    "tune",
    "zoo",
]


answer_old_names()


def __getattr__(name: str) -> Any:
    """The front for production, and what evaluates it, are read when they are first asked for."""
    if name in ("Bandit", "Decision"):
        from . import bandit

        return getattr(bandit, name)
    if name == "Client":
        return importlib.import_module(".service.client", __name__).Client
    if name == "datasets":
        return importlib.import_module(".datasets", __name__)
    if name in ("Log", "replay", "tune"):
        package = importlib.import_module(".replay", __name__)  # which can be called: it is `replay` itself
        return package if name == "replay" else getattr(package, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What completion in an editor or notebook offers: the public names, whether they have been read yet or not."""
    return [*__all__, "__version__"]
