"""Small dense kernels against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import assert_close

from driftbandits.core import linalg
from driftbandits.core.kernel import entry


@entry
def _factor(A, shift, U, y, low, full, rows, X, Z, q, P):
    linalg.cholesky(A, shift, U)
    linalg.solve_lower(U, y, low)
    linalg.solve(U, y, full)
    linalg.inverse_norms(X, 0, X.shape[1], U, Z, q)
    for i in range(U.shape[0]):
        linalg.row_of_factor(U, i, rows[i])
    linalg.inverse(U, P[0], P[1])
    return linalg.log_det(U)


@entry
def _products(X, theta, out, M, Z, forms):
    linalg.inner_products(X, theta, out)
    linalg.quadratic_forms(X, 0, X.shape[1], M, Z, forms)


@given(st.integers(1, 24), st.integers(1, 64), st.integers(0, 2**32 - 1))
def test_factor_and_solves(d, n, seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((d, d))
    A, y, X = B @ B.T, rng.standard_normal(d), rng.standard_normal((d, n))
    U, low, full, Z, q = np.full((d, d), np.nan), np.zeros(d), np.zeros(d), np.zeros((d, 64)), np.zeros(64)
    rows, P = np.full((d, d), np.nan), np.full((2, d, d), np.nan)
    log_det = _factor(A, 0.5, U, y, low, full, rows, X, Z, q, P)
    V = A + 0.5 * np.eye(d)
    R = np.triu(U, 1) + np.diag(1 / np.diag(U))
    assert_close(R.T @ R, V, 1e-12)
    assert_close(P[1], np.linalg.inv(V), 1e-9)
    assert_close(P[1], P[1].T, 0.0)
    assert_close(low, np.linalg.solve(R.T, y), 1e-10)
    assert_close(rows, R, 1e-15)
    assert_close(full, np.linalg.solve(V, y), 1e-10)
    assert_close(q[:n], np.einsum("ia,ia->a", X, np.linalg.solve(V, X)), 1e-10)
    assert_close(log_det, np.linalg.slogdet(V)[1], 1e-10)


@given(st.integers(1, 24), st.integers(1, 64), st.integers(0, 2**32 - 1))
def test_products(d, n, seed):
    rng = np.random.default_rng(seed)
    X, theta, B = rng.standard_normal((d, n)), rng.standard_normal(d), rng.standard_normal((d, d))
    out, forms = np.zeros(n), np.zeros(64)
    _products(X, theta, out, B + B.T, np.zeros((d, 64)), forms)
    assert_close(out, X.T @ theta, 1e-12)
    assert_close(forms[:n], np.einsum("ia,ij,ja->a", X, B + B.T, X), 1e-12)


@entry
def _top(score, found):
    found[0] = linalg.largest(score)
    found[1] = linalg.position(score, found[0])


@given(st.lists(st.floats(-10, 10) | st.just(-np.inf), min_size=1, max_size=19))
def test_largest_and_where(scores):
    score, found = np.array(scores), np.zeros(2)
    _top(score, found)
    assert found[0] == score.max()
    assert found[1] == np.argmax(score)


@entry
def _factor_only(A, shift, U):
    linalg.cholesky(A, shift, U)


@pytest.mark.parametrize("d", [linalg.WIDE_FROM, linalg.WIDE_FROM + 21])
def test_a_large_factor_is_made_sixteen_columns_at_a_time(d):
    B = np.random.default_rng(d).standard_normal((d, d))
    A, U = B @ B.T / d, np.full((d, d), np.nan)
    _factor_only(A, 0.5, U)
    R = np.triu(U, 1) + np.diag(1 / np.diag(U))
    assert_close(R.T @ R, A + 0.5 * np.eye(d), 1e-12)


@entry
def _add_to_factor(U, x, w, p, t, s):
    linalg.solve_lower(U, x, p)
    linalg.add_outer_to_factor(U, p, w, t, s)


@given(st.integers(1, 24), st.floats(0.0, 1e3), st.integers(0, 2**32 - 1))
def test_a_factor_of_rank_one_more(d, w, seed):
    """The factor of V + w·xxᵀ from that of V, and reciprocals on its diagonal."""
    rng = np.random.default_rng(seed)
    B, x = rng.standard_normal((d, d)), rng.standard_normal(d)
    V, U = B @ B.T + 0.5 * np.eye(d), np.full((d, d), np.nan)
    _factor_only(V, 0.0, U)
    _add_to_factor(U, x, w, np.zeros(d), np.zeros(d), np.zeros(d))
    R = np.triu(U, 1) + np.diag(1 / np.diag(U))
    assert_close(R.T @ R, V + w * np.outer(x, x), 1e-12)
    assert (np.diag(U) > 0).all()
