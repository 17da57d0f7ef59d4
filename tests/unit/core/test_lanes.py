"""Four matrices at once against NumPy, one by one; compiled and interpreted."""

import numpy as np
import pytest

from driftbandits.core import lane_rows, lanes
from driftbandits.core.kernel import entry
from driftbandits.core.lanes import LANES
from driftbandits.core.simd4 import get, put, spread

pytestmark = pytest.mark.xdist_group("adaptive")


@entry
def inverted(A, least, Z, R):
    lanes.factor(A, least)
    lanes.invert(A, Z, R)


@entry
def solved(A, least, d, theta, out):
    lanes.factor(A, least)
    lanes.solve_upper(A, theta[0], theta[1])
    put(out, 0, lanes.squared_norm(A, d))


@entry
def rows(row, other, x, one, two, mask, out):
    """Every operation on rows, from the second row on."""
    c, m = get(other, 0), get(mask, 0)
    lane_rows.fade_add(row, 1, c, 2.0 * c, x)
    lane_rows.subtract_rows(row, 1, c, other)
    lane_rows.scale_row(row, 1, c)
    lane_rows.fade_exchange(row, 1, c, 3.0 * c, x, m, other)
    lane_rows.fade_subtract(row, 1, c, m, other)
    lane_rows.blend(row, 1, m, 2.0 * c, one, two)
    put(out, 0, lane_rows.dot_rows(row, other, 1))
    put(out, 1, lane_rows.dot_numbers(other, x))
    put(out, 2, spread(3.0) + 1.0 / c - c / (c * c))


@entry
def products(R, S, out, back, E):
    lane_rows.combine_rows(out, R[0], S)
    lane_rows.subtract_combined(back, R[0], S)
    for j in range(E.shape[0]):
        lane_rows.add_product(E[j], j, get(R[0], 1), S, S)


def positive(p, seed=0):
    X = np.random.default_rng(seed).normal(size=(LANES, 3 * p, p)) * 10.0 ** np.arange(-2, 2)[:, None, None]
    return np.ascontiguousarray(np.einsum("lnp,lnq->pql", X, X))


@pytest.mark.parametrize("p", [1, 2, 4, 7, 11, 18])
def test_inverses_and_solutions_are_those_of_each_matrix(p):
    rng, A = np.random.default_rng(p), positive(p)
    R, d, b = np.zeros_like(A), rng.normal(size=(p, LANES)), rng.normal(size=(p, 2, LANES))
    least = np.zeros((p, LANES))
    inverted(A.copy(), least, np.zeros_like(A), R)
    theta, out = np.zeros((2, p, LANES)), np.zeros((1, LANES))
    solved(np.concatenate([A, b], axis=1), least, d.copy(), theta, out)
    for lane in range(LANES):
        whole = A[..., lane]
        np.testing.assert_allclose(
            R[..., lane], np.linalg.inv(whole), rtol=1e-8, atol=1e-10 * np.abs(R[..., lane]).max()
        )
        np.testing.assert_allclose(theta[..., lane].T, np.linalg.solve(whole, b[..., lane]), rtol=1e-8)
        assert out[0, lane] == pytest.approx(d[:, lane] @ np.linalg.solve(whole, d[:, lane]), rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_rows_are_those_of_numpy(n):
    rng = np.random.default_rng(n)
    row, other, x = rng.normal(size=(n, LANES)), rng.uniform(0.5, 2.0, (n, LANES)), rng.normal(size=n)
    one, two, mask, out = rng.normal(size=n), rng.normal(size=n), np.array([[0.0, 1.0, 1.0, 0.0]]), np.zeros((3, LANES))
    before, c = row.copy(), other[0]
    rows(row, other, x, one, two, mask, out)
    want = c * (c * before + 2.0 * c * x[:, None] - c * other)
    want = c * (c * want + 3.0 * c * x[:, None] - mask * other) - mask * other
    want = want + mask * one[:, None] + 2.0 * c * two[:, None]
    np.testing.assert_allclose(row[1:], want[1:], rtol=1e-12)
    np.testing.assert_array_equal(row[0], before[0])
    np.testing.assert_allclose(out[0], (row[1:] * other[1:]).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(out[1], x @ other, rtol=1e-12)
    np.testing.assert_allclose(out[2], 3.0, rtol=1e-12)


@pytest.mark.parametrize(("k", "p"), [(1, 3), (3, 4), (5, 9)])
def test_products_are_those_of_numpy(k, p):
    rng = np.random.default_rng(k)
    R, S, E = rng.normal(size=(2, k, LANES)), rng.normal(size=(k, p, LANES)), rng.normal(size=(p, p, LANES))
    R = np.concatenate([R, R], axis=1)[:, : max(k, 2)]
    out, back, before = np.zeros((p, LANES)), np.ones((p, LANES)), E.copy()
    products(
        np.ascontiguousarray(R[:, :k]) if k > 1 else R[:, :2].copy(),
        S if k > 1 else np.repeat(S, 2, axis=0),
        out,
        back,
        E,
    )
    S = S if k > 1 else np.repeat(S, 2, axis=0)
    combined = np.einsum("bl,bjl->jl", R[0, : len(S)], S)
    np.testing.assert_allclose(out, combined, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(back, 1.0 - combined, rtol=1e-12, atol=1e-12)
    for j in range(p):
        want = before[j, j:] + R[0, 1] * np.einsum("al,ajl->jl", S[:, j], S[:, j:])
        np.testing.assert_allclose(E[j, j:], want, rtol=1e-11, atol=1e-11)
        np.testing.assert_array_equal(E[j, :j], before[j, :j])


def test_a_pivot_that_is_rounding_is_replaced_and_its_column_left_out():
    A = np.zeros((3, 3, LANES))
    A[:] = np.array([[4.0, 4.0, 2.0], [4.0, 4.0 - 1e-15, 2.0], [2.0, 2.0, 5.0]])[
        ..., None
    ]  # the second column is the first again
    b = np.ones((3, 2, LANES))
    theta, out = np.zeros((2, 3, LANES)), np.zeros((1, LANES))
    least = 1e-14 * np.ascontiguousarray(np.einsum("jjl->jl", A))
    solved(np.concatenate([A, b], axis=1), least, np.ones((3, LANES)), theta, out)
    assert np.isfinite(out).all()
    np.testing.assert_allclose(theta[0, :, 0], [0.1875, 0.0, 0.125], rtol=1e-12)


def test_large_arrays_begin_at_a_line_of_the_cache():
    for shape in ((1, 4), (40, 4), (2, 42, 44, 4)):
        room = np.random.default_rng(0).normal(size=int(np.prod(shape)) + 8)
        for first in range(8):
            array = room[first : first + int(np.prod(shape))].reshape(shape)
            placed = lanes.aligned(array)
            np.testing.assert_array_equal(placed, array)
            assert placed.flags.c_contiguous
            assert placed is array if array.nbytes < lanes.SMALL else placed.ctypes.data % lanes.LINE == 0


def test_a_model_lies_where_its_lanes_do_not_cross_lines(monkeypatch):
    import driftbandits as db

    monkeypatch.setattr(lanes, "SMALL", 0)
    bandit = db.Bandit()
    for t in range(6):
        bandit.observe(None, name=f"i{t % 3}", context={f"x{j}": float(t * j % 5) for j in range(t + 1)}, reward=t % 2)
    engine = bandit._learner.model.engine
    arrays = [a for part in (engine.state, engine.work) for a in part if a.shape[-1] == LANES and a.size]
    assert len(arrays) > 20
    assert all(array.ctypes.data % lanes.LINE == 0 for array in arrays)
