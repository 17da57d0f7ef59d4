"""Worlds that are stored by successor: the same as dense ones, and as many as 5000 states."""

import numpy as np
import pytest
import scipy.sparse

import driftbandits as db

S, A, K, H = 5, 2, 8, 4
RNG = np.random.default_rng(0)
PAY = RNG.random((S, A))


def models(d=2):
    """Kernels in which a pair leads to two of five states."""
    out = np.zeros((d, S, A, S))
    for i, s, a in np.ndindex(d, S, A):
        out[i, s, a, RNG.choice(S, 2, replace=False)] = RNG.dirichlet(np.ones(2))
    return out


KERNELS, W = models(), RNG.dirichlet(np.ones(2), K)
MASK = RNG.random((S, A, S)) < 0.5
MASK[..., 1] = True
PSI, LOGITS = RNG.normal(size=(S, A, S, 3)), RNG.normal(size=(K, 3))


def pair(kind):
    """A dense world, and the same stored by successor."""
    if kind == "linear":
        dense = db.mdp.linear_mixture(PAY[..., None], np.moveaxis(KERNELS, 0, -1), np.ones((K, 1)), W, horizon=H)
        sparse = [scipy.sparse.csr_array(kernel.reshape(S * A, S)) for kernel in KERNELS]
        return dense, db.mdp.sparse_mixture(db.mdp.mixture_of(sparse, known_rewards=PAY), W, horizon=H)
    dense = db.mdp.mnl_mixture(PAY[..., None], PSI, MASK, np.ones((K, 1)), LOGITS, horizon=H)
    known = db.mdp.logit(
        lambda s, a, t: PSI[s, a, t] if MASK[s, a, t] else None, states=S, actions=A, known_rewards=PAY
    )
    return dense, db.mdp.sparse_mixture(known, LOGITS, horizon=H)


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", ["linear", "logit"])
def test_a_sparse_world_is_the_dense_one(kind):
    dense, sparse = pair(kind)
    np.testing.assert_allclose(sparse.kernel(3), dense.kernel(3), atol=1e-12)
    np.testing.assert_allclose(sparse.optimal, dense.optimal, atol=1e-12)
    assert sparse.bounds.keys() == dense.bounds.keys()
    assert sparse.L_psi == pytest.approx(dense.L_psi)
    assert (sparse.multinomial, sparse.states, sparse.U, sparse.Delta) == (dense.multinomial, S, dense.U, dense.Delta)
    table = db.mdp.tabular(S, A)
    one, other = (db.simulate_mdp(db.zoo.weight_ucrl(), world, seed=1, features=table) for world in (dense, sparse))
    np.testing.assert_allclose(one.regret, other.regret, atol=1e-9)
    learner = db.zoo.mnl_weight_ucrl if kind == "logit" else db.zoo.weight_ucrl
    one, other = (db.simulate_mdp(learner(gamma=0.9), world, seed=1) for world in (dense, sparse))
    np.testing.assert_allclose(one.regret, other.regret, atol=1e-9)
    assert db.mdp.uniform_regret(sparse)[-1] == pytest.approx(db.mdp.uniform_regret(dense)[-1])


@pytest.mark.slow
@pytest.mark.compiled  # too long without the compiler
def test_five_thousand_states():
    """A ring of 5000 states: the dense features alone would have 50 million numbers, P of a policy 25 million a stage."""
    n, steps = 5000, np.array([[-1, 0], [1, 0]])
    ring = (np.arange(n)[:, None, None] + steps) % n
    calm, storm = np.tile([0.9, 0.1], (n, 2, 1)), np.tile([0.4, 0.6], (n, 2, 1))
    pay = np.zeros((n, 2))
    pay[3, 1] = 1.0
    known = db.mdp.sparse_features(ring, np.stack([calm, storm], axis=-1), multinomial=False, known_rewards=pay)
    world = db.mdp.sparse_mixture(known, lambda k: [1 - k / 20, k / 20], horizon=6, episodes=20)
    run = db.simulate_mdp(db.zoo.weight_ucrl(), world, seed=0)
    assert run.regret.shape == (20,)
    assert 0.0 <= run.regret[-1] < db.mdp.uniform_regret(world)[-1] < world.optimal.sum()
    with pytest.raises(db.DriftBanditsError, match="P is written out"):
        world.kernel(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: db.mdp.sparse_mixture(db.mdp.tabular(3, 2), W, horizon=2), "needs features of the moves"),
        (lambda: db.mdp.sparse_mixture(db.mdp.mixture_of(KERNELS), W, horizon=2), "what does an action pay"),
        (
            lambda: db.mdp.sparse_mixture(db.mdp.mixture_of(KERNELS, known_rewards=PAY), W, horizon=2, theta=W),
            "known_rewards .* need none",
        ),
        (
            lambda: db.mdp.sparse_mixture(db.mdp.mixture_of(KERNELS, known_rewards=PAY), 2 * W, horizon=2),
            "is not a distribution",
        ),
        (lambda: db.mdp.sparse_mixture("ring", W, horizon=2), "make them with db.mdp"),
    ],
)
def test_what_is_no_world_is_refused(call, message):
    with pytest.raises(db.DriftBanditsError, match=message):
        call()
