"""One suite for every theorem: ranges of what it sets, monotonicity, rates, variants, errors."""

import doctest
from math import inf, isfinite, log, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftbandits import theory
from driftbandits.errors import InvalidValue

LINK: dict[str, Any] = {"k_mu": 0.25, "c_mu": 0.1}
MDP: dict[str, Any] = {"H": 4, "d_theta": 3, "S_theta": 1.0}


def lb(T=6000, d=2, P_T=6.28, **options):
    return theory.lb_regret_bound(T=T, d=d, P_T=P_T, **options)


def window(T=6000, d=2, P_T=6.28, **options):
    return theory.window_regret_bound(T=T, d=d, P_T=P_T, **options)


def restart(T=6000, d=2, P_T=6.28, **options):
    return theory.restart_regret_bound(T=T, d=d, P_T=P_T, **options)


def glb(T=6000, d=2, P_T=6.28, **options):
    return theory.glb_regret_bound(T=T, d=d, P_T=P_T, **LINK, **options)


def scb(T=6000, d=2, P_T=6.28, **options):
    return theory.scb_regret_bound(T=T, d=d, P_T=P_T, **LINK, **options)


def bob(T=6000, d=2, P_T=6.28, **options):
    return theory.bob_regret_bound(T=T, d=d, P_T=P_T, **options)


def piecewise(T=6000, d=2, P_T=6, **options):
    return theory.scb_pw_regret_bound(T=T, d=d, changes=int(P_T), **LINK, **options)


def linear_mixture(T=6000, P_T=6.28, S=None, **options):
    norm: dict[str, Any] = {} if S is None else {"S_w": S}
    return theory.linear_mixture_regret_bound(K=T, P_theta=P_T, P_w=2 * P_T, **MDP, **norm, **options)


def mnl(T=6000, P_T=6.28, S=None, **options):
    norm: dict[str, Any] = {} if S is None else {"S_w": S}
    return theory.mnl_regret_bound(K=T, P_theta=P_T, P_w=2 * P_T, kappa=0.05, U=3, **MDP, **norm, **options)


DRIFT = [lb, window, restart, glb, scb, bob, linear_mixture, mnl]
ALL = [*DRIFT, piecewise]
VARIANTS: list[Any] = ["printed", "corrected", "repaired", "sharp"]
names: dict[str, Any] = {"ids": lambda value: getattr(value, "__name__", None)}


# ---------------------------------------------------------------- tunings stay in range


rounds = st.integers(2, 10**7)
dimensions = st.integers(1, 200)
lengths = st.one_of(st.just(0.0), st.floats(1e-9, 1e9))
slopes = st.tuples(st.floats(1e-4, 2.0), st.floats(1e-4, 2.0)).map(sorted)


@given(T=rounds, d=dimensions, P_T=lengths, link=slopes, changes=st.integers(0, 10**6))
def test_tuned_values_are_in_range(T, d, P_T, link, changes):
    c_mu, k_mu = link
    gammas = [
        theory.lb_gamma(T=T, d=d, P_T=P_T),
        theory.lb_gamma(T=T, d=d, P_T=P_T, sharp_bias=True),
        theory.d_lin_gamma(T=T, d=d, P_T=P_T),
        theory.glb_gamma(T=T, d=d, P_T=P_T, c_mu=c_mu, k_mu=k_mu),
        theory.glb_gamma(T=T, d=d, P_T=P_T, c_mu=c_mu, k_mu=k_mu, preset="experiment"),
        theory.scb_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu),
        theory.scb_gamma(T=T, d=d, P_T=P_T, k_mu=k_mu, preset="experiment"),
        theory.bvd_gamma(T=T, d=d, P_T=P_T),
        theory.d_glm_gamma(T=T, d=d, changes=changes),
        theory.mdp_gamma(K=T, H=5, Delta=P_T),
        theory.mdp_gamma(K=T, H=5, Delta=P_T, dimension_aware=True, d=d),
    ]
    assert all(1 / T <= gamma <= 1 - 1 / T for gamma in gammas)
    assert 0.5 <= theory.pw_gamma(T=T, d=d, changes=min(changes, T - 1)) <= 1 - 1 / T
    memories = [
        theory.window(T=T, d=d, P_T=P_T),
        theory.window(T=T, d=d, P_T=P_T, balanced=True),
        theory.mdp_window(K=T, H=5, Delta=P_T),
    ]
    assert all(isinstance(memory, int) and 1 <= memory <= T for memory in memories)
    candidates = theory.bob_candidates(T=T, d=d)
    assert all(0 < gamma < 1 for gamma in candidates)
    assert list(candidates) == sorted(candidates)


@given(T=rounds, d=dimensions, P_T=lengths)
def test_the_candidates_cover_the_best_discount(T, d, P_T):
    candidates, best = theory.bob_candidates(T=T, d=d), theory.lb_gamma(T=T, d=d, P_T=P_T)
    chosen = theory.bob_gamma(T=T, d=d, P_T=P_T)
    assert chosen in candidates
    if sqrt(d) <= T:
        assert candidates[-1] >= 1 - 1 / T - 1e-15
    if best >= candidates[0]:
        assert 1 - chosen <= (1 - best) * (1 + 1e-9) + 1e-15
        assert 1 - best <= 2 * (1 - chosen) * (1 + 1e-9)


def test_clipping():
    assert theory.lb_gamma(T=100, d=2, P_T=0.0) == 0.99
    assert theory.lb_gamma(T=100, d=2, P_T=200.0) == 0.01
    assert theory.lb_gamma(T=2, d=1, P_T=5.0) == 0.5
    assert theory.bvd_gamma(T=100, d=1, P_T=1e4) == 0.01
    assert theory.pw_gamma(T=100, d=1, changes=99) == 0.5
    assert theory.pw_gamma(T=100, d=1, changes=0) == 0.99
    assert theory.window(T=100, d=2, P_T=1e9) == 1
    assert theory.window(T=100, d=2, P_T=0.0, balanced=True) == 100
    assert theory.mdp_window(K=100, H=3, Delta=0.0) == 100
    assert theory.bob_candidates(T=100, d=1)[0] == 0.01


def test_tuned_bias_has_its_closed_form():
    T, d, P_T, (k, c) = 6000, 3, 20.0, (0.25, 0.1)
    rate = d**0.75 * P_T**0.25 * T**0.75
    assert lb(d=d, P_T=P_T).bias == pytest.approx(4 * rate)
    assert glb(d=d, P_T=P_T).bias == pytest.approx(8 * k**1.25 * c**-0.75 * rate)
    assert scb(d=d, P_T=P_T).bias == pytest.approx(8 * sqrt(3) * k**1.25 * c**-0.5 * log(T) ** -0.5 * rate)
    still = lb(d=d, P_T=d / T / 2)
    assert still.gamma == 1 - 1 / T
    assert still.bias <= 4 * d * sqrt(T)


def test_tuned_variance_is_below_its_closed_form():
    T, C = 6000, theory.log_gamma_constant(T=6000)
    for d, P_T in [(1, 1.0), (2, 6.28), (5, 300.0)]:
        bound = lb(d=d, P_T=P_T)
        bracket = C * sqrt(d * P_T) * T**1.5 + d * T * log(1 + sqrt(T / P_T) / d**1.5)
        assert bound.variance <= 2 * bound.radius * sqrt(2 * max(1, 1 / d)) * sqrt(bracket) * (1 + 1e-12)
    still = lb(d=2, P_T=0.0)
    assert still.variance <= 2 * still.radius * sqrt(2 * 2 * T) * sqrt(C + log(1 + T / 4)) * (1 + 1e-12)


# ---------------------------------------------------------------- monotonicity and rates


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", ALL, **names)
def test_a_bound_grows_with_drift_rounds_and_norm(family, variant):
    drifts = [family(P_T=P_T, variant=variant).total for P_T in (1, 3, 10, 30, 100)]
    assert drifts == sorted(drifts)
    assert drifts[0] < drifts[-1]
    horizons = [family(T=T, variant=variant).total for T in (500, 2000, 8000, 32000)]
    assert horizons == sorted(horizons)
    norms = [family(S=S, variant=variant).total for S in (0.5, 1.0, 2.0, 4.0)]
    assert norms == sorted(norms)
    assert norms[0] < norms[-1]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", [lb, glb, scb, linear_mixture, mnl], **names)
def test_doubling_the_rounds_multiplies_by_two_to_the_three_quarters(family, variant):
    # up to logarithms, which fade: at T = 10⁷ they add less than 6 %
    ratio = family(T=2 * 10**7, variant=variant).total / family(T=10**7, variant=variant).total
    assert 2**0.75 * 0.98 <= ratio <= 2**0.75 * 1.06
    bias = family(T=2 * 10**7, variant=variant).bias / family(T=10**7, variant=variant).bias
    assert bias == pytest.approx(2**0.75, rel=0.05)


def test_the_piecewise_rate():
    ratio = piecewise(T=2 * 10**8).total / piecewise(T=10**8).total
    assert 2 ** (2 / 3) * 0.98 <= ratio <= 2 ** (2 / 3) * 1.08
    changes = piecewise(T=10**8, P_T=16).total / piecewise(T=10**8, P_T=8).total
    assert changes == pytest.approx(2 ** (1 / 3), rel=0.05)


def test_without_drift_the_rate_is_the_square_root():
    for family in (lb, glb, scb):
        ratio = family(T=4 * 10**8, P_T=0.0).total / family(T=10**8, P_T=0.0).total
        assert 2.0 <= ratio <= 2.2  # four times the rounds; logarithms add less than 10 %


@pytest.mark.parametrize("family", [lb, glb, scb], **names)
def test_the_tuned_discount_is_near_the_best(family):
    tuned = family(T=10**6)
    best = min(family(T=10**6, gamma=1 - (1 - tuned.gamma) * 2**i).total for i in (-4, -3, -2, -1, 0, 1, 2, 3))
    assert best <= tuned.total <= 2.5 * best


def test_sharp_tuning_beats_the_printed_one_in_high_dimension():
    problem: dict[str, Any] = {"T": 10**8, "d": 400, "P_T": 50.0}
    sharp = theory.lb_gamma(**problem, sharp_bias=True)
    assert lb(**problem, gamma=sharp, sharp_bias=True).total < lb(**problem, sharp_bias=True).total


# ---------------------------------------------------------------- variants and options


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", ALL, **names)
def test_every_bound_is_consistent(family, variant):
    for T in (2, 50, 6000):
        bound = family(T=T, P_T=1, variant=variant)
        assert bound.total == pytest.approx(sum(bound.terms.values()))
        assert bound.capped <= bound.gap * bound.horizon
        assert bound.capped <= bound.total
        assert bound.informative == (bound.total < bound.gap * bound.horizon)
        assert 0.0 <= bound.probability <= 1.0
        assert all(isfinite(value) and value >= 0.0 for value in bound.terms.values())
        assert bound.variant == variant
        assert str(bound).startswith(bound.theorem)


@pytest.mark.parametrize("family", ALL, **names)
@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_true_probability_is_one_minus_one_over_T(family, variant):
    bound = family(variant=variant)
    events = bound.horizon * (MDP["H"] if family in (linear_mixture, mnl) else 1)
    assert bound.probability == pytest.approx(1 - (5 if family is bob else 1) / events, abs=1e-12)


@pytest.mark.parametrize(
    ("family", "printed"),
    [(lb, 1 / 12000), (glb, 1 / (2 * 6000**2)), (scb, 1 / 12000), (piecewise, 1 / 6000), (mnl, 1 / 96000)],
    **names,
)
def test_printed_confidence(family, printed):
    assert family().delta == pytest.approx(printed, rel=1e-12)
    claimed = 1 - 1 / (24000 if family is mnl else 6000)
    assert family().probability == pytest.approx(claimed, abs=1e-12)


@pytest.mark.parametrize("family", DRIFT, **names)
def test_sharp_bias_removes_the_root_of_the_dimension(family):
    d = 3 if family in (linear_mixture, mnl) else 2
    plain, sharp = family(), family(sharp_bias=True)
    assert sharp.bias == pytest.approx(plain.bias / sqrt(d))
    assert sharp.variance == plain.variance


@pytest.mark.parametrize("family", [lb, glb, scb], **names)
def test_squared_weights_give_a_smaller_radius(family):
    assert family(squared=True).radius < family().radius
    assert family(squared=True).bias == family().bias


def test_given_values_are_used():
    bound = lb(gamma=0.9, lam=5.0, delta=0.01)
    assert (bound.gamma, bound.lam, bound.delta) == (0.9, 5.0, 0.01)
    assert bound.probability == pytest.approx(0.98)
    assert lb(delta=0.01, variant="corrected").probability == 0.0
    assert window(W=100).details["W"] == 100
    assert restart(H=100).total == window(W=100).total
    assert scb(gap=0.3).gap == 0.3
    bound = mnl(lam_theta=7.0, lam_w=9.0)
    assert (bound.details["lam_theta"], bound.lam) == (7.0, 9.0)


def test_balanced_window_beats_the_printed_one_for_long_horizons():
    # needs W well above d²: below it log(1 + W/d²) grows like W and the variance hardly falls with W
    problem: dict[str, Any] = {"T": 10**12, "d": 20, "P_T": 10.0}
    balanced = theory.window(**problem, balanced=True)
    assert window(**problem, W=balanced).total < window(**problem).total


def test_the_corrections_that_must_not_lower_a_bound():
    assert scb(variant="corrected").total > scb().total
    assert lb(variant="corrected").total > lb().total
    assert piecewise(variant="corrected").total > piecewise().total
    assert mnl(L_ref=1.0, variant="corrected").radius > mnl().radius


def test_the_relaxed_set_belongs_to_the_corrected_variant():
    tight, relaxed = (piecewise(variant="corrected", relaxed=flag) for flag in (False, True))
    assert relaxed.radius == tight.radius
    assert relaxed.bias == tight.bias
    assert relaxed.details["Xi"] != tight.details["Xi"]
    with pytest.raises(InvalidValue, match="the paper does not treat this set"):
        piecewise(relaxed=True)


def test_large_norms_do_not_overflow():
    for variant in VARIANTS:
        bound = theory.scb_pw_regret_bound(T=1000, d=2, changes=3, k_mu=0.25, c_mu=1e-12, S=500.0, variant=variant)
        assert isfinite(bound.total)
        assert isfinite(scb(S=500.0, variant=variant).total)
    assert theory.mnl_kappa_bound(S_w=100.0, U=3) > 0.0


def test_reward_noise_in_the_mdp_radius():
    plain = theory.mdp_reward_radius(lam=2.0, S_theta=1.5)
    assert plain == pytest.approx(sqrt(2) * 1.5)
    noisy = theory.mdp_reward_radius(lam=2.0, S_theta=1.5, R=0.5, n=10.0, d=2, delta=0.1)
    assert noisy == pytest.approx(plain + 0.5 * sqrt(2 * log(10) + 2 * log(1 + 10 / 4)))


def test_deterministic_policies_halve_the_martingale():
    full, half = (theory.mdp_martingale(K=100, H=5, delta=0.1, deterministic=flag) for flag in (False, True))
    assert half == full / 2 == pytest.approx(2 * 5 * sqrt(2 * 500 * log(10)))


def test_one_candidate_needs_no_choice():
    assert theory.bob_meta_bound(N=1, M=10, reward_bound=1.0, delta=0.1) == 0.0


# ---------------------------------------------------------------- errors

WRONG: Any = "best"
HALF: Any = 10.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.lb_gamma(T=1, d=2, P_T=1.0), r"T = 1 is not allowed; it must be a whole number ≥ 2"),
        (lambda: theory.lb_gamma(T=HALF, d=2, P_T=1.0), r"T = 10.5 is not allowed"),
        (lambda: theory.lb_gamma(T=10, d=0, P_T=1.0), r"d = 0 is not allowed; it must be a whole number ≥ 1"),
        (lambda: theory.lb_gamma(T=10, d=2, P_T=-1.0), r"P_T = -1.0 is not allowed; it must be ≥ 0"),
        (lambda: lb(gamma=1.0), r"gamma = 1.0 is not allowed; it must be in \(0, 1\): .*1/\(1 − γ\)"),
        (lambda: lb(delta=2.0), r"delta = 2.0 is not allowed; it must be in \(0, 1\)"),
        (lambda: lb(lam=0.0), r"lam = 0.0 is not allowed; it must be > 0"),
        (lambda: lb(S=-1.0), r"S = -1.0 is not allowed"),
        (
            lambda: lb(variant="right"),
            r"variant = 'right' is not allowed; it must be 'printed', 'corrected', 'repaired' or 'sharp'",
        ),
        (lambda: window(W=0), r"W = 0 is not allowed; it must be a whole number ≥ 1"),
        (lambda: restart(H=7000), r"H = 7000 is not allowed; it must be ≤ T = 6000"),
        (lambda: scb(L=2.0), r"L = 2.0 is not allowed; it must be ≤ 1: .*divide the arms by L"),
        (lambda: theory.glb_gamma(T=9, d=1, P_T=1, c_mu=1, k_mu=0.5), r"c_mu = 1 is not allowed; it must be ≤ k_mu"),
        (lambda: theory.scb_gamma(T=9, d=1, P_T=1, k_mu=1, preset=WRONG), r"preset = 'best' is not allowed"),
        (lambda: theory.pw_gamma(T=9, d=1, changes=9), r"changes = 9 is not allowed; it must be ≤ T − 1 = 8"),
        (lambda: theory.default_delta("lbx", T=9), r"family = 'lbx' is not allowed; it must be one of lb, glb"),
        (lambda: mnl(kappa_typo=1), r"unexpected keyword"),
        (lambda: theory.mnl_kappa_bound(S_w=1.0, U=1), r"U = 1 is not allowed; it must be a whole number ≥ 2"),
        (lambda: theory.mdp_gamma(K=9, H=2, Delta=1.0, dimension_aware=True), r"d = None is not allowed"),
        (lambda: bob(block=7000), r"block = 7000 is not allowed; it must be ≤ T = 6000"),
        (lambda: theory.half_life(0.0), r"gamma = 0.0 is not allowed; it must be in \(0, 1\]"),
        (lambda: theory.gamma_from_half_life(-1.0), r"half_life = -1.0 is not allowed; it must be > 0"),
        (lambda: theory.gamma_from_half_life(1e-9), r"half_life = 1e-09 is not allowed"),
        (lambda: theory.round_bias([[0.0], [1.0]], gamma=0.9, t=3), r"t = 3 is not allowed; it must be ≤ 2"),
        (lambda: theory.bias_sum([[0.0]], gamma=1.1), r"gamma = 1.1 is not allowed"),
        (
            lambda: theory.scb_radius(n=1, d=1, lam=1, k_mu=1, c_mu=1, delta=0.1, variant="corrected", inflation=0.5),
            r"inflation = 0.5 is not allowed; it must be ≥ 1",
        ),
        (
            lambda: theory.mnl_radius(n=1, d=1, lam=1, kappa=0.3, U=3, delta=0.1),
            r"kappa = 0.3 is not allowed; it must be ≤ 1/4",
        ),
    ],
)
def test_errors_are_one_readable_line(call, message):
    with pytest.raises((InvalidValue, TypeError), match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_infinite_half_life():
    assert theory.gamma_from_half_life(inf) == 1.0
    assert theory.half_life(1.0) == inf


def test_everything_public_is_documented_with_an_example():
    for name in theory.__all__:
        if name != "Variant":
            assert ">>>" in (getattr(theory, name).__doc__ or ""), name


def test_the_examples_of_the_docs_page():
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.attempted > 20
    assert results.failed == 0
