"""γ, W and H for each variant are those that its bound is tuned with."""

import pytest

from driftbandits import theory
from driftbandits.errors import InvalidValue

SIZE = {"T": 20000, "d": 10, "P_T": 6.0}
BOUNDS = {"S": 1.0, "L": 1.0}
SLOPES = {"k_mu": 0.25, "c_mu": 0.05}
VARIANTS = ("printed", "corrected", "repaired", "sharp")


@pytest.mark.parametrize("variant", VARIANTS)
def test_gamma_is_that_of_the_bound(variant):
    lb, glb = (f(**SIZE, **more, variant=variant) for f, more in ((theory.lb_gamma, {}), (theory.glb_gamma, SLOPES)))
    scb = theory.scb_gamma(**SIZE, k_mu=0.25, c_mu=0.05 if variant == "sharp" else None, variant=variant)
    assert lb == theory.lb_regret_bound(**SIZE, **BOUNDS, R=1.0, variant=variant).gamma
    assert glb == theory.glb_regret_bound(**SIZE, **BOUNDS, **SLOPES, R=0.5, variant=variant).gamma
    assert scb == theory.scb_regret_bound(**SIZE, **BOUNDS, **SLOPES, m=1.0, variant=variant).gamma
    assert (
        theory.bob_gamma(**SIZE, variant=variant)
        == theory.bob_regret_bound(**SIZE, **BOUNDS, R=1.0, variant=variant).gamma
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_window_at_its_own_length_has_the_bound(variant):
    for length, bound, name in (
        (theory.window, theory.window_regret_bound, "W"),
        (theory.restart_period, theory.restart_regret_bound, "H"),
    ):
        own = length(**SIZE, variant=variant)
        assert (
            bound(**SIZE, **BOUNDS, R=1.0, variant=variant).total
            == bound(**SIZE, **BOUNDS, R=1.0, variant=variant, **{name: own}).total
        )


def test_sharp_remembers_longer():
    """1 − γ = √(P_T/(d^{3/2}T)) in place of √(P_T/(dT)): d^{1/4} times as long."""
    sharp, printed = (1 - theory.lb_gamma(**SIZE, variant=each) for each in ("sharp", "printed"))
    assert printed / sharp == pytest.approx(10**0.25)
    assert theory.mdp_gamma(K=1000, H=10, Delta=5.0, d=4, variant="sharp") == theory.mdp_gamma(
        K=1000, H=10, Delta=5.0, d=4, sharp_bias=True
    )


def test_another_word_is_refused():
    for tune in (theory.lb_gamma, theory.window, theory.restart_period, theory.bob_gamma):
        with pytest.raises(InvalidValue, match="variant = 'sharper' is not allowed"):
            tune(**SIZE, variant="sharper")
