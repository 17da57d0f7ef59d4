"""Sums of disjoint logs add up: any partition, any order, the same as one serial pass."""

import itertools

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.adaptive.by_memory import sums_of
from driftbandits.bandit.saving import digest

pytestmark = pytest.mark.xdist_group("bandit")


def a_log(seed, rows=36):
    """No change, so that nothing is refuted; features and items that only some parts know."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.normal(5.0, 2.0, rows), "y": np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows))}
    )
    frame["late"] = np.where(np.arange(rows) > rows // 2, rng.normal(size=rows), np.nan)
    frame["c"] = rng.choice(np.array(["r", "s", "u"], object), rows)
    frame["item"] = rng.choice(["a", "b", "d"], rows)
    frame["r"] = 3.0 + 0.3 * frame["x"] + rng.normal(size=rows)
    frame["at"] = 1.7e9 + np.arange(rows, dtype=float)
    return frame


def fitted(frame, **settings):
    frame = frame.dropna(axis=1, how="all")
    return db.Bandit(**settings).fit(frame, item="item", reward="r", time="at")


def named_sums(bandit):
    """The sums, in an order that does not depend on when slots and places were made."""
    learner = bandit._learner
    m, names = learner.model, {}
    for side, table in enumerate((learner.items, learner.context)):
        names |= {(side, 0): "1"}
        names |= {(side, slot): name for name, slot in table.numbers.items()}
        names |= {(side, slot): f"{name}?" for name, slot in table.presence.items()}
        names |= {(side, slot): bucket for bucket, slot in table.bucket_slots.items()}
    pair = [(names[0, i], names[1, c]) for i, c in m.columns.pairs]
    where = {pair_: k for k, pair_ in enumerate(pair)}
    order = [where[key] for key in sorted(where, key=str)]
    s = m.state
    known = sums_of(s)
    shared = {
        "V": known.V[:, order][:, :, order],
        "b": known.b[:, order],
        "Q": known.Q,
        "n": known.n,
        "last": np.sort(s.last[s.last > -1e18]),
    }
    items = sorted(learner.places._place)
    own = [learner.places.get(name) for name in items]
    o = np.argsort([str(names[1, c]) for c in m.columns.own])
    shared |= {
        "M": known.own_M[own][:, :, o][:, :, :, o],
        "t": known.own_t[own][:, :, o],
        "S": known.own_S[own][:, :, o][:, :, :, order],
    }
    return shared | {"numbers": s.numbers[[0, 2, 3, 4, 5]]}


def close(a, b, within=1e-12):
    for name, value in named_sums(a).items():
        other = named_sums(b)[name]
        assert value.shape == other.shape, name
        assert np.abs(value - other).max(initial=0.0) <= within * max(1.0, np.abs(value).max(initial=0.0)), name


@pytest.mark.parametrize(
    ("mode", "half_life"), [("interact", None), ("item", 15), ("hybrid", "30s"), ("disjoint", 1000)]
)
def test_any_partition_in_any_order_has_the_sums_of_one_pass(mode, half_life):
    frame = a_log(1)
    whole = fitted(frame, features=mode, half_life=half_life)
    assert not whole.drift_events()
    parts = [fitted(frame[a:b], features=mode, half_life=half_life) for a, b in ((0, 5), (5, 20), (20, 36))]
    before = [digest(part) for part in parts]
    for order in itertools.islice(itertools.permutations(parts), 0, None, 2):
        merged = db.Bandit.from_parts(order)
        close(whole, merged)
        assert merged.info()["observed"] == 36
    assert [digest(part) for part in parts] == before
    step = parts[0].merge(parts[1]).merge(parts[2])
    close(whole, step)
    a, b = (bandit.estimate(["a", "b"], {"x": 4.0, "c": "r"}) for bandit in (whole, step))
    assert all(abs(a[k].mean - b[k].mean) < 0.15 for k in a)  # the prior's scales are of other checkpoints


def test_logs_of_the_same_time_end_together_and_the_clock_needs_no_order():
    frame = a_log(2, 24)[
        ["x", "c", "item", "r", "at"]
    ]  # the first row has them all: sums are relative to the first values
    east, west = frame[::2], frame[1::2]
    a, b = (db.Bandit.from_parts([fitted(east), fitted(west)][::sign]) for sign in (1, -1))
    close(a, b)
    assert a._learner.model.state.numbers[5] == 24.0
    timed = [fitted(part, half_life="10s", features="item") for part in (east, west)]
    close(fitted(frame, half_life="10s", features="item"), db.Bandit.from_parts(timed))


def test_what_cannot_be_merged_is_one_line(tmp_path):
    frame = a_log(3, 8)[["x", "item", "r", "at"]]
    bandit = fitted(frame, features="item")
    before = digest(bandit)
    waiting = fitted(frame[:2], features="item")
    waiting.decide(["a"])
    other = db.Bandit(features="item").fit(frame.assign(x="text", at=1.72e9), item="item", reward="r", time="at")
    for wrong, says in (
        (db.Bandit(features="interact"), "features = 'item' and 'interact'"),
        (db.Bandit(features="item", strategy=None, half_life=3), "half_life"),
        (waiting, "wait for a reward"),
        (fitted(frame, features="item"), "the same log"),
        (other, "a number in one bandit and a string in the other"),
        (3, "must be a Bandit"),
    ):
        with pytest.raises(db.DriftBanditsError, match=says) as problem:
            bandit.merge(wrong)
        assert "\n" not in str(problem.value)
        assert digest(bandit) == before
    with pytest.raises(db.DriftBanditsError, match="no bandits"):
        db.Bandit.from_parts([])
    with db.Bandit.open(tmp_path / "b") as durable, pytest.raises(db.DriftBanditsError, match="durable"):
        durable.merge(bandit)


def test_a_merged_bandit_goes_on_and_is_saved(tmp_path):
    frame = a_log(4, 16)
    merged = db.Bandit.from_parts([fitted(frame[:8]), fitted(frame[8:])])
    merged.save(tmp_path / "b")
    again = db.Bandit.load(tmp_path / "b")
    for bandit in (merged, again):
        d = bandit.decide(["a", "b", "new"], {"x": 1.0, "c": "other"}, at=1.75e9)
        bandit.reward(d.id, 1.0)
    assert digest(merged) == digest(again)


def test_a_bandit_and_its_copy_are_not_two_logs(tmp_path):
    bandit = db.Bandit()
    for reward in (1.0, 0.0, 1.0):
        bandit.reward(bandit.decide(["a", "b"]), reward)
    bandit.save(tmp_path / "copy.bandit")
    before = digest(bandit)
    for other in (bandit, db.Bandit.load(tmp_path / "copy.bandit")):
        with pytest.raises(db.DriftBanditsError, match="are one bandit, or copies"):
            bandit.merge(other)
        with pytest.raises(db.DriftBanditsError, match="are one bandit, or copies"):
            db.Bandit.from_parts([bandit, other])
    assert digest(bandit) == before
    # Two quiet days with the same rows, but for their times, are two logs.
    days = [pd.DataFrame({"item": ["a", "b"], "r": [0, 1], "at": [at, at + 1]}) for at in (1.0e9, 1.1e9)]
    parts = [db.Bandit().fit(day, item="item", reward="r", time="at") for day in days]
    assert db.Bandit.from_parts(parts).info()["observed"] == 4
