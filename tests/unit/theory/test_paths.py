"""Path length and the bias it causes."""

from math import sqrt

import numpy as np
import pytest

from driftbandits import theory
from driftbandits.errors import InvalidShape, InvalidValue

ANGLE = 2 * np.pi * np.arange(6000) / 5999


CIRCLE = np.stack([np.cos(ANGLE), np.sin(ANGLE)], axis=1)


def random_path(rng, T, d):
    return np.cumsum(rng.normal(size=(T, d)) * rng.integers(0, 2, size=(T, 1)), axis=0)


def literal_round_bias(path, gamma, t):
    total = 0.0
    for p in range(1, t):
        weights = sum(gamma ** (t - 1 - s) for s in range(1, p + 1))
        total += sqrt(weights) * float(np.linalg.norm(path[p] - path[p - 1]))
    return total


def test_path_length_of_the_experiment():
    assert theory.path_length(CIRCLE) == pytest.approx(6.283185019988713, rel=1e-12)
    assert theory.change_count(CIRCLE) == 5999


def test_paths_may_be_objects_and_lists():
    class Drifting:
        def to_array(self):
            return np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])

    assert theory.path_length(Drifting()) == 5.0
    assert theory.change_count(Drifting()) == 1
    assert theory.path_length([[1.0], [1.0]]) == 0.0
    assert theory.path_length([[1.0, 2.0]]) == 0.0
    assert theory.change_count([[1.0, 2.0]]) == 0


def test_an_mdp_path_sums_over_stages():
    path = np.zeros((3, 2, 2))
    path[1:, 0] = [3.0, 4.0]
    path[1:, 1] = [0.0, 2.0]
    assert theory.path_steps(path).tolist() == [7.0, 0.0]
    assert theory.path_length(path) == 7.0
    assert theory.change_count(path) == 1


@pytest.mark.parametrize("path", [[1.0, 2.0], 3.0, np.zeros((0, 2))])
def test_a_path_needs_rows(path):
    with pytest.raises(InvalidShape, match=r"one row per round"):
        theory.path_length(path)


def test_a_path_needs_finite_entries():
    with pytest.raises(InvalidValue, match="finite"):
        theory.path_length([[0.0], [np.nan]])


def test_bias_sum_of_the_experiment():
    gamma, length = 0.97711772, theory.path_length(CIRCLE)
    assert 2 * theory.bias_sum(CIRCLE, gamma=gamma) == pytest.approx(7084.42, abs=5e-3)
    assert 2 * theory.bias_sum_bound(P_T=length, gamma=gamma, tight=True) == pytest.approx(7219.13, abs=5e-3)
    assert 2 * theory.bias_sum_bound(P_T=length, gamma=gamma) == pytest.approx(7260.91, abs=5e-3)


@pytest.mark.parametrize("gamma", [0.05, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("T", [1, 2, 7, 25])
def test_bias_sum_is_the_literal_double_sum(gamma, T):
    path = random_path(np.random.default_rng(T), T, 3)
    rounds = [literal_round_bias(path, gamma, t) for t in range(1, T + 1)]
    assert [theory.round_bias(path, gamma=gamma, t=t) for t in range(1, T + 1)] == pytest.approx(rounds, rel=1e-12)
    assert theory.round_bias(path, gamma=gamma) == pytest.approx(rounds[-1], rel=1e-12)
    assert theory.bias_sum(path, gamma=gamma) == pytest.approx(sum(rounds), rel=1e-12)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9, 0.99, 0.9999])
def test_bias_sum_is_below_its_bounds(gamma):
    path = random_path(np.random.default_rng(0), 400, 2)
    exact, length = theory.bias_sum(path, gamma=gamma), theory.path_length(path)
    tight = theory.bias_sum_bound(P_T=length, gamma=gamma, tight=True)
    assert exact <= tight * (1 + 1e-12)
    assert tight <= theory.bias_sum_bound(P_T=length, gamma=gamma)


def test_bias_sum_does_not_overflow():
    assert np.isfinite(theory.bias_sum(np.zeros((200_000, 1)) + 1.0, gamma=0.5))
    jump = np.zeros((100_000, 1))
    jump[50_000:] = 1.0
    assert theory.bias_sum(jump, gamma=0.25) == pytest.approx(theory.bias_sum_bound(P_T=1, gamma=0.25, tight=True))
