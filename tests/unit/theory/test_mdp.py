"""Tunings of the episodic experiments."""

from math import sqrt

import pytest

from driftbandits import theory


def test_mdp_tuning_of_the_experiment():
    assert theory.mdp_gamma(K=1500, H=10, Delta=55.15) == pytest.approx(0.9394, abs=5e-5)
    assert theory.mdp_window(K=1500, H=10, Delta=55.15) == 16
    assert theory.mdp_gamma(K=800, H=8, Delta=34.7) == pytest.approx(0.926, abs=5e-4)
    simplex = theory.mdp_gamma(K=1500, H=10, Delta=55.15, dimension_aware=True, d=2, L_psi=sqrt(2))
    assert simplex == pytest.approx(theory.mdp_gamma(K=1500, H=10, Delta=55.15))
