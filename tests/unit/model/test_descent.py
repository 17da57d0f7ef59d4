"""The quasi-Newton model of the descent; `test_projection` has the descent itself, against dense sweeps."""

import numpy as np
import pytest

from driftbandits.model.descent import quasi_newton

pytestmark = pytest.mark.interpreted  # a leaf, which Python cannot call when it is compiled


def model(rng, d):
    M = rng.standard_normal((d, d))
    return M @ M.T + 0.1 * np.eye(d)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_model_takes_on_the_slope_that_was_seen(d):
    """BFGS: the new B has Bs = y, and stays symmetric."""
    rng = np.random.default_rng(d)
    B, s = model(rng, d), rng.standard_normal(d)
    y = model(rng, d) @ s + B @ s  # a curvature above that of B along s: no damping
    quasi_newton(B, s, y, np.zeros(d))
    np.testing.assert_allclose(B @ s, y, rtol=1e-9)
    np.testing.assert_allclose(B, B.T, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_negative_curvature_leaves_it_positive_definite(d):
    rng = np.random.default_rng(d)
    B, s = model(rng, d), rng.standard_normal(d)
    before = s @ B @ s
    quasi_newton(B, s, -B @ s, np.zeros(d))
    assert np.linalg.eigvalsh(B).min() > 0.0
    assert s @ B @ s == pytest.approx(0.2 * before)  # Powell's damping
