"""Which formula of `theory` tunes which parameter, family by family: what `gamma = "theory"` means in an experiment.

The formulas are the theorems' own. Where the paper's experiment tunes differently, its panels write the formula out.
"""

LB = {
    "gamma": "lb_gamma",
    "lam": "lb_lambda",
    "delta": "default_delta('lb')",
    "window": "window",
    "period": "restart_period",
}
GLB = LB | {"gamma": "glb_gamma", "lam": "glb_lambda", "delta": "default_delta('glb')"}
DOMD = {"gamma": "domd_gamma", "delta": "default_delta('glb')"}
SCB = LB | {"gamma": "scb_gamma", "lam": "scb_lambda", "delta": "default_delta('scb')"}
PIECEWISE = SCB | {"gamma": "pw_gamma", "delta": "default_delta('pw')"}
MDP = {"gamma": "mdp_gamma", "window": "mdp_window", "period": "mdp_window", "delta": "default_delta('mdp', T=K*H)"}
LINEAR_MIXTURE = MDP | {"lam_theta": "linear_mixture_lambdas[0]", "lam_w": "linear_mixture_lambdas[1]"}
MNL = MDP | {"lam_theta": "mnl_lambdas[0]", "lam_w": "mnl_lambdas[1]"}
