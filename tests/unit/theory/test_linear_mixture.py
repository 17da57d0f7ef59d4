"""Theorem 5 against reference values, and its corrected form written out in full."""

from math import log, sqrt

import pytest

from driftbandits import theory


def close(value):
    return pytest.approx(value, rel=1e-6)


def test_theorem_5():
    # The reference gives P^θ = 26.8701 and P^w = 28.2843: rounded from 19√2 and 20√2, the continuous-time lengths.
    bound = theory.linear_mixture_regret_bound(
        K=1500, H=10, d_theta=2, P_theta=19 * sqrt(2), P_w=20 * sqrt(2), S_theta=sqrt(2), L_psi=sqrt(2)
    )
    assert bound.gamma == pytest.approx(0.93936210, abs=5e-9)
    assert bound.radius == close(39.8581374)
    assert list(bound.terms.values()) == close([605463.41, 1210357.92, 7198.00810, 151537.013, 22980.4437])
    assert bound.total == close(1997536.80)
    assert bound.capped == 15000.0


def test_theorem_5_with_the_rounded_lengths():
    # P^θ = 26.8701 has six digits: the bias terms agree to 2e-6 only.
    bound = theory.linear_mixture_regret_bound(
        K=1500, H=10, d_theta=2, P_theta=26.8701, P_w=28.2843, S_theta=sqrt(2), L_psi=sqrt(2), gamma=0.93936210
    )
    expected = [605463.41, 1210357.92, 7198.00810, 151537.013, 22980.4437]
    assert list(bound.terms.values()) == pytest.approx(expected, rel=2e-6)


def test_corrected_theorem_5_in_full():
    K, H, d, S_theta, S_w, L_psi = 1500, 10, 2, sqrt(2), 1.0, sqrt(2)
    lengths, rounds = (19 * sqrt(2), 20 * sqrt(2)), 15000
    gamma = 1 - sqrt(sum(lengths) / rounds)
    n = (1 - gamma**K) / (1 - gamma)
    beta_theta = sqrt(d) * S_theta
    beta_w = H * sqrt(0.5 * log(2 * rounds**2) + d / 4 * log(1 + L_psi**2 * n / d**2)) + H * sqrt(d) * S_w

    def pot(a):
        return K * log(1 / gamma) + log(1 + a / (1 - gamma))

    expected = [
        2 * max(2 * H, beta_theta) * H * sqrt(K) * sqrt(2 * d * pot(1 / d**2)),
        2 * max(2 * H, beta_w) * H * sqrt(K) * sqrt(2 * d * pot(L_psi**2 / d**2)),
        4 * lengths[0] / (1 - gamma) ** 1.5,
        4 * H * L_psi**2 * lengths[1] / (1 - gamma) ** 1.5,
        2 * H * sqrt(2 * rounds * log(2 * rounds)),
    ]
    bound = theory.linear_mixture_regret_bound(
        K=K,
        H=H,
        d_theta=d,
        P_theta=lengths[0],
        P_w=lengths[1],
        S_theta=S_theta,
        L_psi=L_psi,
        variant="corrected",
    )
    assert list(bound.terms.values()) == pytest.approx(expected, rel=1e-10)
    assert bound.probability == pytest.approx(1 - 1 / rounds)
