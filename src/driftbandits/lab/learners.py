"""The learners that the page offers, one row each. To add a learner to the page, add a row."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..zoo.record import RECORDS, parameters
from ..zoo.roles import Role, role_of

Place = Literal["linear", "generalized", "river"]


class Learner(NamedTuple):
    """A learner on the page."""

    key: str
    label: str
    colour: str
    line: str = "solid"
    use: str = ""  # in the zoo, if it is not the key
    forgets: bool = True  # by the slider; False leaves γ to the learner
    base: str = ""
    args: Mapping[str, Any] = {}
    fixed_arms: bool = False

    @property
    def name(self) -> str:
        """Its name in the zoo."""
        return self.use or self.key

    @property
    def takes(self) -> frozenset[str]:
        """Its parameters."""
        return parameters(RECORDS[self.name].make)

    @property
    def weighs(self) -> bool:
        """Whether the learner has a discount factor γ."""
        return self.forgets and "gamma" in self.takes

    @property
    def role(self) -> Role:
        """How it treats old data."""
        return role_of(self.name) if self.forgets else "tuning-free"

    @property
    def summary(self) -> str:
        """A one-line description."""
        return RECORDS[self.name].summary


GLR = {"detector": "glr"}
ONE_PASS = {"estimator": "one_pass"}
BLOCK = {"first_order": 13}  # one block of 8192 rounds, as in the paper's figure

# Colours are those of the role (plots/style.py); several learners of a role differ in line style too.
LEARNERS: dict[Place, tuple[Learner, ...]] = {
    "linear": (
        Learner("self_tuning", "Self-tuning", "blue"),
        Learner("adaptive_weight_ucb", "AdaptiveWeightUCB", "sky", "dashed"),
        Learner("bob", "BOB", "blue", "dotted"),
        Learner("igw_mix", "IGW-mix", "sky", "dashdot"),
        Learner("oful", "OFUL", "black"),
        Learner("lb_weight_ucb", "LB-WeightUCB", "red"),
        Learner("sw_ucb", "SW-UCB", "orange", "dashed"),
        Learner("restart_ucb", "RestartUCB", "brown", "dotted"),
        Learner("d_lin_ucb", "D-LinUCB", "yellow", "dashdot"),
        Learner("d_lin_ts", "D-LinTS", "red", "dotted"),
        Learner("d_rand_lin_ucb", "D-RandLinUCB", "orange", "dashdot"),
        Learner("wsb_lin_ucb", "WSB-LinUCB", "brown", "dashed"),
        Learner("wsb_rand_lin_ucb", "WSB-RandLinUCB", "yellow", "dotted"),
        Learner("wsb_lin_ts", "WSB-LinTS", "red", "dashed"),
        Learner("master", "MASTER+OFUL", "purple", base="oful", args=BLOCK, fixed_arms=True),
        Learner("dal", "DAL (chi2)", "purple", "dashed", base="oful"),
        Learner("dal_glr", "DAL (glr)", "purple", "dotted", use="dal", base="oful", args=GLR, fixed_arms=True),
    ),
    "generalized": (
        Learner("self_tuning", "Self-tuning", "blue"),
        Learner("adaptive_weight_glm_ucb", "AdaptiveWeightUCB", "sky", "dashed"),
        Learner("bob_glm", "BOB", "blue", "dotted"),
        Learner("glm_ucb", "GLM-UCB", "black"),
        Learner("log_ucb1", "LogUCB1", "black", "dashed"),
        Learner("glb_omd", "GLB-OMD", "black", "dotted"),
        Learner("glb_weight_ucb", "GLB-WeightUCB", "red"),
        Learner("sw_glm_ucb", "SW-GLUCB", "orange", "dashed"),
        Learner("glb_restart_ucb", "GLB-RestartUCB", "brown", "dotted"),
        Learner("scb_weight_ucb", "SCB-WeightUCB", "yellow", "dashdot"),
        Learner("d_glm_ucb", "D-GLUCB", "orange", "dotted"),
        Learner("domd_glb", "DOMD-GLB", "brown", "dashed"),
        Learner("glb_one_pass", "GLB-WeightUCB, one pass", "red", "dashed", use="glb_weight_ucb", args=ONE_PASS),
        Learner("master", "MASTER+GLM-UCB", "purple", base="glm_ucb", args=BLOCK, fixed_arms=True),
        Learner("dal", "DAL (chi2)", "purple", "dashed", base="glb_omd"),
        Learner("dal_glr", "DAL (glr)", "purple", "dotted", use="dal", base="glb_omd", args=GLR, fixed_arms=True),
    ),
    "river": (
        Learner("adaptive_ucrl", "Adaptive UCRL", "blue", use="weight_ucrl", forgets=False),
        Learner("ucrl_vtr", "UCRL-VTR", "black"),
        Learner("weight_ucrl", "Weight-UCRL", "red"),
        Learner("sw_ucrl", "SW-UCRL", "orange", "dashed"),
        Learner("restart_ucrl", "Restart-UCRL", "brown", "dotted"),
    ),
}
DEFAULTS: dict[
    Place, tuple[str, ...]
] = {  # one learner of each of the first three roles: few enough to be read at once
    "linear": ("self_tuning", "oful", "lb_weight_ucb"),
    "generalized": ("self_tuning", "glm_ucb", "glb_weight_ucb"),
    "river": ("adaptive_ucrl", "ucrl_vtr", "weight_ucrl"),
}
