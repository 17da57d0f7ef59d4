"""Detection for MDPs: a planner for a world that stands still, restarted when a test finds a change."""

from typing import Any

from ..mdp.detection import ChangeTest, DetectingPlanner
from .bases import planner_base
from .mdp import SMALL, ucrl_vtr
from .record import algorithm, algorithms_of


@algorithm(
    family="mdp",
    remembers="everything since the last alarm",
    plays="what its base plays",
    regret="no theorem is claimed; in a world that stands still there is an alarm with probability ≤ δ",
    papers=("gerogiannis2025prior",),
    example={"base": ucrl_vtr(**SMALL), "delta": 0.05},
    world="linear mixture",
)
def detect_ucrl(base: Any, *, delta: float = 0.01) -> DetectingPlanner:
    """Detection around any planner: likelihood-ratio tests of every pair's successors and rewards (ours, after detection for bandits).

    Before every episode the planner is fresh if a pair of the last one refuted that the world stands still (`mdp.detection` has the test
    and its proof). A change is found only where the policy goes. The same transitions and rewards must hold in all stages of an episode.

    Parameters
    ----------
    base
        A planner for an MDP that stands still: `ucrl_vtr(…)`, `ucrl_mnl(…)`, `opt_wlsvi(gamma=1, …)`.
    delta
        Probability of any false alarm in a world that stands still, for as long as it is played.

    Examples
    --------
    >>> detect_ucrl(ucrl_vtr(), delta=0.01).test.delta
    0.01
    """
    return DetectingPlanner(planner_base(base, "detect_ucrl"), ChangeTest(delta=delta))


__all__ = algorithms_of(__name__)
