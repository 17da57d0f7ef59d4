"""The part of a log that the dashboard draws."""

import json
import math

import numpy as np
import pytest

from driftbandits.bandit.store import Row
from driftbandits.service.dashboard.window import EACH, NAMED, Window


class Fake:
    """A store with rows and nothing else."""

    def __init__(self):
        self.kept = []

    def rows(self, after, limit):
        return [row for row in self.kept if row.seq > after][:limit]

    def last(self):
        return len(self.kept)

    def decide(self, id_, at, item, names=("a", "b"), p=(0.5, 0.5)):
        data = json.dumps({"names": list(names), "propensities": list(p)})
        self.kept.append(Row(self.last() + 1, "decide", id_, at, json.dumps(item), 0.5, None, None, "w", data))

    def reward(self, id_, r, kind="reward"):
        self.kept.append(Row(self.last() + 1, kind, id_, 0.0, None, None, r, 1.0, "w", "{}"))


def test_means_of_stretches_are_those_of_a_loop():
    rng, store, window = np.random.default_rng(0), Fake(), Window()
    told = []
    for t in range(500):
        item, r = str(rng.choice(["a", "b"])), float(rng.random())
        store.decide(f"d{t}", float(t), item)
        if rng.random() < 0.8:
            store.reward(f"d{t}", r)
            told.append((t, item, r))
    assert window.follow(store)
    assert not window.follow(store)
    series = window.series()
    bins = 500 // EACH
    edges = np.linspace(0.0, 499.0, bins + 1)
    assert len(series["mean"]) == bins
    for k in range(bins):
        inside = [r for t, _, r in told if edges[k] <= t < edges[k + 1] or (k == bins - 1 and t == 499)]
        assert series["n"][k] == len(inside)
        if inside:
            assert series["mean"][k] == pytest.approx(np.mean(inside), abs=1e-12)
            assert series["low"][k] < series["mean"][k] < series["high"][k]
        else:
            assert series["mean"][k] is None
    rows = {row["item"]: row for row in window.items()}
    of_a = [r for _, item, r in told if item == "a"]
    assert rows["a"]["reward"] == pytest.approx(np.mean(of_a))
    assert rows["a"]["high"] - rows["a"]["reward"] == pytest.approx(1.96 * np.std(of_a, ddof=1) / math.sqrt(len(of_a)))
    assert rows["a"]["shown"] + rows["b"]["shown"] == 500


def test_an_item_whose_rewards_are_all_equal_has_no_interval():
    store, window = Fake(), Window()
    for t in range(16):
        store.decide(f"d{t}", float(t), "a")
        store.reward(f"d{t}", 0.0)
    window.follow(store)
    (row,) = [row for row in window.items() if row["item"] == "a"]
    assert (row["reward"], row["low"], row["high"]) == (0.0, None, None)


def test_clicks_have_intervals_between_0_and_1():
    """Wilson's interval: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)."""
    store, window = Fake(), Window()
    for t in range(14):
        store.decide(f"d{t}", float(t), "a" if t < 11 else "b")
        store.reward(f"d{t}", float(t == 0))
    window.follow(store)
    rows = {row["item"]: row for row in window.items()}
    assert np.allclose((rows["a"]["low"], rows["a"]["high"]), (0.0162, 0.3774), atol=5e-5)
    assert rows["b"]["low"] == 0.0
    assert 0.5 < rows["b"]["high"] < 0.6  # three without a click


def test_shares_sum_to_one_and_few_items_are_named():
    store, window = Fake(), Window()
    for t in range(400):
        store.decide(f"d{t}", float(t), f"i{t % 12}")
    window.follow(store)
    share = window.share()
    assert len(share["items"]) == NAMED + 1
    assert share["items"][-1] == "4 others"
    assert np.allclose(np.sum(share["values"], axis=0), 1.0)


def test_a_reward_that_is_replaced_counts_once_and_old_decisions_leave():
    store, window = Fake(), Window(limit=3)
    for t in range(5):
        store.decide(f"d{t}", float(t), "a", p=(0.25, 0.75))
    store.reward("d4", 1.0)
    store.reward("d0", 1.0)  # left the window
    window.follow(store)
    store.reward("d4", 0.0, "replace")
    assert window.follow(store)
    assert list(window.decisions) == ["d2", "d3", "d4"]
    assert window.decisions["d4"].reward == 0.0
    assert [id_ for id_, _ in window.newest(2)] == ["d4", "d3"]
    assert {row["item"]: row["propensity"] for row in window.items()} == {"a": 0.25, "b": 0.75}


def test_an_empty_log_and_a_log_that_was_deleted():
    store, window = Fake(), Window()
    assert not window.follow(store)
    assert window.share()["values"] == []
    assert set(window.series()["mean"]) == {None}
    store.decide("d0", 1.0, 7, names=(7, "x"))
    window.follow(store)
    assert window.items()[0]["item"] == "7"
    store.kept.clear()
    window.follow(store)
    assert not window.decisions
