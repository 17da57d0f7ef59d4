"""Whole states: copied, viewed, packed and unpacked."""

from typing import NamedTuple

import numpy as np
import pytest
from table import ROWS, make

from driftbandits.core.kernel import entry
from driftbandits.core.state import copy_state, pack, scratch, unpack, view_state
from driftbandits.errors import InvalidShape, InvalidState
from driftbandits.protocol import NO_SLOT, Setting, act, learn, make_room, settle, start


class Leaf(NamedTuple):
    a: np.ndarray
    b: np.ndarray


class Tree(NamedTuple):
    left: Leaf
    c: np.ndarray


@entry
def _trees(store, state, blank, i):
    copy_state(view_state(store, i), state)
    copy_state(state, blank)


def tree(shape=()):
    return Tree(Leaf(np.zeros((*shape, 2)), np.zeros((*shape, 2, 3))), np.zeros((*shape, 1), np.int64))


def test_whole_states_are_viewed_and_copied():
    store, state, blank = tree((4,)), tree(), tree()
    state.left.a[:] = 1, 2
    state.left.b[:] = 3
    state.c[:] = 4
    _trees(store, state, blank, 2)
    assert state.c[0] == 0
    assert not state.left.a.any()
    assert store.left.a[2].tolist() == [1, 2]
    assert not store.left.a[1].any()
    _trees(tree((1,)), view_state(store, 2), blank, 0)  # a view is the place itself
    assert not store.left.b.any()


@scratch
class Paper(NamedTuple):
    notes: np.ndarray


class Desk(NamedTuple):
    paper: Paper
    book: np.ndarray


@entry
def _tidy(desk, other):
    copy_state(desk, other)


@pytest.mark.parametrize("copy", [copy_state, _tidy])
def test_scratch_is_not_copied(copy):
    mine, other = Desk(Paper(np.zeros(2)), np.zeros(2)), Desk(Paper(np.ones(2)), np.ones(2))
    copy(mine, other)
    assert mine.book.all()
    assert not mine.paper.notes.any()


# ---------------------------------------------------------------------------------------------------------- pack and unpack


def played(name, rounds, seed=0):
    """A strategy and its state after some rounds, run by Python."""
    strategy = settle(make(name), 3)
    rng = np.random.default_rng(seed)
    state = begun(strategy, rng)
    play(strategy, state, rng, rounds)
    return strategy, state, rng


def begun(strategy, rng):
    """Before round 1, with room for four arms."""
    return make_room(strategy, start(strategy, Setting(3, np.zeros((3, 0)), 40), rng), 4)


def play(strategy, state, rng, rounds):
    choices = []
    for _ in range(rounds):
        arms = rng.uniform(-0.5, 0.5, (3, 4))
        k = act(strategy, state, arms, np.zeros(4), rng)
        learn(strategy, state, arms[:, k].copy(), float(rng.integers(0, 2)), NO_SLOT)
        choices.append(k)
    return choices


@pytest.mark.parametrize("name", ROWS)
def test_an_unpacked_state_goes_on_as_if_nothing_had_happened(name):
    strategy, state, rng = played(name, 5)
    arrays = pack(state)
    whole = [np.array(a) for a in arrays.values()]
    again = unpack(begun(strategy, np.random.default_rng(1)), arrays)
    for (key, a), b in zip(pack(again).items(), whole, strict=True):
        assert a.dtype == b.dtype, key
        assert a.tobytes() == b.tobytes(), key
    twin = np.random.default_rng()
    twin.bit_generator.state = rng.bit_generator.state
    assert play(strategy, state, rng, 6) == play(strategy, again, twin, 6)
    for (key, a), b in zip(pack(again).items(), pack(state).values(), strict=True):
        assert a.tobytes() == b.tobytes(), key


def owners(state):
    """The memory each array of a state really uses."""
    for value in state:
        yield from owners(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", ROWS)
def test_no_two_arrays_of_a_state_are_the_same_memory(name):
    """Else the copy that `unpack` makes would behave otherwise than the state that was packed."""
    arrays = list(owners(played(name, 2)[1]))
    assert len(arrays) > 5
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_names_are_paths_and_arrays_are_copies():
    state = tree()
    arrays = pack(state)
    assert list(arrays) == ["left.a", "left.b", "c"]
    arrays["left.a"][:] = 7
    assert not state.left.a.any()
    again = unpack(state, arrays)
    arrays["left.a"][:] = 8
    assert again.left.a.tolist() == [7, 7]
    assert type(again) is Tree
    assert type(again.left) is Leaf


def test_special_values_survive_bit_for_bit():
    state = tree()
    state.left.a[:] = -0.0, np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\x7f", float)[0]  # a NaN with a payload
    state.left.b[0] = np.inf, -np.inf, 5e-324
    again = unpack(tree(), pack(state))
    assert [a.tobytes() for a in owners(again)] == [a.tobytes() for a in owners(state)]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda a: a.pop("c"), InvalidState, "has no array 'c'"),
        (lambda a: a.update(d=np.zeros(1)), InvalidState, "'d', which is not part of this strategy's state"),
        (
            lambda a: a.update(c=np.zeros(2, np.int64)),
            InvalidShape,
            r"c is int64 of shape \(2,\).*needs int64 of shape \(1,\)",
        ),
        (lambda a: a.update({"left.b": np.zeros((3, 2))}), InvalidShape, "left.b"),
        (lambda a: a.update(c=np.zeros(1)), InvalidShape, "float64"),
        (lambda a: a.update({"left.a": np.zeros(2, np.float32)}), InvalidShape, "float32"),
        (lambda a: a.update({"left.a": np.zeros(2, ">f8")}), InvalidShape, ">f8"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(change, error, message):
    arrays = pack(tree())
    change(arrays)
    with pytest.raises(error, match=message) as raised:
        unpack(tree(), arrays)
    assert "\n" not in str(raised.value)


def test_only_what_may_have_grown_may_be_longer():
    arrays = pack(tree()) | {"left.a": np.arange(5.0), "left.b": np.ones((2, 5))}
    with pytest.raises(InvalidShape, match=r"left\.a"):
        unpack(tree(), arrays)
    both = {"left.a", "left.b"}
    assert unpack(tree(), arrays, longer=both).left.a.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidShape, match="equally long"):
        unpack(tree(), arrays | {"left.b": np.ones((2, 6))}, longer=both)
    with pytest.raises(InvalidShape, match=r"left\.b"):
        unpack(tree(), arrays | {"left.b": np.ones((3, 5))}, longer=both)
    with pytest.raises(InvalidShape, match=r"left\.a"):
        unpack(tree(), arrays | {"left.a": np.ones(1)}, longer=both)
