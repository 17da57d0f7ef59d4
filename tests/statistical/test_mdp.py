"""Chance in MDPs: optimism, one-step errors, orderings, and regret below the theorems' bounds. Seeds are 0, 1, 2, … and were not chosen."""

import numpy as np
import pytest

import driftbandits as db

pytestmark = pytest.mark.compiled


def theory_constants(world):
    K, H = world.episodes, world.horizon
    d_theta, d_w = world.phi.shape[-1], world.psi.shape[-1]
    if world.multinomial:
        lambdas = db.theory.mnl_lambdas(d_theta=d_theta, d_w=d_w)
    else:
        lambdas = db.theory.linear_mixture_lambdas(H=H, d_theta=d_theta, d_w=d_w)
    delta = db.theory.default_delta("mdp", T=K * H)
    return {"lam_theta": lambdas[0], "lam_w": lambdas[1], "delta": delta, **world.bounds}


def final(strategy, world, trials=4):
    return np.mean([run.regret[-1] for run in db.mdp.trials_mdp(strategy, lambda _: world, trials=trials)])


def check_optimism(run, world):
    """Q ≥ Q* everywhere; and r + PV − Q ≤ 0 where V is the planned one: the one-step lemma of a static world (Γ = 0)."""
    _, best = db.mdp.backward_induction(world.kernel(0), world.rewards(0))
    assert (best - 1e-9 <= run.Q).all()
    V = np.concatenate([run.Q.max(axis=3), np.zeros((len(run.Q), 1, world.states))], axis=1)
    error = world.rewards(0) + np.einsum("hsat,kht->khsa", world.kernel(0), V[:, 1:]) - run.Q
    assert error.max() <= 1e-9
    return error


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["weight", "static"])
def test_optimism_of_linear_mixtures(memory):
    """δ = 1/(4KH) per stage: over 3 × 2000 episodes not one of 2 stages × 12 pairs may fall below Q*.

    λ is smaller than the theorem's, which makes the intervals shorter and the test sharper: Q is not saturated at the end.
    """
    world = db.mdp.random_linear_mixture(states=6, actions=2, horizon=2, dim=3, episodes=2000, drift="static", seed=0)
    c = theory_constants(world) | {"lam_theta": 1.0, "lam_w": 1.0}
    strategy = (
        db.zoo.weight_ucrl(gamma=0.9995, cap="stage", **c) if memory == "weight" else db.zoo.ucrl_vtr(cap="stage", **c)
    )
    for seed in range(3):
        run = db.simulate_mdp(strategy, world, seed=seed, record=True)
        error = check_optimism(run, world)
        assert run.info["saturation"] < 0.7
        assert error.min() < -0.1  # the intervals have a width


@pytest.mark.slow
def test_optimism_of_multinomial_mixtures():
    world = db.mdp.random_mnl(
        states=4, actions=2, horizon=2, dim=2, successors=2, S_w=0.3, episodes=3000, drift="static", seed=0
    )
    c = theory_constants(world) | {"lam_w": 1.0, "lam_theta": 1.0}
    for variant in ("printed", "corrected"):
        strategy = db.zoo.ucrl_mnl(cap="stage", variant=variant, **c)
        run = db.simulate_mdp(strategy, world, seed=0, record=True)
        check_optimism(run, world)
        assert run.info["saturation"] < 1.0


@pytest.mark.slow
def test_forgetting_pays_when_the_world_drifts():
    """Tuned scales on the gradual river, K = 3000: weighted 212, window 234, restart 540, static 800 in the study."""
    world = db.mdp.riverswim(episodes=3000, drift="gradual")
    gamma = db.theory.mdp_gamma(K=3000, H=10, Delta=world.Delta)
    W = db.theory.mdp_window(K=3000, H=10, Delta=world.Delta)
    c = theory_constants(world) | {"transition_bonus_scale": 0.1}
    weight = final(db.zoo.weight_ucrl(gamma=gamma, **c), world)
    window = final(db.zoo.sw_ucrl(window=W, **c), world)
    restart = final(db.zoo.restart_ucrl(period=W, **c), world)
    static = final(db.zoo.ucrl_vtr(**c), world)
    assert weight < 0.6 * restart
    assert window < 0.6 * restart
    assert weight < 0.5 * static
    assert weight < 0.1 * db.mdp.uniform_regret(world)[-1]


@pytest.mark.slow
def test_theory_scale_is_close_to_random_play_and_the_bound_holds():
    """With the theory's bonus Q saturates (resolution D15): weighted learning costs 0.8–1 of random play."""
    world = db.mdp.riverswim(episodes=1500, drift="gradual")
    gamma = db.theory.mdp_gamma(K=1500, H=10, Delta=world.Delta)
    strategy = db.zoo.weight_ucrl(gamma=gamma, **theory_constants(world))
    run = db.simulate_mdp(strategy, world, seed=0)
    random = db.mdp.uniform_regret(world)[-1]
    assert 0.75 * random < run.regret[-1] < 1.05 * random
    assert run.info["saturation"] > 0.5
    bound = db.theory.linear_mixture_regret_bound(
        K=1500, H=10, d_theta=2, P_theta=world.P_theta, P_w=world.P_w, S_theta=world.S_theta,
        S_w=world.S_w, L_phi=world.L_phi, L_psi=world.L_psi,
    )  # fmt: skip
    assert run.regret[-1] <= bound.capped
    assert bound.total == pytest.approx(1997536.80, rel=1e-4)  # the specification's number for this very world


@pytest.mark.slow
def test_static_worlds_are_learned_at_theory_scale():
    """Static river, K = 6000: the theory-exact learner stops paying after about 2500 episodes."""
    world = db.mdp.riverswim(episodes=6000, drift="static")
    run = db.simulate_mdp(db.zoo.ucrl_vtr(**theory_constants(world)), world, seed=0)
    assert run.regret[-1] - run.regret[3000] < 0.02 * run.regret[3000]
    assert run.regret[-1] < 0.4 * db.mdp.uniform_regret(world)[-1]


@pytest.mark.slow
def test_bob_needs_no_drift_to_be_known():
    """BOB restarts in every block and stays above the tuned learner, but far below random play."""
    world = db.mdp.riverswim(episodes=3000, drift="gradual")
    c = theory_constants(world) | {"transition_bonus_scale": 0.1}
    base = db.zoo.weight_ucrl(gamma=0.9, **c)
    regret = final(db.zoo.bob_ucrl(base, episodes=3000), world)
    assert regret < 0.5 * db.mdp.uniform_regret(world)[-1]


@pytest.mark.slow
def test_multinomial_orderings_and_bound():
    """Symmetric river, K = 800 (study: weighted 74, window 110, restart 424, static 285, random 1804)."""
    world = db.mdp.mnl_riverswim(episodes=800)
    K, H = 800, 8
    gamma, W = (f(K=K, H=H, Delta=world.Delta) for f in (db.theory.mdp_gamma, db.theory.mdp_window))
    c = theory_constants(world) | {"reward_bonus_scale": 0.1, "transition_bonus_scale": 1e-4}
    weight = final(db.zoo.mnl_weight_ucrl(gamma=gamma, **c), world)
    restart = final(db.zoo.mnl_restart_ucrl(period=W, **c), world)
    static = final(db.zoo.ucrl_mnl(**c), world)
    random = db.mdp.uniform_regret(world)[-1]
    assert weight < 0.5 * restart
    assert weight < 0.7 * static
    assert weight < 0.1 * random
    saturated = db.simulate_mdp(db.zoo.mnl_weight_ucrl(gamma=gamma, **theory_constants(world)), world, seed=0)
    assert saturated.info["saturation"] == 1.0
    assert saturated.regret[-1] == pytest.approx(random, rel=0.02)
    bound = db.theory.mnl_regret_bound(
        K=K, H=H, d_theta=2, d_w=4, P_theta=world.P_theta, P_w=world.P_w, S_theta=world.S_theta,
        kappa=world.kappa, U=world.U, S_w=world.S_w, L_phi=world.L_phi, L_psi=world.L_psi,
    )  # fmt: skip
    assert saturated.regret[-1] <= bound.capped
