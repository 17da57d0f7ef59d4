"""Worlds: what does not fit together is refused in one line."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import DriftBanditsError, InvalidShape, InvalidValue


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: db.env.linear(np.ones((3, 2)), np.ones((5, 3))), InvalidShape, "d = 2 features but θ has 3"),
        (lambda: db.env.linear(np.ones((4, 3, 2)), np.ones((5, 2))), InvalidShape, "4 rounds but the path has 5"),
        (lambda: db.env.linear(np.ones((3, 2)), np.ones((5, 2)), horizon=6), InvalidShape, "5 rounds but horizon = 6"),
        (lambda: db.env.linear(np.ones((0, 2)), np.ones((5, 2))), InvalidShape, "n, d ≥ 1"),
        (lambda: db.env.linear(np.ones(2), np.ones((5, 2))), InvalidShape, r"\(n, d\)"),
        (lambda: db.env.linear([[np.nan, 1.0]], np.ones((5, 2))), InvalidValue, "NaN"),
        (lambda: db.env.linear([[1.0, 1.0]], [[np.nan, 1.0]]), InvalidValue, "NaN"),
        (lambda: db.env.linear([[1.0, 1.0]], [1.0, 2.0]), InvalidShape, r"\(T, d\)"),
        (lambda: db.env.linear([[1.0, 1.0]], [[1.0, 1.0]], noise=-1), InvalidValue, "noise"),
        (lambda: db.env.from_array([[3.0, 4.0]], norm=1.0), InvalidValue, "‖θ‖ = 5"),
        (lambda: db.env.rotating(0), InvalidValue, "horizon"),
        (lambda: db.env.rotating(5, dim=0), InvalidValue, "dim"),
        (lambda: db.env.rotating(5, norm=-1), InvalidValue, "norm"),
        (lambda: db.env.piecewise(5, changes=5), InvalidValue, "changes"),
        (lambda: db.env.piecewise(5, changes=1, at=[9]), InvalidValue, "increasing rounds"),
        (lambda: db.env.piecewise(5, changes=1, values=np.ones((3, 2)), norm=2), InvalidShape, "values"),
        (lambda: db.env.random_walk(5, step=0.0), InvalidValue, "step"),
        (lambda: db.env.joined(db.env.static(2, dim=2), db.env.static(2, dim=3)), InvalidValue, "dim"),
        (lambda: db.env.unit_arms(0, dim=2), InvalidValue, "n = 0"),
        (lambda: db.env.redrawn_arms(0, dim=2), InvalidValue, "n = 0"),
    ],
)
def test_what_does_not_fit_is_refused(make, error, words):
    with pytest.raises(error, match=words) as caught:
        make()
    assert isinstance(caught.value, DriftBanditsError)
    assert "\n" not in str(caught.value)
