"""The algorithms of weighted sequential Bayes: what they are equal to, what they draw, what they refuse."""

import numpy as np
import pytest

import driftbandits as db

LAM, S, R, DELTA, GAMMA = 2.0, 1.0, 0.5, 0.05, 0.9
WSB = {"gamma": GAMMA, "prior_precision": LAM / R**2, "sigma": R, "delta": DELTA}


@pytest.mark.interpreted  # compiled, test_bayes of the model has the same numbers
def test_without_a_prior_it_is_d_lin_ucb():
    ours = db.zoo.wsb_lin_ucb(B0=np.sqrt(LAM) * S / R, **WSB)
    theirs = db.zoo.d_lin_ucb(gamma=GAMMA, lam=LAM, S=S, L=1, R=R, delta=DELTA, radius="det")
    world = db.env.linear(db.env.unit_arms(12, dim=10, seed=0), db.env.rotating(60, dim=10), noise=R)
    one, two = (db.simulate(s, world, seed=1, checkpoints="all") for s in (ours, theirs))
    assert (one.choices == two.choices).all()
    assert one.info["radius"] == pytest.approx(two.info["radius"], rel=1e-12)


def spread(strategy, x, draws=400):
    """Mean and standard deviation of the score of x over decisions without rewards."""
    agent = db.Agent(strategy, dim=2, seed=0, compile="never")
    for _ in range(3):
        agent.update(1.0, x=[1.0, 0.5])
    seen = []
    for _ in range(draws):
        seen.append(agent.scores([x])[0])
        agent.select([x])  # draws anew
        agent.update(0.0, x=[0.0, 0.0])
    return agent, np.array(seen)


@pytest.mark.parametrize("make", [db.zoo.wsb_rand_lin_ucb, db.zoo.wsb_lin_ts])
def test_randomised_scores_have_the_posteriors_mean_and_spread(make):
    strategy = make(**(WSB | {"gamma": 1.0}), prior_mean=[0.2, -0.1], a=1.5)
    agent, seen = spread(strategy, [0.6, 0.8])
    x = np.array([0.6, 0.8])
    L = np.eye(2) * LAM / R**2 + 3 * np.outer([1.0, 0.5], [1.0, 0.5]) / R**2
    sd = 1.5 * np.sqrt(x @ np.linalg.inv(L) @ x)  # nothing is forgotten: Q = Λ⁻¹
    assert seen.mean() == pytest.approx(x @ agent.theta, abs=5 * sd / np.sqrt(len(seen)))
    assert seen.std() == pytest.approx(sd, rel=0.2)  # five standard errors of a standard deviation


def test_the_theorys_width_is_the_radius_of_the_optimist():
    optimist = db.Agent(db.zoo.wsb_lin_ucb(B0=1.0, **WSB), dim=2, compile="never")
    random = db.Agent(db.zoo.wsb_rand_lin_ucb(B0=1.0, a=None, **WSB), dim=2, compile="never")
    for agent in (optimist, random):
        agent.scores(np.eye(2))
    assert optimist.info()["radius"] == random.info()["radius"]


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("prior = 'fixed' is not allowed", {"prior": "fixed"}),
        (r"prior_mean has shape \(1, 2\)", {"prior_mean": [[1.0, 2.0]]}),
        (r"prior_precision has shape \(3,\); prior_mean has 2", {"prior_mean": [1, 2], "prior_precision": [1, 2, 3]}),
        ("must be symmetric", {"prior_precision": [[1.0, 0.5], [0.0, 1.0]]}),
        ("smallest eigenvalue of prior_precision", {"prior_precision": [[1.0, 2.0], [2.0, 1.0]]}),
        ("smallest eigenvalue of prior_precision", {"prior_precision": 0.0}),
        ("prior_mean must be finite", {"prior_mean": [np.nan, 0.0]}),
        ("is not an array of numbers", {"prior_mean": "much"}),
        ("B0 = -2.0 is not allowed", {"B0": -2.0}),
        ("sigma = 0.0 is not allowed", {"sigma": 0.0}),
    ],
)
def test_refuses(words, given):
    with pytest.raises(db.DriftBanditsError, match=words):
        db.zoo.wsb_lin_ucb(**(WSB | given))


def test_a_saved_agent_keeps_its_prior(tmp_path):
    strategy = db.zoo.wsb_lin_ucb(
        gamma=0.9, prior_mean=[0.1, 0.2], prior_precision=[[2, 0.5], [0.5, 1]], sigma=0.5, delta=0.1
    )
    agent = db.Agent(strategy, dim=2, compile="never")
    agent.update(1.0, x=[1.0, 0.0])
    agent.save(tmp_path / "agent")
    loaded = db.Agent.load(tmp_path / "agent", compile="never")
    assert loaded.strategy == agent.strategy
    assert (loaded.theta == agent.theta).all()
