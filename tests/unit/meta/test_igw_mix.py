"""IGW-mix: the compiled learner against the oracle, and every lemma of its theorem on random instances (recipes of §11)."""

import math

import numpy as np
import pytest
from naive import igw
from scipy.special import logsumexp

import driftbandits as db
from driftbandits.errors import InvalidValue
from driftbandits.meta.igw_mix.families import GaussianForecasts, LogisticForecasts
from driftbandits.protocol import settle
from driftbandits.theory.igw import eta_grid, igw_mix_regret_bound, logistic_curvature, squared_error_factor

pytestmark = pytest.mark.xdist_group("igw_mix")


def unit(rng, n, d):
    X = rng.standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("form", ["linear", "finite"])
def test_the_learner_against_the_oracle(form):
    rng = np.random.default_rng(0)
    d, n, T = 3, 7, 60
    options = {"form": form, "arms": n if form == "finite" else None, "S": 0.4, "R": 0.5}
    agent = db.Agent(db.zoo.igw_mix(horizon=T, P=2.0, **options), dim=d)
    oracle = igw.Mixture(int(agent.strategy.memories), d, 0.4, 0.5, agent.strategy.lam)
    projected = 0
    for _ in range(T):
        X = unit(rng, n, d)
        if form == "linear":
            p = igw.linear_form(X, oracle.theta, agent.strategy.rate)[0]
        else:
            p = igw.finite_form(X, oracle.theta, agent.strategy.rate)[0]
        np.testing.assert_allclose(agent.propensities(X), p, rtol=1e-7, atol=1e-10)
        k = agent.select(X)
        r = float(X[k] @ [0.4, 0.0, 0.0] + rng.standard_normal())
        agent.update(r)
        oracle.learn(X[k], r)
        projected += any(abs(np.linalg.norm(e.theta) - 0.4) < 1e-9 for e in oracle.experts)
        np.testing.assert_allclose(agent._state.theta, [e.theta for e in oracle.experts], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(agent.info()["weights"], oracle.w, rtol=1e-8)
        np.testing.assert_allclose(agent.theta, oracle.theta, rtol=1e-8, atol=1e-10)
    assert projected > 10
    assert form == "finite" or 1 <= agent.info()["kappa"] <= 2


@pytest.mark.compiled
def test_where_its_arrays_lie_changes_no_digit():
    """Two agents of one seed, between arrays of other sizes, stay the same to the last bit: a loaded agent goes on as the saved one."""
    states, neighbours = set(), []
    for i in range(40):
        neighbours += [np.zeros(1 + (7 * i + j) % 40) for j in range(i)]
        del neighbours[::2]
        agent, rng = db.Agent(db.zoo.igw_mix(horizon=60, P=2.0, S=0.4, R=0.5), dim=3), np.random.default_rng(0)
        for _ in range(25):
            agent.select(unit(rng, 5, 3))
            agent.update(rng.standard_normal())
        states.add(agent._state.weight.tobytes() + agent._state.log.tobytes())
    assert len(states) == 1


@pytest.mark.interpreted
def test_clicks_against_the_oracle():
    """§8.1: online Newton experts, ŷ = Σwμ(xᵀθ̂), the finite form."""
    rng = np.random.default_rng(3)
    d, n, T = 3, 4, 50
    agent = db.Agent(db.zoo.igw_mix(reward="click", form="finite", arms=n, horizon=T, P=1.0, S=0.7), dim=d)
    c = math.exp(0.7) / (1 + math.exp(0.7)) ** 2
    assert agent.strategy.family.curvature == pytest.approx(c)
    assert agent.strategy.lam == pytest.approx(1 / (d * 0.7**2))
    oracle = igw.Mixture(int(agent.strategy.memories), d, 0.7, c, agent.strategy.lam, igw.Newton)
    for _ in range(T):
        X = unit(rng, n, d)
        y = sum(w * igw.mu(X @ e.theta) for w, e in zip(oracle.w, oracle.experts, strict=True))
        np.testing.assert_allclose(
            agent.propensities(X), igw.finite_form(X, None, agent.strategy.rate, y)[0], rtol=1e-8
        )
        k = agent.select(X)
        r = float(rng.random() < igw.mu(X[k] @ [0.7, 0.0, 0.0]))
        agent.update(r)
        oracle.learn(X[k], r)
        np.testing.assert_allclose(agent._state.theta, [e.theta for e in oracle.experts], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(agent.info()["weights"], oracle.w, rtol=1e-8)


def test_blocks_choose_eta():
    """Tuning (d): η is one of a grid of ratio 2, constant in blocks of ⌈√T⌉ rounds, and every η of the grid is tried."""
    rng = np.random.default_rng(4)
    T = 200
    agent = db.Agent(db.zoo.igw_mix(horizon=T, oblivious=True, R=0.5), dim=2)
    low, N = eta_grid(d=2, T=T, S=1.0, L=1.0, R=0.5, kappa=2.0)
    assert low == pytest.approx(math.sqrt(8 / 4) / 2)
    assert low * 2 ** (N - 2) < math.sqrt(8 * T / (4 * squared_error_factor(1.0, 0.5))) <= low * 2 ** (N - 1)
    etas = []
    for _ in range(T):
        X = unit(rng, 5, 2)
        k = agent.select(X)
        etas.append(agent.info()["eta"])
        agent.update(float(X[k, 0] + 0.5 * rng.standard_normal()))
    blocks = [set(etas[i : i + 15]) for i in range(0, T, 15)]
    assert all(len(block) == 1 for block in blocks)
    steps = np.log2(np.array(etas) / low)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert 0 <= steps.min() < steps.max() <= N - 1
    assert agent._state.bandit.plays[0] == len(blocks)
    assert (agent._state.bandit.total > 0).sum() == len({float(s) for s in steps.round()})


@pytest.mark.compiled
def test_propensities_are_frequencies():
    rng = np.random.default_rng(1)
    agent = db.Agent(db.zoo.igw_mix(), dim=2)
    for _ in range(30):
        X = unit(rng, 5, 2)
        k = agent.select(X)
        agent.update(float(X[k, 0] + rng.standard_normal()))
    X = unit(rng, 5, 2)
    p = agent.propensities(X)
    counts = np.bincount([agent.select(X) for _ in range(5000)], minlength=5)
    assert ((counts - 5000 * p) ** 2 / (5000 * p)).sum() < 23.5  # χ²₄ at 1e-4


def test_the_tunings():
    known = settle(db.zoo.igw_mix(horizon=1000, P=1.0), 2)
    budget = igw_mix_regret_bound(d=2, T=1000, P=1.0).squared_error
    assert known.rate == pytest.approx(math.sqrt(8 * 1000 / (2 * 2 * budget)))
    finite = settle(db.zoo.igw_mix(horizon=1000, P=1.0, form="finite", arms=9), 2)
    assert finite.rate == pytest.approx(math.sqrt(8 * 8 * 1000 / budget))
    agent = db.Agent(db.zoo.igw_mix(), dim=2)
    for t in range(1, 4):
        agent.select(np.eye(2))
        assert agent.info()["eta"] == pytest.approx(0.5 / math.sqrt(4) * t ** (1 / 3))
        agent.update(0.0)
    agent = db.Agent(db.zoo.igw_mix(horizon=50, sigma=0.5, R=0.5), dim=2)
    squares, iota = 0.0, math.log(4 * 50**2)
    for t in range(1, 20):
        guess = agent.theta.copy()
        k = agent.select(np.eye(2))
        u = 8 * 0.25 * math.sqrt((t - 1) * iota) + 12 * 0.25 * iota
        budget = 2 * max(squares - 0.25 * (t - 1), 0) + 2 * u + 4
        assert agent.info()["eta"] == pytest.approx(math.sqrt(8 * t / (2 * 2 * budget)))
        agent.update(3.0)
        squares += (guess[k] - 3.0) ** 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"form": "square"}, "linear"),
        ({"form": "finite"}, "number of arms"),
        ({"P": 1.0}, "horizon"),
        ({"sigma": 1.0}, "horizon"),
        ({"R": 0.0}, "R = 0"),
        ({"kappa": 0.5}, "kappa"),
        ({"reward": "money"}, "'value' or 'click'"),
        ({"reward": "click"}, "form='finite'"),
        ({"oblivious": True}, "horizon"),
        ({"oblivious": True, "horizon": 100, "P": 1.0}, "neither P"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(InvalidValue, match=words):
        db.zoo.igw_mix(**options)


# -------------------------------------------------------------------------------------------------------------- one round (§1)


def test_lemma_1_and_1a():
    rng = np.random.default_rng(2)
    for _ in range(200):
        d, n = int(rng.integers(1, 5)), int(rng.integers(5, 20))
        X, theta, c = rng.standard_normal((n, d)), rng.standard_normal(d), rng.uniform(0.1, 5)
        g = 10 ** rng.uniform(-1, 3)
        p, y = igw.finite_form(X, theta, g)
        gap = y.max() - y
        f = X @ (theta + 10 ** rng.uniform(-2, 1) * rng.standard_normal(d))
        e = p @ (y - f) ** 2
        assert f.max() - p @ f <= igw.decision(X, p, gap, c) + c * e + 1e-9
        wild = y + rng.standard_normal(n)  # any function of the arms
        e = p @ (y - wild) ** 2
        assert wild.max() - p @ wild <= 2 * (n - 1) / g + g / 4 * e + 1e-9


def test_lemma_1b_and_1c():
    rng = np.random.default_rng(3)
    for _ in range(200):
        d, n = int(rng.integers(1, 5)), int(rng.integers(5, 60))
        X, theta, eta = unit(rng, n, d), rng.standard_normal(d), 10 ** rng.uniform(-2, 4)
        p, kappa, y = igw.linear_form(X, theta, eta)
        assert 1 - 1e-9 <= kappa <= 2
        f = X @ (theta + 10 ** rng.uniform(-3, 1) * rng.standard_normal(d))
        e = p @ (y - f) ** 2
        assert f.max() - p @ f <= 2 / eta + kappa * d * eta / 4 * e + math.sqrt(e) + 1e-9
        c = rng.uniform(0.1, 10)
        assert igw.decision(X, p, y.max() - y, c + kappa * d * eta / 4) <= 2 / eta + 1 / (4 * c) + 1e-9
        steps = int(rng.integers(1, 8))
        Z = X / np.sqrt(1 + eta * (y.max() - y))[:, None]
        _, kappa, last = igw.design(Z, steps)
        assert kappa <= (n / d) ** (1 / steps) * (1 + 1e-9)
        assert kappa <= (last * n).max() ** (1 / steps) * (1 + 1e-9)


# ------------------------------------------------------------------------------------------------------------- one expert (§2)


def expert(rng):
    d = int(rng.integers(1, 5))
    S, L, R, lam = rng.uniform(0.3, 2, 4)
    return igw.Expert(rng.uniform(1.2, 50), d, S, R, lam), d, S, L, R, lam


def inside(rng, d, S):
    u = rng.standard_normal(d)
    return u / np.linalg.norm(u) * S * rng.random()


@pytest.mark.compiled
def test_lemmas_2_and_3():
    rng = np.random.default_rng(4)
    projected = 0
    for _ in range(30):
        e, d, S, L, R, lam = expert(rng)
        g, s2, H = 1 - 1 / e.m, 2 * R * R, d / 2 * math.log1p(L * L * (e.m - 1) / (lam * d))
        logs, before = [], 0.0
        for t in range(40):
            u = inside(rng, d, S)
            x = np.eye(d)[0 if t < 20 else d - 1] * L if rng.random() < 0.5 else unit(rng, 1, d)[0] * L * rng.random()
            y = float(x @ u + 5 * R * rng.standard_t(2))
            r = -0.5 * math.log(2 * math.pi * s2) - 0.5 * (y - x @ u) ** 2 / s2 - e.log_density(x, y)
            q, D = e.width(x), e.distance(u)
            V, theta = e.bayes(x, y)
            after = e.distance(u, V, theta)
            assert r == pytest.approx(0.5 * math.log1p(q) + D - after, rel=1e-7, abs=1e-7)  # 2 (i)
            e.learn(x, y)
            projected += abs(np.linalg.norm(e.theta) - S) < 1e-9
            assert e.distance(u) <= g * after + (1 - g) * lam * (u @ u) / (2 * s2) + 1e-9 * (1 + after)  # 2 (ii)
            ell = 0.5 * np.linalg.slogdet(e.V / lam)[1]
            assert 0.5 * math.log1p(q) <= ell - before + d / 2 * math.log(1 / g) + 1e-9  # 3 (i)
            assert -1e-9 <= ell <= H + 1e-9  # 3 (ii)
            assert np.linalg.eigvalsh(e.V)[-1] <= lam + L * L * (e.m - 1) + 1e-9
            before = ell
            logs.append(0.5 * math.log1p(q))
        n = len(logs)
        assert sum(g ** (n - i) * v for i, v in enumerate(logs)) <= H + d / 2 + 1e-9  # 3 (iii)
    assert projected > 50


def regret_of(e, us, xs, ys):
    total = 0.0
    for u, x, y in zip(us, xs, ys, strict=True):
        total += -0.5 * math.log(2 * math.pi * e.s2) - 0.5 * (y - x @ u) ** 2 / e.s2 - e.log_density(x, y)
        e.learn(x, y)
    return total


@pytest.mark.compiled
def test_proposition_b():
    rng = np.random.default_rng(5)
    for trial in range(40):
        e, d, S, L, R, lam = expert(rng)
        T, s2 = 60, 2 * R * R
        us = [inside(rng, d, S)]
        for _ in range(T - 1):
            jump = trial % 2 and rng.random() < 0.1
            us.append(
                inside(rng, d, S)
                if jump
                else us[-1]
                if trial % 2
                else igw.project(np.eye(d), us[-1] + 0.05 * rng.standard_normal(d), S)
            )
        xs = unit(rng, T, d) * L
        ys = [float(x @ u + 5 * R * rng.standard_normal()) for x, u in zip(xs, us, strict=True)]
        steps = np.linalg.norm(np.diff(us, axis=0), axis=1)
        kappa0 = d / 2 + lam * S * S / (2 * s2)
        right = d / 2 * math.log1p(L * L * (e.m - 1) / (lam * d)) + lam * S * S / (2 * s2) + T * kappa0 / (e.m - 1)
        right += (lam + L * L * (e.m - 1)) / (2 * s2) * np.minimum(e.m * steps**2, 4 * S * steps).sum()
        assert regret_of(e, us, xs, ys) <= right


# --------------------------------------------------------------------------------------------------------------- mixture (§4)


@pytest.mark.compiled
def test_lemma_6():
    rng = np.random.default_rng(6)
    for _ in range(50):
        K, T = int(rng.integers(2, 8)), 50
        log = 3 * rng.standard_normal((T, K))
        w, mixed = np.full(K, 1 / K), 0.0
        for t in range(T):
            mixed += logsumexp(log[t], b=w)
            w = w * np.exp(log[t] - log[t].max())
            a = 1 / (t + 2)
            w = (1 - a) * w / w.sum() + a / K
        switches = np.sort(rng.choice(np.arange(1, T), int(rng.integers(0, 6)), replace=False))
        path = np.repeat(rng.integers(0, K, len(switches) + 1), np.diff(np.r_[0, switches, T]))
        n = int((np.diff(path) != 0).sum())
        assert log[np.arange(T), path].sum() - mixed <= math.log(K) + math.log(T) + n * math.log(K * T) + 1e-9


def test_lemma_7():
    """log E[ĝ/N] + (f − ŷ)²/C_sq ≤ 0 for noise of two points, which is R-sub-Gaussian, and for Gaussian noise in closed form."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        R, M = rng.uniform(0.1, 2, 2)
        K, s2 = int(rng.integers(1, 8)), 2 * R * R
        f, means = rng.uniform(-M, M), rng.choice([-M, M, 0.3 * M], K) * rng.random(K)
        v, w = s2 * (1 + 10 ** rng.uniform(-3, 3, K)), rng.dirichlet(np.ones(K))
        excess = (f - w @ means) ** 2 / squared_error_factor(M, R)
        ratio = [  # Rademacher noise
            logsumexp(-0.5 * np.log(v / s2) - 0.5 * (f + e - means) ** 2 / v + 0.5 * e * e / s2, b=w) for e in (-R, R)
        ]
        assert logsumexp(ratio) - math.log(2) + excess <= 1e-12
        # Gaussian: E exp(−(ε+δ)²/2v + ε²/2s²), ε ~ N(0, R²): precision 1/R² + 1/v − 1/s² = a
        delta, a = f - means, 1 / R**2 + 1 / v - 1 / s2
        gauss = -0.5 * np.log(v / s2) - 0.5 * np.log(a * R**2) - 0.5 * delta**2 / v + 0.5 * (delta / v) ** 2 / a
        assert logsumexp(gauss, b=w) + excess <= 1e-12


@pytest.mark.compiled
def test_the_whole_learner_keeps_the_bound():
    """Σ log N/ĝ ≤ Λ_B in the mean over seeds, Σe ≤ C_sq·Λ, regret ≤ bound; the arms change."""
    T, d, n, P = 300, 2, 12, 2 * math.pi
    loss, squared, regret = [], [], []
    bound = igw_mix_regret_bound(d=d, T=T, P=P, Q=P * P / T, kappa=2.0)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        mixture, total = igw.Mixture(math.ceil(math.log2(T)), d, 1.0, 1.0, 1.0), np.zeros(3)
        eta = math.sqrt(8 * T / (2 * d * bound.squared_error))
        for t in range(T):
            theta, X = np.array([math.cos(P * t / T), math.sin(P * t / T)]), unit(rng, n, d)
            p, kappa, y = igw.linear_form(X, mixture.theta, eta)
            assert kappa <= 2
            f = X @ theta
            k = rng.choice(n, p=p)
            r = float(f[k] + rng.choice([-1.0, 1.0]))
            total += (
                -0.5 * math.log(4 * math.pi) - 0.25 * (r - f[k]) ** 2 - mixture.log_density(X[k], r),
                p @ (y - f) ** 2,
                f.max() - p @ f,
            )
            mixture.learn(X[k], r)
        for kept, value in zip((loss, squared, regret), total, strict=True):
            kept.append(value)
    assert np.mean(loss) <= bound.log_loss
    assert np.mean(squared) <= bound.squared_error
    assert np.mean(regret) <= bound.total


# ------------------------------------------------------------------------------------------------------------------ numbers (§9)


@pytest.mark.parametrize(
    ("T", "one", "mixture", "any_path", "unknown"),
    [
        (6000, 5935, 6628, 14056, 7624),
        (10**6, 1.735e5, 1.889e5, 6.398e5, 2.18e5),
        (10**9, 1.713e7, 1.923e7, 1.136e8, 2.22e7),
    ],
)
def test_the_numbers_of_the_table(T, one, mixture, any_path, unknown):
    P = 2 * math.pi
    slow = {"d": 2, "T": T, "P": P, "Q": P * P / T}
    best = min(igw_mix_regret_bound(**slow, K=1, lam=2 * 2.0**-i).total for i in range(12))
    assert best == pytest.approx(one, rel=5e-4)
    assert igw_mix_regret_bound(**slow).total == pytest.approx(mixture, rel=5e-4)
    assert igw_mix_regret_bound(d=2, T=T, P=P).total == pytest.approx(any_path, rel=5e-4)
    assert igw_mix_regret_bound(**slow, tuning="unknown").total == pytest.approx(unknown, rel=3e-3)


def test_the_bound_grows_with_drift_and_time():
    totals = [igw_mix_regret_bound(d=2, T=6000, P=P).total for P in (0.0, 1.0, 5.0, 20.0)]
    assert totals == sorted(totals)
    totals = [igw_mix_regret_bound(d=2, T=T, P=1.0).total for T in (100, 1000, 10_000)]
    assert totals == sorted(totals)
    assert igw_mix_regret_bound(d=2, T=6000, P=0.0, Q=0.0).total == pytest.approx(2971, rel=5e-4)


# ------------------------------------------------------------------------------------------ further recipes of §11


NOISES = {
    "Rademacher": (np.array([-1.0, 1.0]), np.array([0.5, 0.5])),
    "three points": (np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25])),
    "skew": (np.array([-0.25, 1.0]), np.array([0.8, 0.2])),
    "none": (np.zeros(1), np.ones(1)),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("noise", NOISES)
def test_lemma_4(noise):
    """0 ≤ E r_t(θ_t) ≤ r̄, and the excess of u is (xᵀ(θ_t−u))²/2s², for any noise of mean 0 and variance ≤ s²."""
    values, chance = NOISES[noise]
    rng = np.random.default_rng(0)
    for _ in range(200):
        d, S, L, R = int(rng.integers(1, 5)), rng.uniform(0.2, 2), rng.uniform(0.2, 2), rng.uniform(1.0, 2.0)
        lam, s2 = rng.uniform(0.05, 3), 2 * R * R
        x, theta, own, u = (unit(rng, 1, d)[0] for _ in range(4))
        x, theta, own, u = x * L * rng.random(), theta * S, own * S * rng.random(), u * S * rng.random()
        B = rng.standard_normal((d, d))
        V = lam * np.eye(d) + B @ B.T
        v = s2 * (1 + x @ np.linalg.solve(V, x))
        y = x @ theta + values
        log = lambda mean, variance: -0.5 * np.log(2 * np.pi * variance) - (y - mean) ** 2 / (2 * variance)  # noqa: E731
        excess = chance @ (log(x @ theta, s2) - log(x @ own, v))
        assert -1e-12 <= excess <= 0.5 * math.log(1 + L * L / lam) + 2 * (L * S) ** 2 / s2
        assert chance @ (log(x @ theta, s2) - log(x @ u, s2)) == pytest.approx(
            (x @ (theta - u)) ** 2 / (2 * s2), abs=1e-12
        )


def high_probability_rate(M, R):
    """v̄ of §6: what e_s may be charged in the exponent of the supermartingale."""
    v = 4 * M * M / squared_error_factor(M, R)
    return (1 - math.exp(-v)) / (v * squared_error_factor(M, R))


def mixtures(rng, n, M, s2):
    """For n arms: what is true, and a mixture that forecasts it: f (n,), w (K,), means (n, K) at ±M too, variances (n, K)."""
    K = int(rng.integers(1, 9))
    means = rng.choice([-M, M, M * rng.random()], (n, K)) * rng.choice([1.0, rng.random()], (n, K))
    return rng.uniform(-M, M, n), rng.dirichlet(np.ones(K)), means, s2 * (1 + 10 ** rng.uniform(-3, 3, (n, K)))


@pytest.mark.interpreted
@pytest.mark.parametrize("noise", [*NOISES, "uniform"])
def test_high_probability_one_round(noise):
    """§6: log E[ĝ/N(θ)] + v̄·e ≤ 0 over the draw of the arm and the noise, where e = Σp(ŷ − f)²: a supermartingale."""
    values, chance = NOISES.get(noise, (np.linspace(-1, 1, 201), np.full(201, 1 / 201)))
    rng = np.random.default_rng(8)
    for _ in range(200):
        n, (R, M) = int(rng.integers(1, 6)), rng.uniform(0.1, 2, 2)
        s2, p = 2 * R * R, rng.dirichlet(np.ones(n))
        f, w, means, v = mixtures(rng, n, M, s2)
        eps = (R * values)[:, None, None]
        ratio = -0.5 * np.log(v / s2) - 0.5 * (f[:, None] + eps - means) ** 2 / v + 0.5 * eps**2 / s2
        e = p @ (means @ w - f) ** 2
        assert logsumexp(ratio, b=chance[:, None, None] * p[:, None] * w) + high_probability_rate(M, R) * e <= 1e-12


@pytest.mark.interpreted
def test_high_probability_over_time():
    """(6.1) fails at some t ≤ 60 in no more than a tenth of the runs at δ = .1, against mixtures made after the past is seen."""
    assert 1 / (high_probability_rate(1.0, 1.0) * 8) == pytest.approx(
        1.271, abs=5e-4
    )  # the factor of (6.1) where C_sq = 8M²
    rng, delta, runs, failures = np.random.default_rng(9), 0.1, 200, 0
    for _ in range(runs):
        R, M = rng.uniform(0.2, 2, 2)
        s2, total, worst = 2 * R * R, 0.0, -np.inf
        for _ in range(60):
            f, w, means, v = mixtures(rng, 3, M, s2)
            if total > 0:  # what has gone too well is kept by a forecast without error
                means, v = np.repeat(f[:, None], w.size, axis=1), np.full_like(v, s2)
            p = rng.dirichlet(np.ones(3))
            k, eps = rng.choice(3, p=p), R * rng.choice([-1.0, 1.0])
            log = -0.5 * np.log(v[k] / s2) - 0.5 * (f[k] + eps - means[k]) ** 2 / v[k] + 0.5 * eps**2 / s2
            total += math.log(w @ np.exp(log)) + high_probability_rate(M, R) * (p @ (means @ w - f) ** 2)
            worst = max(worst, total)
        failures += worst > math.log(1 / delta)
    assert failures <= runs * delta


@pytest.mark.interpreted
def test_lemma_5():
    """E[D·1{alive}] ≤ (3.1), against an adversary that ends the interval when D is small, so that what is left is large."""
    rng = np.random.default_rng(1)
    d, S, R, lam, m, runs, n = 2, 1.0, 0.5, 0.3, 8.0, 300, 25
    s2, L = 2 * R * R, 1.0
    total = np.zeros(n)
    for _ in range(runs):
        expert, u = igw.Expert(m, d, S, R, lam), unit(rng, 1, d)[0]
        for _ in range(20):  # what it believed before: the opposite
            x = unit(rng, 1, d)[0]
            expert.learn(x, x @ -u + R * rng.standard_normal())
        for i in range(n):
            D = expert.distance(u)
            if D < 0.2:
                break
            total[i] += D / runs
            x = unit(rng, 1, d)[0]
            expert.learn(x, x @ u + R * rng.choice([-1.0, 1.0]))
    gamma, H = 1 - 1 / m, d / 2 * math.log(1 + L * L * (m - 1) / (lam * d))
    kappa0, most = d / 2 + lam * S * S / (2 * s2), 2 * S * S * (lam + L * L * (m - 1)) / s2
    assert (total <= gamma ** np.arange(n) * most + H + kappa0).all()
    assert total[0] > H  # it began far away


@pytest.mark.interpreted
def test_clicks_one_step_and_proposition_b():
    """§8.1: log-loss(θ̂) − log-loss(u) ≤ (1/2c)log(1+cq) + D − D′, and (2.2), with a fifth of the labels flipped."""
    rng = np.random.default_rng(2)
    for _ in range(12):
        d, S, m, T = int(rng.integers(1, 4)), rng.uniform(0.5, 2), float(2 ** rng.integers(2, 7)), 150
        c, lam = logistic_curvature(S), rng.uniform(0.1, 2)
        expert, u, regret, travelled = igw.Newton(m, d, S, c, lam), unit(rng, 1, d)[0] * S, 0.0, 0.0
        largest = lam + c * (m - 1)
        for t in range(T):
            x = unit(rng, 1, d)[0]
            y = float(rng.random() < igw.mu(x @ u))
            y = 1 - y if rng.random() < 0.2 else y
            q, log = expert.width(x), lambda w: np.log(igw.mu(x @ w) if y == 1 else 1 - igw.mu(x @ w))
            step = log(u) - log(expert.theta)
            V, theta = expert.bayes(x, y)
            gained = expert.distance(u) - expert.distance(u, V, theta)
            assert step <= math.log(1 + c * q) / (2 * c) + gained + 1e-9
            regret += step
            expert.learn(x, y)
            if t % 40 == 39:  # a jump of the comparator
                new = unit(rng, 1, d)[0] * S
                travelled += min(m * np.sum((new - u) ** 2), 4 * S * np.linalg.norm(new - u))
                u = new
        kappa0 = d / (2 * c) + lam * S * S / 2
        H = d / (2 * c) * math.log(1 + c * min(m - 1, T) / (lam * d))
        assert regret <= H + lam * S * S / 2 + T * kappa0 / (m - 1) + largest / 2 * travelled


def test_bounds_of_clicks_and_of_blocks():
    click = {"d": 2, "A": 5, "S": 1.0, "reward": "click"}
    small, large = (igw_mix_regret_bound(T=T, P=1.0, **click) for T in (1000, 100_000))
    assert small.total == pytest.approx(math.sqrt(4 * 1000 * small.log_loss))  # √((A−1)TΛ)
    assert small.total < large.total
    assert igw_mix_regret_bound(T=1000, P=1.0, tuning="unknown", **click).total > small.total
    blocks = [igw_mix_regret_bound(d=2, T=T, P=6.3, tuning="oblivious").total for T in (10**4, 10**6, 10**8)]
    known = [igw_mix_regret_bound(d=2, T=T, P=6.3).total for T in (10**4, 10**6, 10**8)]
    assert all(b > k for b, k in zip(blocks, known, strict=True))
    assert blocks == sorted(blocks)
    assert math.log(blocks[2] / blocks[1]) / math.log(100) < 0.85  # T^{3/4} but for logs
    for options in ({"reward": "click"}, {"tuning": "oblivious", "A": 3}, {"tuning": "some"}, {"reward": "money"}):
        with pytest.raises(InvalidValue):
            igw_mix_regret_bound(d=2, T=100, P=1.0, **options)


@pytest.mark.interpreted
@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_constants_of_the_families_are_checked(bad):
    with pytest.raises(InvalidValue, match="R = "):
        GaussianForecasts(R=bad)
    with pytest.raises(InvalidValue, match="curvature = "):
        LogisticForecasts(curvature=bad)
    assert (GaussianForecasts(R=0.5).R, LogisticForecasts(curvature=0.25).curvature) == (0.5, 0.25)
