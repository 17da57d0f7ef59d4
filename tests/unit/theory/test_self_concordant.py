"""Theorem 3 against reference values, and its corrected form written out in full."""

from math import exp, log, sqrt

import pytest

from driftbandits import theory

T, D = 6000, 2


P_T = 6.283185019988713


K_MU = 0.25


def slope(S):
    return exp(-S) / (1.0 + exp(-S)) ** 2


def close(value):
    return pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("S", "preset", "bias", "variance", "total", "radius"),
    [
        (1.0, "experiment", 1202.01276, 82479.7538, 83681.7665, 11.5560016),
        (1.0, "theorem", 3399.80549, 58793.5694, 62193.3749, 11.6587350),
        (5.0, "experiment", 12517.0611, 2097390.11, 2109907.18, 28.2408592),
    ],
)
def test_theorem_3(S, preset, bias, variance, total, radius):
    gamma = theory.scb_gamma(T=T, d=D, P_T=P_T, k_mu=K_MU, preset=preset)
    bound = theory.scb_regret_bound(T=T, d=D, P_T=P_T, k_mu=K_MU, c_mu=slope(S), S=S, gamma=gamma)
    assert bound.bias == close(bias)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(radius)


def test_corrected_theorem_3_in_full():
    c, d, S = slope(1.0), D, 1.0
    gamma, lam = 1 - sqrt(K_MU * P_T / (d * T)), d * log(T) / c
    n, reg = (1 - gamma**T) / (1 - gamma), lam * c
    noise = sqrt(reg) / 2 + 2 / sqrt(reg) * (2 * log(T) + d * log(2)) + d / sqrt(reg) * log(1 + K_MU * n / (reg * d))
    radius = min(exp(S), sqrt(K_MU / c)) * noise + sqrt(reg) * S
    pot = T * log(1 / gamma) + log(1 + 1 / (lam * d * (1 - gamma)))
    variance = 4 * sqrt(3) * K_MU / sqrt(c) * radius * sqrt(2 * d * T * pot)
    bound = theory.scb_regret_bound(T=T, d=d, P_T=P_T, k_mu=K_MU, c_mu=c, variant="corrected")
    assert bound.radius == pytest.approx(radius, rel=1e-10)
    assert bound.variance == pytest.approx(variance, rel=1e-10)
    assert bound.probability == pytest.approx(1 - 1 / T)
    stationary = theory.scb_radius(
        n=n, d=d, lam=lam, k_mu=K_MU, c_mu=c, delta=1 / T**2, variant="corrected", inflation=1.0
    )
    assert stationary == pytest.approx(noise + sqrt(reg) * S, rel=1e-10)
