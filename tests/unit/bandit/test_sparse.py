"""Rows of buckets and values: columns of an item in a context, against a few lines that say what they are."""

import numpy as np
import pytest

from driftbandits.bandit.sparse import expand, product

pytestmark = [pytest.mark.interpreted, pytest.mark.xdist_group("bandit")]
D = 97


def row(pairs, room):
    """So many buckets, their numbers and values; `room` places are there for each, of which the last are not used."""
    made = np.full(1 + 2 * room, -5.0)
    made[0] = len(pairs)
    for i, (bucket, value) in enumerate(pairs):
        made[1 + i], made[1 + room + i] = bucket, value
    return made


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize(("a", "b"), [(3, 2), (4, 5)])  # as much room as is used, or more
def test_columns_of_an_item_in_a_context(products, a, b):
    item, context = [(3, 1.5), (11, -2.0), (40, 0.25)], [(7, 4.0), (90, -0.5)]
    cols, vals = np.full(30, -1, np.int64), np.full(30, np.nan)
    many = expand(row(item, a), row(context, b), products, D, cols, vals)
    expected = [*item, *context]
    if products:
        expected += [(product(i, c, D), x * y) for i, x in item for c, y in context]
    assert [(int(c), float(v)) for c, v in zip(cols[:many], vals[:many], strict=True)] == expected
    assert (cols[many:] == -1).all()


def test_products_of_two_buckets_are_spread():
    """Order matters, and few of many pairs fall together."""
    found = {product(i, c, 1 << 16) for i in range(40) for c in range(40)}
    assert len(found) > 1550
    assert product(3, 7, D) != product(7, 3, D)
