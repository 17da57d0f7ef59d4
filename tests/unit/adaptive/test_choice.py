"""The law of the choice: against quadrature, and against frequencies."""

import numpy as np
import pytest
from naive import adaptive as naive

from driftbandits.adaptive.choice import CHECKS, LAW, MEAN, ROWS, SD, STATIC_MEAN, STATIC_SD
from driftbandits.adaptive.steps import draw

pytestmark = pytest.mark.xdist_group("adaptive")


def table_of(mean, sd, static=None, static_sd=None):
    table = np.zeros((ROWS, len(mean)))
    table[MEAN], table[SD] = mean, sd
    table[STATIC_MEAN], table[STATIC_SD] = mean if static is None else static, sd if static_sd is None else static_sd
    return table


@pytest.mark.parametrize("seed", range(5))
def test_the_law_is_the_integral(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    mean, sd = rng.normal(size=(2, n)), rng.exponential(size=(2, n))
    table = table_of(mean[0], sd[0], mean[1], sd[1])
    draw(table, np.ones(n, np.int64), 0.3, 0.05, 0.5)
    assert table[LAW].sum() == pytest.approx(1.0)
    assert table[LAW] == pytest.approx(naive.law(mean, sd, 0.3, CHECKS, 0.05), abs=1e-4)


def test_rounding_decides_no_tie():
    """Widths are 0 while all rewards are equal; then means that are equal differ by rounding alone."""
    mean, open_ = np.array([1.5, 1.5 + 2e-16, 1.5 - 2e-16]), np.ones(3, np.int64)
    chosen = []
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        table = table_of(mean[order], np.zeros(3))
        chosen.append(draw(table, open_, 0.3, 0.0, 0.5))
        assert table[LAW] == pytest.approx(1.0 / 3.0)
    assert chosen == [1, 1, 1]


def test_equal_items_share():
    table = table_of(np.zeros(4), np.zeros(4))
    draw(table, np.ones(4, np.int64), 0.0, 0.0, 0.5)
    assert table[LAW] == pytest.approx(0.25)
    table = table_of(np.array([1.0, 1.0, 0.0, 5.0]), np.ones(4))
    draw(table, np.array([1, 1, 1, 0]), 0.0, 0.0, 0.5)
    p = table[LAW]
    assert p[0] == p[1] > p[2] > 0.0
    assert p[3] == 0.0


def test_explore_bounds_every_propensity():
    table = table_of(np.array([9.0, 0, 0, 0, 0]), np.full(5, 1e-9))
    draw(table, np.ones(5, np.int64), 0.5, 0.1, 0.5)
    assert table[LAW].min() >= 0.02
    assert table[LAW].sum() == pytest.approx(1.0)


def test_a_draw_follows_its_probabilities():
    rng = np.random.default_rng(0)
    table = table_of(rng.normal(size=4), rng.exponential(size=4))
    every = np.ones(4, np.int64)
    counts = np.bincount([draw(table, every, 0.0, 0.2, u) for u in (np.arange(4000) + 0.5) / 4000], minlength=4)
    assert counts / 4000 == pytest.approx(table[LAW], abs=1e-3)
