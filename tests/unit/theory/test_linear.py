"""Theorem 1 against reference values computed elsewhere: d = 2, T = 6000, L = 1, one turn of the unit circle."""

import pytest

from driftbandits import theory

T, D = 6000, 2


P_T = 6.283185019988713


def close(value):
    return pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "bias", "variance", "total", "radius"),
    [
        ({}, 7260.90723, 23160.3022, 30421.2095, 6.28685958),
        ({"sharp_bias": True}, 5134.23674, 23160.3022, 28294.5390, 6.28685958),
        ({"delta": 1 / T**2}, 7260.90723, 28437.6810, 35698.5883, 7.71940304),
        ({"variant": "corrected"}, 7260.90723, 28437.6810, 35698.5883, 7.71940304),
    ],
)
def test_theorem_1(options, bias, variance, total, radius):
    bound = theory.lb_regret_bound(T=T, d=D, P_T=P_T, **options)
    assert bound.bias == close(bias)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(radius)
    assert bound.gamma == pytest.approx(0.97711772, abs=5e-9)
    assert bound.lam == 2.0
    assert bound.capped == 2.0 * T


def test_linear_constants_of_the_experiment():
    gamma = theory.lb_gamma(T=T, d=D, P_T=P_T)
    assert gamma == pytest.approx(0.97711772, abs=5e-9)
    assert 1 / (1 - gamma) == pytest.approx(43.70, abs=5e-3)
    assert theory.lb_lambda(d=D) == 2.0
    delta = theory.default_delta("lb", T=T)
    assert delta == pytest.approx(8.333e-5, rel=1e-4)
    radii = [theory.lb_radius(n=n, d=D, lam=2.0, delta=delta) for n in (theory.effective_rounds(gamma=gamma, t=T), T)]
    assert radii == pytest.approx([6.2869, 7.1946], abs=5e-5)
