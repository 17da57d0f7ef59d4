"""Who may take part: a row per learner. A new row is a new name on the page."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..zoo.record import RECORDS, parameters

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
        """Is there a regret for every γ?"""
        return self.forgets and "gamma" in self.takes

    @property
    def summary(self) -> str:
        """What it is, in one line."""
        return RECORDS[self.name].summary


GLR = {"detector": "glr"}
ONE_PASS = {"estimator": "one_pass"}
BLOCK = {"first_order": 13}  # one block of 8192 rounds, as in the paper's figure

LEARNERS: dict[Place, tuple[Learner, ...]] = {
    "linear": (
        Learner("lb_weight_ucb", "LB-WeightUCB", "red"),
        Learner("adaptive_weight_ucb", "AdaptiveWeightUCB", "purple"),
        Learner("sw_ucb", "SW-UCB", "sky"),
        Learner("restart_ucb", "RestartUCB", "orange"),
        Learner("oful", "OFUL", "black"),
        Learner("d_lin_ucb", "D-LinUCB", "blue", "dashed"),
        Learner("self_tuning", "Self-tuning", "green"),
        Learner("bob", "BOB", "brown"),
        Learner("master", "MASTER+OFUL", "yellow", base="oful", args=BLOCK, fixed_arms=True),
        Learner("igw_mix", "IGW-mix", "grey"),
        Learner("d_lin_ts", "D-LinTS", "blue", "dotted"),
        Learner("d_rand_lin_ucb", "D-RandLinUCB", "sky", "dashed"),
        Learner("dal", "DAL (chi2)", "orange", "dashed", base="oful"),
        Learner("dal_glr", "DAL (glr)", "orange", "dotted", use="dal", base="oful", args=GLR, fixed_arms=True),
        Learner("wsb_lin_ucb", "WSB-LinUCB", "green", "dashed"),
        Learner("wsb_rand_lin_ucb", "WSB-RandLinUCB", "brown", "dashed"),
        Learner("wsb_lin_ts", "WSB-LinTS", "green", "dotted"),
    ),
    "generalized": (
        Learner("glb_weight_ucb", "GLB-WeightUCB", "red"),
        Learner("adaptive_weight_glm_ucb", "AdaptiveWeightUCB", "purple"),
        Learner("sw_glm_ucb", "SW-GLUCB", "sky"),
        Learner("glb_restart_ucb", "GLB-RestartUCB", "orange"),
        Learner("glm_ucb", "GLM-UCB", "black"),
        Learner("scb_weight_ucb", "SCB-WeightUCB", "blue"),
        Learner("self_tuning", "Self-tuning", "green"),
        Learner("bob_glm", "BOB", "brown"),
        Learner("d_glm_ucb", "D-GLUCB", "blue", "dashed"),
        Learner("log_ucb1", "LogUCB1", "grey"),
        Learner("glb_omd", "GLB-OMD", "yellow"),
        Learner("domd_glb", "DOMD-GLB", "green", "dashed"),
        Learner("glb_one_pass", "GLB-WeightUCB, one pass", "red", "dashed", use="glb_weight_ucb", args=ONE_PASS),
        Learner("dal", "DAL (chi2)", "orange", "dashed", base="glb_omd"),
        Learner("dal_glr", "DAL (glr)", "orange", "dotted", use="dal", base="glb_omd", args=GLR, fixed_arms=True),
        Learner("master", "MASTER+GLM-UCB", "yellow", "dotted", base="glm_ucb", args=BLOCK, fixed_arms=True),
    ),
    "river": (
        Learner("weight_ucrl", "Weight-UCRL", "red"),
        Learner("adaptive_ucrl", "Weight-UCRL, adaptive", "purple", use="weight_ucrl", forgets=False),
        Learner("sw_ucrl", "SW-UCRL", "sky"),
        Learner("restart_ucrl", "Restart-UCRL", "orange"),
        Learner("ucrl_vtr", "UCRL-VTR", "black"),
    ),
}
ADAPTIVE = ("adaptive_weight_ucb", "adaptive_weight_glm_ucb", "adaptive_ucrl")  # marked beside the regret of every γ
