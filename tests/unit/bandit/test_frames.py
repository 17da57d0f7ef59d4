"""The same from pandas, polars and Arrow."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import driftbandits as db
from driftbandits.bandit.saving import digest

pytestmark = pytest.mark.xdist_group("bandit")
N = 30
LOG = {
    "banner": ["a", "b", "c"] * (N // 3),
    "clicked": [0, 1, 1] * (N // 3),
    "age": [None if t % 7 == 0 else float(20 + t) for t in range(N)],
    "item.price": [float(t % 4) for t in range(N)],
    "country": ["se" if t % 2 else "fr" for t in range(N)],
    "shown_at": [1.0e9 + t for t in range(N)],
}
MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("kind", MAKE)
def test_fit_decide_reward(kind):
    bandit = db.Bandit(reward="click", features="disjoint")
    bandit.fit(MAKE[kind](LOG), item="banner", reward="clicked", time="shown_at")
    by_hand = db.Bandit(reward="click", features="disjoint")
    for t in range(N):
        who = {"country": LOG["country"][t]} | ({} if LOG["age"][t] is None else {"age": LOG["age"][t]})
        price = {"price": LOG["item.price"][t]}
        by_hand.observe(price, who, name=LOG["banner"][t], reward=LOG["clicked"][t], at=LOG["shown_at"][t])
    assert digest(bandit) == digest(by_hand)
    frame = MAKE[kind]({"age": [30.0, 40.0], "country": ["se", "fr"]})
    out = bandit.decide_batch(frame, offers={"a": {"price": 1.0}, "b": {"price": 2.0}})
    assert type(out) is type(frame)
    columns = {name: list(pl.DataFrame(out)[name]) for name in ("id", "item", "propensity", "age")}
    assert columns["age"] == [30.0, 40.0]
    assert bandit.reward_batch(MAKE[kind]({"id": columns["id"], "reward": [1, 0]})) == 2
    assert bandit.info()["rewards"] == 2


def test_order_of_rows_does_not_matter_if_there_is_a_time():
    frame = pd.DataFrame(LOG)
    fits = [
        db.Bandit(reward="click").fit(f, item="banner", reward="clicked", time="shown_at")
        for f in (frame, frame.sample(frac=1, random_state=0), frame[list(reversed(frame.columns))])
    ]
    assert len({digest(b) for b in fits}) == 1


def test_offers_from_a_column():
    bandit = db.Bandit()
    out = bandit.decide_batch(pl.DataFrame({"x": [1.0, 2.0], "on": [["a"], ["b", "c"]]}), offers="on")
    assert out["item"][0] == "a"
    assert out["item"][1] in ("b", "c")


def test_bad_frames_are_one_line_and_change_nothing():
    bandit = db.Bandit(reward="click")
    d = bandit.decide(["a", "b"])
    before = digest(bandit)
    frame = pd.DataFrame(LOG).drop(columns="shown_at")  # it counts rows, of which a warning says that it is no feature
    cases = [
        (lambda: bandit.fit(frame, item="nope", reward="clicked"), "no column 'nope'"),
        (lambda: bandit.fit(frame.assign(clicked=0.5), item="banner", reward="clicked"), "0 or 1"),
        (lambda: bandit.fit(frame.assign(clicked=float("nan")), item="banner", reward="clicked"), "row 0"),
        (
            lambda: bandit.fit(
                frame.assign(p=[0.5] * (len(frame) - 1) + [2.0]), item="banner", reward="clicked", propensity="p"
            ),
            "no row",
        ),
        (
            lambda: bandit.fit(frame.assign(q=["x"] * (len(frame) - 1) + [2.0]), item="banner", reward="clicked"),
            "numbers and strings",
        ),
        (lambda: bandit.fit([1, 2], item="banner", reward="clicked"), "pandas, polars or Arrow"),
        (lambda: bandit.decide({"a": pd.Series({"p": 1.0})}), r"a Series with names.*to_dict"),
        (lambda: bandit.decide(["a"], pd.Series({"p": 1.0, "q": "x"})), r"a Series with names.*to_dict"),
        (lambda: bandit.decide_batch(frame.assign(id=1), offers=["a"]), "column 'id' already"),
        (lambda: bandit.decide_batch(frame[["age"]].fillna(1.0), offers=[]), "empty"),
        (lambda: bandit.reward_batch(pd.DataFrame({"id": [d.id]})), "no column 'reward'"),
        (lambda: bandit.reward_batch(pd.DataFrame({"id": [d.id, "x"], "reward": [1, 1]})), "row 1"),
        (lambda: bandit.reward_batch(pd.DataFrame({"id": [d.id, d.id], "reward": [1, 1]})), "twice"),
    ]
    for call, says in cases:
        with pytest.raises(db.DriftBanditsError, match=says) as problem:
            call()
        assert "\n" not in str(problem.value)
        assert digest(bandit) == before
