"""Parameters given as a function of the episode are made when needed, and play as the array of their rows does."""

import tracemalloc

import numpy as np
import pytest

import driftbandits as db
from driftbandits.mdp.function_path import BLOCK, FunctionPath

K = 2 * BLOCK + 7


def turning(k):
    share = 0.5 + 0.5 * np.sin(k / 300)
    return [share, 1.0 - share]


def world(w, **options):
    stay, move = np.eye(2), np.eye(2)[::-1]
    psi = np.stack([np.stack([stay, move], 1), np.stack([move, stay], 1)], -1)
    pay = np.array([[0.1, 0.2], [0.9, 0.7]])[..., None]
    return db.mdp.linear_mixture(pay, psi, lambda k: [1.0], w, horizon=3, **options)


def test_a_function_is_the_array_of_its_rows():
    rows = np.array([turning(k) for k in range(K)])
    by_function, by_rows = world(turning, episodes=K), world(rows, episodes=K)
    assert isinstance(by_function.w, FunctionPath)
    assert np.array_equal(np.asarray(by_function.w), by_rows.w)
    for k in (0, 1, BLOCK - 1, BLOCK, K - 1, -1):
        assert np.array_equal(by_function.w[k], by_rows.w[k])
    for part in (slice(BLOCK - 2, BLOCK + 3), slice(5, 5), slice(K - 3, None), slice(None, 4)):
        assert np.array_equal(by_function.w[part], by_rows.w[part])
    assert np.array_equal(by_function.optimal, by_rows.optimal)
    assert by_function.P_w == pytest.approx(by_rows.P_w, rel=1e-12)
    assert (by_function.S_w, by_function.L_psi) == (by_rows.S_w, by_rows.L_psi)


def test_play_is_the_same():
    rows = np.array([turning(k) for k in range(40)])
    by_function, by_rows = world(turning, episodes=40), world(rows, episodes=40)
    for features in (None, db.mdp.tabular(2, 2)):
        runs = [db.simulate_mdp(db.zoo.weight_ucrl(), m, seed=3, features=features) for m in (by_function, by_rows)]
        assert np.array_equal(runs[0].regret, runs[1].regret)
    assert np.array_equal(db.mdp.uniform_regret(by_function), db.mdp.uniform_regret(by_rows))


def test_rows_are_not_kept():
    """2·10⁵ episodes of 50 numbers are 80 MB; made block by block they need a hundredth of that."""
    many = 200_000
    path = FunctionPath("w", lambda k: np.full(50, k), episodes=many, horizon=1, dim=50)
    tracemalloc.start()
    try:
        for first in range(0, many, 20 * BLOCK):  # a part of all blocks, in order
            assert path[first][0, 0] == first
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 4e6


def test_a_function_that_changes_its_mind_is_refused():
    rng = np.random.default_rng(0)

    def fickle(k):
        share = rng.random()
        return [share, 1.0 - share]

    with pytest.raises(
        db.errors.InvalidValue, match=r"w\(k\) was not the same when it was asked for episodes 0..1023 again"
    ):
        world(fickle, episodes=4 * BLOCK)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (lambda k: [1.0, 0.0] if k < BLOCK + 1 else [1.0], r"w\(1025\) has shape \(1,\), w\(0\) \(2,\)"),
        (lambda k: [1.0, 0.0] if k < BLOCK + 1 else [np.nan, 1.0], "w contains NaN"),
        (lambda k: [1.0, 0.0] if k < BLOCK + 1 else [0.9, 0.0], "not a distribution"),
        (lambda k: [1.0, 0.0, 0.0], r"w\(0\) has shape \(3,\); it must be \(2,\), or \(3, 2\)"),
    ],
)
def test_rows_beyond_the_first_block_are_checked_too(w, message):
    with pytest.raises(db.errors.DriftBanditsError, match=message):
        world(w, episodes=K)
