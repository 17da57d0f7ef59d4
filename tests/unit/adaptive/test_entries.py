"""Compiled code checks no bounds: every entry refuses arrays that do not fit each other, and changes nothing."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.adaptive import entries, sums
from driftbandits.bandit.items import NONE
from small_model import model, with_part

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.interpreted]
TUPLES = ("state", "layout", "items", "context", "slots", "work", "levels", "cells", "found")


def call(name, m, **changed):
    """Whether an entry accepts a model and an offer of two items."""
    given = {"rows": np.ones((2, len(m.items.kind))), "crow": np.ones((1, len(m.context.kind)))}
    given |= {"who": np.array([0, 1]), "retired": NONE, "when": m.when, "done": np.zeros(1)}
    given |= {"table": np.zeros((entries.ROWS, 2)), "told": np.zeros((1, entries.TOLD)), "mode": entries.DRAW}
    given |= {"observed": np.zeros((2, entries.OBSERVED))} | changed
    g = given
    offer = (m.engine, g["rows"], g["crow"], g["who"])
    if name == "place":
        return entries.place.interpreted(*offer, 7.0, g["retired"], g["when"], g["done"])
    if name == "decide":
        told = (0.1, g["mode"], g["table"], np.zeros(2, np.int64), g["told"])
        return entries.decide.interpreted(*offer, 7.0, g["retired"], g["when"], *told, g["done"])
    if name == "learn":
        offer = (m.engine, g["rows"], np.ones((2, len(m.context.kind))), g["who"])
        return entries.learn.interpreted(*offer, -1.0, g["retired"], g["when"], g["observed"], g["done"])
    return entries.move_prior.interpreted(*offer)


@pytest.mark.parametrize("name", ["place", "decide", "learn", "move_prior"])
def test_every_array_of_the_model_is_checked(name):
    """One array of the model is shorter by one along one axis, whichever it is."""
    whole, tried = model(), 0
    assert call(name, whole)
    for part in TUPLES:
        for field, array in getattr(whole.engine, part)._asdict().items():
            for axis in range(array.ndim):
                cut = np.ascontiguousarray(np.delete(array, -1, axis))
                torn = with_part(whole, part, **{field: cut})
                before = [value.copy() for value in torn.state]
                assert not call(name, torn), (part, field, axis)
                assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, torn.state, strict=True))
                tried += 1
    assert tried > 90


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("decide", {"rows": np.ones((2, 9))}),
        ("decide", {"rows": np.ones((0, 2)), "who": NONE}),
        ("decide", {"who": np.array([0, 99])}),
        ("decide", {"who": np.array([0, -3])}),
        ("decide", {"who": np.array([0])}),
        ("decide", {"table": np.zeros((entries.ROWS, 1))}),
        ("decide", {"told": np.zeros((3, entries.TOLD))}),
        ("decide", {"told": np.full((1, entries.TOLD), 2.0), "mode": entries.GIVEN}),
        ("decide", {"when": np.zeros(1)}),
        ("place", {"retired": np.array([99])}),
        ("learn", {"observed": np.zeros((1, entries.OBSERVED))}),
        ("learn", {"observed": np.zeros((2, 3))}),
    ],
)
def test_an_offer_must_fit_the_model(name, changed):
    done = np.zeros(1)
    assert not call(name, model(), done=done, **changed)
    assert done[0] == 0.0


@pytest.mark.parametrize("place", [sums.USE, sums.FIRST, sums.SHORTEST])
@pytest.mark.parametrize("value", [-1.0, 99.0, np.nan])
def test_the_memories_that_are_named_exist(place, value):
    m = model()
    m.state.numbers[place] = value
    assert not call("decide", m)
    with pytest.raises(db.DriftBanditsError):
        sums.check(m.state, m.engine.work)


def test_layouts_name_columns_that_exist():
    m = model()
    for field in m.engine.layout._fields:
        wrong = getattr(m.engine.layout, field).copy()
        wrong.ravel()[-1] = 99
        assert not call("learn", with_part(m, "layout", **{field: wrong})), field


def test_forgetting_an_item_that_has_no_place():
    m = model()
    assert not entries.forget_item.interpreted(m.engine, 99, np.zeros(1))


@pytest.mark.parametrize("voice", [2.0, 5.0, 1e9, -7.0, 0.5])
def test_a_ticket_of_a_voice_that_does_not_exist_is_ignored(voice):
    m, before = model(), model().state.duel.copy()
    observed = np.array([[7.0, 1.0, 1.0, 1.0, voice, 1.0]] * 2)
    assert call("learn", m, observed=observed)
    assert np.array_equal(m.state.duel, before)
