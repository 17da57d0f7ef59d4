"""Successors by pair: the same learners and numbers as with dense features, and sizes that dense features cannot have."""

import numpy as np
import pytest
import scipy.sparse

import driftbandits as db
from driftbandits.errors import DriftBanditsError
from driftbandits.mdp import curvature
from driftbandits.mdp.linear_dynamics import value_feature_bound
from driftbandits.mdp.successors import in_use, moves_from, moves_of

RNG = np.random.default_rng(0)
S, A, U, D = 6, 2, 3, 2
SUCCESSORS = np.array([[RNG.permutation(S)[:U] for _ in range(A)] for _ in range(S)])
SUCCESSORS[2, 1, 1:] = -1  # a pair with a single successor
PSI = RNG.normal(size=(S, A, U, D))


def dense():
    psi, mask = np.zeros((S, A, S, D)), np.zeros((S, A, S), bool)
    for s, a, u in np.argwhere(SUCCESSORS >= 0):
        psi[s, a, SUCCESSORS[s, a, u]], mask[s, a, SUCCESSORS[s, a, u]] = PSI[s, a, u], True
    return psi, mask


def test_sparse_and_dense_features_are_the_same_moves():
    psi, mask = dense()
    states, actions, sparse = moves_from(SUCCESSORS, PSI)
    assert (states, actions) == (S, A)
    for one, other in zip(sparse, moves_of(psi, mask), strict=True):
        np.testing.assert_array_equal(one, other)
    assert in_use(sparse).sum() == mask.sum()
    features = db.mdp.sparse_features(SUCCESSORS, PSI, multinomial=True)
    np.testing.assert_array_equal(features.psi, psi)
    np.testing.assert_array_equal(features.reachable, mask)
    assert features.can_follow(2, 1, SUCCESSORS[2, 1, 0])
    assert not features.can_follow(2, 1, (SUCCESSORS[2, 1, 0] + 1) % S)


def test_a_successor_without_features_is_no_move_of_a_linear_mixture():
    psi = np.zeros((2, 1, 2, 2))
    psi[0, 0, 1] = psi[1, 0, 0] = [0.5, 0.5]
    moves = moves_of(psi)
    np.testing.assert_array_equal(moves.successor, [[1], [0]])


@pytest.mark.parametrize("as_array", [scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_sparse_models_are_the_mixture_of_dense_ones(as_array):
    models = RNG.dirichlet(np.ones(S), size=(3, S, A)) * (RNG.random((3, S, A, S)) < 0.4)
    models[..., 0] += 1.0 - models.sum(axis=-1)
    given = db.mdp.mixture_of([as_array(model.reshape(S * A, S)) for model in models])
    usual = db.mdp.mixture_of(list(models))
    assert repr(given) == repr(usual)
    np.testing.assert_allclose(given.psi, usual.psi, atol=1e-15)
    with pytest.raises(DriftBanditsError, match="one form"):
        db.mdp.mixture_of([as_array(models[0].reshape(S * A, S)), models[1]])
    with pytest.raises(DriftBanditsError, match=r"models\[1\].*sums are off by 0.5"):
        db.mdp.mixture_of([as_array(c * models[0].reshape(S * A, S)) for c in (1.0, 0.5)])
    with pytest.raises(DriftBanditsError, match=r"\(S·A, S\)"):
        db.mdp.mixture_of([as_array(models[0].reshape(S, A * S))])


def test_a_logit_asks_only_about_the_successors_it_is_told():
    asked = []

    def step(s, a, t):
        asked.append((s, a, t))
        return [float(t - s), float(a)]

    features = db.mdp.logit(step, states=4, actions=2, successors=lambda s, a: [s, (s + 1) % 4])
    assert len(asked) == 4 * 2 * 2
    everything = db.mdp.logit(lambda s, a, t: step(s, a, t) if t in (s, (s + 1) % 4) else None, states=4, actions=2)
    for one, other in zip(features.moves, everything.moves, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("successors", "psi", "words"),
    [
        (SUCCESSORS[0], PSI, "must be"),
        (SUCCESSORS, PSI[:, :, :2], "must be"),
        (SUCCESSORS.astype(float), PSI, "states 0..5"),
        (np.where(SUCCESSORS == 3, 6, SUCCESSORS), PSI, "states 0..5"),
        (np.where(SUCCESSORS == 3, -2, SUCCESSORS), PSI, "states 0..5"),
        (np.where(np.arange(S)[:, None, None] == 4, -1, SUCCESSORS), PSI, "state 4 with action 0"),
        (np.where(np.arange(S)[:, None, None] == 1, 2, SUCCESSORS), PSI, "state 1 with action 0 is given twice"),
        (SUCCESSORS, np.where(PSI[3, 1, 2, 0] == PSI, np.nan, PSI), "NaN"),
    ],
)
def test_what_is_not_a_table_of_moves_is_refused(successors, psi, words):
    with pytest.raises(DriftBanditsError, match=words):
        db.mdp.sparse_features(successors, psi, multinomial=True)


def test_the_bound_of_value_features_is_attained_at_a_vertex():
    psi = dense()[0]
    vertices = np.array(np.meshgrid(*[[0.0, 1.0]] * S)).reshape(S, -1).T
    largest = max(np.linalg.norm(vertices @ row, axis=1).max() for row in psi.reshape(S * A, S, D))
    assert value_feature_bound(moves_of(psi)) == pytest.approx(largest, rel=1e-12)
    assert value_feature_bound(moves_of(np.abs(psi))) == pytest.approx(
        np.linalg.norm(np.abs(psi).sum(axis=2), axis=-1).max(), rel=1e-12
    )


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_kappa_in_the_order_of_its_bounds_is_the_smallest_product(dim):
    psi = np.random.default_rng(dim).normal(size=(S, A, U, dim))
    moves = moves_from(SUCCESSORS, psi)[2]
    kappa = curvature.kappa_of(moves, 1.5)
    table = curvature.choices(moves, 1)
    products = list(curvature._products(table, 1.5, False))
    exact = [
        curvature._smallest_product(curvature._reduced(table.psi[c, : table.used[c]]), i, j, 1.5)
        for _, c, i, j in products
    ]
    assert kappa == min(exact)
    assert all(bound <= value * (1 + 1e-12) for (bound, *_), value in zip(products, exact, strict=True))


def test_distances_come_from_inner_products():
    psi = np.random.default_rng(0).normal(size=(3, 5, 4))
    i, j = np.tril_indices(5, -1)
    expected = np.linalg.norm(psi[:, None] - 0.5 * (psi[:, i] + psi[:, j])[:, :, None], axis=-1)
    np.testing.assert_allclose(curvature._distances(psi, i, j), expected, atol=1e-12)


def test_a_kappa_that_would_take_too_long_is_bounded_from_below(monkeypatch):
    moves = moves_from(SUCCESSORS, PSI)[2]
    exact = curvature.kappa_of(moves, 1.5)
    for limit in ("EXACT", "EFFORT", "TOO_MANY"):
        with monkeypatch.context() as patch:
            patch.setattr(curvature, limit, 1)
            assert 0.0 < curvature.kappa_of(moves, 1.5) <= exact


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("multinomial", [False, True])
def test_five_thousand_states_fit(multinomial):
    states, actions, count, dim = 5000, 4, 8, 10
    rng = np.random.default_rng(0)
    steps = rng.permuted(np.tile(np.arange(40), (states, actions, 1)), axis=2)[..., :count]
    successors = (np.arange(states)[:, None, None] + steps) % states
    psi = rng.dirichlet(np.ones(count), size=(states, actions, dim)).transpose(0, 1, 3, 2)
    features = db.mdp.sparse_features(successors, psi, multinomial=multinomial)
    strategy = db.zoo.mnl_weight_ucrl() if multinomial else db.zoo.weight_ucrl()
    agent = db.EpisodicAgent(strategy, features, horizon=10, seed=0, compile="now")
    held = sum(array.nbytes for array in agent.pack()[1].values())
    assert held < 0.6e9
    for _ in range(2):
        Q, s = agent.begin_episode(), 0
        assert np.isfinite(Q).all()
        for h in range(10):
            a = agent.act(h, s)
            s_next = int(successors[s, a, rng.integers(count)])
            agent.observe(h, s, a, 0.5, s_next)
            s = s_next
