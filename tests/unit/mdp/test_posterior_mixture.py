"""Linear mixtures whose bonus is measured, against the oracle and against the paper's bonus."""

import naive
import numpy as np
import pytest

import driftbandits as db

WORLD = {"states": 4, "actions": 3, "dim": 3, "dim_theta": 2, "horizon": 3, "episodes": 12}
EVERYTHING = dict.fromkeys(("lam_theta", "S_theta", "L_phi", "lam_w", "S_w", "L_psi"), 1.0) | {"delta": 0.05}


def test_plans_equal_the_oracle():
    world = db.mdp.random_linear_mixture(seed=1, noise=0.1, **WORLD)
    run = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.8, bonus="measured"), world, seed=3, record=True)
    plans = naive.measured_plans(world.phi, world.psi, run.states[:-1], run.actions[:-1], run.rewards[:-1], gamma=0.8)
    np.testing.assert_allclose(run.Q, plans, atol=1e-9, rtol=0)
    assert run.info["saturation"] < 0.5  # else the comparison would say little


@pytest.mark.interpreted
def test_w_is_found_where_values_say_nothing_about_it():
    """All states are worth the same, so that the regression on values learns nothing of w; the successors tell it."""
    rng = np.random.default_rng(0)
    psi = np.moveaxis(rng.dirichlet(np.full(5, 0.3), (2, 5, 1)), 0, -1)
    phi, w = np.ones((5, 1, 1)), np.array([0.9, 0.1])
    world = db.mdp.linear_mixture(phi, psi, np.full((150, 1), 0.5), np.tile(w, (150, 1)), horizon=3)
    found = {
        bonus: db.simulate_mdp(db.zoo.weight_ucrl(gamma=1.0, bonus=bonus), world, seed=0).info["w"][0]
        for bonus in ("fixed", "measured")
    }
    assert abs(found["measured"] - w).max() < 0.1
    assert abs(found["fixed"] - w).max() > 0.3


@pytest.mark.interpreted
def test_what_cannot_be_measured_is_refused():
    world = db.mdp.random_linear_mixture(**WORLD)
    window = db.zoo.sw_ucrl(window=3, bonus="measured")
    for learner, message in (
        (window, "a window needs bonus='fixed'"),
        (db.zoo.weight_ucrl(bonus="measured", lam_w=2.0), "lam_w = 2.0 belongs to bonus='fixed'"),
        (db.zoo.weight_ucrl(gamma=0.9, bonus="measured", **EVERYTHING), "lam_theta = 1.0 belongs to bonus='fixed'"),
        (db.zoo.weight_ucrl(bonus="measured", constants="theory"), "constants = 'theory' belongs to bonus='fixed'"),
        (db.zoo.weight_ucrl(bonus="guessed"), "bonus = 'guessed' is not allowed; it must be 'fixed' or 'measured'"),
        (db.zoo.weight_ucrl(transition_bonus_scale=-1.0), "transition_bonus_scale = -1.0 is not allowed"),
    ):
        with pytest.raises(db.DriftBanditsError, match=message):
            db.simulate_mdp(learner, world)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "drift", "bound"),
    [
        (db.mdp.riverswim, "gradual", 1.25 * 23.0),
        (db.mdp.inventory, "static", 1.25 * 50.4),
        (db.mdp.inventory, "abrupt", 1.25 * 223.9),
    ],
)
def test_target_against_the_best_fixed_memory_and_scale(make, drift, bound):
    """Within 1.25 times the best fixed pair of the paper's learner in hindsight (docs/results/mdp_adaptive.json), 5 trials on its seeds."""
    world = make(episodes=3000, drift=drift)
    runs = db.mdp.trials_mdp(db.zoo.weight_ucrl(), lambda _: world, trials=5, seed=0)
    assert np.mean([run.regret[-1] for run in runs]) < bound


def test_a_scale_of_nothing_is_no_bonus():
    """Two models: all go to state 0, or to state 1, which pays. Without a bonus either is as likely; with one, state 1 is hoped for."""
    to = np.zeros((2, 2, 2, 2))
    to[0, :, :, 0] = to[1, :, :, 1] = 1.0
    features, first = db.mdp.mixture_of([*to], known_rewards=np.array([[0.0, 0.0], [1.0, 1.0]])), []
    for scale in (0.0, 1.0):
        agent = db.EpisodicAgent(
            db.zoo.weight_ucrl(gamma=0.9, bonus="measured", transition_bonus_scale=scale), features, horizon=2
        )
        first.append(agent.begin_episode()[0, 0, 0])
    assert first[0] == pytest.approx(0.5)
    assert first[1] > 0.6
