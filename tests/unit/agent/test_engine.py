"""A strategy's state under an agent: room before it is needed, and nothing half done."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.agent import engine
from driftbandits.core import state
from driftbandits.errors import InvalidValue, NumericalError

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
