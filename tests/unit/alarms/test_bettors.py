"""The change detector against its equations, and its rate of false alarms by its own e-values."""

import numpy as np
import pytest
from tests.naive import alarms as naive

from driftbandits.alarms.bettors import walk
from driftbandits.alarms.state import (
    STEPS,
    TOTAL,
    grown,
    new_fixed,
    new_state,
    new_work,
    restarted,
)
from driftbandits.alarms.verdict import muted, verdict


def log(seed, T=260, d=2, items=2, change=None):
    """Rewards of items with context; some values are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d)) * 3.0 + 5.0
    X[rng.random((T, d)) < 0.05] = np.nan
    a = rng.integers(0, items, T)
    mean = 0.3 * a + 0.1 * np.nan_to_num(X - 5.0).sum(axis=1)
    if change is not None:
        mean = np.where(np.arange(T) >= change, -mean + 2.0, mean)
    r = mean + rng.standard_t(4, T)
    return X, r, a, np.column_stack([r, np.ones(T), np.arange(T), a])


def detector(d, items):
    source = np.array([[-1, -1], *([-1, c] for c in range(d))])
    return new_fixed(source), new_state(d + 1, items), new_work(d + 1)


@pytest.mark.parametrize("d", [0, 2])
def test_statistic_is_that_of_the_equations(d):
    X, r, a, told = log(3, d=d, change=180)
    fixed, state, work = detector(d, 2)
    found, rows = [], np.zeros((1, 0))
    for t in range(len(r)):
        assert walk(state, fixed, rows, X[t : t + 1], told[t : t + 1], np.inf, work) == 1
        found.append(state.numbers[TOTAL])
    wanted = naive.total(X, r, a, fixed.waves)
    assert wanted.max() > 1e3  # the change is seen
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_rows_together_are_rows_one_by_one():
    X, _, _, told = log(4, change=150)
    fixed, one, work = detector(2, 2)
    many = new_state(3, 2)
    rows = np.zeros((len(told), 0))
    walk(many, fixed, rows, X, told, np.inf, work)
    for t in range(len(told)):
        walk(one, fixed, rows[t : t + 1], X[t : t + 1], told[t : t + 1], np.inf, work)
    for a, b in zip(one, many, strict=True):
        assert np.array_equal(a, b)


def test_stops_at_an_alarm_and_says_what_changed():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 3, 3000)
    r = rng.normal(size=3000) + np.where((a == 1) & (np.arange(3000) >= 1500), 1.5, 0.0)
    told = np.column_stack([r, np.ones(3000), np.arange(3000), a])
    fixed, state, work = detector(0, 3)
    nothing = np.zeros((3000, 0))
    done = walk(state, fixed, nothing, nothing, told, 1e5, work)
    what = verdict(state, fixed)
    assert 1500 < done < 1700
    assert (what.kind, what.block) == ("best item", 1)
    assert 1450 < what.since < 1550
    assert abs(what.before) < 0.3 < 1.0 < what.after
    new = restarted(state)
    assert new.numbers[STEPS] == done
    assert new.numbers[TOTAL] == 0.0


def test_what_is_not_linear_is_misfit_and_said_once():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(6000, 2))
    r = 2.0 * np.cos(1.5 * X[:, 0]) + 0.5 * rng.normal(size=6000)
    told = np.column_stack([r, np.ones(6000), np.arange(6000), np.zeros(6000)])
    fixed, state, work = detector(2, 1)
    done = walk(state, fixed, np.zeros((6000, 0)), X, told, 1e5, work)
    assert done < 6000
    assert verdict(state, fixed).kind == "model misfit"
    after = muted(state, fixed)
    assert after.numbers[TOTAL] < 1e5
    assert not after.misfit.any()


def test_rewards_that_are_all_alike_raise_no_alarm():
    told = np.column_stack([np.full(2000, 7.3), np.ones(2000), np.arange(2000), np.arange(2000) % 3])
    fixed, state, work = detector(0, 3)
    nothing = np.zeros((2000, 0))
    assert walk(state, fixed, nothing, nothing, told, 10.0, work) == 2000
    assert state.numbers[TOTAL] == 0.0


def test_growing_changes_nothing_that_is_known():
    X, _, _, told = log(7)
    fixed, state, work = detector(2, 2)
    rows = np.zeros((len(told), 0))
    walk(state, fixed, rows[:200], X[:200], told[:200], np.inf, work)
    larger = grown(state, 4, 5)
    wide = new_fixed(np.r_[fixed.source, [[-1, 2]]])._replace(shares=fixed.shares, waves=fixed.waves)
    walk(state, fixed, rows[200:], X[200:], told[200:], np.inf, work)
    unknown = np.c_[X, np.full(len(X), np.nan)]
    walk(larger, wide, rows[200:], unknown[200:], told[200:], np.inf, new_work(4))
    assert state.numbers[TOTAL] > 0.0
    np.testing.assert_allclose(larger.numbers, state.numbers, rtol=1e-12)


def test_shapes_that_do_not_fit_are_refused_and_change_nothing():
    X, _, _, told = log(8)
    fixed, state, work = detector(2, 2)
    rows = np.zeros((len(told), 0))
    before = [array.copy() for array in state]
    bad = told.copy()
    bad[0, 3] = 2.0
    assert walk(state, fixed, rows, X, bad, 1e5, work) == -1
    assert walk(state, fixed, rows, X[:, :1].copy(), told, 1e5, work) == -1
    assert walk(state, fixed, rows[:5], X, told, 1e5, work) == -1
    assert walk(state, fixed, rows, X, told, 1e5, new_work(2)) == -1
    for a, b in zip(state, before, strict=True):
        assert np.array_equal(a, b)
