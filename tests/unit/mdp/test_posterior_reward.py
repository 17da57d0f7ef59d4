"""Rewards whose noise is measured."""

import numpy as np
import pytest

import driftbandits as db

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_noise_is_found(noise):
    """One state that pays 0.5 and noise: σ̂ is within a fifth of it after 400 episodes of 5 stages, or at its least."""
    world = db.mdp.linear_mixture(
        np.ones((1, 1, 1)), np.ones((1, 1, 1, 1)), np.full((400, 1), 0.5), np.ones((400, 1)), horizon=5, noise=noise
    )
    info = db.simulate_mdp(db.zoo.weight_ucrl(gamma=1.0, bonus="measured"), world, seed=0).info
    assert info["measured_noise"] == pytest.approx(noise, rel=0.2, abs=0.01)
    assert info["theta"][0, 0] == pytest.approx(0.5, abs=0.03)


def test_pairs_without_features_say_nothing_about_noise():
    """Pairs of φ = 0 pay 0, which every estimate forecasts: σ̂² stays where it began."""
    phi = np.zeros((2, 1, 1))
    phi[1] = 1.0
    stay = np.eye(2)[:, None, :, None]
    world = db.mdp.linear_mixture(phi, stay, np.ones((50, 1)), np.ones((50, 1)), horizon=4, start=0)
    info = db.simulate_mdp(db.zoo.weight_ucrl(gamma=1.0, bonus="measured"), world).info
    assert info["measured_noise"] == pytest.approx(0.05**0.5)


def test_a_short_memory_leans_on_a_longer_one_where_it_knows_nothing():
    """(Λ + λI)⁻¹(b + λθ̂′): with nothing remembered it is θ̂′, with much it is the memory's own estimate."""
    from driftbandits.mdp.posterior_reward import MeasuredReward
    from driftbandits.mdp.protocol import lean, optimistic_reward, reward_state
    from driftbandits.memory import Discounted

    world = db.mdp.riverswim(states=3, horizon=2, episodes=2)
    part, memory = MeasuredReward(S=1.0, L=1.0), Discounted(gamma=0.5)
    short, longer = (reward_state(part, world.task, memory, 1) for _ in range(2))
    longer.theta[0] = 0.2, 0.7
    short.sums.A[0], short.sums.b[0] = np.diag([1e6, 0.0]), (0.9e6, 0.0)
    optimistic_reward(part, short, 0)
    out = np.zeros(6)
    lean(part, short, longer, 0, out)
    np.testing.assert_allclose(out, world.phi.reshape(6, 2) @ [0.9, 0.7], atol=1e-6)
