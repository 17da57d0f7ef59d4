"""One suite for every episodic strategy of the zoo: the example of each record."""

import pickle

import numpy as np
import pytest

import driftbandits as db
from driftbandits.zoo.record import records

EPISODIC = {record.name: record for record in records() if record.family == "mdp"}
K = 8


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in EPISODIC])
def record(request):
    return EPISODIC[request.param]


def world(record):
    """A small drifting world of the record's kind."""
    make = db.mdp.random_linear_mixture if record.world == "linear mixture" else db.mdp.random_mnl
    return make(states=3, actions=2, horizon=3, dim=2, episodes=K, seed=0)


@pytest.mark.interpreted
def test_same_seed_same_run(record):
    one, two = (db.simulate_mdp(record.build(), world(record), episodes=K, seed=1) for _ in range(2))
    np.testing.assert_array_equal(one.regret, two.regret)
    assert one.regret.shape == (K,)
    assert np.isfinite(one.regret).all()
    assert (np.diff(one.regret, prepend=0.0) >= -1e-9).all()


def test_a_strategy_is_plain_data(record):
    strategy = record.build()
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    assert isinstance(hash(strategy), int)
