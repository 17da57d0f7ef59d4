"""Whose reward is it? The bookkeeping of open selections, apart from any learner."""

import numpy as np
import pytest

from driftbandits.agent.pending import Pending
from driftbandits.errors import InvalidState
from driftbandits.protocol import NO_SLOT

A, B = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def opened(*features):
    pending = Pending(np.zeros(2))
    for x in features:
        pending = pending.opened(x, item=NO_SLOT)
    return pending


def test_a_reward_belongs_to_the_only_selection():
    np.testing.assert_array_equal(opened(A).last(None), A)


def test_the_features_are_a_copy():
    x = A.copy()
    pending = opened(x)
    x[:] = 7.0
    np.testing.assert_array_equal(pending.last(None), A)


def test_among_several_the_last_must_be_named():
    pending = opened(A, B)
    with pytest.raises(InvalidState, match="2 selections are open"):
        pending.last(None)
    np.testing.assert_array_equal(pending.last(0), B)
    with pytest.raises(InvalidState, match="age = 1 needs x"):
        pending.last(1)


def test_nothing_is_open_before_a_selection():
    with pytest.raises(InvalidState, match="update without select"):
        Pending(np.zeros(2)).last(None)


@pytest.mark.parametrize(
    ("x", "age", "left"),
    [
        (B, 0, (False, 1)),  # the last selection
        (A, 1, (True, 0)),  # the one before it
        (B, None, (False, 1)),  # without an age: the last one, if the features are its
        (A, None, (True, 1)),  # or an observation without a decision
    ],
)
def test_a_reward_closes_its_own_selection(x, age, left):
    pending = opened(A, B)
    pending = pending.closed(x, age, NO_SLOT)
    assert (pending.chosen, pending.older) == left


def test_another_item_in_the_same_context_is_another_selection():
    pending = Pending(np.zeros(2)).opened(A, item=3)
    assert pending.closed(A, None, 2).chosen
    assert not pending.closed(A, None, 3).chosen
