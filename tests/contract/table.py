"""Every bandit strategy of the zoo at d = 3: the example of each record and a few variants (after river's estimator checks)."""

import driftbandits as db
from driftbandits.zoo.linear import SMALL
from driftbandits.zoo.record import records

T = 40
BANDITS = [record for record in records() if record.family != "mdp"]

ROWS = {record.name: (record.world, record.build) for record in BANDITS} | {
    "oful det": ("linear", lambda: db.zoo.oful(radius="det", **SMALL)),
    "dal glm": ("logistic", lambda: db.zoo.dal(db.zoo.glb_omd(S=1.0, L=1.0, delta=0.05))),
    "master glm": ("logistic", lambda: db.zoo.master(db.zoo.log_ucb1(lam=20.0, S=1.0, L=1.0, delta=0.05), horizon=T)),
}

#: One of each family. Compiled, `make test` runs these; compiling the loop and the agent of a strategy takes 20 s, and the others
#: have the same open functions in another combination: interpreted they run always, compiled in `make test-all`.
ONE_OF_EACH = ("lb_weight_ucb", "glb_weight_ucb")

#: Their choice depends on draws that arms in another order would meet in another order.
RANDOMISED = {record.name for record in BANDITS if record.randomised}


def make(name):
    """The strategy of a row."""
    return ROWS[name][1]()


def world(name, arms, horizon=T):
    """A small drifting world of the row's kind."""
    path = db.env.rotating(horizon, dim=arms.shape[1])
    return (
        db.env.linear(arms, path, noise=0.5)
        if ROWS[name][0] == "linear"
        else db.env.generalized(arms, path, link="logistic")
    )
