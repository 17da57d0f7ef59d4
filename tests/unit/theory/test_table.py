"""Table 1: the rates against the paper's exponents, written out here once more, and the crossings against a direct comparison."""

import numpy as np
import pytest

from driftbandits import links, theory
from driftbandits.errors import InvalidValue

SIZE = {"T": 50_000, "d": 7, "P_T": 3.0, "changes": 4, "S": 2.0}
C = np.exp(-2.0) / (1 + np.exp(-2.0)) ** 2


def values(**size):
    table = theory.table1(**size)
    return {(row.setting, row.algorithm): row.value for row in table.rows}, table


def test_the_rates_are_those_of_the_paper():
    T, d, P, G, k, c = 50_000, 7, 3.0, 4, 0.25, C
    found, _ = values(**SIZE)
    expected = {
        ("Drifting LB", "D-LinUCB"): d ** (7 / 8) * P**0.25 * T**0.75,
        ("Drifting LB", "LB-WeightUCB"): d**0.75 * P**0.25 * T**0.75,
        ("Drifting LB", "MASTER"): d * P ** (1 / 3) * T ** (2 / 3),
        ("Drifting LB", "any algorithm"): d ** (2 / 3) * P ** (1 / 3) * T ** (2 / 3),
        ("Drifting GLB", "BVD-GLM-UCB"): k**2 / c * d**0.9 * P**0.2 * T**0.8,
        ("Drifting GLB", "GLB-WeightUCB"): k**1.25 * c**-0.75 * d**0.75 * P**0.25 * T**0.75,
        ("Drifting GLB", "MASTER+GLM-UCB"): k ** (4 / 3) / c * d * P ** (1 / 3) * T ** (2 / 3),
        ("Piecewise-stationary SCB", "MASTER+GLM-UCB"): k / c * np.sqrt(G * T),
        ("Drifting SCB", "BVD-GLM-UCB"): k**2 / c * d**0.9 * P**0.2 * T**0.8,
        ("Drifting SCB", "SCB-WeightUCB"): k**1.25 * c**-0.5 * d**0.75 * P**0.25 * T**0.75,
        ("Piecewise-stationary SCB", "SC-D-GLUCB"): c ** (-1 / 3) * d ** (2 / 3) * G ** (1 / 3) * T ** (2 / 3),
        ("Piecewise-stationary SCB", "SCB-PW-WeightUCB"): d ** (2 / 3) * G ** (1 / 3) * T ** (2 / 3),
    }
    assert found == pytest.approx(expected, rel=1e-12)
    mdp, _ = values(T=8000, d=3, H=8, Delta=20.0, kappa=0.01)
    rate = 8 * 3 * 20.0**0.25 * 8000**0.75
    lower = 3 ** (5 / 6) * 20.0 ** (1 / 3) * 8 ** (2 / 3) * 8000 ** (2 / 3)
    setting = "Drifting linear mixture MDP"
    assert mdp == pytest.approx(
        {
            (setting, "SW-LSVI-UCB"): rate,
            (setting, "LMDP-WeightUCRL"): rate,
            (setting, "any algorithm"): lower,
            ("Drifting MNL mixture MDP", "MNL-WeightUCRL"): rate / 0.01,
        },
        rel=1e-12,
    )


def test_single_rates_are_those_of_the_table():
    found, _ = values(**SIZE)
    size = {"T": 50_000, "d": 7}
    assert theory.d_lin_regret_rate(**size, P_T=3.0) == found["Drifting LB", "D-LinUCB"]
    assert theory.bvd_regret_rate(**size, P_T=3.0, k_mu=0.25, c_mu=C) == pytest.approx(
        found["Drifting GLB", "BVD-GLM-UCB"]
    )
    assert theory.sc_d_glm_regret_rate(**size, changes=4, c_mu=C) == pytest.approx(
        found["Piecewise-stationary SCB", "SC-D-GLUCB"]
    )
    assert theory.master_regret_rate(**size, changes=4) == pytest.approx(7 * np.sqrt(4 * 50_000))
    assert theory.master_regret_rate(**size, P_T=3.0) == found["Drifting LB", "MASTER"]
    assert theory.master_regret_rate(**size, P_T=3.0, changes=4) == theory.master_regret_rate(
        **size, changes=4
    )  # the smaller
    assert theory.lb_lower_rate(**size, P_T=3.0) == found["Drifting LB", "any algorithm"]
    with pytest.raises(InvalidValue, match="MASTER's rate needs P_T or changes"):
        theory.master_regret_rate(**size)


@pytest.mark.parametrize("setting", ["Drifting GLB", "Drifting SCB"])
def test_an_improvement_begins_where_it_is_said_to(setting):
    """At the crossing in T both rates agree; above it the paper's is the smaller, below it the larger."""
    ours = {"Drifting GLB": "GLB-WeightUCB", "Drifting SCB": "SCB-WeightUCB"}[setting]
    size = SIZE | {
        "S": 0.5,
        "link": "logistic",
        "d": 1,
        "P_T": 1e5,
    }  # where the crossing lies at a T that can be asked for
    crossing = next(c for c in values(**size)[1].crossings if (c.setting, c.name) == (setting, "T"))
    assert crossing.side == "above"
    for factor, better in ((0.5, False), (2.0, True)):
        found, _ = values(**size | {"T": max(2, round(crossing.value * factor))})
        assert (found[setting, ours] < found[setting, "BVD-GLM-UCB"]) is better


def test_what_is_not_known_is_said():
    table = theory.table1(**SIZE)
    assert all(row.bound is not None for row in table.rows if row.kind == "paper")
    assert all("rate alone" in row.constants for row in table.rows if row.kind != "paper")
    assert theory.table1(T=100, d=2, changes=3).rows[0].setting == "Piecewise-stationary SCB"
    with pytest.raises(InvalidValue, match="link = 'cauchit' is not allowed"):
        theory.table1(T=100, d=2, P_T=1.0, link="cauchit")


def test_the_papers_rows_have_their_theorems():
    table = theory.table1(T=8000, d=3, P_T=3.0, changes=4, S=5.0, H=8, Delta=20.0, kappa=0.01, U=3)
    bounds = {row.setting: row.bound for row in table.rows if row.kind == "paper"}
    glb = bounds["Drifting GLB"]
    assert glb.gap == pytest.approx(0.98661, abs=1e-5)  # μ(5) − μ(−5), not 2LSk_μ = 2.5
    assert bounds["Piecewise-stationary SCB"].gap == bounds["Drifting SCB"].gap == glb.gap
    mdp = {"K": 1000, "H": 8, "d_theta": 3, "P_theta": 10.0, "P_w": 10.0, "S_theta": 5.0, "S_w": 5.0}
    linear, mnl = theory.linear_mixture_regret_bound(**mdp), theory.mnl_regret_bound(**mdp, kappa=0.01, U=3)
    assert bounds["Drifting linear mixture MDP"].total == linear.total
    assert bounds["Drifting MNL mixture MDP"].total == mnl.total
    corrected = theory.table1(T=8000, d=3, P_T=3.0, variant="corrected").rows[1].bound
    assert corrected.total == theory.lb_regret_bound(T=8000, d=3, P_T=3.0, variant="corrected").total


@pytest.mark.parametrize("link", ["identity", "logistic", "probit", "poisson"])
def test_slopes_and_gap_are_those_of_the_link(link):
    rows = theory.table1(T=8000, d=3, P_T=3.0, S=1.5, link=link)
    known = links.link_of(link)
    assert (rows.size["k_mu"], rows.size["c_mu"]) == pytest.approx(links.slopes(known, 1.5))
    assert rows.rows[5].bound.gap == pytest.approx(links.largest_gap(known, 1.5))


def test_the_noise_is_that_of_the_rows():
    """R is used by the generalized row too; left out it is 1 for the linear one and ½ for rewards in [0, 1]."""
    size = {"T": 8000, "d": 3, "P_T": 3.0, "link": "identity"}
    by_default, small, large = (theory.table1(**size, **noise).rows for noise in ({}, {"R": 0.5}, {"R": 2.0}))
    assert small[1].bound.total < by_default[1].bound.total < large[1].bound.total
    assert small[5].bound.total == by_default[5].bound.total < large[5].bound.total


def test_a_link_of_your_own_is_told_by_its_three_numbers():
    own = (*links.slopes("probit", 1.5), links.largest_gap("probit", 1.5))
    named, told = (theory.table1(T=8000, d=3, P_T=3.0, S=1.5, link=link) for link in ("probit", own))
    assert told.size == pytest.approx(named.size)
    assert [row.bound.total for row in told.rows if row.bound] == pytest.approx(
        [row.bound.total for row in named.rows if row.bound]
    )


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ((0.25, 0.2), "three numbers"),
        (None, "three numbers"),
        ((0.2, 0.25, 1.0), "c_mu = 0.25 is not allowed"),
        ((0.25, 0.2, 0.0), "gap = 0.0 is not allowed"),
    ],
)
def test_wrong_numbers_of_a_link(link, said):
    with pytest.raises(InvalidValue, match=said):
        theory.table1(T=100, d=2, P_T=1.0, link=link)
