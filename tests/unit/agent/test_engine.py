"""A strategy's state under an agent: room before it is needed, and nothing half done."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.agent import engine
from driftbandits.core import state
from driftbandits.errors import InvalidShape, InvalidValue, NumericalError

LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 0.5, "delta": 0.05}


def test_a_state_that_does_not_fit_is_said_in_one_line(monkeypatch):
    def full(*args):
        raise MemoryError

    monkeypatch.setattr(engine, "start", full)
    with pytest.raises(InvalidValue, match="the state of Optimistic at dim = 3 does not fit into memory"):
        db.Agent(db.zoo.oful(**LINEAR), dim=3)


def test_a_failed_update_leaves_everything_as_it_was():
    agent = db.Agent(db.zoo.oful(**LINEAR), dim=2, seed=0, compile="never")
    agent.select(np.eye(2))
    before = {name: array.tobytes() for name, array in state.pack(agent._state).items()}
    with np.errstate(all="ignore"), pytest.raises(NumericalError, match="the update is undone"):
        agent.update(1e308, weight=1e300)
    assert {name: array.tobytes() for name, array in state.pack(agent._state).items()} == before
    agent.update(0.5)  # the selection is still open
    assert agent.info()["observations"] == 1


def test_scores_have_room_for_as_many_arms_as_come():
    agent = db.Agent(db.zoo.oful(**LINEAR), dim=2, seed=0, compile="never")
    for n in (1, 4, 2, 9):
        assert agent.scores(np.full((n, 2), 0.1)).shape == (n,)
    assert agent._room == 9


STATES = {
    "weighted": lambda: db.zoo.lb_weight_ucb(gamma=0.9, **LINEAR),
    "window": lambda: db.zoo.sw_ucb(window=4, **LINEAR),
    "exact": lambda: db.zoo.glb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, delta=0.1, estimator="exact"),
    "self-tuning": lambda: db.zoo.self_tuning(),
    "master": lambda: db.zoo.master(db.zoo.oful(**LINEAR), horizon=30),
}


def cut(tree, place):
    """The same tuples of arrays, of which one array is shorter by one."""
    paths = [name for name, array in state.leaves(tree) if array.ndim and array.shape[-1]]
    name = paths[place % len(paths)]

    def made(node, path):
        if isinstance(node, tuple):
            return type(node)(*(made(v, f"{path}{n}.") for n, v in zip(node._fields, node, strict=True)))
        return node[..., :-1] if path[:-1] == name else node

    return name, made(tree, "")


@pytest.mark.interpreted
@pytest.mark.parametrize("name", STATES)
def test_no_array_of_a_state_is_read_past_its_end(name):
    """Whatever made an array too short: every call says so before compiled code sees it."""
    arms, agent = (
        np.eye(2)[[0, 1, 1]] * 0.5,
        db.Agent(STATES[name](), dim=2, seed=0, horizon=30, compile="never", check="off"),
    )
    for n in (2, 3, 1, 3):
        agent.select(arms[:n])
        agent.update(0.25)
    if name == "exact":
        for t in range(70):  # its ring of observations grows
            agent.update(0.5, x=[0.5 + t / 200, 0.1])
    assert agent.select(arms) in (0, 1, 2)
    whole = agent._state
    for place in range(len(list(state.leaves(whole)))):
        path, agent._state = cut(whole, place)
        for call in (lambda: agent.select(arms), lambda: agent.scores(arms), lambda: agent.update(0.5)):
            with pytest.raises(InvalidShape, match=f"{path} is|rings of observations"):
                call()
            agent._doing = None
    agent._state = whole
    agent.update(0.5)
    assert agent.select(arms) in (0, 1, 2)


def test_scores_and_arms_of_other_sizes_are_refused():
    agent = db.Agent(db.zoo.oful(**LINEAR), dim=2, seed=0, compile="never")
    with pytest.raises(InvalidShape, match=r"shape \(3, 1\) at dim = 2"):
        agent._choose(np.zeros((3, 1)), 1, False, dict)
    with pytest.raises(InvalidShape, match="with room for 1 scores"):
        agent._choose(np.zeros((2, 4)), 1, False, dict)


@pytest.mark.interpreted
def test_items_have_shapes_of_their_own():
    agent = db.Agent(db.zoo.self_tuning(features="disjoint"), dim=2, seed=0, items=2, compile="never")
    for _ in range(3):
        agent.select([1.0, 0.5])
        agent.update(0.5)
        agent.add_item()
    assert agent.select([1.0, 0.5]) in range(5)
    again = db.Agent.unpack(*agent.pack(), compile="never")
    assert again.select([1.0, 0.5]) == agent.select([1.0, 0.5])
