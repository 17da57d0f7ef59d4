"""Theorem 6 against reference values, and its corrected form written out in full."""

from math import log, sqrt
from typing import Any

import pytest

from driftbandits import theory


def close(value):
    return pytest.approx(value, rel=1e-6)


MNL: dict[str, Any] = {
    "K": 800,
    "H": 8,
    "d_theta": 2,
    "d_w": 4,
    "P_theta": 15.2 * sqrt(2),
    "P_w": 16 * sqrt(0.68),
    "S_theta": sqrt(2),
    "S_w": 2.30651252,
    "kappa": 0.00414930871,
    "U": 3,
}


def test_theorem_6():
    # P^θ = 8·2·0.95·√2 and P^w = 8·2·√(0.2²+0.8²) are the lengths of algorithms §3.3 that give γ = 0.92637725.
    bound = theory.mnl_regret_bound(**MNL)
    assert bound.gamma is not None
    assert bound.gamma == pytest.approx(0.92637725, abs=5e-9)
    assert bound.radius == close(2.53731685)
    assert list(bound.terms.values()) == close([229265.550, 98964134.0, 4304.27967, 5093667.29, 11534.4110])
    assert bound.total == close(104302906.0)
    n = (1 - bound.gamma**800) / (1 - bound.gamma)
    corrected = theory.mnl_radius(
        n=n,
        d=4,
        lam=4.0,
        kappa=MNL["kappa"],
        U=3,
        delta=bound.delta,
        S_w=MNL["S_w"],
        L_ref=1.0,
        variant="corrected",
    )
    assert corrected == close(3.50271001)


@pytest.mark.parametrize("L_ref", [0.7, 1.5, None])
@pytest.mark.parametrize("sharp", [False, True])
def test_corrected_theorem_6_in_full(L_ref, sharp):
    K, H, U, kappa, rounds = 800, 8, 3, MNL["kappa"], 6400
    gamma = 1 - sqrt((MNL["P_theta"] + MNL["P_w"]) / rounds)
    n, reach = (1 - gamma**K) / (1 - gamma), 2.0 if L_ref is None else L_ref
    beta_w = sqrt(log(2 * rounds**2) + 2 * log(1 + (U - 1) * reach**2 * n / 16)) + 2 * kappa * MNL["S_w"]

    def pot(a):
        return K * log(1 / gamma) + log(1 + a / (1 - gamma))

    square = (min(1.0, reach) * reach / 2) if sharp else reach**2
    expected = [
        2 * max(2 * H, 2.0) * H * sqrt(K) * sqrt(2 * 2 * pot(1 / 4)),
        2 * max(2 * H, H / kappa * beta_w) * H * sqrt(K) * sqrt(2 * 4 * pot((U - 1) * reach**2 / 16)),
        4 * MNL["P_theta"] / (1 - gamma) ** 1.5 / (sqrt(2) if sharp else 1),
        4 * H / kappa * square * MNL["P_w"] / (1 - gamma) ** 1.5,
        2 * H * sqrt(2 * rounds * log(2 * rounds)),
    ]
    bound = theory.mnl_regret_bound(**MNL, L_ref=L_ref, sharp_bias=sharp, variant="corrected")
    assert bound.radius == pytest.approx(beta_w, rel=1e-10)
    assert list(bound.terms.values()) == pytest.approx(expected, rel=1e-10)
