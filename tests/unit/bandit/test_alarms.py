"""Drift events of `Bandit`: what they say, and that they survive everything that a bandit survives."""

import copy
import datetime

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.bandit.alarms import Alarms
from driftbandits.bandit.saving import digest, to_bytes

pytestmark = pytest.mark.xdist_group("bandit")


def switched(bandit, T=700, change=350, seed=0, start=0, given=1e9):
    """Two items change places; rewards come ten decisions late."""
    rng = np.random.default_rng(seed)
    waiting = []
    for t in range(start, T):
        d = bandit.decide(["a", "b", "c"], {"x": float(np.sin(t))}, at=given + t)
        best = "a" if t < change else "b"
        waiting.append((d.id, float(d.item == best) + 0.3 * rng.normal()))
        if len(waiting) > 10:
            bandit.reward(*waiting.pop(0))
    for reward in waiting:
        bandit.reward(*reward)
    return bandit


def test_a_switch_is_one_event_that_says_what_happened():
    told = []
    bandit = switched(db.Bandit(seed=0, on_drift=told.append))
    (event,) = bandit.drift_events()
    assert told == [event]
    assert event.kind == "best item"
    assert event.item == "a"
    assert 350 < event.decision < 420
    assert 330 < event.since < 370
    assert event.before > 0.8 > event.after
    assert event.time == datetime.datetime.fromtimestamp(1e9 + event.decision - 1, datetime.UTC)
    assert "'a' fell around decision" in event.sentence
    assert event.to_dict()["time"].endswith("+00:00")


def test_state_survives_saving_and_copies(tmp_path):
    bandit = switched(db.Bandit(seed=0), T=360)
    assert not bandit.drift_events()
    bandit.save(tmp_path / "x")
    again, other = db.Bandit.load(tmp_path / "x"), copy.deepcopy(bandit)
    assert to_bytes(again) == to_bytes(bandit)
    for one in (again, other, bandit):
        switched(one, start=360, seed=1)
    assert again.drift_events() == other.drift_events() == bandit.drift_events() != []
    assert digest(again) == digest(bandit)


def test_a_log_gives_the_same_events_and_state_by_columns_and_row_by_row():
    rng = np.random.default_rng(0)
    T = 900
    frame = pd.DataFrame({"item": rng.choice(["a", "b"], T), "x": rng.normal(size=T), "at": np.arange(T) + 1e9})
    frame["r"] = np.where(frame["item"] == "a", 1.0, -1.0) * np.where(frame.index < 500, 1.0, -1.0) * frame["x"]
    frame["r"] += 0.3 * rng.normal(size=T)
    whole = db.Bandit(seed=0).fit(frame, item="item", reward="r", time="at", context=["x"])
    rows = db.Bandit(seed=0)
    for row in frame.to_dict("records"):
        rows.observe(row["item"], {"x": row["x"]}, reward=row["r"], at=row["at"])
    assert whole.drift_events() == rows.drift_events()
    assert digest(whole) == digest(rows)
    (event,) = whole.drift_events()
    assert (event.kind, event.feature) == ("best item", "x")
    assert 500 < event.decision < 560


def test_a_durable_bandit_has_the_events_of_one_in_memory(tmp_path):
    memory = switched(db.Bandit(seed=0), T=420)
    with db.Bandit.open(tmp_path / "x", seed=0) as bandit:
        switched(bandit, T=420)
        assert bandit.drift_events() == memory.drift_events() != []
    with db.Bandit.open(tmp_path / "x") as again, db.Bandit.follow(tmp_path / "x") as follower:
        assert again.drift_events() == follower.drift_events() == memory.drift_events()
        assert again._alarms.pack()[1].tobytes() == memory._alarms.pack()[1].tobytes()


def test_rewards_that_stop_coming_are_an_event_while_decisions_go_on():
    told = []
    bandit = db.Bandit(reward="click", seed=0, on_drift=told.append)
    rng = np.random.default_rng(0)
    for t in range(1000):
        d = bandit.decide(["a", "b"], at=1e9 + t)
        if t < 600 and rng.random() < 0.9:
            bandit.reward(d.id, float(rng.random() < 0.2))
    (event,) = bandit.drift_events()
    assert told == [event]
    assert event.kind == "missing rewards"
    assert 590 < event.since < 640 < event.decision < 720
    assert event.before == pytest.approx(0.9, abs=0.04)
    assert event.after < 0.1
    assert "Fewer decisions get a reward" in event.sentence


@pytest.mark.parametrize(("before", "after"), [(1.0, 0.4), (0.9, 0.6), (0.5, 0.2)])
def test_missing_rewards_are_told_as_they_are(before, after):
    for seed in range(3):
        bandit, rng = db.Bandit(seed=seed), np.random.default_rng(seed)
        for t in range(1250):
            d = bandit.decide(["a", "b"], at=1e9 + t)
            if rng.random() < (before if t < 1000 else after):
                bandit.reward(d.id, rng.normal())
        (event,) = bandit.drift_events()
        assert abs(event.since - 1000) < 25
        assert event.before == pytest.approx(before, abs=0.05)
        assert event.after == pytest.approx(after, abs=0.2)  # about 60 decisions


def test_rewards_that_come_once_a_day_are_not_missing():
    bandit = db.Bandit(reward="click", seed=0)
    waiting = []
    for t in range(1500):
        waiting.append(bandit.decide(["a", "b"], at=1e9 + t).id)
        if t % 200 == 199:
            for n, id_ in enumerate(waiting):
                bandit.reward(id_, float(n % 5 == 0))
            waiting.clear()
    assert not bandit.drift_events()
    assert bandit._arrivals.horizon == 512


def test_a_ranking_an_expiry_and_a_replaced_reward_are_tested_once():
    bandit = db.Bandit(on_repeat="replace", seed=0)
    d = bandit.decide(["a", "b", "c"], k=2, at=1e9)
    bandit.reward(d.id, 1.0)
    steps = bandit._alarms.now.state.numbers[10]
    assert steps == 2.0
    before = bandit._alarms.pack()[1].tobytes()
    bandit.reward(d.id, 0.5)
    assert bandit._alarms.pack()[1].tobytes() == before
    bandit.decide(["a", "b"], at=1e9 + 1)
    bandit.expire(0, 0.0, at=1e9 + 5)
    assert bandit._alarms.now.state.numbers[10] == steps + 1.0


def test_a_dropped_item_and_a_forgotten_feature_begin_anew():
    bandit = switched(db.Bandit(seed=0), T=300)
    place = bandit._alarms.now.places["a"]
    assert bandit._alarms.now.state.tally[place, 0] > 100.0
    bandit.drop("a")
    state = bandit._alarms.now.state
    assert not state.tally[place].any()
    assert state.numbers[6] >= 0.0
    bandit.observe("z", {"x": 0.5}, reward=1.0, at=1e9 + 500)
    assert bandit._alarms.now.places["z"] == place  # the block is free for another item
    bandit.forget_feature("x")
    assert len(bandit._alarms.now.places) == 0


def test_an_interrupted_drop_is_forgotten_by_the_detector_too(monkeypatch):
    bandit, other = (switched(db.Bandit(seed=0), T=60) for _ in range(2))
    forget, calls = bandit._alarms.forget, []

    def interrupted(item):
        calls.append(item)
        if len(calls) == 1:
            raise KeyboardInterrupt
        forget(item)

    monkeypatch.setattr(bandit._alarms, "forget", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bandit.drop("a")
    other.drop("a")
    assert digest(bandit) == digest(other)


def test_items_beyond_the_room_share_a_block_or_are_left_out():
    bandit = db.Bandit(seed=0)
    many = [f"i{k}" for k in range(3000)]
    for t, name in enumerate(many):
        bandit.observe(name, reward=float(t % 2), at=1e9 + t)
    known = bandit._alarms.now.places
    assert 1000 < len(known) < 3000
    assert bandit._alarms.now.state.numbers[8] == len(known)  # the others are not tested


def test_challengers_raise_no_alarms_and_a_promotion_begins_anew():
    bandit = db.Bandit(seed=0)
    bandit.challenge("short", half_life=50)
    switched(bandit, T=300)
    assert bandit._challengers["short"].shadow._alarms.now.state.numbers[10] == 0.0
    assert bandit._alarms.now.state.numbers[10] == 300.0
    bandit.promote("short")
    switched(bandit, start=300, T=320)
    assert bandit._alarms.now.state.numbers[10] == 20.0


def test_a_merged_bandit_keeps_the_events_of_its_parts():
    rng = np.random.default_rng(0)

    def part(start):
        r = np.r_[np.zeros(200), np.full(200, 3.0)] + rng.normal(size=400)
        frame = pd.DataFrame({"item": "a", "r": r, "at": start + np.arange(400.0)})
        return db.Bandit(seed=0).fit(frame, item="item", reward="r", time="at")

    parts = [part(1e9), part(1.1e9)]
    merged = db.Bandit.from_parts(parts)
    assert merged.drift_events() == [*parts[0].drift_events(), *parts[1].drift_events()] != []
    assert merged._alarms.now.state.numbers[8] == 0.0


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("reward", "feature"), [((3e99, 0.0), 1.0), ((1.0, 5e99), 1.0), ((5e-324, 0.0), 1.0), ((1.0, 0.0), 1e-160)]
)
def test_extreme_rewards_and_features_leave_a_state_that_can_be_saved(reward, feature):
    unit, once = reward
    rng = np.random.default_rng(0)
    bandit = db.Bandit(seed=0)
    for t in range(80):
        r = once if once and t == 20 else unit * rng.normal()  # before the 30th reward, any size is allowed
        bandit.observe("ab"[t % 2], {"x": feature * rng.normal()}, reward=r, at=1e9 + t)
    assert np.isfinite(bandit._alarms.pack()[1]).all()
    assert to_bytes(copy.deepcopy(bandit)) == to_bytes(bandit)


def test_large_evidence_that_leaves_the_sum_leaves_no_rounding_error():
    bandit = switched(db.Bandit(seed=0), T=300)
    now = bandit._alarms.now
    now.state.own[now.places["a"], 0, 0, 2] = 1e30
    before = now.state.numbers[6]
    now.state.numbers[6] += 1e30
    bandit.drop("a")
    assert 0.0 <= bandit._alarms.now.state.numbers[6] <= before


@pytest.mark.parametrize(("array", "place"), [("numbers", 1), ("tally", 2), ("P", 0), ("columns", 4), ("own", 2)])
def test_a_detector_with_sums_of_no_rewards_is_refused(array, place):
    bandit = switched(db.Bandit(seed=0), T=60)
    getattr(bandit._alarms.now.state, array).reshape(-1)[place] = -1.0
    with pytest.raises(db.errors.CannotRead, match="change detector"):
        copy.deepcopy(bandit)


def test_a_detector_of_too_many_blocks_or_too_steep_is_refused():
    alarms = switched(db.Bandit(seed=0), T=30)._alarms
    about, flat = alarms.pack()
    with pytest.raises(db.errors.InvalidValue, match="1000000000 blocks"):
        alarms.unpack(about | {"blocks": 10**9}, flat)
    alarms.now.state.theta[1, 0] = 1e200
    with pytest.raises(db.errors.InvalidValue, match="larger than any rewards"):
        alarms.unpack(*alarms.pack())


def test_dropping_and_adding_items_forever_needs_no_more_room():
    bandit = db.Bandit(seed=0)
    for t in range(60):
        bandit.observe(f"i{t}", reward=float(t % 2), at=1e9 + t)
        if t >= 3:
            bandit.drop(f"i{t - 3}")
        if t == 30:
            bandit = copy.deepcopy(bandit)  # saved with holes between the places
    now = bandit._alarms.now
    assert sorted(now.places) == ["i57", "i58", "i59"]
    assert len(now.state.theta) <= 8
    assert max(now.places.values()) <= 5


def test_one_reward_a_stretch_and_the_general_way_are_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    names, who = ["a", "b", "c"], rng.integers(0, 3, 150)
    X, r = rng.normal(size=(150, 1)), rng.normal(size=150) + 4.0 * (np.arange(150) > 100)
    found = []
    for general in (False, True):
        bandit = db.Bandit(seed=0)
        if general:
            monkeypatch.setattr(type(bandit._alarms), "_tested", lambda *_: False)
        for t in range(150):
            bandit.observe(names[who[t]], {"x": X[t, 0]}, reward=float(r[t]), at=1e9 + t)
        found.append((digest(bandit), bandit.drift_events()))
    assert found[0] == found[1]
    assert found[0][1]
    ticks, rows, apart, together = np.arange(1, 151), np.zeros((150, 0)), Alarms(), Alarms()
    row_by_row = []
    for t in range(150):
        one = slice(t, t + 1)
        row_by_row += apart.stretch(names, who[one], rows[one], X[one], r[one], ticks[one], None)
    assert [f.decision for f in together.stretch(names, who, rows, X, r, ticks, None)] == [
        f.decision for f in row_by_row
    ]
    assert row_by_row
    assert together.pack()[0] == apart.pack()[0]
    assert together.pack()[1].tobytes() == apart.pack()[1].tobytes()
