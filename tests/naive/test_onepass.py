"""The inequalities of the one-pass proof, in numbers: recipes T1 to T5 of onepass-proof §6."""

import numpy as np
import pytest
from naive import linear
from naive import onepass as naive
from naive.links import LINKS

CASES = [
    (link, gamma, lam)
    for link in ("logistic", "poisson", "identity", "probit")
    for gamma in (0.3, 0.95, 1.0)
    for lam in (0.02, 0.5, 3.0)
]


def history(rng, link, d, T, S):
    """A comparator of norm S, features random, along it or along the error to come, and any real rewards that the link has."""
    u = rng.standard_normal(d)
    u *= S / np.linalg.norm(u)
    X = rng.standard_normal((T, d))
    X[rng.random(T) < 0.3] = u
    X /= np.maximum(1e-12, np.linalg.norm(X, axis=1, keepdims=True))
    X *= rng.uniform(0.2, 1.0, (T, 1))
    R = rng.poisson(1.0, T).astype(float) if link == "poisson" else rng.integers(0, 2, T).astype(float)
    R[rng.random(T) < 0.1] = 40.0 if link == "poisson" else rng.uniform(0, 1)
    return u, X, R


@pytest.mark.parametrize(("link", "gamma", "lam"), CASES)
def test_t1_both_inequalities_hold_on_every_path(link, gamma, lam):
    """(1) of the potential and (3) of the mix loss, whatever the rewards: the excess is rounding."""
    rng = np.random.default_rng(0)
    for d, S in ((1, 6.0), (3, 1.0)):
        options = naive.Options(link=link, lam=lam, S=S, gamma=gamma)
        u, X, R = history(rng, link, d, 12, S)
        state = naive.begin(options, d)
        for x, r in zip(X, R, strict=True):
            if rng.random() < 0.3 and np.linalg.norm(state.theta - u) > 0:
                x = (state.theta - u) / np.linalg.norm(state.theta - u)
            A, theta_bar = naive.base(options, state)
            new = naive.advance(options, state, x, r)
            step = new.theta - theta_bar
            moved = step @ A @ step
            left = (new.theta - u) @ new.H @ (new.theta - u)
            terms = (
                gamma * (state.theta - u) @ state.H @ (state.theta - u),
                (1 - gamma) * lam * S**2,
                2 * (naive.loss(options, x, r, u) - naive.loss(options, x, r, new.theta)),
                -moved,
            )
            scale = 1.0 + abs(left) + sum(map(abs, terms))
            assert left <= sum(terms) + 1e-10 * scale
            m = naive.mix_loss(options, A, theta_bar, x, r)
            bound = 0.5 * naive.volume(options, A, x, float(x @ new.theta)) + 0.5 * moved
            own = naive.loss(options, x, r, new.theta)
            assert m - own <= bound + 1e-9 * (1.0 + abs(m) + abs(own) + bound)
            state = new


def test_t1_fails_with_the_slope_itself():
    """The same inequality with ω = 1, η = 1: the counterexample of onepass-proof §5, logistic, x ≡ 1, u = S = 5, always rewarded."""
    broken = {}
    for slope in ("own", "damped"):
        options = naive.Options(link="logistic", lam=1.0, S=5.0, slope=slope)
        state, worst = naive.begin(options, 1), -np.inf
        x, u = np.ones(1), np.array([5.0])
        for _ in range(100):
            A, theta_bar = naive.base(options, state)
            new = naive.advance(options, state, x, 1.0)
            step = new.theta - theta_bar
            left = (new.theta - u) @ new.H @ (new.theta - u)
            gain = 2 * (naive.loss(options, x, 1.0, u) - naive.loss(options, x, 1.0, new.theta))
            worst = max(worst, left - (state.theta - u) @ state.H @ (state.theta - u) - gain + step @ A @ step)
            state = new
        broken[slope] = worst
    assert broken["own"] > 0.1
    assert broken["damped"] <= 1e-10


@pytest.mark.parametrize("link", ["logistic", "poisson"])
def test_t2_the_mix_loss_is_a_martingale(link):
    """E exp(ℓ(u) − m) = 1 over rewards of the comparator."""
    rng = np.random.default_rng(1)
    options = naive.Options(link=link, lam=2.0, S=2.0, gamma=0.9)
    u, X, R = history(rng, link, 2, 5, 2.0)
    R = np.minimum(R, 2.0)  # larger ones make rates of hundreds likely, and the sum over rewards long
    for state, x in zip(naive.run(options, X, R), [*X, X[0]], strict=True):
        A, theta_bar = naive.base(options, state)
        mean = float(LINKS[link].mu(x @ u))
        if link == "logistic":
            rewards, log_chance = [0.0, 1.0], np.log([1 - mean, mean])
        else:
            rewards = np.arange(400.0)  # the mixture of Poisson laws has a longer tail than each
            log_chance = rewards * np.log(mean) - mean - np.cumsum(np.log(np.maximum(rewards, 1.0)))
        total = sum(
            np.exp(log_p + naive.loss(options, x, r, u) - naive.mix_loss(options, A, theta_bar, x, r))
            for log_p, r in zip(log_chance, rewards, strict=True)
        )
        assert total == pytest.approx(1.0, abs=1e-11)


def test_t2_other_bernoulli_links_and_bounded_rewards_only_gain():
    """The bound is an inequality for r ∈ [0, 1] of mean μ (logistic) and for Bernoulli rewards of the probit link."""
    grid = np.linspace(-6, 6, 121)
    for z in (-3.0, -0.5, 0.0, 1.0, 4.0):
        for name, rewards, chance in (
            ("logistic", np.array([0.2, 0.9]), None),
            ("probit", np.array([0.0, 1.0]), None),
        ):
            link = LINKS[name]
            mean = float(link.mu(z))
            if name == "logistic":
                mean = min(max(mean, 0.2), 0.9)
                z = float(np.log(mean / (1 - mean)))
            share = (mean - rewards[0]) / (rewards[1] - rewards[0])
            chance = np.array([1 - share, share])
            left = np.log(chance @ np.exp(np.outer(rewards, grid)))
            right = link.log_partition(z + grid) - link.log_partition(z)
            assert (left <= right + 1e-12).all()


def test_t3_the_constants():
    assert naive.X_general(0.5) == pytest.approx(0.6725, abs=5e-5)
    assert naive.X_general(1.0) == pytest.approx(0.9764, abs=5e-5)
    assert naive.X_concave(0.5) == pytest.approx(0.5326, abs=5e-5)
    assert naive.X_concave(1.0) == pytest.approx(0.6487, abs=5e-5)


@pytest.mark.parametrize("link", ["logistic", "poisson", "probit"])
def test_t3_the_damped_slope_is_at_an_end_and_better_than_its_simplest_bound(link):
    """(W2) is the least value over all y, and no smaller than (W1) = 2ηh·g(M(‖x‖S + |z|))."""
    part = LINKS[link]
    for z in (-4.0, -1.1, 0.0, 0.3, 2.0, 6.0):
        for reach in (0.2, 1.0, 5.0):
            options = naive.Options(link=link, lam=1.0, S=reach)
            least = naive.slope(options, np.ones(1), z)
            gaps = np.array([reach, -reach]) - z
            ends = (part.log_partition(z + gaps) - part.log_partition(z) - part.mu(z) * gaps) / gaps**2
            assert least == pytest.approx(2 * ends.min(), rel=1e-6, abs=1e-12)
            if link != "probit":
                a = reach + abs(z)
                assert least >= 2 * part.dmu(z) * (np.exp(-a) - 1 + a) / a**2 - 1e-12


def test_t4_the_step_size_is_a_scale():
    """(η, λ, H, β²) and (1, λ/η, H/η, β²/η) are the same algorithm."""
    rng = np.random.default_rng(3)
    _, X, R = history(rng, "logistic", 3, 15, 1.5)
    eta, delta = 2.5, 0.1
    wide = naive.Options(link="logistic", lam=2.0, S=1.5, gamma=0.9, eta=eta)
    unit = wide._replace(lam=2.0 / eta, eta=1.0)
    for a, b in zip(naive.run(wide, X, R), naive.run(unit, X, R), strict=True):
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-11)
        np.testing.assert_allclose(a.H / eta, b.H, rtol=1e-9)
        assert naive.beta(wide, a, delta) ** 2 / eta == pytest.approx(naive.beta(unit, b, delta) ** 2, rel=1e-9)


def test_t4_the_identity_link_is_ridge_regression():
    rng = np.random.default_rng(4)
    _, X, R = history(rng, "identity", 3, 20, 1.0)
    states = naive.run(naive.Options(link="identity", lam=0.8, S=1.0, gamma=0.9), X, R)
    for t, state in enumerate(states, start=1):
        w = linear.weights(("discounted", 0.9), t)
        V = linear.V(X[: t - 1], w, 0.8)
        np.testing.assert_allclose(state.H, V, rtol=0, atol=1e-9)
        np.testing.assert_allclose(state.theta, np.linalg.solve(V, X[: t - 1].T @ (w * R[: t - 1])), rtol=0, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.5, 0.95, 1.0])
def test_t5_upsilon_is_at_most_the_volume(gamma):
    """Υ ← γΥ + log(1 + ω h q) is at most log det(H/λ), and that at most d·log(1 + tr(H−λI)/(λd))."""
    rng = np.random.default_rng(5)
    options = naive.Options(link="logistic", lam=0.4, S=2.0, gamma=gamma)
    _, X, R = history(rng, "logistic", 3, 40, 2.0)
    states, upsilon = naive.run(options, X, R), 0.0
    for old, new, x in zip(states[:-1], states[1:], X, strict=True):
        A, _ = naive.base(options, old)
        q = float(x @ np.linalg.solve(A, x))
        weight = naive.slope(options, x, float(x @ new.theta))
        upsilon = gamma * upsilon + np.log1p(weight * q)
        volume = np.linalg.slogdet(new.H / options.lam)[1]
        assert upsilon <= volume + 1e-10
        assert volume <= 3 * np.log(np.trace(new.H) / (3 * options.lam)) + 1e-10
