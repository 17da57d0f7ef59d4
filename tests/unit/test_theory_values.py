"""Numbers of the theory against reference values computed elsewhere, and against formulas written out in full.

d = 2, T = 6000, L = 1, one turn of the unit circle, as in the paper's experiment. Reference values carry nine digits,
so the tolerance is 1e-6 unless a test says otherwise.
"""

from math import ceil, exp, expm1, log, sqrt
from typing import Any

import pytest

from driftbandits import theory

T, D = 6000, 2
P_T = 6.283185019988713
K_MU = 0.25


def slope(S):
    return exp(-S) / (1.0 + exp(-S)) ** 2


def close(value):
    return pytest.approx(value, rel=1e-6)


# ---------------------------------------------------------------- regret bounds, radii


@pytest.mark.parametrize(
    ("options", "bias", "variance", "total", "radius"),
    [
        ({}, 7260.90723, 23160.3022, 30421.2095, 6.28685958),
        ({"sharp_bias": True}, 5134.23674, 23160.3022, 28294.5390, 6.28685958),
        ({"delta": 1 / T**2}, 7260.90723, 28437.6810, 35698.5883, 7.71940304),
        ({"variant": "corrected"}, 7260.90723, 28437.6810, 35698.5883, 7.71940304),
    ],
)
def test_theorem_1(options, bias, variance, total, radius):
    bound = theory.lb_regret_bound(T=T, d=D, P_T=P_T, **options)
    assert bound.bias == close(bias)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(radius)
    assert bound.gamma == pytest.approx(0.97711772, abs=5e-9)
    assert bound.lam == 2.0
    assert bound.capped == 2.0 * T


@pytest.mark.parametrize("bound_of", [theory.window_regret_bound, theory.restart_regret_bound])
def test_window_and_restart(bound_of):
    bound = bound_of(T=T, d=D, P_T=P_T)
    assert set(bound.details.values()) == {34}
    assert bound.bias == close(2491.31257)
    assert bound.variance == close(38594.0645)
    assert bound.total == close(41085.3771)
    assert bound.radius == close(6.23996816)


@pytest.mark.parametrize(
    ("S", "preset", "bias", "variance", "total", "radius"),
    [
        (1.0, "experiment", 3073.92662, 27744.5808, 30818.5074, 4.47699634),
        (1.0, "theorem", 8694.37743, 19967.5316, 28661.9090, 4.50925765),
        (5.0, "experiment", 38983.4137, 786419.643, 825403.056, 10.0792302),
    ],
)
def test_theorem_2(S, preset, bias, variance, total, radius):
    gamma = theory.glb_gamma(T=T, d=D, P_T=P_T, c_mu=slope(S), k_mu=K_MU, preset=preset)
    bound = theory.glb_regret_bound(T=T, d=D, P_T=P_T, k_mu=K_MU, c_mu=slope(S), S=S, gamma=gamma)
    assert bound.bias == close(bias)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(radius)


@pytest.mark.parametrize(
    ("S", "preset", "bias", "variance", "total", "radius"),
    [
        (1.0, "experiment", 1202.01276, 82479.7538, 83681.7665, 11.5560016),
        (1.0, "theorem", 3399.80549, 58793.5694, 62193.3749, 11.6587350),
        (5.0, "experiment", 12517.0611, 2097390.11, 2109907.18, 28.2408592),
    ],
)
def test_theorem_3(S, preset, bias, variance, total, radius):
    gamma = theory.scb_gamma(T=T, d=D, P_T=P_T, k_mu=K_MU, preset=preset)
    bound = theory.scb_regret_bound(T=T, d=D, P_T=P_T, k_mu=K_MU, c_mu=slope(S), S=S, gamma=gamma)
    assert bound.bias == close(bias)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(radius)


@pytest.mark.parametrize(
    ("S", "variance", "total", "rho"),
    [(1.0, 18097.1395, 25872.5797, 11.5002925), (5.0, 84972.3802, 92747.8205, 28.1994749)],
)
def test_theorem_4(S, variance, total, rho):
    bound = theory.scb_pw_regret_bound(T=T, d=D, changes=5, k_mu=K_MU, c_mu=slope(S), S=S)
    assert bound.gamma == pytest.approx(0.99442139, abs=5e-9)
    assert bound.details["D"] == close(1555.08805)
    assert bound.bias == close(7775.44027)
    assert bound.variance == close(variance)
    assert bound.total == close(total)
    assert bound.radius == close(rho)


def test_bandits_over_bandits():
    bound = theory.bob_regret_bound(T=T, d=D, P_T=P_T)
    assert bound.gamma == pytest.approx(0.97790291, abs=5e-9)
    assert bound.delta == pytest.approx(1 / (29 * 6000))
    assert bound.bias + bound.variance == close(39971.2928)
    assert bound.terms["meta"] == close(164698.815)
    assert bound.probability == pytest.approx(1 - 3 / T)


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
    # P^θ = 8·2·0.95·√2 and P^w = 8·2·√(0.2²+0.8²) are the lengths of algorithms.md §3.3 that give γ = 0.92637725.
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


# ---------------------------------------------------------------- the corrected variants, written out in full


def test_corrected_theorem_3_in_full():
    c, d, S = slope(1.0), D, 1.0
    gamma, lam = 1 - sqrt(K_MU * P_T / (d * T)), d * log(T) / c
    n, reg = (1 - gamma**T) / (1 - gamma), lam * c
    noise = sqrt(reg) / 2 + 2 / sqrt(reg) * (2 * log(T) + d * log(2)) + d / sqrt(reg) * log(1 + K_MU * n / (reg * d))
    radius = min(exp(S), sqrt(K_MU / c)) * noise + sqrt(reg) * S
    pot = T * log(1 / gamma) + log(1 + 1 / (lam * d * (1 - gamma)))
    variance = 4 * sqrt(3) * K_MU / sqrt(c) * radius * sqrt(2 * d * T * pot)
    bound = theory.scb_regret_bound(T=T, d=d, P_T=P_T, k_mu=K_MU, c_mu=c, variant="corrected")
    assert bound.radius == pytest.approx(radius, rel=1e-10)
    assert bound.variance == pytest.approx(variance, rel=1e-10)
    assert bound.probability == pytest.approx(1 - 1 / T)
    stationary = theory.scb_radius(
        n=n, d=d, lam=lam, k_mu=K_MU, c_mu=c, delta=1 / T**2, variant="corrected", inflation=1.0
    )
    assert stationary == pytest.approx(noise + sqrt(reg) * S, rel=1e-10)


@pytest.mark.parametrize("S", [1.0, 5.0])
@pytest.mark.parametrize("relaxed", [False, True])
def test_corrected_theorem_4_in_full(S, relaxed):
    c, d, changes = slope(S), D, 5
    gamma, lam = 1 - (changes / (d * T)) ** (2 / 3), d * log(T) / c
    memory, reg = log(T) / log(1 / gamma), lam * c
    nu = (1 - gamma**memory) / (1 - gamma)
    rho = (2 * S * K_MU + 1) / sqrt(reg) / T / (1 - gamma) + sqrt(reg) / 2 + sqrt(reg) * S
    rho += 2 / sqrt(reg) * (2 * log(T) + d * log(2)) + d / sqrt(reg) * log(1 + K_MU * nu / (reg * d))
    xi = 2 * (1 + 2 * S) * rho
    if relaxed:
        b = rho / sqrt(reg)
        far = (b * b + b * sqrt(b * b + 4)) / 2
        loss = rho**2 / (4 * (exp(-far) + far - 1) / far**2)
        xi = (2 + 2 * S) * rho + sqrt(2 + 2 * S) * sqrt(loss)
    bracket = T * log(1 / gamma) + (changes + 1) * log(1 + K_MU / (reg * d * (1 - gamma)))
    first = xi * sqrt(K_MU * T) * sqrt(2 * max(1, K_MU / reg) * d * bracket)
    pot = T * log(1 / gamma) + log(1 + 1 / (lam * d * (1 - gamma)))
    second = K_MU / (2 * c) * xi**2 * 2 * max(1, 1 / lam) * d * pot
    second = min(second, (expm1(2 * S) / (2 * S) - 1) * first)
    gap = 1 / (1 + exp(-S)) - 1 / (1 + exp(S))
    bound = theory.scb_pw_regret_bound(
        T=T, d=d, changes=changes, k_mu=K_MU, c_mu=c, S=S, gap=gap, variant="corrected", relaxed=relaxed
    )
    assert bound.radius == pytest.approx(rho, rel=1e-10)
    assert list(bound.terms.values()) == pytest.approx([gap * changes * ceil(memory), first, second], rel=1e-10)
    assert bound.probability == pytest.approx(1 - 1 / T)


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


# ---------------------------------------------------------------- the constants of the experiment


READINGS = [(1.0, 1.0), (5.0, 1.0), (5.0, 5.0)]  # (S, norm of θ)


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (READINGS[0], [0.98985378, 0.99492689, 0.97711772, 0.98855886, 0.94404931]),
        (READINGS[1], [0.99813428, 0.99906714, 0.97711772, 0.98855886, 0.94404931]),
        (READINGS[2], [0.99582812, 0.99791406, 0.94883367, 0.97441683, 0.89348925]),
    ],
)
def test_discount_factors_of_the_experiment(reading, expected):
    S, norm = reading
    problem: dict[str, Any] = {"T": T, "d": D, "P_T": P_T * norm}
    link: dict[str, Any] = {"c_mu": slope(S), "k_mu": K_MU}
    gammas = [
        theory.glb_gamma(**problem, **link, preset="experiment"),
        theory.glb_gamma(**problem, **link),
        theory.scb_gamma(**problem, k_mu=K_MU, preset="experiment"),
        theory.scb_gamma(**problem, k_mu=K_MU),
        theory.bvd_gamma(**problem),
    ]
    assert gammas == pytest.approx(expected, abs=5.1e-9)


def test_linear_constants_of_the_experiment():
    gamma = theory.lb_gamma(T=T, d=D, P_T=P_T)
    assert gamma == pytest.approx(0.97711772, abs=5e-9)
    assert 1 / (1 - gamma) == pytest.approx(43.70, abs=5e-3)
    assert theory.lb_lambda(d=D) == 2.0
    delta = theory.default_delta("lb", T=T)
    assert delta == pytest.approx(8.333e-5, rel=1e-4)
    radii = [theory.lb_radius(n=n, d=D, lam=2.0, delta=delta) for n in (theory.effective_rounds(gamma=gamma, t=T), T)]
    assert radii == pytest.approx([6.2869, 7.1946], abs=5e-5)


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


@pytest.mark.parametrize(
    ("reading", "glb", "bvd", "static", "scb", "logucb"),
    [
        (READINGS[0], 3.6572, 2.5787, 3.1683, 11.5560, 13.2407),
        (READINGS[1], 9.2389, 2.3477, 2.9372, 28.2409, 29.9255),
        (READINGS[2], 9.2385, 2.3052, 2.9372, 28.1729, 29.9255),
    ],
)
def test_radii_of_the_experiment(reading, glb, bvd, static, scb, logucb):
    S, norm = reading
    c, P, delta = slope(S), P_T * norm, 1 / (2 * T)
    glb_n = theory.effective_rounds(
        gamma=theory.glb_gamma(T=T, d=D, P_T=P, c_mu=c, k_mu=K_MU, preset="experiment"), t=T
    )
    bvd_n = theory.effective_rounds(gamma=theory.bvd_gamma(T=T, d=D, P_T=P), t=T, squared=True)
    scb_n = theory.effective_rounds(gamma=theory.scb_gamma(T=T, d=D, P_T=P, k_mu=K_MU, preset="experiment"), t=T)
    glb_lam, scb_lam = theory.glb_lambda(d=D, c_mu=c), theory.scb_lambda(d=D, T=T, c_mu=c)
    common: dict[str, Any] = {"d": D, "c_mu": c, "delta": delta, "S": S}
    radii = [
        theory.glb_radius(n=glb_n, lam=glb_lam, **common),
        theory.glb_radius(n=bvd_n, lam=2.0, **common),
        theory.glb_radius(n=T, lam=2.0, **common),
        theory.scb_radius(n=scb_n, lam=scb_lam, k_mu=K_MU, **common),
        theory.scb_radius(n=T, lam=scb_lam, k_mu=K_MU, **common),
    ]
    assert radii == pytest.approx([glb, bvd, static, scb, logucb], abs=5.1e-5)


@pytest.mark.parametrize(
    ("S", "glb_lam", "scb_lam", "glb_factor", "scb_factor"),
    [(1.0, 51.7381, 88.4943, 2.5431, 1.9531), (5.0, 45252.29, 2617.160, 75.21, 20.3385)],
)
def test_regularisers_and_bonus_factors_of_the_experiment(S, glb_lam, scb_lam, glb_factor, scb_factor):
    c = slope(S)
    assert theory.glb_lambda(d=D, c_mu=c) == pytest.approx(glb_lam, rel=1e-6)
    assert theory.scb_lambda(d=D, T=T, c_mu=c) == pytest.approx(scb_lam, rel=1e-6)
    assert theory.scb_lambda(d=D, T=T, c_mu=c) * c == pytest.approx(17.399, abs=5e-4)
    assert theory.glb_bonus_factor(k_mu=K_MU, c_mu=c) == pytest.approx(glb_factor, abs=5.1e-3)
    assert theory.scb_bonus_factor(k_mu=K_MU, c_mu=c, S=S) == pytest.approx(scb_factor, abs=5.1e-5)


def test_bob_constants_of_the_experiment():
    block = theory.bob_block(T=T, d=D)
    candidates = theory.bob_candidates(T=T, d=D)
    assert (block, ceil(T / block), len(candidates)) == (155, 39, 14)
    expected = [0.2929, 0.6464, 0.8232, 0.9116, 0.9558, 0.9779, 0.9890, 0.9945]
    expected += [0.9972, 0.9986, 0.9993, 0.9997, 0.9998, 0.9999]
    assert list(candidates) == pytest.approx(expected, abs=5.1e-5)
    assert theory.bob_rates(N=14, M=39) == pytest.approx((0.09832, 0.04916), abs=5e-6)
    assert theory.bob_reward_bound(T=T, block=block) == pytest.approx(216.889, abs=5e-4)


def test_mdp_tuning_of_the_experiment():
    assert theory.mdp_gamma(K=1500, H=10, Delta=55.15) == pytest.approx(0.9394, abs=5e-5)
    assert theory.mdp_window(K=1500, H=10, Delta=55.15) == 16
    assert theory.mdp_gamma(K=800, H=8, Delta=34.7) == pytest.approx(0.926, abs=5e-4)
    simplex = theory.mdp_gamma(K=1500, H=10, Delta=55.15, dimension_aware=True, d=2, L_psi=sqrt(2))
    assert simplex == pytest.approx(theory.mdp_gamma(K=1500, H=10, Delta=55.15))


def test_piecewise_sizes():
    # theory.md §5: ρ² = 132, and the older loss radius ρ(1 + Lρ/√(λc_μ)) squares to 1867, the present one to about 104.
    c = slope(1.0)
    bound = theory.scb_pw_regret_bound(T=T, d=D, changes=5, k_mu=K_MU, c_mu=c)
    assert bound.radius**2 == pytest.approx(132, abs=0.5)
    assert (bound.radius * (1 + bound.radius / sqrt(bound.lam * c))) ** 2 == pytest.approx(1867, abs=0.5)
    small, large = (
        theory.pw_loss_radius(rho=bound.radius, lam=bound.lam, c_mu=c, theta_norm=norm) ** 2 for norm in (0.0, 1.0)
    )
    assert small < 104 < large  # the reference run does not state its ‖θ̂‖
