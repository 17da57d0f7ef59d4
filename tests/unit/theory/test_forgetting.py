"""Windows and restarts against reference values and against the balance of their bound."""

from math import sqrt

import pytest

from driftbandits import theory

T, D = 6000, 2


P_T = 6.283185019988713


def close(value):
    return pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("bound_of", [theory.window_regret_bound, theory.restart_regret_bound])
def test_window_and_restart(bound_of):
    bound = bound_of(T=T, d=D, P_T=P_T)
    assert set(bound.details.values()) == {34}
    assert bound.bias == close(2491.31257)
    assert bound.variance == close(38594.0645)
    assert bound.total == close(41085.3771)
    assert bound.radius == close(6.23996816)


@pytest.mark.parametrize(
    ("norm", "length", "real"), [(1.0, 34, 34.1328), (5.0, 16, 16.1791)], ids=["reading A", "reading B"]
)
def test_windows_of_the_experiment(norm, length, real):
    assert theory.window(T=T, d=D, P_T=P_T * norm) == length
    assert theory.restart_period(T=T, d=D, P_T=P_T * norm) == length
    assert 2**0.25 * sqrt(T / (1 + P_T * norm)) == pytest.approx(real, abs=5e-5)


def test_balanced_window():
    # 43.7 for λ = d; theory.md's "40.6" is √(dT/(1+P_T)), the same balance with 1 + P_T in place of P_T.
    assert theory.window(T=T, d=D, P_T=P_T, balanced=True) == 43
    assert sqrt(D * T / P_T) == pytest.approx(1 / (1 - theory.lb_gamma(T=T, d=D, P_T=P_T)))
    assert sqrt(D * T / (1 + P_T)) == pytest.approx(40.6, abs=0.05)
