"""Registers of four numbers against NumPy, compiled and interpreted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftbandits.core.kernel import entry
from driftbandits.core.simd4 import above, larger, load, root, store


@entry
def _mix(x, y, i, j, c, out):
    a, b = load(x, i), load(y, j)
    store(out, 0, a - c * b)
    store(out, 4, b * c)
    store(out, 8, a * b)
    out[12] = a[i]


@given(st.integers(0, 3), st.integers(0, 6), st.floats(-3, 3), st.integers(0, 2**32 - 1))
def test_registers(i, j, c, seed):
    rng = np.random.default_rng(seed)
    x, y, out = rng.standard_normal(7), rng.standard_normal(10), np.full(13, np.nan)
    _mix(x, y, i, j, c, out)
    a, b = x[i : i + 4], y[j : j + 4]
    np.testing.assert_allclose(out, np.concatenate([a - c * b, b * c, a * b, [a[i]]]), rtol=1e-15, atol=1e-15)


@entry
def _compare(x, y, out):
    a, b = load(x, 0), load(y, 0)
    store(out, 0, above(a, b))
    store(out, 4, larger(a, b))
    store(out, 8, a + b)
    store(out, 12, a / b)
    store(out, 16, root(a * a))


def test_comparisons_and_the_rest():
    x, y, out = np.array([1.0, -2.0, 3.0, 0.5]), np.array([2.0, -3.0, 3.0, 0.25]), np.full(20, np.nan)
    _compare(x, y, out)
    expected = [x > y, np.maximum(x, y), x + y, x / y, np.abs(x)]
    np.testing.assert_array_equal(out.reshape(5, 4), np.array(expected, float))


@entry
def _halve(x):
    store(x, 1, 0.5 * load(x, 1))


def test_only_the_four_numbers_are_written():
    x = np.arange(6.0)
    _halve(x)
    np.testing.assert_array_equal(x, [0, 0.5, 1, 1.5, 2, 5])
