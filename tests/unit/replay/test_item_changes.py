"""Which item changed: found and dated where one did, none named where none did."""

import math

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.replay import item_changes as module
from driftbandits.replay.item_changes import item_changes

START = 1_714_521_600.0  # 2024-05-01


def log_of(item, reward, timed=False):
    frame = pd.DataFrame({"item": item, "r": reward, "at": START + 60.0 * np.arange(len(item))})
    return db.Log.read(frame, item="item", reward="r", time="at" if timed else None)


def naive_path(reward, mean, s):
    """max |Σ_{i≤k} (r_i − r̄)| / (s √n), reward by reward."""
    best, run, place = 0.0, 0.0, 0
    for k, r in enumerate(reward):
        run += r - mean
        if abs(run) > best:
            best, place = abs(run), k
    return best / (s * math.sqrt(len(reward))), place


def test_it_is_the_cumulative_sum_of_the_definition(monkeypatch):
    rng = np.random.default_rng(1)
    reward = np.concatenate([rng.normal(0.0, 1.0, 200), rng.normal(1.0, 1.0, 300)])
    monkeypatch.setattr(module, "BLOCKS", 500)  # a block is a row
    change = item_changes(log_of(["a"] * 500, reward))[0]
    largest, place = naive_path(reward, reward.mean(), reward.std())
    assert change.at == place + 1
    assert change.p_value == pytest.approx(
        2.0 * sum((-1.0) ** (j - 1) * math.exp(-2.0 * j * j * largest**2) for j in range(1, 20)), rel=1e-9
    )
    assert change.before == pytest.approx(reward[: place + 1].mean())
    assert change.after == pytest.approx(reward[place + 1 :].mean())


def test_two_changes_of_one_item_are_named_in_time():
    rng = np.random.default_rng(2)
    item = rng.choice(["a", "b", "c"], 12_000)
    t = np.arange(12_000)
    p = np.where(item == "b", np.where((t > 4000) & (t <= 8000), 0.4, 0.1), 0.2)
    found = item_changes(log_of(item, (rng.random(12_000) < p) * 1.0, timed=True))
    assert {change.item for change in found} == {"b"}
    minutes = sorted((change.at - START) / 60.0 for change in found)
    assert minutes == pytest.approx([4000.0, 8000.0], abs=200.0)


def test_still_worlds_name_nobody_more_often_than_stated():
    rng = np.random.default_rng(3)
    worlds = [
        lambda n: (rng.random(n) < 0.02) * 1.0,
        lambda n: rng.standard_t(3.0, n),
        lambda n: (rng.random(n) < 0.05) * rng.lognormal(3.0, 1.0, n),
    ]
    wrong = [bool(item_changes(log_of(rng.choice(["a", "b", "c", "d"], 1500), draw(1500)))) for draw in worlds * 40]
    assert np.mean(wrong) <= module.ALPHA + 2.0 * math.sqrt(module.ALPHA * (1.0 - module.ALPHA) / len(wrong))


@pytest.mark.parametrize("reward", [np.ones(400), np.concatenate([np.zeros(60), np.ones(30)])])
def test_constant_rewards_and_few_of_them_say_nothing(reward):
    assert item_changes(log_of(["a"] * len(reward), reward)) == []
