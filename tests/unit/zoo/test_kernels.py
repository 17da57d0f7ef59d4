"""`features=` of every linear learner: the same as `on_features` around it, and bad ones refused in one line."""

import inspect

import numpy as np
import pytest

import driftbandits as db
from driftbandits.zoo.record import RECORDS

ARMS = np.random.default_rng(0).uniform(-1, 1, (6, 3))
RBF = {"kernel": "rbf", "lengthscale": 0.7, "points": ARMS[:3]}  # three features, as the examples' `dim` says
NAMES = sorted(
    record.name
    for record in RECORDS.values()
    if record.family == "linear" and record.name not in ("on_features", "wgp_ucb")
)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", NAMES)
def test_features_is_on_features_around_the_learner(name):
    record = RECORDS[name]
    inside = record.make(**record.example, features=RBF)
    around = db.zoo.on_features(record.make(**record.example), **RBF)
    assert inside == around
    agents = [db.Agent(each, dim=3, seed=3, compile="never") for each in (inside, around)]
    for t in range(12):
        first, second = (agent.select(ARMS) for agent in agents)
        assert first == second
        for agent in agents:
            agent.update(float(np.sin(t) + ARMS[first][0]))
    assert agents[0].info()["features"] == 3


def test_every_linear_learner_has_it():
    assert NAMES, "there are linear learners"
    for name in NAMES:
        assert inspect.signature(RECORDS[name].make).parameters["features"].default is None, name


def test_help_shows_the_defaults_of_a_kernel():
    shown = inspect.signature(db.zoo.wgp_ucb).parameters
    assert (shown["kernel"].default, shown["lengthscale"].default, shown["points"].default) == ("rbf", 1.0, None)
    for name in (*NAMES, "on_features", "wgp_ucb"):
        assert ... not in [each.default for each in inspect.signature(RECORDS[name].make).parameters.values()], name


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ("rbf", "must be a dictionary"),
        ({"kernel": "rfb", "points": ARMS}, "one of linear, rbf"),
        ({"kernal": "rbf", "points": ARMS}, "did you mean 'kernel'"),
        ({"kernel": "rbf"}, "give either points"),
        ({"frequencies": 0}, "frequencies"),
        ({"lengthscale": -1.0, "points": ARMS}, "lengthscale"),
    ],
)
def test_bad_features_are_refused_in_one_line(features, told):
    with pytest.raises(db.errors.InvalidValue, match=told) as problem:
        db.zoo.lb_weight_ucb(half_life=50, lam=1, S=1, L=1, R=0.5, delta=0.05, features=features)
    assert "\n" not in str(problem.value)


def test_a_bound_below_the_norm_of_the_features_is_refused():
    """‖φ(x)‖ = 1: with L = ½ the bonus would be half of a valid one, and nothing would say so."""
    base = {"half_life": 50, "lam": 1, "S": 1, "R": 0.5, "delta": 0.05}
    for make in (
        lambda: db.zoo.lb_weight_ucb(L=0.5, features=RBF, **base),
        lambda: db.zoo.on_features(db.zoo.lb_weight_ucb(L=0.5, **base), **RBF),
        lambda: db.zoo.wgp_ucb(L=0.5, **base, **RBF),
    ):
        with pytest.raises(db.errors.InvalidValue, match=r"L = 0\.5 is not allowed with features"):
            make()
    db.zoo.lb_weight_ucb(L=0.5, features={"kernel": "linear", "points": 0.5 * ARMS}, **base)
