"""Arms have the promised norms and depend on nothing but their seed."""

import numpy as np
import pytest

import driftbandits as db


@pytest.mark.parametrize("seed", range(3))
def test_unit_arms(seed):
    arms = db.env.unit_arms(50, dim=7, seed=seed)
    np.testing.assert_allclose(np.linalg.norm(arms, axis=1), 1.0, rtol=1e-12)
    assert (arms == db.env.unit_arms(50, dim=7, seed=seed)).all()
    assert (arms != db.env.unit_arms(50, dim=7, seed=seed + 1)).any()


def test_readings_share_their_directions_and_have_norm_at_most_one():
    """Resolution A8: the same Gaussian directions, three lengths."""
    unit = db.env.unit_arms(50, dim=3, seed=4)
    scaled, clipped = db.env.max_norm_arms(50, dim=3, seed=4), db.env.clipped_arms(50, dim=3, seed=4)
    for arms in (scaled, clipped):
        np.testing.assert_allclose(arms / np.linalg.norm(arms, axis=1, keepdims=True), unit, rtol=1e-12)
    raw = np.random.default_rng(4).standard_normal((50, 3))
    length = np.linalg.norm(raw, axis=1)
    np.testing.assert_allclose(scaled, raw / length.max(), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(clipped, axis=1), np.minimum(length, 1.0), rtol=1e-12)
    assert 0 < (length < 1).sum() < 50  # both kinds occur
