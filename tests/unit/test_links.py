"""Links: against SciPy, in the far tails, and one of our own."""

from typing import NamedTuple

import naive
import numpy as np
import pytest

import driftbandits as db
from driftbandits import links
from driftbandits.core.kernel import entry, part
from driftbandits.errors import InvalidValue

NAMES = list(links.LINKS)


@part
class Algebraic(NamedTuple):
    """μ(z) = ½(1 + z/√(1+z²)), a link of one's own."""


@links.mu.register(Algebraic)
def _(link, z):
    return 0.5 + 0.5 * z / np.sqrt(1.0 + z * z)


@links.dmu.register(Algebraic)
def _(link, z):
    return 0.5 / (1.0 + z * z) ** 1.5


@links.ddmu.register(Algebraic)
def _(link, z):
    return -1.5 * z / (1.0 + z * z) ** 2.5


@entry
def _log_partitions(link, z, out):
    for a in range(z.shape[0]):
        out[a] = links.log_partition(link, z[a])


@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives(name):
    z = np.linspace(-30, 30, 4001)
    there = naive.LINKS[name]
    for ours, theirs in zip(links.evaluate(name, z), (there.mu(z), there.dmu(z), there.ddmu(z)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-300 if name != "probit" else 1e-15)
    b = np.zeros_like(z)
    _log_partitions(links.link_of(name), z, b)
    np.testing.assert_allclose(b, there.log_partition(z), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("link", [*NAMES, Algebraic()])
def test_far_out_nothing_overflows_and_order_stays(link):
    z = np.array([-1e3, -800.0, -50.0, -1.0, 0.0, 1.0, 50.0, 800.0, 1e3])
    mu, slope, bend = links.evaluate(link, z)
    assert np.isfinite(mu).all()
    assert np.isfinite(slope).all()
    assert np.isfinite(bend).all()
    assert (np.diff(mu) >= 0).all()
    assert (slope >= 0).all()


@pytest.mark.parametrize("link", [*NAMES, Algebraic()])
def test_derivatives_are_derivatives(link):
    z, e = np.linspace(-3, 3, 61), 1e-5
    for order in (0, 1):
        up, down = links.evaluate(link, z + e)[order], links.evaluate(link, z - e)[order]
        np.testing.assert_allclose((up - down) / (2 * e), links.evaluate(link, z)[order + 1], atol=1e-8)


def test_nan_stays_nan():
    assert np.isnan(links.evaluate("logistic", [np.nan])[0]).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("LS", [0.3, 1.0, 5.0])
def test_extreme_slopes(name, LS):
    np.testing.assert_allclose(links.slopes(links.link_of(name), LS), naive.slopes(name, LS), rtol=1e-10)


def test_extreme_slopes_of_the_paper():
    assert 1 / links.slopes(links.Logistic(), 1.0)[1] == pytest.approx(5.0862, abs=1e-4)
    assert 1 / links.slopes(links.Logistic(), 5.0)[1] == pytest.approx(150.4199, abs=1e-4)


@pytest.mark.parametrize("name", ["identity", "logistic", "probit", "poisson"])
def test_constants_take_a_link_or_its_name(name):
    for constant in (
        links.slopes,
        links.concordance,
        links.concordant_up_to,
        links.largest_gap,
        links.has_log_concave_slope,
    ):
        assert constant(name, 1.5) == constant(links.link_of(name), 1.5)
        with pytest.raises(InvalidValue, match="link = 'cauchit' is not allowed"):
            constant("cauchit", 1.5)


def test_extreme_slopes_of_ones_own_link_are_found():
    k, c = links.slopes(Algebraic(), 2.0)
    assert k == pytest.approx(0.5, rel=1e-12)
    assert c == pytest.approx(0.5 / 5**1.5, rel=1e-12)


def test_unknown_links_and_decreasing_ones_are_refused():
    with pytest.raises(InvalidValue, match="link = 'cauchit' is not allowed; it must be one of 'identity', 'logistic'"):
        links.link_of("cauchit")
    with pytest.raises(InvalidValue, match="methods for mu, dmu and ddmu"):
        db.zoo.glm_ucb(link=3, lam=1, S=1, L=1, delta=0.1)
    with pytest.raises(InvalidValue, match="must be positive and finite"):
        links.slopes(links.Poisson(), 800.0)


def test_ones_own_link_needs_its_noise():
    with pytest.raises(InvalidValue, match="R must be given with Algebraic"):
        db.zoo.glm_ucb(link=Algebraic(), lam=1, S=1, L=1, delta=0.1)
    strategy = db.zoo.glm_ucb(link=Algebraic(), lam=1, S=2, L=1, R=0.5, delta=0.1)
    assert strategy.model.c_mu == pytest.approx(0.5 / 5**1.5)
