"""The tuning of one-pass learners."""

import pytest

from driftbandits import theory


def test_the_discount_under_drift():
    """1 − γ = √(k_μSP_T/(dT)), kept away from 0 and 1."""
    assert theory.domd_gamma(T=10_000, d=4, P_T=2.0, k_mu=0.25, S=2.0) == pytest.approx(1 - (1.0 / 40_000) ** 0.5)
    assert theory.domd_gamma(T=100, d=2, P_T=0.0, k_mu=0.25) == pytest.approx(0.99)
    assert theory.domd_gamma(T=10, d=1, P_T=1e9, k_mu=0.25) == pytest.approx(0.1)


def test_the_discount_for_jumps():
    """1 − γ = (√c_μ·Γ_T/(dT))^{2/3}."""
    expected = 1 - (0.2**0.5 * 5 / (2 * 6000)) ** (2 / 3)
    assert theory.domd_jump_gamma(T=6000, d=2, changes=5, c_mu=0.2) == pytest.approx(expected)
