"""Worlds: paths stay in the ball, arms have the promised norms, what does not fit is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftbandits as db

MAKERS = {
    "rotating": lambda T, d, S, seed: db.env.rotating(T, dim=d, norm=S, turns=2.0),
    "static": lambda T, d, S, seed: db.env.static(T, dim=d, norm=S, seed=seed),
    "piecewise": lambda T, d, S, seed: db.env.piecewise(T, dim=d, norm=S, changes=min(4, T - 1), seed=seed),
    "random_walk": lambda T, d, S, seed: db.env.random_walk(T, dim=d, norm=S, step=0.3, seed=seed),
    "sinusoidal": lambda T, d, S, seed: db.env.sinusoidal(T, dim=d, norm=S, periods=3, seed=seed),
    "waypoints": lambda T, d, S, seed: db.env.waypoints(
        T, np.random.default_rng(seed).uniform(-S, S, (1 + seed % 5, d)) / np.sqrt(d), norm=S
    ),
    "from_array": lambda T, d, S, seed: db.env.from_array(np.full((T, d), S / np.sqrt(d)), norm=S * (1 + 1e-12)),
    "joined": lambda T, d, S, seed: db.env.joined(
        db.env.static(T, dim=d, norm=S, seed=seed), db.env.random_walk(T, dim=d, norm=S, seed=seed)
    ),
}


@pytest.mark.parametrize("name", MAKERS)
@given(
    T=st.integers(1, 90),
    d=st.integers(1, 7),
    S=st.floats(0.01, 20),
    seed=st.integers(0, 1000),
    size=st.integers(1, 100),
)
def test_paths_stay_in_the_ball_and_do_not_depend_on_blocks(name, T, d, S, seed, size):
    path = MAKERS[name](T, d, S, seed)
    theta = path.to_array()
    assert theta.shape == (path.horizon, path.dim)
    assert (np.linalg.norm(theta, axis=1) <= S * (1 + 1e-9)).all()
    np.testing.assert_array_equal(np.concatenate(list(path.blocks(size))), theta)
    np.testing.assert_array_equal(MAKERS[name](T, d, S, seed).to_array(), theta)


def test_rotation_returns_to_its_start():
    theta = db.env.rotating(6000).to_array()
    np.testing.assert_allclose(theta[0], [1, 0], atol=1e-12)
    np.testing.assert_allclose(theta[-1], [1, 0], atol=1e-12)
    assert db.theory.path_length(db.env.rotating(6000)) == pytest.approx(6.283185019988713, rel=1e-12)


def test_piecewise_changes_where_it_says():
    path = db.env.piecewise(10, changes=2, at=[4, 8])
    theta = path.to_array()
    changed = np.flatnonzero(np.any(np.diff(theta, axis=0) != 0, axis=1)) + 2  # first round of the new parameter
    assert changed.tolist() == [4, 8]
    assert db.theory.change_count(path) == 2


def test_waypoints_are_met_and_the_legs_between_them_straight():
    points = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -0.5]])
    path = db.env.waypoints(21, points)
    theta = path.to_array()
    np.testing.assert_array_equal(theta[[0, 10, 20]], points)
    np.testing.assert_allclose(np.diff(theta[:11], axis=0), np.tile([0.1, -0.1], (10, 1)), atol=1e-15)
    assert path.norm == 1.0
    with pytest.raises(db.errors.InvalidValue, match=r"‖θ‖ = 1.0 is not allowed; it must be ≤ norm = 0.5"):
        db.env.waypoints(21, points, norm=0.5)
    with pytest.raises(db.errors.InvalidShape, match=r"path has shape \(2,\)"):
        db.env.waypoints(21, [0.0, 1.0])


def test_static_takes_the_given_parameter():
    assert (db.env.static(3, theta=[0.6, 0.0, 0.8]).to_array() == [0.6, 0.0, 0.8]).all()
