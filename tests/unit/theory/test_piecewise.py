"""Theorem 4 against reference values, and its corrected form written out in full."""

from math import ceil, exp, expm1, log, sqrt

import pytest

from driftbandits import theory

T, D = 6000, 2


K_MU = 0.25


def slope(S):
    return exp(-S) / (1.0 + exp(-S)) ** 2


def close(value):
    return pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    ("S", "variance", "total", "rho"),
    [(1.0, 18097.1395, 25872.5797, 11.5002925), (5.0, 84972.3802, 92747.8205, 28.1994749)],
)
def test_theorem_4(S, variance, total, rho):
    bound = theory.scb_pw_regret_bound(T=T, d=D, changes=5, k_mu=K_MU, c_mu=slope(S), S=S)
    assert bound.gamma == pytest.approx(0.99442139, abs=5e-9)
    assert bound.details["D"] == close(1555.08805)
    assert bound.bias == close(7775.44027)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(rho)


@pytest.mark.parametrize("S", [1.0, 5.0])
@pytest.mark.parametrize("relaxed", [False, True])
def test_corrected_theorem_4_in_full(S, relaxed):
    c, d, changes = slope(S), D, 5
    gamma, lam = 1 - (changes / (d * T)) ** (2 / 3), d * log(T) / c
    memory, reg = log(T) / log(1 / gamma), lam * c
    nu = (1 - gamma**memory) / (1 - gamma)
    rho = (2 * S * K_MU + 1) / sqrt(reg) / T / (1 - gamma) + sqrt(reg) / 2 + sqrt(reg) * S
    rho += 2 / sqrt(reg) * (2 * log(T) + d * log(2)) + d / sqrt(reg) * log(1 + K_MU * nu / (reg * d))
    xi = 2 * (1 + 2 * S) * rho
    if relaxed:
        b = rho / sqrt(reg)
        far = (b * b + b * sqrt(b * b + 4)) / 2
        loss = rho**2 / (4 * (exp(-far) + far - 1) / far**2)
        xi = (2 + 2 * S) * rho + sqrt(2 + 2 * S) * sqrt(loss)
    bracket = T * log(1 / gamma) + (changes + 1) * log(1 + K_MU / (reg * d * (1 - gamma)))
    first = xi * sqrt(K_MU * T) * sqrt(2 * max(1, K_MU / reg) * d * bracket)
    pot = T * log(1 / gamma) + log(1 + 1 / (lam * d * (1 - gamma)))
    second = K_MU / (2 * c) * xi**2 * 2 * max(1, 1 / lam) * d * pot
    second = min(second, (expm1(2 * S) / (2 * S) - 1) * first)
    gap = 1 / (1 + exp(-S)) - 1 / (1 + exp(S))
    bound = theory.scb_pw_regret_bound(
        T=T, d=d, changes=changes, k_mu=K_MU, c_mu=c, S=S, gap=gap, variant="corrected", relaxed=relaxed
    )
    assert bound.radius == pytest.approx(rho, rel=1e-10)
    assert list(bound.terms.values()) == pytest.approx([gap * changes * ceil(memory), first, second], rel=1e-10)
    assert bound.probability == pytest.approx(1 - 1 / T)


def test_piecewise_sizes():
    # theory §5: ρ² = 132, and the older loss radius ρ(1 + Lρ/√(λc_μ)) squares to 1867, the present one to about 104.
    c = slope(1.0)
    bound = theory.scb_pw_regret_bound(T=T, d=D, changes=5, k_mu=K_MU, c_mu=c)
    assert bound.radius**2 == pytest.approx(132, abs=0.5)
    assert (bound.radius * (1 + bound.radius / sqrt(bound.lam * c))) ** 2 == pytest.approx(1867, abs=0.5)
    small, large = (
        theory.pw_loss_radius(rho=bound.radius, lam=bound.lam, c_mu=c, theta_norm=norm) ** 2 for norm in (0.0, 1.0)
    )
    assert small < 104 < large  # the reference run does not state its ‖θ̂‖
