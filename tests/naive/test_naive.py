"""The oracles are checked too: hand-computed cases, identities between them, the reference values of the spec."""

import itertools
import math

import naive
import numpy as np
import pytest
from scipy.optimize import minimize

T, D = 6000, 2
DELTA = 1 / (2 * T)
LB = {"lam": 2.0, "S": 1.0, "R": 1.0, "L": 1.0, "delta": DELTA}


def history(seed=0, t=40, d=3, n=7):
    """t samples, n arms, rewards around a fixed parameter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(t, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    arms = rng.normal(size=(n, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    return X, X @ np.full(d, 0.5) + rng.normal(size=t), arms


# --- linear --------------------------------------------------------------------------------------------------------
def test_weights_by_hand():
    assert naive.weights(("everything",), 4).tolist() == [1, 1, 1]
    assert naive.weights(("discounted", 0.5), 4).tolist() == [0.25, 0.5, 1]
    assert naive.weights(("window", 2), 5).tolist() == [0, 0, 1, 1]
    assert [naive.n_w(naive.weights(("restart", 3), t)) for t in range(1, 9)] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert naive.weights(("restart", 3), 6).tolist() == [0, 0, 0, 1, 1]
    assert naive.weights(("window", 2), 1).size == 0


def test_linear_by_hand():
    # d=1, two samples x=1: V = 2 + .5 + 1, b = .5·3 + 1·1
    X, r = np.ones((2, 1)), np.array([3.0, 1.0])
    w = naive.weights(("discounted", 0.5), 3)
    assert naive.V(X, w, 2.0) == pytest.approx(np.array([[3.5]]))
    assert naive.V_tilde(X, w, 2.0) == pytest.approx(np.array([[3.25]]))
    assert naive.theta_hat(X, r, w, 2.0) == pytest.approx([2.5 / 3.5])
    beta = np.sqrt(2) + np.sqrt(2 * np.log(10) + np.log(1 + 1.5 / 2))
    arms = np.array([[1.0], [-1.0]])
    scores = naive.lb_weight_ucb(X, r, arms, gamma=0.5, lam=2.0, S=1.0, R=1.0, L=1.0, delta=0.1)
    assert scores == pytest.approx([2.5 / 3.5 + beta / np.sqrt(3.5), -2.5 / 3.5 + beta / np.sqrt(3.5)])


@pytest.mark.parametrize("memory", [("everything",), ("discounted", 0.9), ("window", 5), ("restart", 7)])
def test_theta_hat_minimises_the_weighted_squares(memory):
    X, r, _ = history()
    w = naive.weights(memory, 41)

    def objective(theta):
        return 2.0 * theta @ theta + np.sum(w * (X @ theta - r) ** 2)

    assert minimize(objective, np.zeros(3), tol=1e-12).x == pytest.approx(naive.theta_hat(X, r, w, 2.0), abs=1e-6)


def test_reference_radii_of_the_linear_experiment():
    gamma = 1 - np.sqrt(2 * np.pi / (D * T))
    w = naive.weights(("discounted", gamma), T + 1)
    assert naive.beta_trace(naive.n_w(w), d=D, **LB) == pytest.approx(6.2869, abs=5e-5)
    assert naive.beta_trace(T, d=D, **LB) == pytest.approx(7.1946, abs=5e-5)
    assert naive.beta_trace(34, d=D, **LB) == pytest.approx(6.23996816, abs=1e-8)
    at_square = naive.beta_trace(naive.n_w(w), d=D, **{**LB, "delta": 1 / T**2})
    assert at_square == pytest.approx(7.71940304, abs=1e-6)
    union = naive.beta_trace(T, d=D, **LB, uniform_in_time=True, T=T)
    assert union == pytest.approx(naive.beta_trace(T, d=D, **{**LB, "delta": DELTA / T}))


def test_memories_agree_at_their_limits():
    X, r, arms = history()
    static = naive.oful(X, r, arms, **LB)
    assert naive.lb_weight_ucb(X, r, arms, gamma=1.0, **LB) == pytest.approx(static)
    assert naive.sw_ucb(X, r, arms, W=40, **LB) == pytest.approx(static)
    assert naive.restart_ucb(X, r, arms, H=41, **LB) == pytest.approx(static)
    assert naive.d_lin_ucb(X, r, arms, gamma=1.0, **LB) == pytest.approx(static)
    assert naive.restart_ucb(X, r, arms, H=20, **LB) == pytest.approx(naive.oful(X[40:], r[40:], arms, **LB))
    assert naive.restart_ucb(X, r, arms, H=30, **LB) == pytest.approx(naive.oful(X[30:], r[30:], arms, **LB))


def test_recursions_of_algorithm_1_match_the_sums():
    X, r, _ = history(t=12)
    gamma, lam, eye = 0.8, 2.0, np.eye(3)
    V, V_tilde, b = lam * eye, lam * eye, np.zeros(3)
    for x, reward in zip(X, r, strict=True):
        V = gamma * V + np.outer(x, x) + (1 - gamma) * lam * eye
        legacy = gamma**2 * V + np.outer(x, x) + (1 - gamma**2) * lam * eye
        V_tilde = gamma**2 * V_tilde + np.outer(x, x) + (1 - gamma**2) * lam * eye
        b = gamma * b + reward * x
    w = naive.weights(("discounted", gamma), 13)
    assert naive.V(X, w, lam) == pytest.approx(V)
    assert naive.V_tilde(X, w, lam) == pytest.approx(V_tilde)
    assert naive.V_tilde_legacy(X, gamma, lam) == pytest.approx(legacy)
    assert naive.b(X, r, w) == pytest.approx(b)


@pytest.mark.parametrize("seed", range(5))
def test_inequalities_of_the_linear_section(seed):
    X, _, arms = history(seed)
    w = naive.weights(("discounted", 0.9), 41)
    V, V_tilde = naive.V(X, w, 2.0), naive.V_tilde(X, w, 2.0)
    assert np.all(naive.sandwich_norms(arms, V, V_tilde) <= naive.inverse_norms(arms, V) + 1e-12)
    for radius_n in ("w", "w2"):
        det = naive.beta(X, w, radius="det", radius_n=radius_n, **LB)
        assert det <= naive.beta(X, w, radius="trace", radius_n=radius_n, **LB) + 1e-12
    for p in (1, 20, 40):
        left, right = naive.lemma_d(X, w, 2.0, p)
        assert 0 < left <= right
    path = np.cumsum(np.random.default_rng(seed).normal(size=(41, 3)) / 20, axis=0)
    pairs = [
        naive.lemma_determinant(X, w, 2.0, 1.0),
        naive.lemma_potential(X, 0.9, 2.0, 1.0),
        naive.lemma_bias(X, path, w, 2.0, 1.0),
        naive.lemma_bias(X, path, w, 2.0, 1.0, sharp=True),
    ]
    assert all(0 < left <= right for left, right in pairs)


def test_randomised_scores():
    X, r, arms = history()
    greedy = arms @ naive.theta_hat(X, r, naive.weights(("discounted", 0.9), 41), 2.0)
    assert naive.d_lin_ts(X, r, arms, np.zeros(3), gamma=0.9, lam=2.0) == pytest.approx(greedy)
    one = naive.d_rand_lin_ucb(X, r, arms, 1.0, gamma=0.9, **LB)
    assert one == pytest.approx(naive.d_lin_ucb(X, r, arms, gamma=0.9, **LB))
    minus = naive.d_rand_lin_ucb(X, r, arms, -1.0, gamma=0.9, **LB)
    assert (one + minus) / 2 == pytest.approx(greedy)
    assert naive.d_rand_lin_ucb(X, r, arms, -1.0, gamma=0.9, optimistic=True, **LB) == pytest.approx(one)
    M = naive.V(X, np.ones(40), 2.0)
    assert naive.symmetric_root(M) @ naive.symmetric_root(M) == pytest.approx(M)


def test_linear_kernel_gives_weighted_ridge():
    X, r, arms = history(t=15)
    w = naive.weights(("discounted", 0.9), 16)
    mean, variance, _ = naive.gp_weight_ucb(X, r, arms, memory=("discounted", 0.9), lam=2.0, B=1.0, R=1.0, delta=0.1)
    assert mean == pytest.approx(arms @ naive.theta_hat(X, r, w, 2.0))
    assert variance == pytest.approx(2.0 * naive.inverse_norms(arms, naive.V(X, w, 2.0)) ** 2)


def test_best_arms_returns_every_tie():
    assert naive.best_arms(np.array([1.0, 2.0, 2.0 - 1e-11, 1.999])).tolist() == [1, 2]


# --- generalised linear --------------------------------------------------------------------------------------------
def glm(seed=0, d=2, t=50, link="logistic", memory=("discounted", 0.95), S=1.0, lam=1.0):
    """A likelihood whose θ̂ usually lies outside the unit ball."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(t, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    mean = naive.LINKS[link].mu(X @ np.full(d, 2 / np.sqrt(d)))
    draws = {
        "logistic": lambda: rng.random(t) < mean,
        "probit": lambda: rng.random(t) < mean,
        "poisson": lambda: rng.poisson(mean),
        "identity": lambda: mean + rng.normal(size=t),
    }
    return naive.likelihood(
        X, draws[link]().astype(float), memory=memory, link=link, lam=lam, c_mu=naive.slopes(link, S)[1]
    )


@pytest.mark.parametrize("link", naive.LINKS)
def test_link_derivatives(link):
    chain = naive.LINKS[link]
    z = np.linspace(-3, 3, 41)
    for lower, upper in [(chain.log_partition, chain.mu), (chain.mu, chain.dmu), (chain.dmu, chain.ddmu)]:
        assert (lower(z + 1e-5) - lower(z - 1e-5)) / 2e-5 == pytest.approx(upper(z), abs=1e-8)


def test_slopes_by_hand():
    assert naive.slopes("identity", 3.0) == (1, 1)
    assert naive.slopes("logistic", 1.0) == pytest.approx((0.25, 0.19661193), abs=5e-9)
    assert naive.slopes("logistic", 5.0)[1] == pytest.approx(0.00664806, abs=5e-9)
    assert naive.slopes("poisson", 2.0) == pytest.approx((math.e**2, math.e**-2))
    assert naive.slopes("probit", 1.0) == pytest.approx(
        (1 / math.sqrt(2 * math.pi), math.exp(-0.5) / math.sqrt(2 * math.pi))
    )


@pytest.mark.parametrize("link", naive.LINKS)
@pytest.mark.parametrize("d", [1, 2, 4])
def test_qmle_and_derivatives(link, d):
    model = glm(1, d=d, link=link)
    theta = naive.qmle(model)
    assert np.linalg.norm(model.u(theta)) < 1e-12
    point = np.random.default_rng(2).normal(size=d)
    assert naive.finite_difference(model.F, point) == pytest.approx(model.u(point), abs=1e-5)
    assert naive.finite_difference(lambda x: model.g(x)[0], point) == pytest.approx(model.H(point)[0], abs=1e-5)
    slope = naive.finite_difference(lambda x: naive.local_distance_squared(model, x), point)
    assert slope == pytest.approx(naive.local_gradient(model, point), rel=1e-4, abs=1e-5)


def test_identity_link_is_the_linear_bandit():
    X, r, arms = history()
    model = naive.likelihood(X, r, memory=("window", 12), link="identity", lam=2.0, c_mu=1.0)
    assert naive.qmle(model) == pytest.approx(naive.theta_hat(X, r, naive.weights(("window", 12), 41), 2.0))
    wide = {**LB, "S": 50.0}  # no projection: the GLB score is xᵀθ̂ plus twice the linear bonus
    linear = naive.lb_weight_ucb(X, r, arms, gamma=0.9, bonus_scale=2.0, **wide)
    assert naive.glb_weight_ucb(X, r, arms, gamma=0.9, link="identity", **wide) == pytest.approx(linear)


def test_qmle_by_hand():
    # one sample x=1, r=1, logistic: λc θ = 1 - μ(θ); with λc = (1-μ(1)) the root is 1
    lam = 1 - 1 / (1 + math.exp(-1))
    model = naive.Likelihood(np.ones((1, 1)), np.ones(1), np.ones(1), "logistic", lam, 1.0)
    assert naive.qmle(model) == pytest.approx([1.0])
    assert naive.project(model, 0.5, model.V()) == pytest.approx([0.5])


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_projections_are_on_the_sphere_and_beat_every_other_point(d, seed):
    model = glm(seed, d=d)
    assert np.linalg.norm(naive.qmle(model)) > 0.5
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(300, d))
    others *= 0.5 * rng.uniform(size=(300, 1)) / np.linalg.norm(others, axis=1, keepdims=True)
    fixed, local = naive.project(model, 0.5, model.V_tilde()), naive.project_local(model, 0.5)
    assert np.linalg.norm(fixed) == pytest.approx(0.5, abs=1e-12)
    assert np.linalg.norm(local) <= 0.5 + 1e-12
    assert naive.distance(model, fixed, model.V_tilde()) <= min(
        naive.distance(model, x, model.V_tilde()) for x in others
    )
    assert naive.local_distance_squared(model, local) <= min(naive.local_distance_squared(model, x) for x in others)
    slope = model.H(fixed) @ np.linalg.solve(model.V_tilde(), model.u(fixed))  # KKT: the gradient is radial, inwards
    assert slope == pytest.approx(-np.linalg.norm(slope) * fixed / 0.5, abs=1e-8)
    convex = naive.qmle_on_ball(model, 0.5)
    assert convex == pytest.approx(-0.5 * model.u(convex) / np.linalg.norm(model.u(convex)))


def test_bvd_selection():
    model = glm(0)
    V_inv, V_tilde = np.linalg.inv(model.V()), model.V_tilde()
    reach = naive.distance(model, naive.project(model, 0.5, V_tilde), V_tilde)
    assert naive.bvd_two_step(model, 0.5, 1.2 * reach)[2] == 0
    theta, z, value = naive.bvd_two_step(model, 0.5, 0.4 * reach)
    u = model.u(theta)
    assert value == pytest.approx(np.linalg.norm(V_inv @ z))
    assert np.sqrt((u - z) @ np.linalg.solve(V_tilde, u - z)) == pytest.approx(0.4 * reach, rel=1e-6)
    assert np.linalg.norm(theta) <= 0.5 + 1e-8
    # for the θ' found, z is the closed form z(ν) = ν(V⁻² + νṼ⁻¹)⁻¹Ṽ⁻¹u of algorithms §2.2 for some ν
    pull = np.linalg.solve(V_tilde, u - z)
    nu = (V_inv @ V_inv @ z) @ pull / (pull @ pull)
    assert V_inv @ V_inv @ z == pytest.approx(nu * pull, rel=1e-3)
    assert nu > 0


@pytest.mark.parametrize(("S", "c_mu", "bars", "tildes", "rho"), [
    (1.0, 0.19661193, (3.6572, 2.5787, 3.1683), (11.5560, 13.2407), 11.5002925),
    (5.0, 0.00664806, (9.2389, 2.3477, 2.9372), (28.2409, 29.9255), 28.1994749),
])  # fmt: skip
def test_reference_radii_of_the_generalised_experiment(S, c_mu, bars, tildes, rho):
    P = 2 * np.pi
    k, c = naive.slopes("logistic", S)
    assert c == pytest.approx(c_mu, abs=5e-9)
    n, n2 = [lambda g, f=f: f(naive.weights(("discounted", g), T + 1)) for f in (naive.n_w, naive.n_w2)]
    glb = {"d": D, "c_mu": c, "S": S, "R": 0.5, "L": 1.0, "delta": DELTA}
    found = (
        naive.beta_bar(n(1 - np.sqrt(c * P / (D * T))), lam=D / c**2, **glb),
        naive.beta_bar(n2(1 - (P / (np.sqrt(D) * T)) ** 0.4), lam=2.0, **glb),
        naive.beta_bar(T, lam=2.0, **glb),
    )
    assert found == pytest.approx(bars, abs=5.1e-5)
    scb = {"d": D, "lam": D * np.log(T) / c, "c_mu": c, "k_mu": k, "S": S, "m": 1.0, "L": 1.0, "delta": DELTA}
    printed = naive.beta_tilde(n(1 - np.sqrt(P / (D * T))), **scb), naive.beta_tilde(T, **scb)
    assert printed == pytest.approx(tildes, abs=5.1e-5)
    root = np.sqrt(D * np.log(T)) * S
    inflated = (tildes[1] - root) * np.sqrt(k / c) + root
    assert naive.beta_tilde(T, **scb, variant="corrected") == pytest.approx(inflated, rel=1e-5)
    assert naive.beta_tilde(T, **{**scb, "k_mu": 1e9}, variant="corrected") == pytest.approx(
        (naive.beta_tilde(T, **{**scb, "k_mu": 1e9}) - root) * np.exp(S) + root
    )
    scb["delta"] = 1 / T
    gamma = 1 - (5 / (D * T)) ** (2 / 3)
    assert naive.rho(gamma=gamma, T=T, pw_printed=True, **scb) == pytest.approx(rho, abs=1e-6)
    assert naive.rho(gamma=gamma, T=T, **scb) < rho


def test_generalised_scores_agree_at_their_limits():
    X, r, arms = history(t=30, d=2)
    r = (r > 0).astype(float)
    glb = {"link": "logistic", "lam": 2.0, "S": 1.0, "R": 0.5, "L": 1.0, "delta": DELTA}
    static = naive.glm_ucb(X, r, arms, **glb)
    for other in (naive.glb_weight_ucb, naive.d_glucb, naive.bvd_glm_ucb):
        assert other(X, r, arms, gamma=1.0, **glb) == pytest.approx(static, abs=1e-8)
    assert naive.sw_glucb(X, r, arms, W=30, **glb) == pytest.approx(static)
    assert naive.glb_restart_ucb(X, r, arms, H=31, **glb) == pytest.approx(static)
    scb = {"link": "logistic", "lam": 20.0, "S": 1.0, "m": 1.0, "L": 1.0, "delta": DELTA}
    assert naive.scb_weight_ucb(X, r, arms, gamma=1.0, **scb) == pytest.approx(naive.log_ucb1(X, r, arms, **scb))
    assert naive.scb_restart_ucb(X, r, arms, H=31, **scb) == pytest.approx(naive.log_ucb1(X, r, arms, **scb))
    free = naive.sc_d_glucb(X, r, arms, gamma=1.0, **scb)
    assert free == pytest.approx(naive.sc_sw_glucb(X, r, arms, W=30, **scb))
    b = 3.0
    assert naive.growth(b) == pytest.approx(b * np.sqrt(1 + naive.growth(b)))


def test_round_1_plays_the_longest_arm_first():
    X, r, arms = np.zeros((0, 2)), np.zeros(0), np.array([[1.0, 0.0], [0.0, 0.5]])
    glb = {"link": "logistic", "lam": 4.0, "S": 1.0, "L": 1.0, "delta": 0.1}
    c = naive.slopes("logistic", 1.0)[1]
    bonus = 0.5 / c * (2 * c + 0.5 * math.sqrt(2 * math.log(10))) / 2
    assert naive.glb_weight_ucb(X, r, arms, gamma=0.9, R=0.5, **glb) == pytest.approx([0.5 + bonus, 0.5 + bonus / 2])
    root = 2 * math.sqrt(c)
    tilde = root / 2 + 2 / root * math.log(40) + root
    assert naive.log_ucb1(X, r, arms, m=1.0, **glb)[0] == pytest.approx(0.5 + math.sqrt(3) / root * tilde / 2)
    b = tilde / root
    spread = 1 + min((b**2 + b * math.sqrt(b**2 + 4)) / 2, 1.0)
    free = naive.sc_d_glucb(X, r, arms, gamma=0.9, m=1.0, sharp_inside=False, **glb)
    assert free[0] == pytest.approx(0.5 + 0.25 / math.sqrt(c) * spread * tilde / 2)


# --- piecewise -----------------------------------------------------------------------------------------------------
def test_h_is_continuous_and_matches_its_definition():
    assert naive.h(0.0) == 0.5
    assert naive.h(1.0) == pytest.approx(math.exp(-1))
    assert naive.h(0.999999e-3) == pytest.approx(naive.h(1.000001e-3), rel=1e-8)


@pytest.mark.parametrize("rho", [0.5, 1.5])
def test_C_lies_in_E_and_values_are_ordered(rho):
    model, S, arms = glm(3, lam=5.0, S=1.5), 1.5, history(d=2)[2]
    B2 = naive.budget(model, S, 1.0, rho)
    grid = naive.disc(S, radii=25, angles=60)
    inside = naive.points_of_C(model, S, rho, grid)
    assert 0 < len(inside) < len(grid)
    assert all(naive.in_E(model, theta, S * (1 + 1e-12), B2) for theta in inside)
    upper = naive.optimistic_values(model, arms, S, 1.0, rho)
    lower = naive.max_over_C(model, arms, S, rho, points=inside)
    assert np.all(arms @ inside.T <= lower[:, None] + 1e-9)
    assert np.all(lower <= upper + 1e-8)
    assert np.all(upper <= S * np.linalg.norm(arms, axis=1) + 1e-8)


def test_max_over_E_equals_the_path_solution():
    model, x = glm(3, lam=5.0, S=1.5), np.array([0.6, -0.8])
    shifted = naive.qmle(model, shift=0.7 * x)  # KKT: g(θ) = ĝ + τx, so θ(τ) is optimal for B² = F(θ(τ)) - F(θ̂)
    value, theta = naive.max_over_E(model, x, 10.0, naive.excess(model, shifted))
    assert value == pytest.approx(x @ shifted, abs=1e-8)
    assert theta == pytest.approx(shifted, abs=1e-5)
    assert naive.max_over_E(glm(0), x, 0.2, 1e-6) is None
    greedy = naive.optimistic_values(glm(0), x[None], 0.2, 1.0, 1e-4)
    assert greedy == pytest.approx(x[None] @ naive.qmle_on_ball(glm(0), 0.2))


# --- meta ----------------------------------------------------------------------------------------------------------
def test_exp3ix_by_hand():
    assert naive.exp3ix_probabilities([], [], N=4, M=10) == pytest.approx([0.25] * 4)
    eta, implicit = naive.exp3ix_rates(2, 8)
    assert (eta, implicit) == pytest.approx((math.sqrt(2 * math.log(2) / 16), eta / 2))
    estimate = 0.8 / (0.5 + implicit)
    expected = np.array([1, math.exp(-eta * estimate)])
    assert naive.exp3ix_probabilities([1], [0.8], N=2, M=8) == pytest.approx(expected / expected.sum())


def test_bob_constants_of_the_experiment():
    bob = naive.bob_constants(T, D)
    assert (bob["block"], bob["M"], bob["N"]) == (155, 39, 14)
    assert (bob["eta"], bob["implicit"], bob["L_max"]) == pytest.approx((0.09832, 0.04916, 216.889), rel=1e-4)
    assert bob["gammas"][:3] == pytest.approx([0.2929, 0.6464, 0.8232], abs=5e-5)
    assert bob["gammas"][-1] >= 1 - 1 / T
    assert sum(bob["lengths"]) == T
    assert naive.bob_loss([0.0] * 155, T, L=1, S=1, R=1) == 0.5
    assert naive.bob_loss_nonnegative([1.0, 0.0], 1.0) == 0.5


def test_master_schedule_and_tests():
    def rho(t):
        return 1 / math.sqrt(t)

    full = naive.master_schedule(2, rho, lambda tau, m: 0.0)
    assert full == [(2, 1, 4), (1, 1, 2), (0, 1, 1), (0, 2, 2), (1, 3, 4), (0, 3, 3), (0, 4, 4)]
    assert naive.master_schedule(3, rho, lambda tau, m: 0.999) == [(3, 1, 8)]
    some = [(2, 1, 4), (1, 3, 4), (0, 2, 2)]
    assert [naive.master_active(some, tau)[0] for tau in range(1, 5)] == [2, 0, 1, 1]
    assert naive.master_rounds(some, (2, 1, 4), 5) == [1]
    assert naive.master_rounds(some, (1, 3, 4), 4) == [3]
    rng = np.random.default_rng(0)
    count = sum(len(naive.master_schedule(6, rho, lambda tau, m: rng.random())) for _ in range(200)) / 200
    assert count == pytest.approx(sum(2 ** ((6 - m) / 2) for m in range(7)), rel=0.1)
    assert [n for _, n in naive.master_blocks(T, 0)] == list(range(13))
    assert naive.master_blocks(T, 13) == [(1, 13)]
    assert naive.master_blocks(10, 1, fails=[4]) == [(1, 1), (3, 2), (5, 1), (7, 2)]
    assert naive.master_rho_hat(T, T, 1 / T, rho) == pytest.approx(18.3, abs=0.05)
    assert naive.master_rho_hat(1, T, 0.05, rho) == pytest.approx(950.9, abs=0.05)
    g = [0.5, 0.4, 0.6, 0.6]
    assert naive.master_test_1(some, [0.0, 1.0], g, lambda t: 0.06)  # (0,2,2): 1 ≥ .4 + .54
    assert not naive.master_test_1(some, [0.0, 1.0], g, lambda t: 0.07)
    assert not naive.master_test_1(some, [0.0, 1.0, 1.0], g, lambda t: 0.0)  # nothing ends at 3
    assert naive.master_test_1(some, [0.0, 0.0, 1.0, 1.0], g, lambda t: 0.06 if t == 2 else 9.0)  # (1,3,4) only
    assert naive.master_test_1(some, [1.0, 1.0, 1.0, 1.0], g, lambda t: 0.06 if t == 4 else 9.0)  # (2,1,4) only
    assert naive.master_test_2([0.1, 0.0], g, lambda t: 0.13)  # (.4 + .4)/2 ≥ .39
    assert not naive.master_test_2([0.1, 0.0], g, lambda t: 0.14)


# --- MDP -----------------------------------------------------------------------------------------------------------
def river(seed=0, K=6, H=3, nS=3, nA=2):
    """A random linear mixture of two kernels and a random history on it."""
    rng = np.random.default_rng(seed)
    psi = rng.dirichlet(np.ones(nS), size=(2, nS, nA)).transpose(1, 2, 3, 0)
    phi = rng.uniform(size=(nS, nA, 2)) / 2
    states, actions = rng.integers(nS, size=(K, H + 1)), rng.integers(nA, size=(K, H))
    rewards = np.array([[phi[states[j, h], actions[j, h]] @ [0.3, 0.9] for h in range(H)] for j in range(K)])
    return phi, psi, states, actions, rewards


def test_optimal_values_beat_every_policy():
    phi, psi, *_ = river()
    P, reward = np.array([psi @ [q, 1 - q] for q in (0.2, 0.9)]), np.array([phi @ [0.3, 0.9]] * 2)
    assert naive.linear_mixture_kernel(psi, np.array([0.2, 0.8])).sum(axis=2) == pytest.approx(np.ones((3, 2)))
    V = naive.optimal_values(P, reward)[0]
    every = [naive.policy_values(P, reward, np.reshape(p, (2, 3)))[0] for p in itertools.product([0, 1], repeat=6)]
    assert V[0] == pytest.approx(np.max(every, axis=0))
    assert naive.value_features(psi, V[1]) @ [0.2, 0.8] == pytest.approx(P[0] @ V[1])


def test_linear_mixture_plan():
    phi, psi, states, actions, rewards = river()
    common = {"lam_theta": 2.0, "lam_w": 18.0, "S_theta": 1.0, "S_w": 1.0, "L_psi": 1.4, "delta": 0.01}
    Q, V = naive.linear_mixture_plans(phi, psi, states, actions, rewards, memory=("everything",), **common)[0]
    assert Q[2] == pytest.approx(np.linalg.norm(phi, axis=2))  # nothing seen: β_θ‖φ‖/√λ_θ = S_θ‖φ‖, V_{H+1} = 0
    plans = naive.linear_mixture_plans(phi, psi, states, actions, rewards, memory=("everything",), **common)
    forgetful = naive.linear_mixture_plans(phi, psi, states, actions, rewards, memory=("discounted", 1.0), **common)
    assert plans[-1][0] == pytest.approx(forgetful[-1][0])
    restarted = naive.linear_mixture_plans(phi, psi, states, actions, rewards, memory=("restart", 6), **common)
    assert restarted[-1][0] == pytest.approx(Q)  # episode 7 starts afresh
    staged = naive.linear_mixture_plans(
        phi, psi, states, actions, rewards, memory=("everything",), cap="stage", **common
    )
    assert all(np.all(staged[-1][0][h] <= 3 - h) for h in range(3))
    assert V[0] == pytest.approx(np.max(Q[0], axis=1))
    # noiseless rewards, tiny λ: θ̂ recovers θ
    theta = naive.reward_moments(0, phi, states, actions, rewards, np.ones(6), 1e-9)[1]
    assert theta == pytest.approx([0.3, 0.9], abs=1e-5)


def test_linear_mixture_plan_by_hand():
    # one feature each way, one action, H=3; after one episode through the states 0, 1, 0, 1
    f, kernel = np.array([0.2, 0.6]), np.array([[0.7, 0.3], [0.1, 0.9]])
    phi, psi = f[:, None, None], kernel[:, None, :, None]
    states, actions, rewards = np.array([[0, 1, 0, 1]]), np.zeros((1, 3), int), np.array([[0.1, 0.3, 0.1]])
    common = {"memory": ("everything",), "lam_theta": 2.0, "lam_w": 5.0, "S_theta": 1.0, "S_w": 1.0, "L_psi": 1.0,
              "delta": 0.1, "transition_scale": 0.1}  # fmt: skip
    (first, _), (second, _) = naive.linear_mixture_plans(phi, psi, states, actions, rewards, **common)

    def radius(n):
        return 0.1 * (3 * math.sqrt(math.log(10) / 2 + math.log(1 + 9 * n / 5) / 4) + math.sqrt(5))

    assert first[2, :, 0] == pytest.approx(f)
    assert first[1, :, 0] == pytest.approx(f + radius(0) * kernel @ f / math.sqrt(5))
    last = f * 0.1 * 0.2 / 2.04 + math.sqrt(2) * f / math.sqrt(2.04)  # stage 3 was in state 0
    assert second[2, :, 0] == pytest.approx(last)
    seen = kernel[1] @ f  # ψ_{V_3}(s_2), V_3 of the first plan is f; the target is V_3(s_3) = f_0
    middle = f * 0.3 * 0.6 / 2.36 + math.sqrt(2) * f / math.sqrt(2.36)
    middle += kernel @ last * (f[0] * seen / (5 + seen**2) + radius(1) / math.sqrt(5 + seen**2))
    assert second[1, :, 0] == pytest.approx(middle)
    capped = {"cap": "stage", **common, "transition_scale": 100.0}
    assert naive.linear_mixture_plan(phi, psi, states[:0], actions[:0], rewards[:0], [], **capped)[0][0].tolist() == [
        [3],
        [3],
    ]
    assert naive.linear_mixture_plan(phi, psi, states[:0], actions[:0], rewards[:0], [], **capped)[0][1].tolist() == [
        [2],
        [2],
    ]


def test_reference_radii_of_the_mdps():
    n = naive.n_w(naive.weights(("discounted", 0.93936210), 1501))
    beta = naive.transition_radius(n, d=2, lam=200.0, S=1.0, H=10, L=math.sqrt(2), delta=1 / 60000)
    assert beta == pytest.approx(39.8581374, abs=1e-6)
    n = naive.n_w(naive.weights(("discounted", 0.92637725), 801))
    mnl = {"d": 4, "lam": 4.0, "S": 2.30651252, "kappa": 0.00414930871, "L": 1.0, "U": 3, "delta": 1 / 25600}
    assert naive.mnl_radius(n, **mnl, subtracted=False) == pytest.approx(2.53731685, abs=1e-7)
    assert naive.mnl_radius(n, **mnl, variant="corrected") == pytest.approx(3.50271001, abs=1e-7)


def chain(nS=4):
    """MNL RiverSwim of algorithms §3.3: left {s-1}, right {s-1, s, s+1}, stay is the reference."""
    psi, reachable = np.zeros((nS, 2, nS, 4)), np.zeros((nS, 2, nS), bool)
    reference = np.zeros((nS, 2), int)
    for s in range(nS):
        reachable[s, 0, max(s - 1, 0)] = True
        reference[s] = max(s - 1, 0), s
        reachable[s, 1, max(s - 1, 0) : s + 2] = True
        if s + 1 < nS:
            psi[s, 1, s + 1, 2 if s == 0 else 0] = 1
        if s > 0:
            psi[s, 1, s - 1, 3 if s == nS - 1 else 1] = 1
    return psi, reachable, reference


@pytest.mark.parametrize(
    ("S", "kappa", "digits"), [(1, 0.0382, 4), (2, 0.00746, 5), (2.607, 0.00231, 5), (3, 0.00103, 5), (5, 1.4e-5, 6)]
)
def test_kappa_of_the_chain(S, kappa, digits):
    psi, reachable, reference = chain()
    found = naive.kappa(psi, reachable, S)
    assert found == pytest.approx(kappa, abs=0.51 * 10**-digits)
    assert naive.kappa(psi, reachable, S, reference) >= found


def test_multinomial_oracles():
    psi, reachable, reference = chain()
    shifted = psi + np.random.default_rng(0).normal(size=(4, 2, 1, 4)) * reachable[..., None]
    assert naive.subtract_reference(shifted, reachable, reference) == pytest.approx(psi)
    w = np.array([-0.539, -2.485, 0.405, -0.405])
    P = naive.mnl_kernel(psi, reachable, w)
    assert naive.mnl_kernel(shifted, reachable, w) == pytest.approx(P)
    assert P[1, 1] == pytest.approx([0.05, 0.6, 0.35, 0], abs=1e-3)
    rng = np.random.default_rng(1)
    states, actions = np.zeros((30, 3), int), np.ones((30, 2), int)
    for j in range(30):
        for h in range(2):
            states[j, h + 1] = rng.choice(4, p=P[states[j, h], 1])
    model = naive.mnl_likelihood(1, psi, reachable, states, actions, np.full(30, 0.9), lam=4.0, kappa=0.01)
    w_hat = naive.qmle(model)
    assert np.linalg.norm(model.u(w_hat)) < 1e-12
    point = np.full(4, 0.3)
    assert naive.finite_difference(model.F, point) == pytest.approx(model.u(point), abs=1e-6)
    assert naive.finite_difference(lambda x: model.g(x)[1], point) == pytest.approx(model.H(point)[1], abs=1e-6)
    kappa = naive.kappa(psi, reachable, 1.0)
    bounded = model._replace(kappa=kappa)  # ∇g ⪰ κΣ̄ on the ball, with the reference subtracted (resolution D5)
    assert np.linalg.eigvalsh(bounded.H(point) - kappa * bounded.Sigma())[0] >= -1e-12
    projected = naive.project(model, 0.5, model.Sigma())
    assert np.linalg.norm(w_hat) > 0.5
    assert np.linalg.norm(projected) == pytest.approx(0.5)


def test_multinomial_plan():
    psi, reachable, _ = chain()
    phi = np.random.default_rng(0).uniform(size=(4, 2, 2)) / 2
    states, actions = np.array([[0, 1, 2], [0, 0, 1]]), np.ones((2, 2), int)
    rewards = np.array([[phi[states[j, h], 1] @ [0.5, 0.5] for h in range(2)] for j in range(2)])
    common = {"memory": ("discounted", 0.9), "lam_theta": 2.0, "lam_w": 4.0, "S_theta": 1.0, "S_w": 1.0, "L_psi": 1.0,
              "U": 3, "kappa": 0.0382, "delta": 0.01}  # fmt: skip
    Q, V, w = naive.mnl_plan(phi, psi, reachable, states, actions, rewards, transition_scale=0.0, **common)
    Lam, theta, _ = naive.reward_moments(1, phi, states, actions, rewards, np.array([0.9, 1.0]), 2.0)
    assert Q[1] == pytest.approx(phi @ theta + math.sqrt(2) * naive.norms(phi, Lam))
    Lam, theta, _ = naive.reward_moments(0, phi, states, actions, rewards, np.array([0.9, 1.0]), 2.0)
    mean = phi @ theta + np.einsum("sai,i->sa", naive.mnl_kernel(psi, reachable, w[0]), V[1])
    assert Q[0] == pytest.approx(np.minimum(2, mean + math.sqrt(2) * naive.norms(phi, Lam)))
    first = naive.mnl_plan(phi, psi, reachable, states[:0], actions[:0], rewards[:0], transition_scale=1e-3, **common)
    beta = math.sqrt(math.log(100) / 2) + 2 * 0.0382  # n = 0, Σ̄ = 4I: every ψ of norm 1 has width 1/2
    assert first[0][1, 0, 1] == pytest.approx(np.linalg.norm(phi[0, 1]) + 1e-3 * 2 / 0.0382 * beta / 2)
    wide = naive.mnl_plan(phi, psi, reachable, states, actions, rewards, **common)[0]
    assert np.all(wide[:, 0, 1] == 2)  # the theory's bonus saturates Q at H (resolution D15)
    assert wide[1, 2, 0] == pytest.approx(Q[1, 2, 0])  # "left" has one successor: no transition bonus
