"""Theorem 2, and the tunings and radii of the generalized experiments, against reference values computed elsewhere."""

from math import exp
from typing import Any

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
        (1.0, "experiment", 3073.92662, 27744.5808, 30818.5074, 4.47699634),
        (1.0, "theorem", 8694.37743, 19967.5316, 28661.9090, 4.50925765),
        (5.0, "experiment", 38983.4137, 786419.643, 825403.056, 10.0792302),
    ],
)
def test_theorem_2(S, preset, bias, variance, total, radius):
    gamma = theory.glb_gamma(T=T, d=D, P_T=P_T, c_mu=slope(S), k_mu=K_MU, preset=preset)
    bound = theory.glb_regret_bound(T=T, d=D, P_T=P_T, k_mu=K_MU, c_mu=slope(S), S=S, gamma=gamma)
    assert bound.bias == close(bias)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(radius)


READINGS = [(1.0, 1.0), (5.0, 1.0), (5.0, 5.0)]  # (S, norm of θ)


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (READINGS[0], [0.98985378, 0.99492689, 0.97711772, 0.98855886, 0.94404931]),
        (READINGS[1], [0.99813428, 0.99906714, 0.97711772, 0.98855886, 0.94404931]),
        (READINGS[2], [0.99582812, 0.99791406, 0.94883367, 0.97441683, 0.89348925]),
    ],
)
def test_discount_factors_of_the_experiment(reading, expected):
    S, norm = reading
    problem: dict[str, Any] = {"T": T, "d": D, "P_T": P_T * norm}
    link: dict[str, Any] = {"c_mu": slope(S), "k_mu": K_MU}
    gammas = [
        theory.glb_gamma(**problem, **link, preset="experiment"),
        theory.glb_gamma(**problem, **link),
        theory.scb_gamma(**problem, k_mu=K_MU, preset="experiment"),
        theory.scb_gamma(**problem, k_mu=K_MU),
        theory.bvd_gamma(**problem),
    ]
    assert gammas == pytest.approx(expected, abs=5.1e-9)


@pytest.mark.parametrize(
    ("reading", "glb", "bvd", "static", "scb", "logucb"),
    [
        (READINGS[0], 3.6572, 2.5787, 3.1683, 11.5560, 13.2407),
        (READINGS[1], 9.2389, 2.3477, 2.9372, 28.2409, 29.9255),
        (READINGS[2], 9.2385, 2.3052, 2.9372, 28.1729, 29.9255),
    ],
)
def test_radii_of_the_experiment(reading, glb, bvd, static, scb, logucb):
    S, norm = reading
    c, P, delta = slope(S), P_T * norm, 1 / (2 * T)
    glb_n = theory.effective_rounds(
        gamma=theory.glb_gamma(T=T, d=D, P_T=P, c_mu=c, k_mu=K_MU, preset="experiment"), t=T
    )
    bvd_n = theory.effective_rounds(gamma=theory.bvd_gamma(T=T, d=D, P_T=P), t=T, squared=True)
    scb_n = theory.effective_rounds(gamma=theory.scb_gamma(T=T, d=D, P_T=P, k_mu=K_MU, preset="experiment"), t=T)
    glb_lam, scb_lam = theory.glb_lambda(d=D, c_mu=c), theory.scb_lambda(d=D, T=T, c_mu=c)
    common: dict[str, Any] = {"d": D, "c_mu": c, "delta": delta, "S": S}
    radii = [
        theory.glb_radius(n=glb_n, lam=glb_lam, **common),
        theory.glb_radius(n=bvd_n, lam=2.0, **common),
        theory.glb_radius(n=T, lam=2.0, **common),
        theory.scb_radius(n=scb_n, lam=scb_lam, k_mu=K_MU, **common),
        theory.scb_radius(n=T, lam=scb_lam, k_mu=K_MU, **common),
    ]
    assert radii == pytest.approx([glb, bvd, static, scb, logucb], abs=5.1e-5)


@pytest.mark.parametrize(
    ("S", "glb_lam", "scb_lam", "glb_factor", "scb_factor"),
    [(1.0, 51.7381, 88.4943, 2.5431, 1.9531), (5.0, 45252.29, 2617.160, 75.21, 20.3385)],
)
def test_regularisers_and_bonus_factors_of_the_experiment(S, glb_lam, scb_lam, glb_factor, scb_factor):
    c = slope(S)
    assert theory.glb_lambda(d=D, c_mu=c) == pytest.approx(glb_lam, rel=1e-6)
    assert theory.scb_lambda(d=D, T=T, c_mu=c) == pytest.approx(scb_lam, rel=1e-6)
    assert theory.scb_lambda(d=D, T=T, c_mu=c) * c == pytest.approx(17.399, abs=5e-4)
    assert theory.glb_bonus_factor(k_mu=K_MU, c_mu=c) == pytest.approx(glb_factor, abs=5.1e-3)
    assert theory.scb_bonus_factor(k_mu=K_MU, c_mu=c, S=S) == pytest.approx(scb_factor, abs=5.1e-5)
