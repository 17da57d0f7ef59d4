"""MASTER for MDPs: fresh planners on many time scales, for an unknown rate of drift."""

from typing import Any

from ..mdp.master import EpisodicMaster, Tests
from .bases import planner_base
from .mdp import SMALL, ucrl_vtr
from .record import algorithm, algorithms_of


@algorithm(
    family="mdp",
    remembers="each instance everything since it started",
    plays="what its active instance plays",
    regret="min{(Γ K)^{1/2}, Δ^{1/3} K^{2/3}} up to what the base's bound has (Wei, Luo)",
    papers=("wei2021nonstationary", "gerogiannis2025prior"),
    example={"base": ucrl_vtr(**SMALL), "episodes": 16},
    world="linear mixture",
)
def master_ucrl(
    base: Any, *, episodes: int, first_order: int = 0, delta: float | None = None, test_scale: float = 1.0
) -> EpisodicMaster:
    """MASTER over episodic MDPs: fresh planners on many scales, restarted when a test fails (Wei, Luo 2021).

    Parameters
    ----------
    base
        A planner for an MDP that stands still: `ucrl_vtr(…)`, `ucrl_mnl(…)`, `opt_wlsvi(gamma=1, …)`.
    episodes
        Number of episodes K.
    first_order
        The first block has 2^first_order episodes, and so has the first after a restart.
    delta, test_scale
        Of the tests; by default 1/K and 1. With the published constants no test can fire at practical sizes; a smaller scale makes them
        work.

    Examples
    --------
    >>> master_ucrl(ucrl_vtr(), episodes=1000).tests.delta
    0.001
    """
    level = 1.0 / episodes if delta is None and episodes > 1 else delta if delta is not None else 0.05
    tests = Tests(episodes=episodes, first_order=first_order, delta=level, scale=test_scale)
    return EpisodicMaster(planner_base(base, "master_ucrl"), tests)


__all__ = algorithms_of(__name__)
