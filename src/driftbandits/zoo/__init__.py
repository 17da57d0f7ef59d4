"""Every algorithm under its paper's name: one short composition each."""

from .generalized import (
    bvd_glm_ucb,
    d_glm_ucb,
    glb_restart_ucb,
    glb_weight_ucb,
    glm_ucb,
    log_ucb1,
    sc_d_glm_ucb,
    scb_restart_ucb,
    scb_weight_ucb,
    sw_glm_ucb,
)
from .linear import d_lin_ts, d_lin_ucb, d_rand_lin_ucb, lb_weight_ucb, oful, restart_ucb, sw_ucb
from .mdp import (
    bob_ucrl,
    mnl_restart_ucrl,
    mnl_sw_ucrl,
    mnl_weight_ucrl,
    restart_ucrl,
    sw_ucrl,
    ucrl_mnl,
    ucrl_vtr,
    weight_ucrl,
)
from .meta import bob, master

__all__ = [
    "bob",
    "bob_ucrl",
    "bvd_glm_ucb",
    "d_glm_ucb",
    "d_lin_ts",
    "d_lin_ucb",
    "d_rand_lin_ucb",
    "glb_restart_ucb",
    "glb_weight_ucb",
    "glm_ucb",
    "lb_weight_ucb",
    "log_ucb1",
    "master",
    "mnl_restart_ucrl",
    "mnl_sw_ucrl",
    "mnl_weight_ucrl",
    "oful",
    "restart_ucb",
    "restart_ucrl",
    "sc_d_glm_ucb",
    "scb_restart_ucb",
    "scb_weight_ucb",
    "sw_glm_ucb",
    "sw_ucb",
    "sw_ucrl",
    "ucrl_mnl",
    "ucrl_vtr",
    "weight_ucrl",
]
