"""The law of argmax c + |ξ|s, exactly."""

import numpy as np
import pytest
from scipy.stats import norm

from driftbandits.adaptive.envelope import add_law

pytestmark = pytest.mark.interpreted


def lines(seed, n=7):
    """Lines of which two are the same, and one is never there."""
    rng = np.random.default_rng(seed)
    c, s = rng.standard_normal(n), rng.standard_normal(n)
    c[3], s[3] = c[0], s[0]
    c[5] = -np.inf
    return c, s


@pytest.mark.parametrize("seed", range(20))
def test_equal_lines_share_and_absent_ones_have_nothing(seed):
    c, s = lines(seed)
    p = np.zeros(len(c))
    add_law(c, s, 1.0, p)
    assert p.sum() == pytest.approx(1.0)
    assert p[5] == 0.0
    assert p[0] == p[3]


def test_the_law_is_that_of_a_fine_grid():
    c, s = lines(100)
    xi = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    best = np.argmax(c[:, None] + np.abs(xi) * s[:, None], axis=0)
    grid = np.bincount(best, minlength=len(c)) / len(xi)
    grid[0] = grid[3] = grid[0] / 2  # argmax takes the first of equals
    p = np.zeros(len(c))
    add_law(c, s, 1.0, p)
    np.testing.assert_allclose(p, grid, atol=2e-5)
