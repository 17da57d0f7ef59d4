"""Bandits over Bandits: the bound and the constants of the experiment, printed and corrected."""

from math import ceil, log, sqrt

import pytest

from driftbandits import theory

T, D = 6000, 2


P_T = 6.283185019988713


def close(value):
    return pytest.approx(value, rel=1e-6)


def test_bandits_over_bandits():
    bound = theory.bob_regret_bound(T=T, d=D, P_T=P_T)
    assert bound.gamma == pytest.approx(0.97790291, abs=5e-9)
    assert bound.delta == pytest.approx(1 / (29 * 6000))
    assert bound.bias + bound.variance == close(39971.2928)
    assert bound.terms["meta"] == close(164698.815)
    assert bound.probability == pytest.approx(1 - 3 / T)


def test_corrected_bandits_over_bandits():
    printed = theory.bob_regret_bound(T=T, d=D, P_T=P_T)
    bound = theory.bob_regret_bound(T=T, d=D, P_T=P_T, variant="corrected")
    assert bound.bias == printed.bias
    assert bound.delta == pytest.approx(1 / T**2)
    assert bound.terms["noise"] == pytest.approx(2 * sqrt(2 * T * log(2 * T)), rel=1e-12)
    assert bound.terms["meta"] == pytest.approx(
        theory.bob_meta_bound(N=14, M=39, reward_bound=216.8889114272125, delta=1 / T)
    )
    assert bound.probability == pytest.approx(1 - 5 / T)


def test_bob_constants_of_the_experiment():
    block = theory.bob_block(T=T, d=D)
    candidates = theory.bob_candidates(T=T, d=D)
    assert (block, ceil(T / block), len(candidates)) == (155, 39, 14)
    expected = [0.2929, 0.6464, 0.8232, 0.9116, 0.9558, 0.9779, 0.9890, 0.9945]
    expected += [0.9972, 0.9986, 0.9993, 0.9997, 0.9998, 0.9999]
    assert list(candidates) == pytest.approx(expected, abs=5.1e-5)
    assert theory.bob_rates(N=14, M=39) == pytest.approx((0.09832, 0.04916), abs=5e-6)
    assert theory.bob_reward_bound(T=T, block=block) == pytest.approx(216.889, abs=5e-4)
