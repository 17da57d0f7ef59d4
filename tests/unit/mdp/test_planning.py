"""Planning in a known MDP refuses what is none."""

import numpy as np
import pytest

import driftbandits as db

P, PAY = np.full((2, 3, 2, 3), 1 / 3), np.zeros((2, 3, 2))
EVEN = np.full((2, 3, 2), 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.mdp.backward_induction(2 * P, PAY), "sum to 1"),
        (lambda: db.mdp.backward_induction(P, PAY + np.nan), "rewards contain NaN"),
        (lambda: db.mdp.backward_induction(P + np.nan, PAY), "sum to 1"),
        (lambda: db.mdp.backward_induction(P[..., :2], PAY), "P has shape"),
        (lambda: db.mdp.policy_evaluation(P, PAY, np.full((2, 3), 2)), "actions 0..1"),
        (lambda: db.mdp.policy_evaluation(P, PAY, np.full((2, 3), -1)), "actions 0..1"),
        (lambda: db.mdp.policy_evaluation(P, PAY, np.full((2, 3), 0.5)), "actions 0..1"),
        (lambda: db.mdp.policy_evaluation(P, PAY, 2 * EVEN), "probabilities"),
        (lambda: db.mdp.policy_evaluation(P, PAY, EVEN[:1]), "policy has shape"),
        (lambda: db.mdp.uniform_regret(db.mdp.riverswim(episodes=3), 4), "episodes = 4"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        make()


def test_a_policy_that_plays_by_chance_is_the_mean_of_both():
    pay = np.arange(12.0).reshape(2, 3, 2)
    sure = [db.mdp.policy_evaluation(P, pay, np.full((2, 3), a)) for a in range(2)]
    np.testing.assert_allclose(db.mdp.policy_evaluation(P, pay, EVEN), np.mean(sure, axis=0))
