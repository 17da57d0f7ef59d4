"""The hard MDPs: probabilities, the best action, how far they move."""

import numpy as np
import pytest

import driftbandits as db


def test_the_hidden_corner_is_the_best_action():
    world = db.mdp.hard_mixture(dim=3, horizon=5, episodes=30, block=10, seed=2)
    for k in (0, 10, 29):
        P = world.kernel(k)
        np.testing.assert_allclose(P.sum(axis=-1), 1.0, atol=1e-12)
        assert P.min() >= 0.0
        mu = world.w[k].reshape(-1, 3)[0, 1:]
        best = int(P[0, 0, :, -1].argmax())
        signs = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])[best]
        np.testing.assert_array_equal(signs, np.sign(mu))
        gap = np.ptp(P[0, 0, :, -1])
        assert gap == np.float64(2 * np.abs(mu).sum()) or abs(gap - 2 * np.abs(mu).sum()) < 1e-12


def test_it_moves_only_between_blocks():
    world = db.mdp.hard_mixture(dim=4, horizon=4, episodes=40, block=10, seed=0)
    w = np.asarray(world.w).reshape(40, -1)
    moved = np.flatnonzero((w[1:] != w[:-1]).any(axis=1)) + 1
    assert set(moved) <= {10, 20, 30}
    assert len(moved) >= 2
    eps = np.abs(w[0]).min()
    assert world.P_w <= 4 * 3 * 2 * eps * np.sqrt(3) + 1e-12  # H stages, 3 changes of at most 2ε√(d−1)
    assert world.P_theta == 0.0


@pytest.mark.parametrize(("dim", "horizon", "block"), [(3, 5, 1), (3, 5, 100), (9, 2, 2), (2, 6, 3)])
def test_a_block_can_just_not_tell_the_corner_and_probabilities_stay_in_range(dim, horizon, block):
    world = db.mdp.hard_mixture(dim=dim, horizon=horizon, episodes=5, block=block)
    delta = 1.0 / horizon
    expected = min(np.sqrt(delta / block) / 2.0, delta / (2.0 * (dim - 1)))
    np.testing.assert_allclose(np.abs(np.asarray(world.w).reshape(-1, dim)[:, 1:]), expected)
    assert world.kernel(0)[0, 0, :, -1].min() >= delta / 2.0 - 1e-15


def test_learners_play_it():
    world = db.mdp.hard_mixture(dim=3, horizon=4, episodes=12, block=6)
    run = db.simulate_mdp(db.zoo.weight_ucrl(gamma=0.9), world, seed=0)
    assert run.regret[-1] >= -1e-9


def test_sizes_that_are_not_given():
    world = db.mdp.hard_mixture()
    assert world.psi.shape == (8, 4, 8, 3)
    assert (world.horizon, world.episodes) == (6, 1000)
    assert np.flatnonzero(np.diff(np.asarray(world.w).reshape(1000, -1), axis=0).any(axis=1))[0] % 100 == 99
