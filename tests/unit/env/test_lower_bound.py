"""The worlds of the lower bound: length of the path, size of the gaps, norms."""

import numpy as np
import pytest

import driftbandits as db


@pytest.mark.parametrize(("T", "d", "B"), [(6000, 2, 3.0), (20_000, 4, 1.0), (3000, 6, 10.0)])
def test_the_path_is_no_longer_than_promised(T, d, B):
    path = db.env.hard_blocks(T, dim=d, variation=B, seed=1)
    length = db.theory.path_length(path)
    assert 0.2 * B < length <= B * (1 + 1e-9)  # about √½ of it: half of the signs change
    theta = path.to_array()
    assert np.linalg.norm(theta, axis=1).max() <= 1.0
    H = np.ceil((d * T / B) ** (2 / 3))
    np.testing.assert_allclose(np.abs(theta), np.sqrt(d / (4 * H)), rtol=1e-12)
    assert db.theory.change_count(path) <= np.ceil(T / H) - 1


def test_a_wrong_sign_costs_what_the_proof_says():
    """Gap of one coordinate: 2ε/√d; all wrong: 2ε√d, the largest gap there is."""
    d = 3
    arms, path = db.env.corner_arms(dim=d), db.env.hard_blocks(6000, dim=d, variation=2.0)
    theta = path.to_array()[0]
    values = np.sort(arms @ theta)
    eps = np.abs(theta[0])
    assert values[-1] - values[-2] == pytest.approx(2 * eps / np.sqrt(d))
    assert values[-1] - values[0] == pytest.approx(2 * eps * np.sqrt(d))
    assert len(arms) == 8


def test_short_blocks_keep_the_norm_below_one():
    path = db.env.hard_blocks(100, dim=8, variation=1e6)
    assert np.linalg.norm(path.to_array(), axis=1).max() <= 1.0 + 1e-12


def test_what_is_refused():
    with pytest.raises(db.errors.InvalidValue, match=r"2\^d arms"):
        db.env.corner_arms(dim=20)
    with pytest.raises(db.errors.InvalidValue, match="length of the path"):
        db.env.hard_blocks(100, variation=0.0)
