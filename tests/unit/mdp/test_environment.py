"""Environments, exact planning and κ, against the oracles and the numbers of the specification."""

import naive
import numpy as np
import pytest
from conftest import INTERPRETED

import driftbandits as db

K = 20
LINEAR = {
    "riverswim-mirror": lambda **c: db.mdp.riverswim(horizon=5, **c),
    "riverswim-current": lambda **c: db.mdp.riverswim(form="current", horizon=5, **c),
    "random": lambda **c: db.mdp.random_linear_mixture(states=4, actions=3, horizon=5, dim=3, dim_theta=2, **c),
    "inventory": lambda **c: db.mdp.inventory(capacity=4, largest_order=2, horizon=5, **c),
}
MNL = {
    "mnl-symmetric": lambda **c: db.mdp.mnl_riverswim(horizon=5, **c),
    "mnl-one-sided": lambda **c: db.mdp.mnl_riverswim(form="one-sided", horizon=5, **c),
    "mnl-random": lambda **c: db.mdp.random_mnl(states=3, actions=2, horizon=5, dim=3, successors=3, **c),
}
WORLDS = LINEAR | MNL
DRIFTS = ["static", "gradual", "abrupt"]


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("name", WORLDS)
def test_worlds_are_mdps_and_announce_their_constants(name, drift):
    world = WORLDS[name](episodes=K, drift=drift)
    for k in (0, K // 2, K - 1):
        P, r = world.kernel(k), world.rewards(k)
        assert P.shape == (5, world.states, world.actions, world.states)
        np.testing.assert_allclose(P.sum(axis=-1), 1.0, atol=1e-12)
        assert P.min() >= -1e-12
        assert r.min() >= -1e-12
        assert r.max() <= 1.0 + 1e-12
    theta = np.broadcast_to(world.theta, (K, 5, world.theta.shape[2]))
    w = np.broadcast_to(world.w, (K, 5, world.w.shape[2]))
    assert world.P_theta == pytest.approx(db.theory.path_length(theta))
    assert world.P_w == pytest.approx(db.theory.path_length(w))
    assert world.Delta == world.P_theta + world.P_w
    assert (world.Delta == 0.0) == (drift == "static")
    assert np.linalg.norm(theta, axis=-1).max() <= world.S_theta * (1 + 1e-12)
    assert np.linalg.norm(w, axis=-1).max() <= world.S_w * (1 + 1e-12)
    assert np.linalg.norm(world.phi, axis=-1).max() == pytest.approx(world.L_phi)


@pytest.mark.parametrize("name", LINEAR)
def test_value_features_give_expected_values(name):
    """ψ_Vᵀw = PV, and ‖ψ_V‖ ≤ L_ψ for V ∈ [0, 1]^S, attained at V = 1 for features ≥ 0."""
    world = LINEAR[name](episodes=K)
    rng = np.random.default_rng(0)
    for _ in range(20):
        V = rng.random(world.states)
        features = naive.value_features(world.psi, V)
        np.testing.assert_allclose(features @ world.w[3, 0], world.kernel(3)[0] @ V, atol=1e-12)
        assert np.linalg.norm(features, axis=-1).max() <= world.L_psi + 1e-12
    ones = naive.value_features(world.psi, np.ones(world.states))
    assert np.linalg.norm(ones, axis=-1).max() == pytest.approx(world.L_psi)


def test_signed_features_are_bounded_by_all_vertices():
    phi = np.ones((2, 1, 1)) / 2
    psi = np.zeros((2, 1, 2, 2))
    psi[..., 0] = 0.5
    psi[:, 0, 0, 1], psi[:, 0, 1, 1] = 1.0, -1.0  # P = (½ + w₂, ½ − w₂)
    world = db.mdp.linear_mixture(phi, psi, [[1.0]], [[1.0, 0.2]], horizon=2)
    vertices = [naive.value_features(psi, np.array(v, float))[0, 0] for v in ((0, 1), (1, 0), (1, 1))]
    assert world.L_psi == pytest.approx(max(np.linalg.norm(v) for v in vertices))


@pytest.mark.parametrize("name", MNL)
def test_kernels_and_kappa_equal_the_oracle(name):
    world = MNL[name](episodes=K)
    np.testing.assert_allclose(
        world.kernel(7)[0], naive.mnl_kernel(world.psi, world.reachable, world.w[7, 0]), atol=1e-12
    )
    reference = world.reachable.argmax(axis=2)
    assert world.kappa == pytest.approx(naive.kappa(world.psi, world.reachable, world.S_w), rel=1e-6)
    subtracted = naive.subtract_reference(world.psi, world.reachable, reference)
    assert world.L_ref == pytest.approx(np.linalg.norm(subtracted, axis=-1).max())
    assert db.mdp.kappa(subtracted, world.reachable, S_w=world.S_w) == pytest.approx(world.kappa)
    to_reference = db.mdp.kappa(world.psi, world.reachable, S_w=world.S_w, reference_only=True)
    assert to_reference == pytest.approx(naive.kappa(world.psi, world.reachable, world.S_w, reference), rel=1e-6)
    assert to_reference >= world.kappa
    assert db.theory.mnl_kappa_bound(S_w=world.S_w, U=world.U, L_ref=world.L_ref) <= to_reference


@pytest.mark.parametrize(("S", "kappa"), [(1.0, 0.0382), (2.0, 0.00746), (2.607, 0.00231), (3.0, 0.00103)])
def test_kappa_of_the_specification(S, kappa):
    world = db.mdp.mnl_riverswim(form="one-sided", episodes=1)
    assert db.mdp.kappa(world.psi, world.reachable, S_w=S) == pytest.approx(kappa, rel=5e-3)


def test_kappa_with_many_successors_equals_the_oracle():
    world = db.mdp.random_mnl(states=4, actions=1, dim=2, successors=4, S_w=1.5, episodes=1, seed=3)
    assert world.kappa == pytest.approx(naive.kappa(world.psi, world.reachable, 1.5), rel=1e-6)


def test_random_multinomial_worlds_have_unit_features_and_ends_on_the_sphere():
    world = db.mdp.random_mnl(states=4, actions=2, dim=3, successors=2, S_w=1.5, episodes=9, drift="gradual")
    np.testing.assert_allclose(np.linalg.norm(world.psi, axis=-1), 1.0)
    w = np.asarray(world.w).reshape(9, 3)
    np.testing.assert_allclose(np.linalg.norm(w[[0, 4, 8]], axis=1), 1.5)  # there, and back
    np.testing.assert_allclose(w[2], 0.5 * (w[0] + w[4]))


@pytest.mark.parametrize("make", [db.mdp.random_mnl, db.mdp.random_linear_mixture])
def test_sizes_of_random_worlds_that_are_not_given(make):
    world = make(episodes=2)
    assert (world.states, world.actions, world.horizon, world.w.shape[-1]) == (6, 2, 10, 4)


def test_path_lengths_of_the_specification():
    linear = db.mdp.riverswim(episodes=1500, horizon=10)
    assert (linear.P_theta, linear.P_w) == pytest.approx((26.8701, 28.2843), abs=1e-3)
    mnl = db.mdp.mnl_riverswim(episodes=800, horizon=8)
    assert mnl.Delta == pytest.approx(34.7, abs=0.05)
    assert mnl.S_w == pytest.approx(2.30651252, abs=1e-6)
    abrupt = db.mdp.riverswim(episodes=30, horizon=10, drift="abrupt", changes=3)
    assert pytest.approx(3 * 10 * 2**0.5) == abrupt.P_w


def test_planning_equals_the_oracle():
    world = db.mdp.random_linear_mixture(states=4, actions=3, horizon=5, dim=3, episodes=3, seed=2)
    P, r = world.kernel(1), world.rewards(1)
    V, Q = db.mdp.backward_induction(P, r)
    expected = naive.optimal_values(P, r)
    np.testing.assert_allclose(V, expected[0], atol=1e-12)
    np.testing.assert_allclose(Q, expected[1], atol=1e-12)
    assert world.optimal[1] == pytest.approx(V[0, 0], abs=1e-12)
    policy = np.random.default_rng(0).integers(0, 3, (5, 4))
    values = db.mdp.policy_evaluation(P, r, policy)
    np.testing.assert_allclose(values, naive.policy_values(P, r, policy), atol=1e-12)
    assert (values <= V + 1e-12).all()
    uniform = db.mdp.policy_evaluation(P, r, np.full((5, 4, 3), 1 / 3))
    assert db.mdp.uniform_regret(world)[0] == pytest.approx(
        world.optimal[0] - db.mdp.policy_evaluation(world.kernel(0), world.rewards(0), np.full((5, 4, 3), 1 / 3))[0, 0]
    )
    assert (uniform <= V + 1e-12).all()


def test_stage_dependent_parameters_and_starts():
    rng = np.random.default_rng(0)
    base = db.mdp.random_linear_mixture(states=4, actions=2, horizon=3, dim=3, dim_theta=2, episodes=6, seed=0)
    theta, w = rng.random((6, 3, 2)), rng.dirichlet(np.ones(3), (6, 3))
    starts = [0, 1, 2, 3, 0, 0]
    world = db.mdp.linear_mixture(base.phi, base.psi, theta, w, horizon=3, start=starts)
    for k in range(6):
        V, _ = naive.optimal_values(world.kernel(k), world.rewards(k))
        assert world.optimal[k] == pytest.approx(V[0, starts[k]], abs=1e-12)
    assert world.P_w == pytest.approx(np.linalg.norm(np.diff(w, axis=0), axis=-1).sum())
    run = db.simulate_mdp(strategy_for(world), world, record=True)
    assert run.states[:, 0].tolist() == starts
    for k in range(6):
        for h in range(3):
            s, a = run.states[k, h], run.actions[k, h]
            assert run.rewards[k, h] == pytest.approx(world.phi[s, a] @ theta[k, h])


def strategy_for(world, **options):
    c = {"lam_theta": 1.0, "lam_w": 10.0, "delta": 0.01, "transition_bonus_scale": 0.1, **world.bounds, **options}
    return db.zoo.weight_ucrl(gamma=0.8, **c)


@pytest.mark.parametrize("name", LINEAR)
def test_regret_is_exact(name):
    """The regret of a run equals the oracle's, from the recorded plans; increments are never negative."""
    episodes = 8 if INTERPRETED else K
    world = LINEAR[name](episodes=episodes)
    run = db.simulate_mdp(strategy_for(world), world, seed=5, record=True)
    total = 0.0
    for k in range(episodes):
        best = run.Q[k].max(axis=2, keepdims=True)
        tied = (run.Q[k] >= best - 1e-10 * (1 + best)).sum(axis=2)
        if (tied > 1).any():  # the policy of a tie is not in the record; the visited part of it is
            continue
        P, r = world.kernel(k), world.rewards(k)
        gap = world.optimal[k] - naive.policy_values(P, r, run.Q[k].argmax(axis=2))[0, world.start[k]]
        step = run.regret[k] - (run.regret[k - 1] if k else 0.0)
        assert step == pytest.approx(gap, abs=1e-10)
        total += 1
    assert (np.diff(run.regret, prepend=0.0) >= -1e-9).all()


def test_runs_are_reproducible_and_prefixes_agree():
    world = db.mdp.riverswim(episodes=K, horizon=5)
    strategy = strategy_for(world)
    full = db.simulate_mdp(strategy, world, seed=1, record=True)
    again = db.simulate_mdp(strategy, world, seed=1, record=True)
    other = db.simulate_mdp(strategy, world, seed=2, record=True)
    prefix = db.simulate_mdp(strategy, world, episodes=7, seed=1)
    assert np.array_equal(full.regret, again.regret)
    assert np.array_equal(full.states, again.states)
    assert not np.array_equal(full.states, other.states)
    assert np.array_equal(prefix.regret, full.regret[:7])
    assert full.episodes[-1] == K
    runs = db.mdp.trials_mdp(strategy, lambda _: world, trials=3, jobs=2)
    alone = db.mdp.trials_mdp(strategy, lambda _: world, trials=3, jobs=1)
    assert all(np.array_equal(a.regret, b.regret) for a, b in zip(runs, alone, strict=True))


def test_transitions_follow_the_kernel():
    """Visited successors of RiverSwim have the frequencies of P: binomial, 4 standard deviations."""
    episodes = 300 if INTERPRETED else 2000
    world = db.mdp.riverswim(episodes=episodes, horizon=5, drift="static", form="current")
    run = db.simulate_mdp(strategy_for(world), world, seed=0, record=True)
    s, a, successor = run.states[:, :-1].ravel(), run.actions.ravel(), run.states[:, 1:].ravel()
    P = world.kernel(0)[0]
    checked = 0
    for state in range(6):
        for action in range(2):
            seen = successor[(s == state) & (a == action)]
            for t in range(6):
                p, n = P[state, action, t], len(seen)
                assert abs((seen == t).sum() - n * p) <= 4 * np.sqrt(n * p * (1 - p)) + 1e-9
                checked += n > 50
    assert checked >= 6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[2.0]], horizon=2), "not a distribution"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[3.0]], [[1.0]], horizon=2), r"rewards .* must lie in \[0, 1\]"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]] * 2, horizon=2), "theta has 1 episodes but w has 2"),
        (lambda p, q: db.mdp.linear_mixture(p, q[:, :, :1], [[1.0]], [[1.0]], horizon=2), "psi has shape"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2, start=2), "start = 2"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2, start=[0, 1]), "one for each episode"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2, noise="x"), "noise = 'x' is a text"),
        (
            lambda p, q: db.mdp.linear_mixture(p, q, lambda k: [1.0] * (k + 1), [[1.0]] * 3, horizon=2, episodes=3),
            r"theta\(1\) has shape \(2,\), theta\(0\) \(1,\)",
        ),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2).kernel(1), r"k = 1 .* 0\.\.0"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2).rewards(-1), "k = -1"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=0), "horizon = 0"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2, S_w=0.5), "S_w = 0.5"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[np.nan]], [[1.0]], horizon=2), "theta contains NaN"),
        (lambda p, q: db.mdp.linear_mixture(p, q, np.ones((1, 3, 1)), [[1.0]], horizon=2), "theta has shape"),
        (
            lambda p, q: db.mdp.mnl_mixture(p, q, np.zeros((2, 1, 2)), [[1.0]], [[1.0]], horizon=2),
            "no state is reachable",
        ),
        (lambda p, q: db.mdp.mnl_mixture(p, q, np.ones((2, 2)), [[1.0]], [[1.0]], horizon=2), "reachable has shape"),
        (lambda p, q: db.mdp.mnl_mixture(p, q, np.full((2, 1, 2), 7), [[1.0]], [[1.0]], horizon=2), "True and False"),
        (lambda p, q: db.mdp.riverswim(episodes=5, form="sea"), "form = 'sea'"),
        (lambda p, q: db.mdp.mnl_riverswim(episodes=5, form="sea"), "form = 'sea'"),
        (lambda p, q: db.mdp.riverswim(episodes=5, drift="wild"), "drift = 'wild'"),
        (lambda p, q: db.mdp.random_mnl(states=2, successors=3, episodes=5), "successors = 3"),
        (lambda p, q: db.mdp.linear_mixture(p, q, [[1.0]], [[1.0]], horizon=2).kappa, "belong to multinomial"),
    ],
)
def test_refuses(make, message):
    phi, psi = np.full((2, 1, 1), 0.5), np.full((2, 1, 2, 1), 0.5)
    with pytest.raises(db.DriftBanditsError, match=message):
        make(phi, psi)


def test_refuses_more_episodes_than_the_world_has():
    world = db.mdp.riverswim(episodes=5, horizon=3)
    with pytest.raises(db.DriftBanditsError, match="the MDP has 5"):
        db.simulate_mdp(strategy_for(world), world, episodes=6)


def test_drift_may_be_a_function_of_the_episode():
    given = db.mdp.riverswim(episodes=5, horizon=3, drift="gradual")
    path = {"theta": lambda k: given.theta[k, 0], "w": lambda k: given.w[k, 0]}
    world = db.mdp.linear_mixture(given.phi, given.psi, **path, horizon=3, episodes=5)
    np.testing.assert_array_equal(world.w, given.w)
    np.testing.assert_array_equal(world.theta, given.theta)
    with pytest.raises(db.DriftBanditsError, match="episodes"):
        db.mdp.linear_mixture(given.phi, given.psi, **path, horizon=3)
    with pytest.raises(db.DriftBanditsError, match="theta has 5 episodes; episodes = 4"):
        db.mdp.linear_mixture(given.phi, given.psi, given.theta, given.w, horizon=3, episodes=4)
