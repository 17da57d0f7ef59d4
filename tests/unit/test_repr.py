"""What worlds and agents say of themselves: one readable line."""

import pytest

import driftbandits as db


@pytest.mark.parametrize(
    ("thing", "line"),
    [
        (
            lambda: db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(1000), noise=0.5),
            "env.Bandit(50 arms, dim=2, horizon=1000, reward=Gaussian(sigma=0.5))",
        ),
        (
            lambda: db.mdp.riverswim(episodes=3, horizon=4),
            "MDP(linear mixture, states=6, actions=2, horizon=4, episodes=3)",
        ),
        (
            lambda: db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(6, 2), horizon=4),
            "EpisodicAgent(AdaptivePlanner, states=6, actions=2, horizon=4)",
        ),
    ],
)
def test_one_readable_line(thing, line):
    assert repr(thing()) == line
