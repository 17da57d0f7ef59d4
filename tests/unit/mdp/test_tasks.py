"""Tasks without episodes: probabilities worked out by hand, gains against all policies, steps against the tables."""

from itertools import product

import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.tasks import Task, best_gain, queue, servers, warehouse


def gain_of_all_policies(P, r):
    """The largest mean reward per step over all deterministic policies of a chain with one recurrent class."""
    S, A = r.shape
    best = -np.inf
    for policy in product(range(A), repeat=S):
        chain = P[np.arange(S), policy]
        system = np.vstack([chain.T - np.eye(S), np.ones(S)])
        stationary = np.linalg.lstsq(system, np.r_[np.zeros(S), 1.0], rcond=None)[0]
        best = max(best, float(stationary @ r[np.arange(S), policy]))
    return best


def test_queue():
    """Room for two: one leaves before one comes; whoever finds it full goes away."""
    task = queue(steps=10, capacity=2)
    few, many = task.kernels
    np.testing.assert_allclose(few[0, 1], [0.8, 0.2, 0.0])
    np.testing.assert_allclose(few[1, 1], [0.8 * 0.55, 0.8 * 0.45 + 0.2 * 0.55, 0.2 * 0.45])
    np.testing.assert_allclose(few[2, 2], [0.0, 0.8 * 0.85, 0.8 * 0.15 + 0.2])
    np.testing.assert_allclose(many[1, 0], [0.3 * 0.25, 0.3 * 0.75 + 0.7 * 0.25, 0.7 * 0.75])
    np.testing.assert_allclose(task.rewards[0], [[1.0, 0.85, 0.6], [0.7, 0.55, 0.3], [0.4, 0.25, 0.0]], atol=1e-15)
    np.testing.assert_array_equal(task.rewards[0], task.rewards[1])


def test_warehouse():
    """Room for three, orders of 0, 3 and 6: what does not fit is not taken; demand beyond three counts as three."""
    task = warehouse(steps=10, capacity=3)
    for rate, P, pay in zip((1.5, 4.0), task.kernels, task.rewards, strict=True):
        p0, p1, p2 = np.exp(-rate) * np.array([1.0, rate, rate**2 / 2.0])
        p3 = 1.0 - p0 - p1 - p2
        np.testing.assert_allclose(P[2, 0], [p2 + p3, p1, p0, 0.0])
        for order in (1, 2):  # the shelf is full, whatever was there
            for s in range(4):
                np.testing.assert_allclose(P[s, order], [p3, p2, p1, p0])
        np.testing.assert_allclose(P[0, 0], [1.0, 0.0, 0.0, 0.0])
        sold, left = p1 + 2 * p2 + 3 * p3, 2 * p1 + p2 + 3 * p0
        np.testing.assert_allclose(pay[1, 1], min(0.3 - 0.08 + sold / 3 - 0.02 * left, 1.0))
        np.testing.assert_allclose(pay[3, 0], min(0.3 + sold / 3 - 0.02 * left, 1.0))
        assert pay[0, 0] == pytest.approx(0.3)


def test_servers():
    """Two queues with room for one: each finishes with 1 − 0.6^k, and what drifts is where jobs arrive."""
    task = servers(steps=10, capacity=1)
    one, other = task.kernels
    x = np.array([0.35, 0.65])  # the first queue, empty before
    y = np.array([0.85, 0.15])
    np.testing.assert_allclose(one[0, 2], np.outer(x, y).ravel())
    stays = 0.6**2 + (1 - 0.6**2) * 0.65  # with two servers a job is still there, or the next one is
    np.testing.assert_allclose(one[2, 2], np.outer([1 - stays, stays], y).ravel())
    stays = 0.6 + 0.4 * 0.15  # the second queue with the third server
    np.testing.assert_allclose(one[1, 2], np.outer(x, [1 - stays, stays]).ravel())
    np.testing.assert_allclose(other[0, 2], np.outer([0.85, 0.15], [0.35, 0.65]).ravel())
    np.testing.assert_allclose(task.rewards[0][:, 0], [1.0, 0.5, 0.5, 0.0])


@pytest.mark.parametrize(("make", "capacity"), [(queue, 3), (warehouse, 3), (servers, 1)])
def test_the_gain_is_that_of_the_best_policy(make, capacity):
    task = make(steps=9, drift="abrupt", changes=2, capacity=capacity)
    for t in (0, 4):
        assert task.gain(t) == pytest.approx(gain_of_all_policies(task.kernel(t), task.pay(t)), abs=1e-7)
    assert (abs(task.gain(0) - task.gain(4)) > 1e-3) == (make is not servers)  # which of two equal queues is busy
    rewards = np.linspace(0.0, 1.0, 9)
    best = [gain_of_all_policies(task.kernel(t), task.pay(t)) for t in range(9)]
    np.testing.assert_allclose(task.regret(rewards), np.cumsum(best - rewards), atol=1e-6)


def test_between_grid_points_the_gain_is_interpolated():
    rng = np.random.default_rng(0)
    P, Q = rng.dirichlet(np.ones(3), (2, 3, 2))
    r = rng.random((2, 3, 2))
    task = Task((P, Q), (r[0], r[1]), np.array([10.25 / 64, 10.0 / 64, 11.0 / 64, 1.0]))
    ends = [best_gain((1 - q) * P + q * Q, (1 - q) * r[0] + q * r[1]) for q in (10 / 64, 11 / 64, 1.0)]
    assert task.gain(0) == pytest.approx(0.75 * ends[0] + 0.25 * ends[1], abs=1e-8)
    assert [task.gain(t) for t in (1, 2, 3)] == pytest.approx(ends, abs=1e-8)
    assert task.gain(0) == pytest.approx(gain_of_all_policies(task.kernel(0), task.pay(0)), abs=1e-3)


def test_steps_follow_the_tables():
    """States are drawn from P_t, rewards are r_t; the last step ends the task."""
    P = np.zeros((2, 3, 2, 3))
    P[0, :, :, 1], P[1, :, 0] = 1.0, [0.25, 0.0, 0.75]
    P[1, :, 1] = [0.0, 1.0, 0.0]
    r = np.stack([np.full((3, 2), 0.2), np.arange(6).reshape(3, 2) / 10])
    T = 4000
    task = Task((P[0], P[1]), (r[0], r[1]), np.full(T, 0.5), start=2)
    assert task.reset(seed=1) == (2, {})
    s, seen = 2, np.zeros(3)
    for t in range(T):
        a = t % 2
        following, reward, terminated, truncated, _ = task.step(a)
        assert reward == pytest.approx(0.1 + 0.5 * r[1, s, a], abs=1e-15)
        assert not terminated
        assert not truncated
        if a == 0:
            seen[following] += 1
        else:
            assert following == 1
        s = following
    expected = 0.5 * np.array([0.25, 1.0, 0.75])
    np.testing.assert_allclose(seen / seen.sum(), expected, atol=5 * 0.5 / np.sqrt(T / 2))  # five standard deviations
    with pytest.raises(db.errors.InvalidState, match="4000 steps"):
        task.step(0)
    first = [task.reset(seed=7), *(task.step(0) for _ in range(20))]
    assert [task.reset(seed=7), *(task.step(0) for _ in range(20))] == first


@pytest.mark.parametrize(
    "wrong",
    [
        lambda P, r, q: Task((P * 0.9, P), (r, r), q),
        lambda P, r, q: Task((P, P), (r, r), q + 0.6),
        lambda P, r, q: Task((P, P), (r, r), q - 0.6),
        lambda P, r, q: Task((P, P), (r[:, :1], r), q),
        lambda P, r, q: Task((P, P + np.array([-0.5, 0.5])), (r, r), q),
    ],
)
def test_tables_that_are_no_task_are_refused(wrong):
    P = np.array([[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [0.0, 1.0]]])
    with pytest.raises(db.errors.InvalidValue):
        wrong(P, np.full((2, 2), 0.5), np.full(3, 0.5))


def test_a_world_of_two_parts_has_no_gain():
    stays = np.eye(2)[:, None, :]
    with pytest.raises(db.errors.InvalidValue, match="does not settle"):
        best_gain(stays, np.array([[0.0], [1.0]]), sweeps=2000)
