"""Probabilities of a linear mixture sum to 1: coordinates of its weights, and what learners gain by knowing it."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.mixture_coordinates import plain, summing_to_one, transformed, weights_of
from driftbandits.mdp.successors import moves_of

S, A = 4, 2


def models(d, seed=0):
    """Features (S, A, S, d) of d random kernels."""
    return np.moveaxis(np.random.default_rng(seed).dirichlet(np.full(S, 0.5), (d, S, A)), 0, -1)


def every_total(psi, w):
    """Σ_{s'} ψ(s'|s,a)ᵀw of every pair."""
    return (psi @ w).sum(axis=-1)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_weights_are_all_those_whose_probabilities_sum_to_one(d):
    psi = models(d)
    found = summing_to_one(moves_of(psi), 1)
    np.testing.assert_allclose(found.origin[0], 1.0 / d, atol=1e-12)
    u = np.random.default_rng(1).normal(size=(1, max(1, d - 1)))
    np.testing.assert_allclose(every_total(psi, weights_of(found, u)[0]), 1.0, atol=1e-12)
    w = np.random.default_rng(2).dirichlet(np.ones(d))  # any other such w has coordinates
    np.testing.assert_allclose(weights_of(found, (w - 1.0 / d)[None] @ found.basis[0])[0], w, atol=1e-12)


def test_transformed_features_give_the_same_probabilities():
    psi = models(3)
    moves, w = moves_of(psi), np.array([0.2, 0.5, 0.3])
    found = summing_to_one(moves, 1)
    features, known = transformed(moves.psi[None], found)
    p = known + features @ ((w - found.origin[0]) @ found.basis[0])
    np.testing.assert_allclose(p[0], moves.psi @ w, atol=1e-12)
    np.testing.assert_allclose(features.sum(axis=2), 0.0, atol=1e-14)
    same, zero = transformed(moves.psi[None], plain())
    assert same is not moves.psi
    assert np.array_equal(same[0], moves.psi)
    assert not zero.any()


def test_the_rank_is_not_that_of_rounding():
    """Models whose probabilities are rounded to ten digits have totals that differ in the eleventh: not another constraint."""
    psi = np.round(models(4), 10)
    assert np.ptp(psi.sum(axis=2)) > 0.0
    assert summing_to_one(moves_of(psi), 1).basis.shape == (1, 4, 3)


def test_pairs_without_features_say_nothing():
    psi = models(3)
    psi[2, 1] = 0.0
    assert summing_to_one(moves_of(psi), 1).basis.shape == (1, 3, 2)


def test_no_constraint_where_no_weights_meet_it():
    psi = models(1)
    psi[0, 0] *= 2.0
    found = summing_to_one(moves_of(psi), 1)
    np.testing.assert_array_equal(found.basis[0], np.eye(1))


def test_more_constraints_than_one():
    """Totals (1, 0) and (0, 1): both weights are 1, and nothing is left to learn."""
    psi = np.zeros((S, A, S, 2))
    psi[:, 0, :, 0], psi[:, 1, :, 1] = models(1)[:, 0, :, 0], models(1)[:, 1, :, 0]
    found = summing_to_one(moves_of(psi), 1)
    np.testing.assert_allclose(found.origin[0], 1.0, atol=1e-12)
    assert not found.basis.any()


@pytest.mark.interpreted
@pytest.mark.parametrize("bonus", ["measured", "fixed"])
def test_what_all_states_share_adds_no_bonus(bonus):
    """Every action pays 1/2 wherever it leads, and the learner knows it: there is nothing to be optimistic about."""
    known = db.mdp.mixture_of(list(np.moveaxis(models(3), -1, 0)), known_rewards=np.full((S, A), 0.5))
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(gamma=0.9, bonus=bonus), known, horizon=6, compile="never")
    Q = agent.begin_episode()
    np.testing.assert_allclose(Q, 0.5 * np.arange(6, 0, -1)[:, None, None] * np.ones((1, S, A)), atol=1e-12)
    assert agent.info()["bonus_share"] < 1e-12


@pytest.mark.interpreted
def test_one_model_known_leaves_nothing_to_learn():
    world = db.mdp.linear_mixture(
        np.random.default_rng(3).random((S, A, 1)), models(1), np.ones((30, 1)), np.ones((30, 1)), horizon=5
    )
    known = db.mdp.mixture_of([models(1)[..., 0]], known_rewards=world.phi[..., 0])
    run = db.simulate_mdp(db.zoo.weight_ucrl(), world, features=known, seed=0)
    assert abs(run.regret[-1]) < 1e-9
    np.testing.assert_allclose(run.info["w"], 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("drift", ["static", "gradual", "abrupt"])
def test_knowing_the_models_never_costs(drift):
    """Of two worlds and six seeds: models known at most 1.1 times the regret of a table, rewards known as well at most that again."""
    for seed in (11, 12):
        world = db.mdp.random_linear_mixture(episodes=600, dim=4, dim_theta=1, drift=drift, seed=seed)
        kernels, pay = list(np.moveaxis(world.psi, -1, 0)), world.rewards(0)[0]
        steady = db.mdp.linear_mixture(pay[..., None], world.psi, np.ones((600, 1)), world.w[:, 0], horizon=10)
        known = [
            db.mdp.tabular(6, 2),
            db.mdp.mixture_of(kernels),
            db.mdp.mixture_of(kernels, known_rewards=pay),
        ]
        mean = [
            np.mean([run.regret[-1] for run in db.mdp.trials_mdp(
                db.zoo.weight_ucrl(), lambda _: steady, trials=6, seed=seed, features=features)])
            for features in known
        ]  # fmt: skip
        assert mean[1] < 1.1 * mean[0]
        assert mean[2] < 1.1 * mean[1] + 1e-9  # where nothing is left to lose, both are rounding
