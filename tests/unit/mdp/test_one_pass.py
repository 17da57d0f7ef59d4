"""Multinomial transitions in one pass: against SciPy, step by step, and against the exact likelihood on small problems."""

import numpy as np
import pytest
from conftest import INTERPRETED
from scipy.optimize import minimize

import driftbandits as db
from driftbandits.mdp.one_pass import OnePassMultinomial
from driftbandits.mdp.protocol import estimate_transition, learn_transition, transition_state

WORLD = {"states": 4, "actions": 2, "dim": 3, "dim_theta": 2, "horizon": 2, "successors": 3, "S_w": 1.0}
CONSTANTS = {"lam_theta": 0.7, "lam_w": 2.0, "delta": 0.01, "S_theta": 1.1, "L_phi": 1.2, "S_w": 1.0, "L_psi": 1.0}
CONSTANTS |= {"kappa": 0.05, "transition_bonus_scale": 0.02}
GAMMA = 0.9


def small_world(seed=0, episodes=30):
    return db.mdp.random_mnl(episodes=episodes, seed=seed, **WORLD)


def naive_step(psi, place, A, b):
    """argmin −log p(place; w) + ½wᵀAw − bᵀw, and the Hessian of the first term there."""

    def value(w):
        z = psi @ w
        return np.log(np.exp(z).sum()) - z[place] + w @ A @ w / 2 - b @ w

    w = minimize(value, np.zeros(len(b)), method="BFGS", options={"gtol": 1e-12}).x
    for _ in range(5):
        p = np.exp(psi @ w)
        p /= p.sum()
        H = (psi.T * p) @ psi - np.outer(p @ psi, p @ psi)
        w = w - np.linalg.solve(H + A, p @ psi - psi[place] + A @ w - b)
    p = np.exp(psi @ w)
    p /= p.sum()
    return w, (psi.T * p) @ psi - np.outer(p @ psi, p @ psi), p @ psi


@pytest.mark.interpreted
def test_every_step_is_that_of_scipy():
    world = small_world()
    strategy = db.zoo.mnl_weight_ucrl(gamma=GAMMA, estimator="one_pass", **CONSTANTS)
    transition = strategy.transition
    assert isinstance(transition, OnePassMultinomial)
    state = transition_state(transition, world.task, strategy.memory, 1)
    rho = transition.lam * transition.kappa
    d = 3
    A, b = np.zeros((d, d)), np.zeros(d)
    Sigma = np.zeros((d, d))
    rng = np.random.default_rng(0)
    for _ in range(25):
        pair = int(rng.integers(0, 8))
        kind = state.choices.kind[pair]
        used = int(state.choices.used[kind])
        place = int(rng.integers(0, used))
        successor = int(state.choices.successor[pair, place])
        learn_transition(transition, strategy.memory, state, 0, pair, successor, np.zeros(4))
        psi = state.choices.psi[kind, :used]
        A, b, Sigma = GAMMA * A, GAMMA * b, GAMMA * Sigma
        w, H, mean = naive_step(psi, place, A + rho * np.eye(d), b)
        A, b = A + H, b + H @ w - (mean - psi[place])
        Sigma = Sigma + psi.T @ psi
        np.testing.assert_allclose(state.mle[0], w, atol=1e-8)
        np.testing.assert_allclose(state.sums.A[0], A, atol=1e-8)
        np.testing.assert_allclose(state.sums.b[0], b, atol=1e-8)
        np.testing.assert_allclose(state.sums.Sigma[0], Sigma, atol=1e-12)
    estimate_transition(transition, state, 0)
    free = np.linalg.solve(A + rho * np.eye(d), b)
    if np.linalg.norm(free) <= transition.S:
        np.testing.assert_allclose(state.w[0], free, atol=1e-8)
    else:
        assert np.linalg.norm(state.w[0]) == pytest.approx(transition.S)


@pytest.mark.interpreted
@pytest.mark.parametrize("gamma", [0.97, 1.0])
def test_it_follows_the_exact_likelihood(gamma):
    """Told the same 300 transitions of a world that stands still, both are near each other, and about as far from the truth."""
    world = small_world(seed=3)
    rng = np.random.default_rng(1)
    P = world.kernel(0)[0]
    models = []
    for estimator in ("exact", "one_pass"):
        strategy = db.zoo.mnl_weight_ucrl(gamma=gamma, estimator=estimator, **CONSTANTS | {"S_w": 3.0})
        models.append((strategy, transition_state(strategy.transition, world.task, strategy.memory, 1)))
    for _ in range(300):
        s, a = int(rng.integers(0, 4)), int(rng.integers(0, 2))
        successor = int(rng.choice(4, p=P[s, a]))
        for strategy, state in models:
            learn_transition(strategy.transition, strategy.memory, state, 0, 2 * s + a, successor, np.zeros(4))
    exact, one_pass = (_estimated(strategy, state) for strategy, state in models)
    truth = world.w[0, 0]
    assert np.linalg.norm(exact - one_pass) < 0.3 * np.linalg.norm(exact - truth) + 0.05
    assert np.linalg.norm(one_pass - truth) < 1.3 * np.linalg.norm(exact - truth) + 0.05


def _estimated(strategy, state):
    estimate_transition(strategy.transition, state, 0)
    return state.w[0].copy()


@pytest.mark.slow
def test_it_plays_as_well_as_the_exact_one():
    """Regret in a small drifting world, five trials: within the noise of a few per cent of the total."""
    episodes = 40 if INTERPRETED else 400
    final = []
    for seed in range(5):
        world = small_world(seed=seed, episodes=episodes)
        final.append(
            [
                db.simulate_mdp(db.zoo.mnl_weight_ucrl(gamma=0.97, estimator=e, **CONSTANTS), world, seed=seed).regret[
                    -1
                ]
                for e in ("exact", "one_pass")
            ]
        )
    exact, one_pass = np.mean(final, axis=0)
    assert one_pass < 1.25 * exact + 1.0


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match="estimator = 'one_pass' cannot take transitions back"):
        db.zoo.mnl_sw_ucrl(window=4, estimator="one_pass", **CONSTANTS)
    with pytest.raises(db.errors.InvalidValue, match="estimator = 'quick' is not allowed"):
        db.zoo.mnl_weight_ucrl(gamma=0.9, estimator="quick", **CONSTANTS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'estimator'"):
        db.zoo.weight_ucrl(gamma=0.9, estimator="one_pass")
