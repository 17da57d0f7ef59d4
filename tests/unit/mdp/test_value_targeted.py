"""Linear mixture learners against the oracles: Λ, Σ, θ̂, ŵ, β and Q from the whole history."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db

K = 12 if INTERPRETED else 25
WORLD = {"states": 4, "actions": 3, "dim": 3, "dim_theta": 2, "horizon": 3, "episodes": K, "drift": "gradual"}
COMMON = {"lam_theta": 0.7, "lam_w": 1.3, "delta": 0.01}
BOUNDS = {"S_theta": 1.1, "S_w": 0.9, "L_phi": 1.2, "L_psi": 1.6}
STRATEGIES = {
    ("discounted", 0.8): lambda **c: db.zoo.weight_ucrl(gamma=0.8, **c),
    ("everything",): lambda **c: db.zoo.ucrl_vtr(**c),
    ("window", 5): lambda **c: db.zoo.sw_ucrl(window=5, **c),
    ("restart", 4): lambda **c: db.zoo.restart_ucrl(period=4, **c),
}
# Each composition compiles for some seconds; the memories are those of the bandits.
ONE_COMPILED = [m if m[0] == "discounted" else pytest.param(m, marks=pytest.mark.interpreted) for m in STRATEGIES]


def compare(strategy, world, **oracle):
    """Every plan of a run equals the oracle's, which plans all episodes again from the history."""
    run = db.simulate_mdp(strategy, world, seed=3, record=True)
    plans = naive.linear_mixture_plans(
        world.phi, world.psi, run.states[:-1], run.actions[:-1], run.rewards[:-1], **COMMON, **oracle
    )
    for k, (Q, _) in enumerate(plans):
        np.testing.assert_allclose(run.Q[k], Q, atol=1e-9, rtol=0)
    return run


@pytest.mark.parametrize("memory", ONE_COMPILED, ids=lambda m: m[0])
def test_plans_equal_the_oracle(memory):
    world = db.mdp.random_linear_mixture(seed=1, **WORLD)
    strategy = STRATEGIES[memory](reward_bonus_scale=0.3, transition_bonus_scale=0.05, cap="stage", **COMMON, **BOUNDS)
    scales = {"reward_scale": 0.3, "transition_scale": 0.05, "cap": "stage"}
    bounds = {name: BOUNDS[name] for name in ("S_theta", "S_w", "L_psi", "L_phi")}
    run = compare(strategy, world, memory=memory, **bounds, **scales)
    assert run.info["saturation"] < 0.5  # else the comparison would say little


def test_a_ridge_that_pulls_to_the_even_mixture():
    """The practical default: the plans of the oracle whose ridge is λ‖w − 1/d‖², and 1/d before anything was seen."""
    world = db.mdp.random_linear_mixture(seed=1, **WORLD)
    strategy = STRATEGIES["discounted", 0.8](
        reward_bonus_scale=0.3, transition_bonus_scale=0.05, cap="stage", ridge_centre="even", **COMMON, **BOUNDS
    )
    bounds = {name: BOUNDS[name] for name in ("S_theta", "S_w", "L_psi", "L_phi")}
    scales = {"reward_scale": 0.3, "transition_scale": 0.05, "cap": "stage", "centre": np.full(3, 1 / 3), "free": 2}
    compare(strategy, world, memory=("discounted", 0.8), **bounds, **scales)
    agent = db.EpisodicAgent(strategy, db.mdp.features_of(world.phi, world.psi), horizon=3, compile="never")
    agent.begin_episode()
    np.testing.assert_allclose(agent.info()["w"], 1 / 3, atol=1e-12)
    with pytest.raises(db.DriftBanditsError, match=r"ridge_centre = 'mean' is not allowed.*'zero' or 'even'"):
        db.zoo.weight_ucrl(gamma=0.9, ridge_centre="mean", **COMMON, **BOUNDS)


def test_estimates_equal_the_oracle():
    world = db.mdp.random_linear_mixture(seed=2, **WORLD)
    gamma, c = 0.8, {"reward_bonus_scale": 0.3, "transition_bonus_scale": 0.05, **COMMON, **BOUNDS}
    run = db.simulate_mdp(db.zoo.weight_ucrl(gamma=gamma, **c), world, seed=0, record=True)
    past = run.states[:-1], run.actions[:-1]
    weight = gamma ** np.arange(K - 2, -1, -1.0)
    values = [np.vstack([Q.max(axis=2), np.zeros(4)]) for Q in run.Q]
    for h in range(3):
        theta = naive.reward_moments(h, world.phi, *past, run.rewards[:-1], weight, COMMON["lam_theta"])[1]
        w = naive.transition_moments(h, world.psi, *past, values, weight, COMMON["lam_w"])[1]
        np.testing.assert_allclose(run.info["theta"][h], theta, atol=1e-10)
        np.testing.assert_allclose(run.info["w"][h], w, atol=1e-10)


@pytest.mark.interpreted
def test_pooled_stages_and_noisy_rewards():
    world = db.mdp.random_linear_mixture(seed=4, noise=0.2, **WORLD)
    bounds = {name: BOUNDS[name] for name in ("S_theta", "S_w", "L_psi", "L_phi")}
    options = {"reward_bonus_scale": 0.2, "transition_bonus_scale": 0.05, "reward_noise": 0.2}
    strategy = db.zoo.ucrl_vtr(share_stages=True, **options, **COMMON, **BOUNDS)
    oracle = {"memory": ("everything",), "share_stages": True, "reward_noise": 0.2}
    run = compare(strategy, world, reward_scale=0.2, transition_scale=0.05, **oracle, **bounds)
    assert run.info["w"].shape == (1, 3)
    visits = np.stack([run.states[:, :-1], run.actions], axis=-1)
    clean = np.array([[world.phi[s, a] @ world.theta[k, 0] for s, a in visits[k]] for k in range(K)])
    assert np.std(run.rewards - clean) > 0.1


def test_one_union_bound_for_rewards_and_transitions():
    world = db.mdp.random_linear_mixture(seed=1, **WORLD)
    c = {"reward_bonus_scale": 0.3, "transition_bonus_scale": 0.05, "reward_noise": 0.1, **BOUNDS}
    c |= {"lam_theta": 0.7, "lam_w": 1.3}
    uniform = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.8, delta=0.01, uniform_in_time=True, **c), world, record=True)
    divided = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.8, delta=0.01 / (3 * K), **c), world, record=True)
    np.testing.assert_allclose(uniform.Q, divided.Q, rtol=1e-12)
    plain = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.8, delta=0.01, **c), world, record=True)
    assert uniform.info["reward_radius"] > plain.info["reward_radius"]
    corrected = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.8, delta=0.01, variant="corrected", **c), world, record=True)
    assert np.array_equal(corrected.Q, plain.Q)  # the printed radius of a linear mixture needs no correction
    agent = {"phi": world.phi, "psi": world.psi, "horizon": 3}
    with pytest.raises(db.DriftBanditsError, match="number of episodes"):
        db.EpisodicAgent(db.zoo.weight_ucrl(gamma=0.8, delta=0.01, uniform_in_time=True, **c), **agent)


@pytest.mark.parametrize("memory", ONE_COMPILED, ids=lambda m: m[0])
def test_pooled_stages_count_episodes(memory):
    """One estimate from all stages, whose weights are those of the memory over whole episodes."""
    world = db.mdp.random_linear_mixture(seed=4, **WORLD)
    bounds = {name: BOUNDS[name] for name in ("S_theta", "S_w", "L_psi", "L_phi")}
    scales = {"reward_bonus_scale": 0.2, "transition_bonus_scale": 0.05}
    strategy = STRATEGIES[memory](share_stages=True, **scales, **COMMON, **BOUNDS)
    compare(strategy, world, memory=memory, reward_scale=0.2, transition_scale=0.05, share_stages=True, **bounds)


def test_a_shorter_run_is_the_beginning_of_a_longer_one():
    world = db.mdp.random_linear_mixture(seed=4, noise=0.2, **WORLD)
    strategy = db.zoo.weight_ucrl(gamma=0.8, **COMMON, **BOUNDS)
    short, long = (db.simulate_mdp(strategy, world, episodes=n, seed=1, record=True) for n in (K - 4, K))
    assert np.array_equal(short.rewards, long.rewards[: K - 4])
    assert np.array_equal(short.states, long.states[: K - 4])


def test_a_multinomial_problem_is_refused():
    world = db.mdp.random_mnl(episodes=2, seed=0, states=4, actions=2, dim=3, horizon=2)
    for strategy in (db.zoo.weight_ucrl(gamma=0.9), db.zoo.weight_ucrl(gamma=0.9, **COMMON, **BOUNDS)):
        with pytest.raises(db.DriftBanditsError, match=r"multinomial-logit (problem|one)"):
            db.simulate_mdp(strategy, world)


@pytest.mark.interpreted
def test_gamma_one_is_static_and_a_long_window_too():
    world = db.mdp.random_linear_mixture(seed=5, **WORLD)
    c = {"transition_bonus_scale": 0.05, **COMMON, **BOUNDS}
    static = db.simulate_mdp(db.zoo.ucrl_vtr(**c), world, seed=1)
    for same in (
        db.zoo.weight_ucrl(gamma=1.0, **c),
        db.zoo.sw_ucrl(window=K, **c),
        db.zoo.restart_ucrl(period=K, **c),
    ):
        np.testing.assert_allclose(db.simulate_mdp(same, world, seed=1).regret, static.regret, atol=1e-9)


def test_radii_agree_with_theory():
    """The oracle's radii, used above, are those of the theory package."""
    constants = {"n": 7.5, "d": 3, "lam": 1.3, "H": 5, "delta": 0.01}
    expected = naive.transition_radius(7.5, d=3, lam=1.3, S=0.9, H=5, L=1.6, delta=0.01)
    assert db.theory.linear_mixture_radius(S_w=0.9, L_psi=1.6, **constants) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam_w": 0.0}, "lam_w = 0.0"),
        ({"delta": 1.0}, "delta = 1.0"),
        ({"cap": "none"}, "cap = 'none'"),
        ({"variant": "exact"}, "variant = 'exact'"),
        ({"transition_bonus_scale": -1.0}, "transition_bonus_scale = -1.0"),
        ({"reward_noise": -1.0}, "reward_noise = -1.0"),
    ],
)
def test_refuses(change, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        db.zoo.weight_ucrl(**{"gamma": 0.9, **COMMON, **BOUNDS, **change})
