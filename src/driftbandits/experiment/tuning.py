"""Which theorem tunes which parameter: what `gamma = "theory"` means for each strategy of the zoo.

The formulas are the theorems' own. Where the paper's experiment tunes differently, its panels write the formula out.
"""

LB = {
    "gamma": "lb_gamma",
    "lam": "lb_lambda",
    "delta": "default_delta('lb')",
    "window": "window",
    "period": "restart_period",
}
GLB = {
    "gamma": "glb_gamma",
    "lam": "glb_lambda",
    "delta": "default_delta('glb')",
    "window": "window",
    "period": "restart_period",
}
SCB = {
    "gamma": "scb_gamma",
    "lam": "scb_lambda",
    "delta": "default_delta('scb')",
    "window": "window",
    "period": "restart_period",
}
MDP = {"gamma": "mdp_gamma", "window": "mdp_window", "period": "mdp_window", "delta": "default_delta('mdp', T=K*H)"}
LINEAR_MIXTURE = MDP | {"lam_theta": "linear_mixture_lambdas[0]", "lam_w": "linear_mixture_lambdas[1]"}
MNL = MDP | {"lam_theta": "mnl_lambdas[0]", "lam_w": "mnl_lambdas[1]"}

FORMULAS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        ["oful", "lb_weight_ucb", "d_lin_ucb", "d_rand_lin_ucb", "d_lin_ts", "sw_ucb", "restart_ucb", "bob"], LB
    ),
    **dict.fromkeys(["adaptive_weight_ucb", "adaptive_weight_linear"], LB),
    **dict.fromkeys(
        ["glm_ucb", "glb_weight_ucb", "glb_restart_ucb", "sw_glm_ucb", "adaptive_weight_glm_ucb", "bob_glm"], GLB
    ),
    "bvd_glm_ucb": GLB | {"gamma": "bvd_gamma", "lam": "lb_lambda"},
    "d_glm_ucb": GLB | {"gamma": "d_glm_gamma", "lam": "lb_lambda"},
    **dict.fromkeys(["log_ucb1", "scb_weight_ucb", "scb_restart_ucb", "sc_d_glm_ucb", "ofu_log"], SCB),
    "scb_pw_weight_ucb": SCB | {"gamma": "pw_gamma", "delta": "default_delta('pw')"},
    **dict.fromkeys(["weight_ucrl", "ucrl_vtr", "sw_ucrl", "restart_ucrl"], LINEAR_MIXTURE),
    **dict.fromkeys(["mnl_weight_ucrl", "ucrl_mnl", "mnl_sw_ucrl", "mnl_restart_ucrl"], MNL),
}


def theory_formula(strategy: str, parameter: str) -> str | None:
    """The formula behind "theory", or None.

    Examples
    --------
    >>> theory_formula("lb_weight_ucb", "gamma")
    'lb_gamma'
    """
    return FORMULAS.get(strategy, {}).get(parameter)
