"""Uniform logs pass; those that favour an item, a time or somebody do not."""

import re

import numpy as np
import pytest

from driftbandits.replay.rows import Row
from driftbandits.replay.uniform import Uniformity

ITEMS = {"a": None, "b": None, "c": None}


def p_value(chosen, contexts=None, offers=None):
    test = Uniformity()
    for t, item in enumerate(chosen):
        context = None if contexts is None else contexts[t]
        items = ITEMS if offers is None else offers[t]
        test.add(Row(t, item, 0.0, None, None, None, items, context))
    return test, test.p_value()


def test_p_values_of_uniform_logs_are_not_small():
    rng = np.random.default_rng(0)
    found = []
    for rows in (200, 1500):
        for _ in range(10):
            contexts = [
                {"x": v, "land": str(k)}
                for v, k in zip(rng.normal(size=rows), rng.integers(20, size=rows), strict=True)
            ]
            found.append(p_value(rng.choice(list(ITEMS), rows), contexts)[1])
    assert min(found) > 1e-3  # of 20, each below 1e-3 with probability at most 1e-3
    assert np.mean(np.array(found) < 0.1) <= 0.25


def test_offers_that_change_are_allowed_for():
    rng = np.random.default_rng(1)
    offers = [ITEMS if t % 2 else {"a": None, "b": None} for t in range(2000)]
    chosen = [list(o)[rng.integers(len(o))] for o in offers]
    assert p_value(chosen, offers=offers)[1] > 1e-3
    assert p_value(chosen)[1] < 1e-4  # "c" is rarer than others if it is thought to be always there


@pytest.mark.parametrize("kind", ["item", "time", "number", "string"])
def test_what_is_not_uniform_is_found(kind):
    rng = np.random.default_rng(2)
    rows, names = 3000, np.array(list(ITEMS))
    x, land = rng.normal(size=rows), rng.integers(2, size=rows)
    chosen = {
        "item": rng.choice(names, rows, p=[0.4, 0.3, 0.3]),
        "time": np.where(rng.random(rows) < 0.3, names[np.arange(rows) * 3 // rows], rng.choice(names, rows)),
        "number": np.where(
            rng.random(rows) < 0.3, np.where(x > 0.0, "a", np.where(x > -0.7, "b", "c")), rng.choice(names, rows)
        ),
        "string": np.where(rng.random(rows) < 0.3, names[land], rng.choice(names, rows)),
    }[kind]
    contexts = [{"x": v, "land": str(k)} for v, k in zip(x, land, strict=True)]
    assert p_value(chosen.tolist(), contexts)[1] < 1e-4


@pytest.mark.parametrize("rows", [1999, 2001, 4001, 8500])
def test_each_row_counts_once_however_often_stretches_are_joined(rows):
    chosen = ["a" if t % 2 else "b" for t in range(rows)]
    test, _ = p_value(chosen)
    found, expected = test._total()
    assert found.sum() == rows
    assert expected[2] == pytest.approx(rows / 3)


def test_the_item_furthest_off_is_named():
    test, _ = p_value(["a", "b", "a", "c", "a", "c"] * 50)
    assert test.worst() == "item 'a' was chosen 150 times, where uniform choice would give 100"


def test_the_sentence_names_the_group_that_is_not_uniform():
    rng = np.random.default_rng(3)
    rows = 2000
    x, land = rng.normal(size=rows), rng.integers(2, size=rows)
    contexts = [{"x": float(v), "land": "se" if k else "no"} for v, k in zip(x, land, strict=True)]
    test, _ = p_value(
        np.where(land == (rng.random(rows) < 0.9), "a", "b").tolist(), contexts, [{"a": 0, "b": 0}] * rows
    )
    assert re.fullmatch(
        r"where 'land' = '(se|no)', item '[ab]' was chosen \d+ times, where uniform choice would give 5?4?\d\d",
        test.worst(),
    )
    test, _ = p_value(
        np.where((x > 0.0) == (rng.random(rows) < 0.9), "a", "b").tolist(), contexts, [{"a": 0, "b": 0}] * rows
    )
    assert re.match(r"where .* < 'x' ≤ .*, item '[ab]' was chosen", test.worst())
