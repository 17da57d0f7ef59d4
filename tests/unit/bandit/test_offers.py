"""What is on offer, in every form a user may give it."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit.offers import as_matrix
from driftbandits.errors import DriftBanditsError


def told(give, rounds=12):
    """Items and propensities of a bandit that learns, with offers given in one form."""
    rng = np.random.default_rng(0)
    bandit, answers = db.Bandit(seed=3), []
    for _ in range(rounds):
        X = rng.integers(0, 5, (4, 3))
        d = bandit.decide(give(X))
        bandit.reward(d.id, float(X[int(d.item), 0]))
        answers.append((int(d.item), d.propensity, d.to_dict()["features"]))
    return answers


def test_an_array_is_read_whatever_its_type_and_order():
    plain = told(lambda X: X.astype(float))
    for form in (lambda X: X, lambda X: X.astype(np.float32), lambda X: np.asfortranarray(X)):
        assert told(form) == plain


def test_a_position_in_an_array_is_no_name():
    """Rows of an array have no effects of their own; items of a dict do, from the first one on."""
    bandit = db.Bandit(seed=0)
    for t in range(20):
        d = bandit.decide(np.eye(3))
        bandit.reward(d.id, float(t))
    assert bandit.info()["items"] == 0
    assert bandit._learner.model.state.own_M.size == 0
    d = bandit.decide({"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0]})
    bandit.reward(d.id, 1.0)
    assert bandit.info()["items"] == 2


def test_an_array_is_copied():
    X = np.ones((2, 2))
    rows = as_matrix(X)
    X[:] = 7.0
    assert rows.values.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("items", "told"),
    [
        (np.empty((0, 3)), "items is empty"),
        (np.array([["a", "b"]]), "have dtype"),
        (np.array([[1j, 2j]]), "complex"),
        (np.array([[1.0, np.nan]]), "not finite"),
        (np.ones((2, 2, 2)), "item"),
    ],
)
def test_arrays_that_are_no_offer(items, told):
    bandit = db.Bandit()
    with pytest.raises(DriftBanditsError, match=told):
        bandit.decide(items)
    assert bandit.info()["decisions"] == 0


def test_a_ranking_is_no_longer_than_the_array():
    with pytest.raises(DriftBanditsError, match="k = 3 is not allowed; it must be ≤ 2"):
        db.Bandit().decide(np.ones((2, 2)), k=3)
