"""How many observations each memory has weight for."""

import pytest

import driftbandits as db


@pytest.mark.parametrize("horizon", [0, 50])
def test_capacity_holds_all_that_counts(horizon):
    from driftbandits.protocol import capacity

    gamma = 0.9
    rounds = capacity(db.memory.Discounted(gamma=gamma), horizon)
    assert rounds == 50 if horizon else gamma**rounds < 1e-12
    assert capacity(db.memory.Window(W=5), horizon) == 5
    assert capacity(db.memory.Restart(H=6), horizon) == 6
    assert capacity(db.memory.Everything(), horizon) == horizon
    assert capacity(db.memory.Discounted(gamma=1.0), horizon) == horizon
