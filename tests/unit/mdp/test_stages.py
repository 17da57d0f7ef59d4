"""Features that differ from stage to stage: plans against the oracles, worlds, agents, files, and one-line errors."""

import naive
import numpy as np
import pytest
import scipy.sparse
from conftest import INTERPRETED

import driftbandits as db

H, S, A, D, DT = 3, 4, 2, 3, 2
K = 7 if INTERPRETED else 14
RNG = np.random.default_rng(5)
PSI = np.moveaxis(RNG.dirichlet(np.full(S, 0.5), (D, H, S, A)), 0, -1)  # (H, S, A, S, D)
PHI = RNG.dirichlet(np.full(DT, 0.3), (H, S, A))
THETA = RNG.uniform(size=(K, H, DT))
W = RNG.dirichlet(np.ones(D), (K, 1))
REACHABLE = RNG.random((H, S, A, S)) < 0.5
REACHABLE[..., 0] = True
MOVES = RNG.normal(size=(H, S, A, S, D))
COMMON = {"lam_theta": 0.7, "lam_w": 1.3, "delta": 0.01}
BOUNDS = {"S_theta": 1.1, "S_w": 0.9, "L_phi": 1.2, "L_psi": 1.6}
SCALES = {"reward_bonus_scale": 0.3, "transition_bonus_scale": 0.05, "cap": "stage"}


def linear_world(phi=PHI, psi=PSI):
    return db.mdp.linear_mixture(phi, psi, THETA, W, horizon=H)


def logit_world(phi=PHI, psi=MOVES, reachable=REACHABLE):
    return db.mdp.mnl_mixture(phi, psi, reachable, THETA, RNG.normal(size=(K, H, D)), horizon=H)


@pytest.mark.parametrize(
    "which", ["both", *(pytest.param(w, marks=pytest.mark.interpreted) for w in ("rewards", "moves"))]
)
@pytest.mark.parametrize("pooled", [False, pytest.param(True, marks=pytest.mark.interpreted)], ids=["apart", "pooled"])
def test_linear_plans_equal_the_oracle(which, pooled):
    world = linear_world(*{"both": (PHI, PSI), "rewards": (PHI, PSI[0]), "moves": (PHI[0], PSI)}[which])
    strategy = db.zoo.weight_ucrl(gamma=0.8, share_stages=pooled, **SCALES, **COMMON, **BOUNDS)
    run = db.simulate_mdp(strategy, world, seed=3, record=True)
    bounds = {name: BOUNDS[name] for name in ("S_theta", "S_w", "L_psi", "L_phi")}
    plans = naive.linear_mixture_plans(
        world.phi, world.psi, run.states[:-1], run.actions[:-1], run.rewards[:-1], memory=("discounted", 0.8),
        reward_scale=0.3, transition_scale=0.05, cap="stage", share_stages=pooled, **COMMON, **bounds,
    )  # fmt: skip
    for k, (Q, _) in enumerate(plans):
        np.testing.assert_allclose(run.Q[k], Q, atol=1e-9, rtol=0)
    assert run.info["saturation"] < 0.5


@pytest.mark.interpreted
@pytest.mark.parametrize("pooled", [False, True], ids=["apart", "pooled"])
def test_plans_that_know_that_probabilities_sum_to_one_equal_the_oracle(pooled):
    """Each stage has its own totals Σψ: here multiples of 1, which differ from stage to stage, as do the weights."""
    multiple = np.array([1.0, 2.0, 0.5])[:, None, None, None, None]
    w = RNG.dirichlet(np.ones(D), (K, 1)) if pooled else RNG.dirichlet(np.ones(D), (K, H)) / multiple[:, 0, 0, 0]
    psi = PSI if pooled else PSI * multiple
    world = db.mdp.linear_mixture(PHI, psi, THETA, w, horizon=H)
    strategy = db.zoo.weight_ucrl(gamma=0.8, share_stages=pooled, ridge_centre="even", **SCALES, **COMMON, **BOUNDS)
    run = db.simulate_mdp(strategy, world, seed=3, record=True)
    bounds = {name: BOUNDS[name] for name in ("S_theta", "S_w", "L_psi", "L_phi")}
    plans = naive.linear_mixture_plans(
        world.phi, world.psi, run.states[:-1], run.actions[:-1], run.rewards[:-1], memory=("discounted", 0.8), free=D - 1,
        reward_scale=0.3, transition_scale=0.05, cap="stage", share_stages=pooled, centre="even", **COMMON, **bounds,
    )  # fmt: skip
    for k, (Q, _) in enumerate(plans):
        np.testing.assert_allclose(run.Q[k], Q, atol=1e-9, rtol=0)
    if not pooled:
        np.testing.assert_allclose(run.info["w"].sum(axis=1), 1.0 / multiple.ravel(), atol=1e-12)


@pytest.mark.interpreted  # compiled with features that all stages share: test_multinomial.py
@pytest.mark.parametrize("pooled", [False, True], ids=["apart", "pooled"])
def test_logit_plans_equal_the_oracle(pooled):
    world = logit_world()
    scales = SCALES | {"transition_bonus_scale": 0.01 * world.kappa}
    strategy = db.zoo.mnl_weight_ucrl(
        gamma=0.85, share_stages=pooled, kappa=world.kappa, **scales, **COMMON, **BOUNDS | {"S_w": 0.8}
    )
    run = db.simulate_mdp(strategy, world, seed=2, record=True)
    lowest = [naive.subtract_reference(p, r, r.argmax(axis=2)) for p, r in zip(world.psi, world.reachable, strict=True)]
    psi = np.stack(lowest)
    size = max(np.linalg.norm(p, axis=-1).max() for p in psi)
    for k in (2, K - 1):
        Q, _, w = naive.mnl_plan(
            world.phi, psi, world.reachable, run.states[:k], run.actions[:k], run.rewards[:k],
            memory=("discounted", 0.85), reward_scale=0.3, transition_scale=0.01 * world.kappa, cap="stage", kappa=world.kappa,
            S_theta=1.1, S_w=0.8, L_psi=size, U=world.U, share_stages=pooled, **COMMON,
        )  # fmt: skip
        np.testing.assert_allclose(run.Q[k], Q, atol=1e-6)
    # The oracle minimises by SLSQP, whose point is known to the root of its value's precision: 2e-6 apart on some processors.
    np.testing.assert_allclose(run.info["w"], w[: len(run.info["w"])], atol=1e-5)


@pytest.mark.parametrize("make", [linear_world, logit_world])
def test_worlds_equal_the_oracle(make):
    world = make()
    for k in (0, K - 1):
        w = [world.w[k, h % world.w.shape[1]] for h in range(H)]
        if world.multinomial:
            P = np.stack([naive.mnl_kernel(world.psi[h], world.reachable[h], w[h]) for h in range(H)])
        else:
            P = np.stack([naive.linear_mixture_kernel(world.psi[h], w[h]) for h in range(H)])
        pay = np.stack([PHI[h] @ THETA[k, h] for h in range(H)])
        np.testing.assert_allclose(world.kernel(k), P, atol=1e-12)
        np.testing.assert_allclose(world.rewards(k), pay, atol=1e-12)
        assert world.optimal[k] == pytest.approx(naive.optimal_values(P, pay)[0][0, 0], abs=1e-12)
    assert world.states == S
    assert world.actions == A


def test_the_same_features_in_every_stage_are_shared_features():
    apart, shared = linear_world(PHI[0][None].repeat(H, 0), PSI[0][None].repeat(H, 0)), linear_world(PHI[0], PSI[0])
    strategy = db.zoo.weight_ucrl(gamma=0.9)
    one, other = (db.simulate_mdp(strategy, world, seed=0).regret for world in (apart, shared))
    np.testing.assert_allclose(one, other, atol=1e-9)


def play(agent, episodes, rng):
    """Episodes of random successors that the agent's features allow."""
    plans = []
    for _ in range(episodes):
        plans.append(agent.begin_episode())
        s = 0
        for h in range(H):
            a = agent.act(h, s)
            s_next = next(t for t in rng.permutation(S) if agent.features.can_follow(s, a, int(t), h))
            agent.observe(h, s, a, float(rng.random()), int(s_next))
            s = int(s_next)
    return plans


BUILT = {
    "arrays": lambda: db.mdp.features_of(PHI, PSI),
    "models": lambda: db.mdp.mixture_of(list(np.moveaxis(PSI, -1, 0)), known_rewards=PHI[..., 0]),
    "logit": lambda: db.mdp.logit(
        lambda h, s, a, t: MOVES[h, s, a, t] if REACHABLE[h, s, a, t] else None, states=S, actions=A, stages=H
    ),
    "table": lambda: db.mdp.tabular(S, A, known_rewards=PHI[..., 1]),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", BUILT)
def test_agents_are_saved_and_go_on(kind, tmp_path):
    features = BUILT[kind]()
    strategy = (db.zoo.mnl_weight_ucrl if features.multinomial else db.zoo.weight_ucrl)(gamma=0.9)
    agents = [db.EpisodicAgent(strategy, features, horizon=H, seed=0)]
    play(agents[0], 2, np.random.default_rng(0))
    agents[0].save(tmp_path / "agent")
    agents.append(db.EpisodicAgent.load(tmp_path / "agent"))
    assert repr(agents[1].features) == repr(features)
    one, other = (play(agent, 2, np.random.default_rng(1)) for agent in agents)
    np.testing.assert_array_equal(one, other)


@pytest.mark.interpreted
def test_the_adaptive_learner_uses_them():
    """It never forgets and forecasts with each stage's own features: its evidence is that of the candidates by hand."""
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.features_of(PHI, PSI), horizon=H, seed=0)
    play(agent, 3, np.random.default_rng(7))
    agent.begin_episode()
    state, before = agent._state, agent._state.of_transition.fresh.copy()
    agent.observe(0, 0, 0, 0.5, 1)
    agent.observe(1, 1, 1, 0.5, 3)
    origin, basis = (array[0, 0] for array in state.transition.coordinates)
    w = origin + state.transition.u[:, 0] @ basis.T  # (candidates, D): all stages share one estimate
    p = np.clip([[PSI[0, 0, 0, 1] @ one, PSI[1, 1, 1, 3] @ one] for one in w], 0.01, 1.0)
    np.testing.assert_allclose(state.of_transition.fresh - before, np.log(p).sum(axis=1), atol=1e-12)


def test_builders_agree():
    dense = db.mdp.mixture_of(list(np.moveaxis(PSI, -1, 0)))
    sparse = db.mdp.mixture_of(
        [[scipy.sparse.csr_array(PSI[h, ..., i].reshape(S * A, S)) for h in range(H)] for i in range(D)]
    )
    np.testing.assert_allclose(sparse.psi, dense.psi, atol=1e-15)
    assert repr(dense) == f"Features(linear mixture, {S} states, {A} actions, {D} features, {H} stages)"
    asked = BUILT["logit"]()
    given = db.mdp.features_of(np.ones((S, A, 1)), MOVES, REACHABLE)
    np.testing.assert_array_equal(asked.psi, given.psi)
    np.testing.assert_array_equal(asked.reachable, REACHABLE)
    shared = db.mdp.features_of(np.ones((S, A, 1)), MOVES[0], REACHABLE)  # what can follow differs, its features do not
    np.testing.assert_array_equal(shared.psi, np.where(REACHABLE[..., None], MOVES[0], 0.0))


@pytest.mark.parametrize("horizon", [2, 4])
def test_the_stages_must_be_those_of_the_agent(horizon):
    for features, name in (
        (BUILT["arrays"](), "phi"),
        (BUILT["logit"](), "psi"),
        (BUILT["table"](), "known_rewards"),
    ):
        strategy = (db.zoo.mnl_weight_ucrl if features.multinomial else db.zoo.weight_ucrl)()
        with pytest.raises(db.DriftBanditsError, match=f"{name} is given for 3 stages, horizon = {horizon}"):
            db.EpisodicAgent(strategy, features, horizon=horizon)
    with pytest.raises(db.DriftBanditsError, match="phi is given for 3 stages"):
        db.mdp.linear_mixture(PHI, PSI[0], THETA[:, 0], W, horizon=horizon)


def test_bad_shapes_are_one_line():
    for call, message in (
        (lambda: db.mdp.features_of(PHI, PSI[:, :, :1]), "psi has shape"),
        (lambda: db.mdp.features_of(PHI, MOVES, REACHABLE[:2]), "reachable has shape"),
        (
            lambda: db.mdp.sparse_features(np.zeros((H, S, A, 1), int), np.zeros((S, A, 1, D)), multinomial=True),
            "must be",
        ),
        (lambda: db.mdp.mixture_of([PSI[..., 0], PSI[0, ..., 0]]), "models have shapes"),
        (lambda: db.mdp.mixture_of([2 * PSI[..., 0]]), "not a distribution"),
        (lambda: db.mdp.tabular(S, A, known_rewards=np.ones((H, S, A, 2))), "known_rewards has shape"),
        (
            lambda: linear_world(psi=np.where(np.arange(H)[:, None, None, None, None] == 1, 2.0, 1.0) * PSI),
            "distribution",
        ),
        (lambda: linear_world(phi=3 * PHI), r"must lie in \[0, 1\]"),
    ):
        with pytest.raises(db.DriftBanditsError, match=message) as raised:
            call()
        assert "\n" not in str(raised.value)


@pytest.mark.interpreted
def test_what_cannot_follow_in_this_stage_is_refused():
    features = BUILT["logit"]()
    agent = db.EpisodicAgent(db.zoo.mnl_weight_ucrl(gamma=0.9), features, horizon=H, seed=0)
    agent.begin_episode()
    hidden = np.argwhere(~REACHABLE[0, 0, 0] & REACHABLE[1, 0, 0])
    for t in np.flatnonzero(~REACHABLE[0, 0, 0]):
        with pytest.raises(db.DriftBanditsError, match="not reachable"):
            agent.observe(0, 0, 0, 0.5, int(t))
    agent.observe(0, 0, 0, 0.5, 0)
    for (t,) in hidden[:1]:
        agent.observe(1, 0, 0, 0.5, int(t))  # it may follow in the next stage
