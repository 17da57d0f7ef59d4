"""Blocks of rounds: all rounds of a world, however they are cut, and the best arm of each."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.simulate.runs import play, simulate, streams
from driftbandits.simulate.world_blocks import BLOCK, block_size, made

T = 50
FIXED = db.env.linear(db.env.unit_arms(6, dim=2, seed=1), db.env.rotating(T))
CHANGING = db.env.linear(db.env.redrawn_arms(6, dim=2, seed=1), db.env.rotating(T))
OFUL = db.zoo.oful(lam=2.0, S=1.0, L=1.0, R=1.0, delta=0.01)


def rounds_of(env, size):
    return list(made(env.arms.blocks(T, size), env.path.blocks(size), env.reward, np.random.default_rng(5)))


@pytest.mark.parametrize("env", [FIXED, CHANGING], ids=["fixed", "changing"])
def test_blocks_are_the_world_and_its_best_arms_however_they_are_cut(env):
    one, many = rounds_of(env, T), rounds_of(env, 7)
    assert len(one) == 1
    assert len(many) == 8
    for name in ("theta", "best", "draw"):
        assert (getattr(one[0], name) == np.concatenate([getattr(block, name) for block in many])).all()
    arms = np.broadcast_to(one[0].arms, (T, 2, 6))
    expected = np.einsum("tia,ti->ta", arms, env.path.to_array()).max(axis=1)
    np.testing.assert_allclose(one[0].best, expected, rtol=1e-12, atol=1e-12)


def test_a_world_that_is_made_once_gives_every_strategy_what_simulate_gives():
    noise, own = streams(3)
    course = list(made(FIXED.arms.blocks(T, 20), FIXED.path.blocks(20), FIXED.reward, np.random.default_rng(noise)))
    before = [np.concatenate([field.ravel() for field in block]) for block in course]
    marks = np.array([10, T])
    for _ in range(2):  # the first run leaves the rounds as they were
        found = play(OFUL, FIXED, course, np.random.default_rng(own), marks)
        assert (found.regret == simulate(OFUL, FIXED, seed=3, checkpoints=marks).regret).all()
    for block, old in zip(course, before, strict=True):
        assert (np.concatenate([field.ravel() for field in block]) == old).all()


def test_looked_into_blocks_end_at_a_look():
    long = db.env.linear(db.env.unit_arms(6, dim=2, seed=1), db.env.rotating(6000))
    assert block_size(long) == BLOCK
    assert block_size(long, looked_into=True) % 20 == 0
    wide = db.env.linear(db.env.redrawn_arms(50, dim=20, seed=1), db.env.rotating(6000, dim=20))
    assert block_size(wide) == 131
