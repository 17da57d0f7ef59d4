"""Observations that one-pass models do not take at face value (`robust`, `caution`): the oracle, and what they are for."""

import naive
import numpy as np
import pytest

import driftbandits as db

LB = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}
D, GAMMA = 3, 0.95


def stream(rounds=60, seed=0, outliers=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    noise = 0.3 * rng.normal(size=rounds) + 8.0 * (rng.random(rounds) < outliers) * rng.choice([-1.0, 1.0], rounds)
    return X, X @ np.array([0.5, -0.3, 0.2]) + noise


def followed(strategy, X, r):
    agent = db.Agent(strategy, dim=X.shape[1], compile="never")
    for x, reward in zip(X, r, strict=True):
        agent.update(reward, x=x)
    return agent


@pytest.mark.parametrize("options", [{"robust": 1.0}, {"caution": 0.3}, {"robust": 1.0, "caution": 0.3}])
def test_sums_and_estimate_follow_the_oracle(options):
    X, r = stream()
    agent = followed(db.zoo.lb_weight_ucb(gamma=GAMMA, **LB, **options), X, r)
    given = {"tau": options.get("robust", np.inf), "c": options.get("caution", np.inf)}
    A, b = naive.wary_sums(X, r, gamma=GAMMA, lam=1.0, **given)
    np.testing.assert_allclose(agent.theta, np.linalg.solve(A + np.eye(D), b), rtol=1e-9)
    V = A + np.eye(D)
    widths = np.sqrt(np.einsum("ni,ij,nj->n", X, np.linalg.inv(V), X))
    np.testing.assert_allclose(agent.scores(X), X @ agent.theta + agent.info()["radius"] * widths, rtol=1e-9)
    plain = followed(db.zoo.lb_weight_ucb(gamma=GAMMA, **LB), X, r)
    assert agent.info()["effective_memory"] < plain.info()["effective_memory"]


def test_without_outliers_and_with_a_wide_limit_nothing_changes():
    X, r = stream(outliers=0.0)
    wary = followed(db.zoo.lb_weight_ucb(gamma=GAMMA, **LB, robust=50.0, caution=50.0), X, r)
    plain = followed(db.zoo.lb_weight_ucb(gamma=GAMMA, **LB), X, r)
    np.testing.assert_allclose(wary.theta, plain.theta, rtol=1e-10)
    assert wary.info()["radius"] == pytest.approx(plain.info()["radius"], rel=1e-12)
    assert wary.info()["cut"] == 0


def test_one_wild_reward_moves_the_estimate_by_at_most_its_limit():
    X, r = stream(outliers=0.0)
    agent, again = (followed(db.zoo.oful(**LB, robust=1.0), X, r) for _ in range(2))
    x = np.array([1.0, 0.0, 0.0])
    agent.update(1e6, x=x)
    again.update(3e3, x=x)
    np.testing.assert_allclose(agent.theta, again.theta)  # how wild does not matter
    assert agent.info()["cut"] == 1
    V = np.eye(D) + X.T @ X
    q = float(x @ np.linalg.solve(V, x))
    before = followed(db.zoo.oful(**LB, robust=1.0), X, r).theta
    np.testing.assert_allclose(agent.theta - before, np.sqrt(1 + q) * np.linalg.solve(V, x), rtol=1e-9)


@pytest.mark.compiled
def test_huber_learns_where_tails_are_heavy():
    """40 runs of 200 rewards with Student noise, 1.5 degrees of freedom: the median error is less than half of least squares'."""
    errors = {"plain": [], "robust": []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        theta = np.array([0.6, -0.8])
        r = X @ theta + rng.standard_t(1.5, 200)
        for name, options in (("plain", {}), ("robust", {"robust": 1.5})):
            agent = followed(db.zoo.oful(**LB, **options), X, r)
            errors[name].append(np.linalg.norm(agent.theta - theta))
    assert np.median(errors["robust"]) < 0.5 * np.median(errors["plain"])


@pytest.mark.compiled
def test_corruption_is_within_the_radius():
    """50 runs, corrupted by C = 20 in total in the first rounds: the interval of CW-OFUL holds, that of OFUL does not."""
    inside = {"oful": 0, "cw_oful": 0}
    known = LB | {"radius": "det"}
    strategies = {"oful": db.zoo.oful(**known), "cw_oful": db.zoo.cw_oful(dim=2, corruption=20.0, **known)}
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        theta = np.array([0.6, -0.8])
        r = X @ theta + 0.5 * rng.normal(size=60)
        r[:20] -= np.sign(X[:20] @ theta)
        for name, strategy in strategies.items():
            agent = followed(strategy, X, r)
            gap, width = agent.theta - theta, agent.scores(np.eye(2)) - agent.theta
            V = np.eye(2) + X.T @ X if name == "oful" else _weighted(X, r)
            assert width[0] == pytest.approx(agent.info()["radius"] * np.sqrt(np.linalg.inv(V)[0, 0]), rel=1e-6)
            inside[name] += bool(np.sqrt(gap @ V @ gap) <= agent.info()["radius"])
    assert inside["cw_oful"] == 50
    assert inside["oful"] < 50


def _weighted(X, r):
    return np.eye(2) + naive.wary_sums(X, r, gamma=1.0, lam=1.0, c=0.5 * np.sqrt(2) / 20.0)[0]


@pytest.mark.interpreted
def test_lazy_scoring_knows_the_weights():
    world = db.env.linear(db.env.unit_arms(40, dim=12, seed=0), db.env.rotating(60, dim=12), noise=0.5)
    strategy = db.zoo.lb_weight_ucb(gamma=GAMMA, **LB, robust=0.5, caution=0.2)
    run = db.simulate(strategy, world, seed=0, checkpoints="all")
    arms = np.asarray(db.env.unit_arms(40, dim=12, seed=0))
    agent, noise = db.Agent(strategy, dim=12, seed=0), np.random.default_rng(np.random.SeedSequence(0).spawn(2)[0])
    path = np.concatenate(list(world.path.blocks(60)))
    draws = noise.standard_normal(60)
    for t in range(60):
        scores = agent.scores(arms)
        assert scores[run.choices[t]] >= scores.max() - 1e-9 * (1 + abs(scores.max()))
        x = arms[run.choices[t]]
        agent.update(float(x @ path[t]) + 0.5 * draws[t], x=x)


def test_counts_that_scatter_more_than_poissons():
    """A rate of e, one count in ten multiplied by 20: cut, the estimate stays near, uncut it is pulled away."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.e, 400) * np.where(rng.random(400) < 0.1, 20.0, 1.0)
    glm = {"link": "poisson", "S": 2.0, "L": 1.0, "delta": 0.05}
    plain, robust = (
        followed(db.zoo.glb_omd(**glm, **options), np.ones((400, 1)), counts) for options in ({}, {"robust": 5.0})
    )
    assert abs(robust.theta[0] - 1.0) < 0.3 < abs(plain.theta[0] - 1.0)
    assert robust.info()["cut"] > 20


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("robust = -1.0 is not allowed", lambda: db.zoo.oful(**LB, robust=-1.0)),
        ("caution = 0.0 is not allowed", lambda: db.zoo.oful(**LB, caution=0.0)),
        ("corruption = 0.0 is not allowed", lambda: db.zoo.cw_oful(dim=2, corruption=0.0, **LB)),
        (
            "implicit step without a projection",
            lambda: db.zoo.domd_glb(gamma=0.9, S=1, L=1, delta=0.1, projected=True, robust=1.0),
        ),
        (
            "'published' has neither robust nor caution",
            lambda: db.zoo.glb_omd(S=1, L=1, delta=0.1, constants="published", caution=1.0),
        ),
    ],
)
def test_refuses(words, make):
    with pytest.raises(db.DriftBanditsError, match=words):
        make()
