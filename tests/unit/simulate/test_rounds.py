"""The loop writes down what was played, lost and earned, at its checkpoints and nowhere else."""

import numpy as np
import pytest

from driftbandits.simulate.rounds import _note, best_predictors, blank_log


@pytest.mark.interpreted  # a leaf, which Python cannot call when it is compiled
def test_a_log_is_written_at_its_marks():
    log = blank_log(np.array([2, 3]), 3, 2)
    for k, lost in [(1, 0.5), (0, 0.25), (1, 1.0)]:
        log.lost[0] += lost
        log.earned[0] += 1.0 - lost
        _note(log, k)
    np.testing.assert_array_equal(log.regret, [0.75, 1.75])
    np.testing.assert_array_equal(log.reward, [1.25, 1.25])
    np.testing.assert_array_equal(log.choices, [1, 0, 1])
    np.testing.assert_array_equal(log.plays, [[1, 1], [1, 2]])


@pytest.mark.interpreted  # a leaf, which Python cannot call when it is compiled
def test_choices_and_plays_are_left_out_unless_asked_for():
    log = blank_log(np.array([1]), 0, 0)
    _note(log, 5)
    assert log.choices.size == log.plays.size == 0
    assert log.written[0] == 1


def test_the_best_predictor_of_arms_that_change_and_of_arms_that_do_not():
    rng = np.random.default_rng(0)
    theta, arms = rng.standard_normal((4, 3)), rng.standard_normal((4, 3, 5))
    out = np.zeros(4)
    best_predictors(arms, theta, np.zeros(5), out)
    np.testing.assert_allclose(out, np.einsum("td,tdn->tn", theta, arms).max(1), rtol=1e-14)
    best_predictors(arms[:1], theta, np.zeros(5), out)
    np.testing.assert_allclose(out, (theta @ arms[0]).max(1), rtol=1e-14)
