"""Every bandit strategy of the zoo, ready to run at d = 3: one row each, one suite for all (after river's estimator checks)."""

import driftbandits as db

T = 40
LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}
GLM = {"S": 1.0, "L": 1.0, "delta": 0.05}

ROWS = {
    "oful": ("linear", lambda z: z.oful(**LINEAR)),
    "oful det": ("linear", lambda z: z.oful(radius="det", **LINEAR)),
    "lb_weight_ucb": ("linear", lambda z: z.lb_weight_ucb(gamma=0.95, **LINEAR)),
    "d_lin_ucb": ("linear", lambda z: z.d_lin_ucb(gamma=0.95, **LINEAR)),
    "sw_ucb": ("linear", lambda z: z.sw_ucb(window=10, **LINEAR)),
    "restart_ucb": ("linear", lambda z: z.restart_ucb(period=10, **LINEAR)),
    "d_lin_ts": ("linear", lambda z: z.d_lin_ts(gamma=0.95, **LINEAR)),
    "d_rand_lin_ucb": ("linear", lambda z: z.d_rand_lin_ucb(gamma=0.95, **LINEAR)),
    "master": ("linear", lambda z: z.master(z.oful(**LINEAR), horizon=T)),
    "bob": ("linear", lambda z: z.bob(horizon=T, dim=3, lam=1.0, S=1.0, L=1.0, R=0.5)),
    "adaptive_weight_ucb": ("linear", lambda z: z.adaptive_weight_ucb(**LINEAR)),
    "glm_ucb": ("logistic", lambda z: z.glm_ucb(lam=2.0, **GLM)),
    "glb_weight_ucb": ("logistic", lambda z: z.glb_weight_ucb(gamma=0.95, lam=2.0, **GLM)),
    "glb_restart_ucb": ("logistic", lambda z: z.glb_restart_ucb(period=10, lam=2.0, **GLM)),
    "sw_glm_ucb": ("logistic", lambda z: z.sw_glm_ucb(window=10, lam=2.0, **GLM)),
    "bvd_glm_ucb": ("logistic", lambda z: z.bvd_glm_ucb(gamma=0.95, lam=2.0, **GLM)),
    "d_glm_ucb": ("logistic", lambda z: z.d_glm_ucb(gamma=0.95, lam=2.0, **GLM)),
    "log_ucb1": ("logistic", lambda z: z.log_ucb1(lam=20.0, **GLM)),
    "scb_weight_ucb": ("logistic", lambda z: z.scb_weight_ucb(gamma=0.95, lam=20.0, **GLM)),
    "scb_restart_ucb": ("logistic", lambda z: z.scb_restart_ucb(period=10, lam=20.0, **GLM)),
    "sc_d_glm_ucb": ("logistic", lambda z: z.sc_d_glm_ucb(gamma=0.95, lam=20.0, **GLM)),
    "scb_pw_weight_ucb": (
        "logistic",
        lambda z: z.scb_pw_weight_ucb(gamma=0.95, lam=20.0, radius_scale=0.1, **GLM),
    ),
    "ofu_log": ("logistic", lambda z: z.ofu_log(lam=20.0, radius_scale=0.1, **GLM)),
    "master glm": ("logistic", lambda z: z.master(z.log_ucb1(lam=20.0, **GLM), horizon=T)),
    "bob_glm": ("logistic", lambda z: z.bob_glm(link="logistic", horizon=T, dim=3, lam=2.0, S=1.0, L=1.0)),
    "adaptive_weight_glm_ucb": ("logistic", lambda z: z.adaptive_weight_glm_ucb(link="logistic", lam=2.0, **GLM)),
}

#: Their choice depends on draws that arms in another order would meet in another order.
RANDOMISED = {"d_lin_ts", "d_rand_lin_ucb"}


def make(name):
    """The strategy of a row."""
    return ROWS[name][1](db.zoo)


def world(name, arms, horizon=T):
    """A small drifting world of the row's kind."""
    path = db.env.rotating(horizon, dim=arms.shape[1])
    return (
        db.env.linear(arms, path, noise=0.5)
        if ROWS[name][0] == "linear"
        else db.env.generalized(arms, path, link="logistic")
    )
