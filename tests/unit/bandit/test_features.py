"""Slots: stable, bounded, counted."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from driftbandits.bandit.features import Table, mark
from driftbandits.bandit.offers import in_rows
from driftbandits.bandit.values import plain_row
from driftbandits.bandit.vectors import Vectors
from driftbandits.errors import DriftBanditsError


def test_the_hash_is_the_same_for_ever():
    known = [726888571749528619, 5452121768465070222, 13748917169589316347]
    assert [mark("item", ("kind", value)) for value in ("new", "used", "år")] == known


def test_slots_do_not_depend_on_order():
    a, b = Table("item"), Table("item")
    rows = [{"x": 1.0, "k": "p", "y": True}, {"y": False, "k": "q", "x": 2.0}]
    got = a.write(a.read(rows)), b.write(b.read([dict(reversed(r.items())) for r in rows]))
    assert np.array_equal(*got)
    assert a.to_json() == b.to_json()


def test_missing_numbers_get_a_slot_that_says_so():
    table = Table("item")
    table.write(table.read([{"x": 1.0}]))
    rows = table.write(table.read([{"x": 2.0}, {"z": 5.0}]))
    x, z = table.numbers["x"], table.numbers["z"]
    assert math.isnan(rows[1, x])
    assert rows[0, table.presence["x"]] == 1.0
    assert rows[1, table.presence["x"]] == 0.0
    assert table.missing[table.presence["x"]] == 1.0  # it was there in all rows before
    assert table.missing[table.presence["z"]] == 0.0
    assert math.isnan(rows[0, z])


def test_collisions_are_counted_and_buckets_bound_the_slots():
    table = Table("item", buckets=4)
    for value in range(50):
        table.write(table.read([{"k": str(value)}]))
    assert table.width <= 5
    assert table.collisions == 4
    many = Table("item")
    for value in range(50):
        many.write(many.read([{"k": str(value)}]))
    assert many.collisions == 0
    assert many.width == 51


def test_looking_makes_no_slot():
    table = Table("item")
    table.write(table.read([{"x": 1.0}]))
    before = table.to_json()
    rows = table.write(table.read([{"y": 1.0, "k": "v"}]), learn=False)
    assert rows.shape == (1, 2)
    assert table.to_json() == before


def test_fast_and_slow_reading_agree():
    fast, slow = Table("item"), Table("item")
    rows = [{"x": 1, "y": 2.5, "z": True}, {"x": np.int64(3), "y": np.float32(0.5), "z": False}]
    a = fast.write(fast.read(rows))
    b = slow.write(slow._read_slowly(rows))
    assert np.array_equal(a, b)
    again = fast.write(fast.read(rows))
    assert np.array_equal(again, a)


@pytest.mark.parametrize("row", [{"x": None}, {}, None])
def test_nothing_is_missing(row):
    table = Table("item")
    assert table.write(table.read([row])).tolist() == [[1.0]]


@pytest.mark.parametrize("give", [np.array, lambda rows: [list(row) for row in rows], lambda rows: [*map(tuple, rows)]])
def test_vectors_in_one_piece_are_the_dicts_from_positions(give):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4, 3))
    table = Table("item")
    whole = in_rows("abcd", dict(zip("abcd", give(rows), strict=True)))
    plain = [{str(j): x for j, x in enumerate(row)} for row in rows.tolist()]
    assert isinstance(whole, Vectors)
    assert [*whole] == plain
    assert table.write(table.read(whole)) == pytest.approx(Table("item").write(Table("item").read(plain)))
    assert (table.write(table.read(whole)) == table.write(table.read(plain))).all()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"a": [1.0, 2.0], "b": [1.0, np.nan]}, "item feature '1' = nan is not finite"),
        ({"a": [1.0, 2.0], "b": ["x", 2.0]}, "features of item 'b' have dtype <U"),
        ({"a": np.array([1j, 2.0])}, "features of item 'a' are complex"),
        ({"a": [1.0, [2.0]]}, "features of item 'a' are a ragged list"),
    ],
)
def test_vectors_that_are_none_say_whose_they_are(rows, words):
    table = Table("item")
    with pytest.raises(DriftBanditsError, match=words):
        table.read(in_rows([*rows], rows))
    assert not table.described


def test_vectors_of_different_lengths_in_one_offer_are_refused():
    with pytest.raises(DriftBanditsError, match="item 'b' are 1 numbers and those of item 'a' 2"):
        in_rows("ab", {"a": [1.0, 2.0], "b": np.array([3.0])})


def test_a_vector_is_its_entries_by_name():
    vector, plain = Table("item"), Table("item")
    rng = np.random.default_rng(1)
    e = rng.normal(size=(3, 12))
    rows = [{"age": 1.0 + a, "e": give(e[a])} for a, give in enumerate((list, tuple, np.asarray))]
    flat = [{"age": 1.0 + a} | {f"e[{i}]": e[a, i] for i in range(12)} for a in range(3)]
    got, same = vector.write(vector.read(rows)), plain.write(plain.read(flat))
    slots = [vector.numbers[name] for name in sorted(vector.numbers)]
    assert (got[:, slots] == same[:, [plain.numbers[name] for name in sorted(vector.numbers)]]).all()
    assert [vector.groups[vector.numbers[f"e[{i}]"]] for i in range(12)] == [vector.numbers["e[0]"]] * 12
    assert plain.groups == [*range(14)]
    assert vector.vectors == {"e": 12}


def test_strings_numbers_and_vectors_are_read_alike_feature_by_feature_and_row_by_row():
    fast, slow = Table("item"), Table("item")
    first = [{"e": [1.0, 2.0], "k": "p", "n": 3}, {"e": [0.5, 1.0], "k": "q", "n": 4}]
    then = [{"e": [4.0, 2.0], "k": "r", "n": 5}, {"e": [3.0, 1.0], "k": "p", "n": 6}]
    for rows in (first, then, first):
        assert fast.read(rows).values is not None
        assert np.array_equal(fast.write(fast.read(rows)), slow.write(slow._read_slowly(rows)))
        assert fast.to_json() == slow.to_json()


def test_a_vector_that_is_missing_has_one_slot_that_says_so():
    table = Table("item")
    table.write(table.read([{"e": [1.0, 2.0, 3.0]}]))
    rows = table.write(table.read([{"e": [1.0, 2.0, 3.0]}, {"e": None}]))
    assert table.width == 5
    assert rows[:, 4].tolist() == [1.0, 0.0]
    assert np.isnan(rows[1, 1:4]).all()
    assert {*table.presence.values()} == {4}
    again = Table.from_json("item", table.to_json())
    assert again.to_json() == table.to_json()


def test_a_vector_that_was_forgotten_may_come_with_another_length():
    table = Table("item")
    table.write(table.read([{"e": [1.0, 2.0, 3.0]}]))
    table.forget("e")
    rows = table.write(table.read([{"e": [7.0, 8.0]}]))
    assert np.isnan(rows[0, 1:4]).all()
    assert rows[0, [table.numbers["e[0]"], table.numbers["e[1]"]]].tolist() == [7.0, 8.0]
    assert table.kinds.count(2) == 2  # one slot says whether the old vector is there, one the new


@pytest.mark.parametrize("value", [Decimal("2.5"), Fraction(5, 2), np.float16(2.5), np.array(2.5)])
def test_numbers_of_every_kind(value):
    table = Table("item")
    assert table.write(table.read([{"x": value}])).tolist() == [[1.0, 2.5]]


def test_values_as_json():
    row = {
        "a": np.int8(3),
        "b": np.array([1.0, 2.0]),
        "c": Decimal("0.5"),
        "d": (1, np.float32(2)),
        "e": None,
        "f": True,
    }
    assert json.loads(json.dumps(plain_row(row))) == {"a": 3, "b": [1, 2], "c": 0.5, "d": [1, 2], "e": None, "f": True}
