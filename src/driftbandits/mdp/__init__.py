r"""Non-stationary episodic MDPs: environments, exact planning, learners, from features to a regret curve.

>>> import driftbandits as db
>>> world = db.mdp.riverswim(episodes=300, horizon=10, drift="abrupt")
>>> gamma = db.theory.mdp_gamma(K=300, H=10, Delta=world.Delta)
>>> strategy = db.zoo.weight_ucrl(
...     gamma=gamma, lam_theta=2, lam_w=200, delta=0.001, transition_bonus_scale=0.1, **world.bounds
... )
>>> run = db.simulate_mdp(strategy, world, episodes=300, seed=0)
>>> run.regret.shape
(300,)

=====================================  ========================================================================
`linear_mixture`, `mnl_mixture`        your own MDP, from features and drifting parameters
`riverswim`, `mnl_riverswim`           drifting RiverSwim, as a linear and as a multinomial-logit mixture
`inventory`                            a shop whose demand drifts with the season
`random_linear_mixture`, `random_mnl`  random MDPs of any size
`phase`                                the drift: static, gradual, abrupt
`kappa`                                κ of multinomial-logit features over a ball, computed
`backward_induction`, …                exact planning and evaluation in a known MDP; `uniform_regret` of random play
=====================================  ========================================================================
"""

from .agent import EpisodicAgent
from .bob import BlockwiseChoice
from .curvature import kappa
from .drift import Drift, phase
from .environment import MDP, linear_mixture, mnl_mixture
from .inventory import inventory
from .multinomial import Multinomial
from .planner import Backup, OptimisticPlanner
from .planning import backward_induction, policy_evaluation, uniform_regret
from .random_worlds import random_linear_mixture, random_mnl
from .reward import RewardRidge
from .riverswim import mnl_riverswim, riverswim
from .simulate import EpisodicRun, simulate_mdp, trials_mdp
from .value_targeted import ValueTargeted

__all__ = [
    "MDP",
    "Backup",
    "BlockwiseChoice",
    "Drift",
    "EpisodicAgent",
    "EpisodicRun",
    "Multinomial",
    "OptimisticPlanner",
    "RewardRidge",
    "ValueTargeted",
    "backward_induction",
    "inventory",
    "kappa",
    "linear_mixture",
    "mnl_mixture",
    "mnl_riverswim",
    "phase",
    "policy_evaluation",
    "random_linear_mixture",
    "random_mnl",
    "riverswim",
    "simulate_mdp",
    "trials_mdp",
    "uniform_regret",
]
