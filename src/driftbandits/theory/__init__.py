"""The theorems of the paper as numbers: tuned γ, λ, W, H, D; radii; explicit regret bounds; path length.

    import driftbandits as db

    P_T = db.theory.path_length(path)
    gamma = db.theory.lb_gamma(T=6000, d=2, P_T=P_T)
    print(db.theory.lb_regret_bound(T=6000, d=2, P_T=P_T))

| module | content |
|---|---|
| `common` | `Bound`; effective rounds, half-life, default δ |
| `paths` | path length, number of changes, bias sums |
| `lemmas` | potential, determinant, self-concordance |
| `linear` | Theorem 1: LB-WeightUCB |
| `forgetting` | windows and restarts by the same lemmas |
| `generalized` | Theorem 2: GLB-WeightUCB |
| `one_pass` | γ of one-pass learners |
| `detection` | DAL's rate of forced exploration, and the thresholds of its detectors |
| `good_rounds` | rounds in which discounting outruns the drift: what repairs Theorem 3 |
| `self_concordant` | Theorem 3: SCB-WeightUCB |
| `piecewise` | Theorem 4: SCB-PW-WeightUCB |
| `mdp`, `linear_mixture`, `multinomial` | Theorems 5 and 6: episodic MDPs |
| `bob` | bandits over bandits (appendix on BOB): unknown P_T |
| `igw` | IGW-mix: not in the paper; arms that change, P_T known or not |
| `table` | Table 1 at a given size: previous work, the paper, lower bounds, and where they cross |

Every bound has `variant="printed"` (default: the inequality the paper's proof ends with), `"corrected"` (the same with its slips repaired),
`"repaired"` (Theorem 3 with its rate kept) and `"sharp"` (also without the superfluous √d of the bias lemma); each docstring says where
they differ and why. Logarithms are natural unless written log₂.
"""

from .bob import (
    bob_block,
    bob_candidates,
    bob_delta,
    bob_gamma,
    bob_meta_bound,
    bob_rates,
    bob_regret_bound,
    bob_reward_bound,
)
from .checks import Variant
from .common import Bound, default_delta, effective_rounds, gamma_from_half_life, half_life
from .detection import dal_exploration, glr_threshold
from .forgetting import (
    restart_period,
    restart_regret_bound,
    window,
    window_regret_bound,
)
from .generalized import (
    bvd_gamma,
    d_glm_gamma,
    glb_bonus_factor,
    glb_error_bound,
    glb_gamma,
    glb_lambda,
    glb_radius,
    glb_regret_bound,
)
from .good_rounds import bad_rounds, bad_rounds_bound, round_inflation
from .igw import IgwBound, igw_mix_regret_bound
from .lemmas import (
    curvature_share,
    log_det_bound,
    log_gamma_constant,
    potential,
    potential_bound,
    prediction_distance,
)
from .linear import (
    d_lin_gamma,
    d_lin_regret_bound,
    lb_error_bound,
    lb_gamma,
    lb_lambda,
    lb_radius,
    lb_regret_bound,
)
from .linear_mixture import (
    linear_mixture_lambdas,
    linear_mixture_radius,
    linear_mixture_regret_bound,
    linear_mixture_reward_error,
    linear_mixture_value_error,
)
from .mdp import (
    mdp_gamma,
    mdp_martingale,
    mdp_reward_radius,
    mdp_window,
)
from .multinomial import (
    mnl_kappa_bound,
    mnl_lambdas,
    mnl_radius,
    mnl_regret_bound,
    mnl_value_error,
)
from .one_pass import domd_gamma, domd_jump_gamma
from .paths import (
    bias_sum,
    bias_sum_bound,
    change_count,
    path_length,
    path_steps,
    round_bias,
)
from .piecewise import (
    pw_gamma,
    pw_loss_radius,
    pw_memory,
    pw_radius,
    scb_pw_regret_bound,
)
from .rates import (
    bvd_regret_rate,
    d_lin_regret_rate,
    lb_lower_rate,
    master_regret_rate,
    mdp_lower_rate,
    sc_d_glm_regret_rate,
)
from .self_concordant import (
    drift_inflation,
    projection_free_factor,
    scb_bonus_factor,
    scb_error_bound,
    scb_gamma,
    scb_lambda,
    scb_radius,
    scb_regret_bound,
)
from .table import Crossing, Row, Table1, table1

__all__ = [
    "Bound",
    "Crossing",
    "IgwBound",
    "Row",
    "Table1",
    "Variant",
    "bad_rounds",
    "bad_rounds_bound",
    "bias_sum",
    "bias_sum_bound",
    "bob_block",
    "bob_candidates",
    "bob_delta",
    "bob_gamma",
    "bob_meta_bound",
    "bob_rates",
    "bob_regret_bound",
    "bob_reward_bound",
    "bvd_gamma",
    "bvd_regret_rate",
    "change_count",
    "curvature_share",
    "d_glm_gamma",
    "d_lin_gamma",
    "d_lin_regret_bound",
    "d_lin_regret_rate",
    "dal_exploration",
    "default_delta",
    "domd_gamma",
    "domd_jump_gamma",
    "drift_inflation",
    "effective_rounds",
    "gamma_from_half_life",
    "glb_bonus_factor",
    "glb_error_bound",
    "glb_gamma",
    "glb_lambda",
    "glb_radius",
    "glb_regret_bound",
    "glr_threshold",
    "half_life",
    "igw_mix_regret_bound",
    "lb_error_bound",
    "lb_gamma",
    "lb_lambda",
    "lb_lower_rate",
    "lb_radius",
    "lb_regret_bound",
    "linear_mixture_lambdas",
    "linear_mixture_radius",
    "linear_mixture_regret_bound",
    "linear_mixture_reward_error",
    "linear_mixture_value_error",
    "log_det_bound",
    "log_gamma_constant",
    "master_regret_rate",
    "mdp_gamma",
    "mdp_lower_rate",
    "mdp_martingale",
    "mdp_reward_radius",
    "mdp_window",
    "mnl_kappa_bound",
    "mnl_lambdas",
    "mnl_radius",
    "mnl_regret_bound",
    "mnl_value_error",
    "path_length",
    "path_steps",
    "potential",
    "potential_bound",
    "prediction_distance",
    "projection_free_factor",
    "pw_gamma",
    "pw_loss_radius",
    "pw_memory",
    "pw_radius",
    "restart_period",
    "restart_regret_bound",
    "round_bias",
    "round_inflation",
    "sc_d_glm_regret_rate",
    "scb_bonus_factor",
    "scb_error_bound",
    "scb_gamma",
    "scb_lambda",
    "scb_pw_regret_bound",
    "scb_radius",
    "scb_regret_bound",
    "table1",
    "window",
    "window_regret_bound",
]
