"""Two values against each other: the path of Cheung et al., its length, and what is refused."""

import numpy as np
import pytest

import driftbandits as db


@pytest.mark.parametrize("cycles", [1.0, 2.5, 30.0])
def test_the_path_is_the_formula_and_as_long_as_it_says(cycles):
    T = 6000
    path = db.env.swinging(T, cycles=cycles)
    theta, t = path.to_array(), np.arange(1, T + 1)
    phase = 5 * (cycles / 2.5) * np.pi * t / T  # as in the paper, B_T = cycles/2.5
    np.testing.assert_allclose(theta[:, 0], 0.5 + 0.3 * np.sin(phase), atol=1e-12)
    np.testing.assert_allclose(theta[:, 1], 0.5 + 0.3 * np.sin(np.pi + phase), atol=1e-12)
    assert (np.linalg.norm(theta, axis=1) <= path.norm * (1 + 1e-12)).all()
    length = np.linalg.norm(np.diff(theta, axis=0), axis=1).sum()
    assert length == pytest.approx(4 * np.sqrt(2) * 0.3 * cycles, rel=0.01)
    np.testing.assert_array_equal(np.concatenate(list(path.blocks(77))), theta)


@pytest.mark.parametrize(
    ("given", "told"),
    [({"cycles": 0.0}, "cycles = 0"), ({"height": 0.6}, "height = 0.6"), ({"height": -0.1}, "height")],
)
def test_what_is_refused(given, told):
    with pytest.raises(db.errors.InvalidValue, match=told):
        db.env.swinging(100, **given)
