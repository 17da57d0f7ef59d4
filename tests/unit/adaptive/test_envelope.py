"""The law of argmax c + |ξ|s: exact, and the same arm by arm as for all at once."""

import numpy as np
import pytest
from scipy.stats import norm

from driftbandits.adaptive.envelope import add_law, mass_of

pytestmark = pytest.mark.interpreted


def lines(seed, n=7):
    """Lines of which two are the same, and one is never there."""
    rng = np.random.default_rng(seed)
    c, s = rng.standard_normal(n), rng.standard_normal(n)
    c[3], s[3] = c[0], s[0]
    c[5] = -np.inf
    return c, s


@pytest.mark.parametrize("seed", range(20))
def test_one_arm_has_the_mass_it_has_in_the_whole_law(seed):
    c, s = lines(seed)
    p = np.zeros(len(c))
    add_law(c, s, 1.0, p)
    assert p.sum() == pytest.approx(1.0)
    assert p[5] == 0.0
    assert p[0] == p[3]
    for k in (0, 1, 2, 3, 4, 6):
        assert mass_of(c, s, k) == pytest.approx(p[k], abs=1e-12)


def test_the_law_is_that_of_a_fine_grid():
    c, s = lines(100)
    xi = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    best = np.argmax(c[:, None] + np.abs(xi) * s[:, None], axis=0)
    grid = np.bincount(best, minlength=len(c)) / len(xi)
    grid[0] = grid[3] = grid[0] / 2  # argmax takes the first of equals
    p = np.zeros(len(c))
    add_law(c, s, 1.0, p)
    np.testing.assert_allclose(p, grid, atol=2e-5)
