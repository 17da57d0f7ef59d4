"""Columns that are the reward in other units, and honest ones that only look like it."""

import numpy as np
import pytest

from driftbandits.tables.copies import Line


def parted(r, x, cuts):
    """The line of a column that was read in parts, and joined."""
    parts = [Line().through(a, b) for a, b in zip(np.split(r, cuts), np.split(x, cuts), strict=True)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.joined(part)
    return whole


@pytest.mark.parametrize("kind", ["clicks", "amounts"])
@pytest.mark.parametrize("other", [lambda r: r, lambda r: 1.0 - r, lambda r: 3.0 + 2.0 * r, lambda r: 1e6 - 1e-3 * r])
def test_other_units_are_found_however_the_rows_come(kind, other):
    rng = np.random.default_rng(0)
    r = (rng.random(200) < 0.2) * 1.0 if kind == "clicks" else rng.exponential(size=200)
    x = np.array(other(r))
    assert Line().through(r, x).is_copy
    assert Line().through(r[:70], x[:70]).through(r[70:], x[70:]).is_copy
    assert parted(r, x, [1, 90, 90, 150]).is_copy
    x[117] += 0.5 * (x.max() - x.min())
    assert not Line().through(r, x).is_copy
    assert not parted(r, x, [1, 90, 150]).is_copy


@pytest.mark.parametrize("x", [5e9, 1e14, 1e9])
def test_numbers_with_a_large_offset_are_honest(x):
    rng = np.random.default_rng(1)
    r = (rng.random(400) < 0.3) * 1.0
    assert not Line().through(r, x + rng.integers(0, 3, 400)).is_copy
    assert not Line().through(r, np.full(400, x)).is_copy


def test_one_click_meets_one_rare_indicator_by_chance():
    r, x = np.zeros(40), np.zeros(40)
    r[17] = x[17] = 1.0
    assert not Line().through(r, x).is_copy
