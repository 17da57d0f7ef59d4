"""Entries over stretches of rows refuse arrays that do not fit each other, and change nothing."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.adaptive import stretch
from driftbandits.adaptive.choice import ROWS
from driftbandits.bandit.bulk.stretches import walk
from small_model import model, with_part

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.interpreted]
T, N_ITEMS, OFFERS = 3, 2, 2


def arguments(name, m):
    """What an entry takes beside the model, in its order: arrays by name, and other values."""
    J, C, n, K = len(m.items.kind), len(m.context.kind), N_ITEMS, OFFERS
    which, who = np.array([0, 1, 0]), np.array([[0, 1]] * K)
    each = {"at": np.arange(7.0, 10.0), "clocked": True, "r": np.ones(T)}
    if name == "observe_rows":
        first = {
            "rows": np.ones((T, 1, J)),
            "crows": np.ones((T, 1, C)),
            "who": np.array([0, 1, 0]),
        }
        return first | {"when": m.when, "before": 6} | each | {"w": np.ones(T), "told": np.array([-1.0, 1.0])}
    if name == "learn_rows":
        first = {"rows": np.ones((T, J)), "crows": np.ones((T, C)), "who": np.array([0, 1, 0])}
        return first | {"tick": np.arange(7.0, 10.0), "r": np.ones(T), "w": np.ones(T), "told": np.ones((T, 2))}
    first = {"offers": np.ones((K, n, J)), "which": which, "who": who, "when": m.when, "before": 6}
    first |= {"crows": np.ones((T, 1, C)), "explore": 0.1, "u": np.full(T, 0.5)}
    logged = {"logged": np.array([0, 1, 1]), "learns": np.full(T, 2)} | each if name == "replay_rows" else {}
    room = {
        "chosen": np.zeros(T, np.int64),
        "rows": np.ones((n, J)),
        "table": np.zeros((ROWS, n)),
        "open_": np.ones(n, np.int64),
    }
    law = {"law": np.zeros((T, n))}
    if name == "decide_rows":
        return first | room | {"told": np.zeros((T, 2))} | law | {"scores": np.zeros((T, n)), "kept": np.zeros((T, J))}
    return first | logged | room | {"told": np.zeros(2)} | law | {"kept": np.zeros((T, J))}


def call(name, m, **changed):
    given = arguments(name, m) | changed
    return getattr(stretch, name).interpreted(m.engine, *given.values())


@pytest.mark.parametrize("name", ["observe_rows", "decide_rows", "learn_rows", "replay_rows"])
def test_an_array_that_is_too_short_is_refused(name):
    assert call(name, model()) >= 0
    m, tried = model(), 0
    before = [array.copy() for array in m.state]
    for field, array in arguments(name, m).items():
        for axis in range(array.ndim) if isinstance(array, np.ndarray) else ():
            assert call(name, m, **{field: np.ascontiguousarray(np.delete(array, -1, axis))}) == stretch.TORN, (
                field,
                axis,
            )
            tried += 1
    assert tried >= 10
    assert all(np.array_equal(a, b) for a, b in zip(before, m.state, strict=True))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("observe_rows", {"who": np.array([0, 1, 99])}),
        ("observe_rows", {"who": np.array([0, -1, 1])}),
        ("decide_rows", {"which": np.array([0, 1, OFFERS])}),
        ("decide_rows", {"who": np.array([[0, 1], [0, 99]])}),
        ("learn_rows", {"who": np.array([0, 1, 99])}),
        ("replay_rows", {"logged": np.array([0, 1, N_ITEMS])}),
        ("replay_rows", {"who": np.array([[0, 1], [-1, 1]])}),
    ],
)
def test_a_place_that_does_not_exist_is_refused(name, changed):
    assert call(name, model(), **changed) == stretch.TORN


def test_a_torn_model_is_refused_with_our_error():
    m = model()
    torn = with_part(m, "state", V=m.state.V[:, :-1])
    with pytest.raises(db.DriftBanditsError, match="do not fit the model"):
        walk(lambda _: call("learn_rows", torn), torn)
