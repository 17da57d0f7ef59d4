"""Multinomial-logit learners against SciPy on the full weighted likelihood, and the whole plan against the oracle."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED, THOROUGH, sized

import driftbandits as db
from driftbandits.core.ball import blank_ball_work, project_on_ball
from driftbandits.core.kernel import entry
from driftbandits.mdp.likelihood import Likelihood, likeliest
from driftbandits.mdp.multinomial import surprise_of
from driftbandits.mdp.protocol import open_book
from driftbandits.mdp.softmax_table import choices
from driftbandits.mdp.value_targeted import DOUBT

WORLD = {"states": 4, "actions": 2, "dim": 3, "dim_theta": 2, "horizon": 2, "successors": 3, "S_w": 1.0}
COMMON = {"lam_theta": 0.7, "lam_w": 0.5, "delta": 0.01}
BOUNDS = {"S_theta": 1.1, "L_phi": 1.2, "L_psi": 1.0}
STRATEGIES = {
    ("discounted", 0.85): lambda **c: db.zoo.mnl_weight_ucrl(gamma=0.85, **c),
    ("everything",): lambda **c: db.zoo.ucrl_mnl(**c),
    ("window", 4): lambda **c: db.zoo.mnl_sw_ucrl(window=4, **c),
    ("restart", 5): lambda **c: db.zoo.mnl_restart_ucrl(period=5, **c),
}
# Each composition compiles for some seconds: the quick set compiles one, the interpreted run and the slow one do all.
QUICK = [("discounted", 0.85)]
ALL = [m if INTERPRETED or m in QUICK else pytest.param(m, marks=pytest.mark.slow) for m in STRATEGIES]


def reference(world):
    return world.reachable.argmax(axis=2)


def likelihood_of(world, model):
    """The kernel's likelihood of an oracle's history: counts of (class, place)."""
    table = choices(world.moves, world.actions)
    psi = table.psi
    counts = np.zeros(psi.shape[:2])
    for features, row, weight in zip(model.features, model.observed, model.w, strict=True):
        kind = next(
            c
            for c in range(len(psi))
            if len(features) == table.used[c] and np.allclose(psi[c, : len(features)], features)
        )
        counts[kind, row] += weight
    target = np.einsum("cu,cud->d", counts, psi)
    ridge = model.lam * model.kappa
    U, d = psi.shape[1:]
    return Likelihood(psi, table.used, counts.sum(axis=1), target, ridge, np.zeros(U), np.zeros(d))


def history(world, episodes, seed):
    """A history of random play and the oracle's likelihood of stage 0."""
    rng = np.random.default_rng(seed)
    states, actions = np.zeros((episodes, 3), int), rng.integers(0, 2, (episodes, 2))
    P = world.kernel(0)[0]
    for j in range(episodes):
        states[j, 0] = rng.integers(0, 4)
        for h in range(2):
            states[j, h + 1] = rng.choice(4, p=P[states[j, h], actions[j, h]])
    psi = naive.subtract_reference(world.psi, world.reachable, reference(world))
    weight = 0.97 ** np.arange(episodes - 1, -1, -1.0)
    return naive.mnl_likelihood(0, psi, world.reachable, states, actions, weight, lam=0.5, kappa=0.02)


@entry
def solve(problem, likelihood, metric, S, concordance, w, work):
    """Both solvers in one entry, which compiles once."""
    if problem == 0:
        return likeliest(likelihood, concordance, w, work)
    return project_on_ball(likelihood, metric, S, w, work)


def fit(likelihood, concordance, w):
    return solve(0, likelihood, np.eye(len(w)), 1.0, concordance, w, blank_ball_work(len(w)))


def project(likelihood, metric, S, w):
    return solve(1, likelihood, metric, S, 1.0, w, blank_ball_work(len(w)))


@pytest.mark.parametrize("seed", range(6))
def test_estimator_equals_scipy_on_the_full_likelihood(seed):
    world = db.mdp.random_mnl(episodes=2, seed=seed, **WORLD)
    model = history(world, 30, seed)
    w = np.zeros(3)
    error = fit(likelihood_of(world, model), 2.0 * world.L_ref, w)
    np.testing.assert_allclose(w, naive.qmle(model), atol=1e-8)
    assert np.linalg.norm(model.u(w)) / (model.lam * model.kappa) < 1e-9  # the certificate ‖w − ŵ‖ ≤ ‖∇F‖/(λκ)
    assert error < 1e-3


@pytest.mark.parametrize("seed", range(sized(2, 4)))
def test_projection_equals_the_multistart_oracle(seed):
    world = db.mdp.random_mnl(episodes=2, seed=seed, **WORLD)
    model = history(world, 30, seed)
    free = naive.qmle(model)
    S = 0.6 * float(np.linalg.norm(free))
    Sigma = model.Sigma()
    metric = np.ascontiguousarray(np.linalg.cholesky(Sigma).T)
    np.fill_diagonal(metric, 1 / np.diag(metric))  # a factor holds the reciprocals
    expected = naive.project(model, S, Sigma)
    rng = np.random.default_rng(seed)
    for start in (S * free / np.linalg.norm(free), *rng.standard_normal((3, 3))):
        w = start * S / np.linalg.norm(start)
        value = project(likelihood_of(world, model), metric, S, w)
        np.testing.assert_allclose(w, expected, atol=2e-7)
        assert np.linalg.norm(w) == pytest.approx(S, abs=1e-12)  # the minimiser is on the sphere
        assert value == pytest.approx(naive.distance(model, w, Sigma) ** 2 / 2)
    inside = np.zeros(3)
    large = float(1.5 * np.linalg.norm(free))
    assert project(likelihood_of(world, model), metric, large, inside) < 1e-15
    np.testing.assert_allclose(inside, free, atol=1e-7)  # inside the ball the projection changes nothing


def compare_plans(world, memory, S_w):
    """Plans of a run against the oracle's; returns the run and how many stages were projected."""
    K, kappa = world.episodes, world.kappa
    scales = {"reward_bonus_scale": 0.3, "transition_bonus_scale": 0.01 * kappa, "cap": "stage"}
    strategy = STRATEGIES[memory](S_w=S_w, kappa=kappa, **scales, **COMMON, **BOUNDS)
    run = db.simulate_mdp(strategy, world, seed=2, record=True)
    psi = naive.subtract_reference(world.psi, world.reachable, reference(world))
    oracle = {"reward_scale": 0.3, "transition_scale": 0.01 * kappa, "cap": "stage", "S_theta": 1.1, "S_w": S_w}
    projected = 0
    for k in (0, 3, 6, K - 1) if THOROUGH else (3, K - 1):
        Q, _, w = naive.mnl_plan(
            world.phi, psi, world.reachable, run.states[:k], run.actions[:k], run.rewards[:k],
            memory=memory, L_psi=world.L_ref, U=world.U, kappa=kappa, **oracle, **COMMON,
        )  # fmt: skip
        np.testing.assert_allclose(run.Q[k], Q, atol=1e-6)
        projected += int((np.linalg.norm(w, axis=1) > S_w - 1e-9).sum())
    np.testing.assert_allclose(run.info["w"], w, atol=1e-6)
    return run, projected


@pytest.mark.parametrize("memory", ALL, ids=lambda m: m[0])
def test_plans_equal_the_oracle(memory):
    run, projected = compare_plans(db.mdp.random_mnl(episodes=9, seed=11, **WORLD), memory, 0.8)
    assert projected > 0
    assert run.info["saturation"] < 0.5


@pytest.mark.interpreted
@pytest.mark.parametrize("form", ["symmetric", "one-sided"])
def test_pairs_with_the_same_features_are_counted_together(form):
    """RiverSwim ties its parameters: classes of pairs, pairs with one successor, unequal numbers of successors."""
    world = db.mdp.mnl_riverswim(states=4, horizon=2, episodes=9, form=form)
    table = choices(world.moves, world.actions)
    assert len(table.used) < 8
    assert {int(n) for n in table.used} == ({2, 3} if form == "symmetric" else {1, 2, 3})
    _, projected = compare_plans(world, ("discounted", 0.85), 0.5)
    assert projected > 0 or form == "one-sided"  # there the learner may keep to the left, which teaches nothing about w


@pytest.mark.interpreted
def test_the_surprise_of_a_transition_is_its_negative_log_probability():
    """As far as it can be believed: no successor has less than DOUBT, also none that nobody thought possible."""
    world = db.mdp.random_mnl(episodes=4, seed=7, **WORLD)
    constants = {"S_w": 30.0, "kappa": world.kappa, **COMMON, **BOUNDS}
    state = open_book(db.zoo.ucrl_mnl(**constants), world.task).transition
    psi = naive.subtract_reference(world.psi, world.reachable, reference(world))
    floored = 0
    for w in 8.0 * np.random.default_rng(0).standard_normal((2, 3)):
        state.w[:] = w
        P = naive.mnl_kernel(psi, world.reachable, w)
        for s, a, to in np.ndindex(P.shape):
            expected = -np.log(max(P[s, a, to], DOUBT))
            assert surprise_of(state, 1, 2 * s + a, to) == pytest.approx(expected, rel=1e-12)
            floored += P[s, a, to] < DOUBT
    assert 0 < floored < 2 * P.size  # some of each


def test_threads_share_a_world_but_no_workspace():
    runs = []
    for jobs in (4, 1):
        world = db.mdp.random_mnl(episodes=10, seed=3, **WORLD)  # fresh: its optimal values are made by the threads
        c = {"kappa": 0.05, "S_w": 1.0, "reward_bonus_scale": 0.3, "transition_bonus_scale": 1e-4, **COMMON, **BOUNDS}
        strategy = db.zoo.mnl_weight_ucrl(gamma=0.85, **c)
        runs.append([run.regret for run in db.mdp.trials_mdp(strategy, lambda _, w=world: w, trials=8, jobs=jobs)])
    assert np.array_equal(*runs)


@pytest.mark.interpreted
def test_pooled_stages():
    world = db.mdp.random_mnl(episodes=6, seed=5, **WORLD)
    scales = {"reward_bonus_scale": 0.3, "transition_bonus_scale": 1e-4}
    strategy = db.zoo.ucrl_mnl(share_stages=True, S_w=0.8, kappa=world.kappa, **scales, **COMMON, **BOUNDS)
    run = db.simulate_mdp(strategy, world, seed=2, record=True)
    psi = naive.subtract_reference(world.psi, world.reachable, reference(world))
    oracle = {"reward_scale": 0.3, "transition_scale": 1e-4, "S_theta": 1.1, "S_w": 0.8, "L_psi": world.L_ref, "U": 3}
    for k in (2, 5):
        Q, _, w = naive.mnl_plan(
            world.phi, psi, world.reachable, run.states[:k], run.actions[:k], run.rewards[:k],
            memory=("everything",), share_stages=True, kappa=world.kappa, **oracle, **COMMON,
        )  # fmt: skip
        np.testing.assert_allclose(run.Q[k], Q, atol=1e-6)
    np.testing.assert_allclose(run.info["w"][0], w[0], atol=1e-6)


def test_corrected_radius():
    """One stage and no reward bonus: Q − 0 is the transition bonus, before the first and after one episode (n = 0, 1)."""
    world = db.mdp.random_mnl(episodes=2, seed=0, **(WORLD | {"horizon": 1}))
    world = db.mdp.mnl_mixture(
        world.phi, world.psi, world.reachable, np.zeros((2, 2)), world.w, horizon=1, S_theta=1.0, S_w=1.0
    )
    scales = {"reward_bonus_scale": 0.0, "transition_bonus_scale": 1e-6}
    c = {"kappa": world.kappa, "S_w": 1.0, **scales, **COMMON, **BOUNDS}
    printed, corrected = (
        db.simulate_mdp(db.zoo.mnl_weight_ucrl(gamma=0.85, variant=variant, **c), world, record=True)
        for variant in ("printed", "corrected")
    )
    assert np.array_equal(printed.states, corrected.states)  # proportional Q: the same choices, hence the same widths
    radius = {"d": 3, "lam": 0.5, "S": 1.0, "kappa": world.kappa, "U": 3, "delta": 0.01}
    for n in (0, 1):
        expected = naive.mnl_radius(n, L=world.L_ref, variant="corrected", **radius) / naive.mnl_radius(
            n, L=world.L_ref, **radius
        )
        np.testing.assert_allclose(corrected.Q[n] / printed.Q[n], expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(sized(4, 10)))
def test_estimates_stay_finite_where_probabilities_are_nearly_0_or_1(seed):
    """S_w = 10: κ is 1e-17 to 1e-15, and the curvature of the likelihood is lost in rounding."""
    world = db.mdp.random_mnl(states=5, actions=2, horizon=3, dim=3, successors=3, S_w=10, episodes=25, seed=seed)
    scale = {"transition_bonus_scale": 0.02 * world.kappa}
    strategy = db.zoo.mnl_weight_ucrl(gamma=0.85, **scale, **COMMON, **world.bounds)
    run = db.simulate_mdp(strategy, world, seed=0, record=True)
    assert np.isfinite(run.Q).all()
    assert np.isfinite(run.info["certificate"])
    assert (np.linalg.norm(run.info["w"], axis=1) <= 10 * (1 + 1e-9)).all()
    assert 0.0 < run.info["bonus_share"] < 1.0
    assert run.info["projected"] <= 3


@pytest.mark.interpreted
@pytest.mark.parametrize("choice", ["stay", None])
def test_other_reference_successors(choice):
    """Whichever successor is subtracted, plans equal the oracle's, with the radius that belongs to those features."""
    world = db.mdp.mnl_riverswim(states=4, horizon=2, episodes=9)
    kappa = world.kappa
    scales = {"reward_bonus_scale": 0.3, "transition_bonus_scale": 0.01 * kappa, "cap": "stage"}
    strategy = db.zoo.mnl_weight_ucrl(gamma=0.85, S_w=0.5, kappa=kappa, reference=choice, **scales, **COMMON, **BOUNDS)
    run = db.simulate_mdp(strategy, world, seed=2, record=True)
    stay = np.broadcast_to(np.arange(4)[:, None], (4, 2))
    psi = world.psi if choice is None else naive.subtract_reference(world.psi, world.reachable, stay)
    L = BOUNDS["L_psi"] if choice is None else np.linalg.norm(psi[world.reachable], axis=-1).max()
    assert choice is None or world.L_ref == pytest.approx(2**0.5 * L)  # the state itself is the nearest reference
    Q, _, _ = naive.mnl_plan(
        world.phi, psi, world.reachable, run.states[:8], run.actions[:8], run.rewards[:8],
        memory=("discounted", 0.85), L_psi=L, U=world.U, kappa=kappa, reward_scale=0.3, transition_scale=0.01 * kappa,
        cap="stage", S_theta=1.1, S_w=0.5, subtracted=choice is not None, **COMMON,
    )  # fmt: skip
    np.testing.assert_allclose(run.Q[8], Q, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_hessian_dominates_kappa_sigma_only_with_the_reference_subtracted(seed):
    """∇g ⪰ κΣ̄ on the ball with subtracted features (resolution D5); with raw features it fails in some of these draws."""
    world = db.mdp.random_mnl(episodes=2, seed=seed, **WORLD)
    model = history(world, 40, seed)._replace(kappa=world.kappa)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        w = rng.standard_normal(3)
        w *= world.S_w * rng.random() / np.linalg.norm(w)
        gap = model.H(w) - world.kappa * model.Sigma()
        assert np.linalg.eigvalsh(gap)[0] >= -1e-12


def test_raw_features_break_the_bound():
    broken = 0
    for seed in range(5):
        world = db.mdp.random_mnl(episodes=2, seed=seed, **WORLD)
        rng = np.random.default_rng(seed)
        states, actions = rng.integers(0, 4, (40, 3)), np.zeros((40, 2), int)
        for j in range(40):
            states[j, 1] = rng.choice(np.flatnonzero(world.reachable[states[j, 0], 0]))
        args = world.reachable, states, actions, np.ones(40)
        raw = naive.mnl_likelihood(0, world.psi + 3.0, *args, lam=1e-6, kappa=world.kappa)
        broken += np.linalg.eigvalsh(raw.H(np.zeros(3)) - world.kappa * raw.Sigma())[0] < -1e-9
    assert broken > 0


def test_the_statistics_do_not_grow_with_the_episodes():
    """Counts are sufficient: the state of a learner that forgets nothing has the same size for 10 and for 10⁶ episodes."""
    world = db.mdp.random_mnl(episodes=2, seed=0, **WORLD)
    strategy = db.zoo.ucrl_mnl(S_w=1.0, kappa=0.01, **COMMON, **BOUNDS)

    def size(tree):
        return sum(size(x) for x in tree) if isinstance(tree, tuple) else tree.nbytes

    few, many = (open_book(strategy, world.task._replace(episodes=K)) for K in (10, 10**6))
    assert size(few) == size(many)
    assert few.transition.history.slot.size == 0
    assert few.transition.sums.N.shape == (2, 8 * 3)  # stages × (pairs × successors)


def test_mnl_needs_reachable():
    world = db.mdp.random_mnl(episodes=2, seed=0, **WORLD)
    strategy = db.zoo.mnl_weight_ucrl(gamma=0.9, S_w=1.0, kappa=0.01, **COMMON, **BOUNDS)
    with pytest.raises(db.DriftBanditsError, match="reachable"):
        db.EpisodicAgent(strategy, phi=world.phi, psi=world.psi, horizon=2)
    with pytest.raises(db.DriftBanditsError, match=r"kappa = 0\.5"):
        db.zoo.mnl_weight_ucrl(gamma=0.9, S_w=1.0, kappa=0.5, **COMMON, **BOUNDS)
