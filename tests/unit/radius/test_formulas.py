"""Radii against their formulas, with constants of which none is 1, so that no factor can be lost (survivors of tools/mutate.py)."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from driftbandits import radius
from driftbandits.protocol import beta
from driftbandits.radius.self_concordant import (
    noise_radius,
)  # shared with the self-concordant radii, whose oracle checks it

D = 3
EST = SimpleNamespace(theta=np.zeros(D), upsilon=np.array([0.7]))
N = np.array([11.0, 5.0])  # Σw, Σw²


@pytest.mark.parametrize(("squared", "rounds"), [(0.0, 11.0), (1.0, 5.0)])
def test_self_normalised(squared, rounds):
    """β = √λ·S + R·√(2 log(1/δ) + d log(1 + L²n/(λd))); its scale is 1 unless it is given."""
    made = {"lam": 2.5, "S": 1.5, "L": 1.7, "R": 0.6, "delta": 0.03, "squared": squared}
    expected = math.sqrt(2.5) * 1.5 + 0.6 * math.sqrt(
        2 * math.log(1 / 0.03) + D * math.log(1 + 1.7**2 * rounds / (2.5 * D))
    )
    assert beta(radius.SelfNormalised(**made), N, EST, 0) == pytest.approx(expected, rel=1e-12)
    twice = radius.SelfNormalised(**made, scale=2.0, corruption=0.4)
    assert beta(twice, N, EST, 0) == pytest.approx(2 * (expected + 0.4), rel=1e-12)


def test_published_mix_loss():
    """β² = 4λS² + 2η log(1/δ) + (6η² + η)·d·log(1 + k_μL²n/(λd))."""
    lam, S, L, k, delta, eta = 2.5, 1.5, 1.7, 0.3, 0.03, 2.2
    made = radius.PublishedMixLoss(lam=lam, S=S, L=L, k_mu=k, delta=delta, eta=eta)
    volume = D * math.log(1 + k * L**2 * N[0] / (lam * D))
    square = 4 * lam * S**2 + 2 * eta * math.log(1 / delta) + (6 * eta**2 + eta) * volume
    assert beta(made, N, EST, 0) == pytest.approx(math.sqrt(square), rel=1e-12)


def test_mix_loss():
    """β² = aλS² + φη(2 log(1/δ) + Υ)."""
    made = radius.MixLoss(lam=2.5, S=1.5, L=1.7, delta=0.03, eta=2.2, phi=0.4, anchor=3.0)
    square = 3.0 * 2.5 * 1.5**2 + 0.4 * 2.2 * (2 * math.log(1 / 0.03) + 0.7)
    assert beta(made, N, EST, 0) == pytest.approx(math.sqrt(square), rel=1e-12)


@pytest.mark.parametrize("gamma", [0.9, 0.97])
def test_the_bias_of_a_piecewise_world(gamma):
    """ρ = bias + noise + √(λc)·S; the bias alone has the factor γ^D/(1−γ), so that two D tell it from the rest."""
    lam, c, k, S, L, m = 2.5, 0.3, 0.4, 1.5, 0.7, 1.3

    def rho(D, printed=0.0):
        made = radius.Piecewise(lam=lam, c_mu=c, k_mu=k, S=S, L=L, m=m, delta=0.03, gamma=gamma, D=D, printed=printed)
        return beta(made, N, EST, 0)

    def noise(rounds):
        return noise_radius(lam * c, k, L, m, math.log(1 / 0.03), rounds, EST.theta.shape[0])

    for D in (4.0, 30.0):
        rest = gamma**D
        bias = (2 * L**2 * S * k + L * m) / math.sqrt(lam * c) * rest / (1 - gamma)
        expected = bias + noise((1 - rest) / (1 - gamma)) + math.sqrt(lam * c) * S
        assert rho(D) == pytest.approx(expected, rel=1e-12)
        expected += noise((1 - rest**2) / (1 - gamma)) - noise((1 - rest) / (1 - gamma))
        assert rho(D, printed=1.0) == pytest.approx(expected, rel=1e-12)
