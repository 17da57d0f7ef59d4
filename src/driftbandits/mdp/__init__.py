r"""Non-stationary episodic MDPs: environments, exact planning, learners, from features to a regret curve.

>>> import driftbandits as db
>>> world = db.mdp.riverswim(episodes=300, horizon=10, drift="abrupt")
>>> run = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.95), world, episodes=300, seed=0)
>>> run.regret.shape
(300,)

=====================================  ========================================================================
`tabular`, `mixture_of`, `logit`       what is known of a problem of your own, for `EpisodicAgent`
`sparse_features`                      the same where a pair leads to few of many states
`linear_mixture`, `mnl_mixture`        your own MDP to simulate, from features and drifting parameters
`sparse_mixture`                       the same with thousands of states, of which few can follow a pair
`riverswim`, `mnl_riverswim`           drifting RiverSwim, as a linear and as a multinomial-logit mixture
`inventory`                            a shop whose demand drifts with the season
`random_linear_mixture`, `random_mnl`  random MDPs of any size
`phase`                                the drift: static, gradual, abrupt
`kappa`                                κ of multinomial-logit features over a ball, computed
`plot_plan`, `plot_policy_over_time`   values and actions over the states; the policy as it changes
`run`                                  drive a Gymnasium environment
`discretise`                           number states and actions that are tuples, several numbers or intervals
`ContinuingAgent`, `tasks`             tasks without episodes; a queue, a warehouse and servers that drift
`baselines`                            Q-learning, UCBVI, PSRL; UCRL2 and SWUCRL2-CW
`Learner`                              what `simulate_mdp` asks of a learner of your own
`backward_induction`, …                exact planning and evaluation in a known MDP; `uniform_regret` of random play
=====================================  ========================================================================
"""

from . import baselines, tasks
from . import random_restart as random_restart  # methods of meta.RandomRestart for episodes
from .adaptive import AdaptivePlanner, Candidates
from .agent import EpisodicAgent
from .bob import BlockwiseChoice
from .continuing import ContinuingAgent
from .curvature import kappa
from .discretise import discretise
from .drift import Drift, phase
from .environment import MDP
from .features import Features, features_of, logit, mixture_of, sparse_features, tabular
from .inventory import inventory
from .lower_bound import hard_mixture
from .mixtures import linear_mixture, mnl_mixture, sparse_mixture
from .multinomial import Multinomial
from .one_pass import OnePassMultinomial
from .pictures import plot_plan, plot_policy_over_time
from .planner import Backup, OptimisticPlanner
from .planning import backward_induction, policy_evaluation, uniform_regret
from .played import Continued, Played
from .python_learners import Learner
from .random_worlds import random_linear_mixture, random_mnl
from .reward import RewardRidge
from .riverswim import mnl_riverswim, riverswim
from .run import run
from .simulate import EpisodicRun, simulate_mdp, trials_mdp
from .value_targeted import ValueTargeted

__all__ = [
    "MDP",
    "AdaptivePlanner",
    "Backup",
    "BlockwiseChoice",
    "Candidates",
    "Continued",
    "ContinuingAgent",
    "Drift",
    "EpisodicAgent",
    "EpisodicRun",
    "Features",
    "Learner",
    "Multinomial",
    "OnePassMultinomial",
    "OptimisticPlanner",
    "Played",
    "RewardRidge",
    "ValueTargeted",
    "backward_induction",
    "baselines",
    "discretise",
    "features_of",
    "hard_mixture",
    "inventory",
    "kappa",
    "linear_mixture",
    "logit",
    "mixture_of",
    "mnl_mixture",
    "mnl_riverswim",
    "phase",
    "plot_plan",
    "plot_policy_over_time",
    "policy_evaluation",
    "random_linear_mixture",
    "random_mnl",
    "riverswim",
    "run",
    "simulate_mdp",
    "sparse_features",
    "sparse_mixture",
    "tabular",
    "tasks",
    "trials_mdp",
    "uniform_regret",
]
