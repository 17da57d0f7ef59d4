"""The last observations in a ring of arrays, against a list of all of them."""

import numpy as np
import pytest

from driftbandits.bandit.last_rows import KEPT, LastRows


def known(rows, count):
    names, one, other, rewards = rows.of(count)
    return [
        (name, a.tolist(), b.tolist(), r) for name, a, b, r in zip(names, one, other, rewards.tolist(), strict=True)
    ]


@pytest.mark.parametrize("together", [False, True])
def test_the_last_ones_are_those_of_a_list(together):
    """Rows become wider on the way, as columns are added."""
    rng, rows, every, count = np.random.default_rng(0), LastRows(), [], 0
    for step in range(60):
        n, J, C = int(rng.integers(1, 30 if step != 40 else 900)), 1 + step // 20, 2 + step // 30
        one, other, r = rng.normal(size=(n, J)), rng.normal(size=(n, C)), rng.normal(size=n)
        names = [f"i{k}" for k in rng.integers(5, size=n)]
        if together:
            rows.put_all(count, names, one, other, r)
        else:
            for t in range(n):
                rows.put(count + t, names[t], one[t], other[t], float(r[t]))
                rows.put(count + t, names[t], one[t], other[t], float(r[t]))  # an interrupted call, made again
        every += [*zip(names, one.tolist(), other.tolist(), r.tolist(), strict=True)]
        count += n
        assert known(rows, count) == every[-KEPT:]


def test_a_ring_that_begins_later_has_nothing_before():
    rows = LastRows()
    rows.begin = 7
    rows.put_all(7, ["a", "b"], np.ones((2, 1)), np.ones((2, 1)), np.array([1.0, 2.0]))
    assert [name for name, *_ in known(rows, 9)] == ["a", "b"]
