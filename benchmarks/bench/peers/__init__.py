"""One file per learner: `PACKAGE`, `SETTINGS` (the documented default first, then what is tried on other rounds), `refuses`, `make`."""

import importlib

OURS = ("bandit", "bandit_explore_0", "self_tuning")
PEERS = ("vowpalwabbit", "bayesianbandits", "river", "mabwiser", "contextualbandits", "coba", "numpy")


def module(name):
    return importlib.import_module(f"bench.peers.{name}_")


def with_constant(x):
    """Features with a 1 in front, for learners without an intercept of their own."""
    import numpy as np

    return np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)
