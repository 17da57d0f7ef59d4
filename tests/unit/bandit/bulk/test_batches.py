"""Batches of decisions and rewards: the same as one by one."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandits as db
from driftbandits.bandit.bulk import decide as deciding
from driftbandits.bandit.saving import digest

pytestmark = pytest.mark.xdist_group("bandit")
MODES = ("item", "interact", "disjoint", "hybrid")
PRICED = {"a": {"price": 1.0}, "b": {"price": 2.0, "kind": "new"}, "c": {"price": 3.0}}


def questions(seed, rows):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "y": np.where(rng.random(rows) < 0.3, np.nan, 1.0)})
    frame["c"] = rng.choice(np.array(["r", "s", None], object), rows)
    frame["at"] = 1.7e9 + np.arange(rows, dtype=float)
    every = [["a", "b"], ["a", "b", "c"], ["c", "b"]]
    frame["on"] = [every[k] for k in rng.integers(3, size=rows)]
    return frame


def one_by_one(bandit, frame, offers):
    made = []
    for row in frame.to_dict("records"):
        who = {k: row[k] for k in ("x", "y", "c") if row[k] is not None and row[k] == row[k]}
        made.append(bandit.decide(row["on"] if offers == "on" else offers, who, at=row["at"]))
    return made


def answers(seed, ids):
    """Rewards in another order than the decisions, some of them never."""
    rng = np.random.default_rng(seed)
    n = len(ids)
    order = rng.permutation(n)[: max(1, 4 * n // 5)]
    return order, rng.normal(size=len(order)), rng.choice([1.0, 2.0, 0.0], len(order))


@pytest.mark.compiled  # bit for bit in machine code
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), mode=st.sampled_from(MODES), offers=st.sampled_from(["on", "priced"]))
def test_batches_are_decided_and_learned_as_one_by_one(seed, mode, offers):
    made = {
        "features": mode,
        "seed": seed,
        "half_life": [None, 30, "1min"][seed % 3],
        "max_items": 3 if seed % 2 else 4096,
    }
    a, b = db.Bandit(**made), db.Bandit(**made)
    given_ = PRICED if offers == "priced" else "on"
    for step in range(3):
        frame = questions(seed + step, 40)
        who = frame if given_ == "on" else frame.drop(columns="on")
        out = a.decide_batch(who, offers=given_, time="at")
        single = one_by_one(b, frame, given_)
        assert out["item"].tolist() == [d.item for d in single]
        assert out["propensity"].tolist() == [d.propensity for d in single]
        assert digest(a) == digest(b)
        order, r, w = answers(seed + step, single)
        came = pd.DataFrame({"id": out["id"].to_numpy()[order], "reward": r, "weight": w})
        assert a.reward_batch(came) == len(order)
        for k, reward, weight in zip(order, r, w, strict=True):
            b.reward(single[k].id, float(reward), weight=float(weight))
        assert digest(a) == digest(b)
        assert a.drift_events() == b.drift_events()


def test_most_decisions_are_made_by_the_kernel(monkeypatch):
    alone = []
    go = deciding._single
    monkeypatch.setattr(deciding, "_single", lambda bandit, rows, t, made: (alone.append(t), go(bandit, rows, t, made)))
    bandit = db.Bandit(features="item")
    bandit.decide_batch(questions(0, 30), offers="on", time="at")
    assert len(alone) <= 8
    bandit.decide_batch(questions(1, 30), offers="on", time="at")
    assert len(alone) <= 9


def test_no_context_a_mask_of_none_and_replaced_rewards():
    bandit = db.Bandit(on_repeat="replace")
    out = bandit.decide_batch(pl.DataFrame({"on": [["a", "b"]] * 5}), offers="on")
    assert out.columns == ["on", "id", "item", "propensity"]
    came = pl.DataFrame({"id": out["id"], "reward": [1.0] * 5})
    assert bandit.reward_batch(came) == bandit.reward_batch(came) == 5
    assert (bandit.info()["rewards"], bandit.info()["replaced"]) == (5, 5)


def test_a_broken_row_is_named_and_nothing_is_decided():
    bandit = db.Bandit(features="item")
    bandit.decide(["a"], {"x": 1.0, "c": "r"})
    before = digest(bandit)
    frame = questions(0, 6)
    for broken, says in (
        (frame.assign(x=[1.0] * 5 + [np.inf]), "row 5 of the frame.*'x' = inf.*no decision"),
        (frame.assign(c=1.0), "row 0 .*was a string before"),
        (frame.assign(at=1e12), "row 0 .*future"),
        (frame.assign(on=[["a"]] * 5 + [[]]), "row 5 .*empty|empty"),
        (frame.assign(on=[["a"]] * 5 + [["a", "a"]]), "twice"),
    ):
        with pytest.raises(db.DriftBanditsError, match=says):
            bandit.decide_batch(broken, offers="on", time="at")
        assert digest(bandit) == before


def test_rewards_of_rows_without_names_are_not_those_of_items_named_by_numbers():
    def made(batch):
        bandit = db.Bandit(seed=0)
        for t in range(40):
            d = bandit.decide({0: {"0": 0.5 * (t % 3)}, 1: {"0": 1.0}}, at=1e9 + t)
            bandit.reward(d.id, float(d.item))
        ids = [bandit.decide(np.array([[0.5], [t % 2]]), at=1e9 + 40 + t).id for t in range(20)]
        if batch:
            bandit.reward_batch(pd.DataFrame({"id": ids, "reward": np.arange(20.0)}))
        else:
            for t, id_ in enumerate(ids):
                bandit.reward(id_, float(t))
        return bandit

    assert digest(made(batch=True)) == digest(made(batch=False))


def test_rewards_and_clicks_are_no_context():
    frame = pd.DataFrame({"age": [31.0, 45.0], "reward": [0, 1], "click": [1, 0]})
    with pytest.warns(UserWarning, match="'reward', 'click' is no feature"):
        made = db.Bandit(seed=0).decide_batch(frame, offers=["a", "b"])
    plain = db.Bandit(seed=0).decide_batch(frame[["age"]], offers=["a", "b"])
    assert made["propensity"].tolist() == plain["propensity"].tolist()


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        ([], "items is empty"),
        (["a", "a"], "twice"),
        (math.nan, "it must be a list of names"),
        ("a|b", "'a|b' is not allowed; it must be a list of names"),
        ({"a": {"price": 1.0}}, "it must be a list of names"),
        ([["a"], "b"], "named by a list"),
    ],
)
def test_an_offer_that_is_no_list_of_names_is_named_by_its_row(offer, says):
    bandit = db.Bandit()
    frame = pd.DataFrame({"x": np.arange(4.0)})
    frame["offer"] = pd.Series([["a", "b"]] * 3 + [offer], dtype=object)
    with pytest.raises(
        db.DriftBanditsError, match=f"row 3 of the frame, column 'offer': .*{re.escape(says)}.*no decision"
    ) as found:
        bandit.decide_batch(frame, offers="offer")
    assert "\n" not in str(found.value)
    assert bandit.info()["decisions"] == 0


def test_rows_behind_the_first_batch_have_their_own_numbers():
    x = np.ones(20_000)
    x[17_000] = math.inf
    with pytest.raises(
        db.DriftBanditsError, match=r"row 17000 of the frame: context feature 'x' = inf.*no decision was made"
    ):
        db.Bandit().decide_batch(pd.DataFrame({"x": x}), offers=["a"])
    at = pd.Series([1.7e9] * 20_000).where(np.arange(20_000) != 17_000)
    with pytest.raises(db.DriftBanditsError, match=r"row 17000 of the frame has no time.*no decision was made"):
        db.Bandit().decide_batch(pd.DataFrame({"x": 1.0, "at": at}), offers=["a"], time="at")


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas])
def test_names_of_two_types_need_a_column_that_holds_both(library):
    bandit = db.Bandit()
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match="named by strings and by numbers"):
        bandit.decide_batch(library(pd.DataFrame({"x": np.arange(40.0)})), offers=["a", 1])
    assert digest(bandit) == before
    assert {*bandit.decide_batch(pd.DataFrame({"x": np.arange(40.0)}), offers=["a", 1])["item"]} == {"a", 1}


WRONG = {
    "value": [math.nan, math.inf, 1e300, 10**400, "1", [1.0]],
    "click": [math.nan, 0.5, 2, -1, 10**30, "yes"],
    "count": [math.nan, 1.5, -1, "3"],
    "amount": [math.nan, -0.01, math.inf, None],
}


@pytest.mark.parametrize(("kind", "wrong"), [(kind, value) for kind, values in WRONG.items() for value in values])
def test_a_batch_refuses_what_reward_refuses(kind, wrong):
    bandit = db.Bandit(reward=kind, seed=1)
    ids = [bandit.decide(["a", "b"]).id for _ in range(4)]
    with pytest.raises(db.DriftBanditsError):
        bandit.reward(ids[2], wrong)
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match=r"^row 2 of the frame.*no row was learned"):
        bandit.reward_batch(pd.DataFrame({"id": ids, "reward": pd.Series([1, 0, wrong, 1], dtype=object)}))
    assert digest(bandit) == before


def test_a_batch_refuses_a_size_that_leaves_no_digits():
    bandit = db.Bandit(seed=1)
    ids = [bandit.decide(["a", "b"]).id for _ in range(60)]
    bandit.reward_batch(pd.DataFrame({"id": ids[:50], "reward": [1.0, 2.0] * 25}))
    with pytest.raises(db.DriftBanditsError, match=r"row 1 of the frame.*leave no digits"):
        bandit.reward_batch(pd.DataFrame({"id": ids[50:53], "reward": [1.0, 1e20, 1.0]}))


def test_a_batch_refuses_deferred_decisions():
    bandit = db.Bandit(seed=1)
    waits = bandit.decide(["a", "b"]).id
    deferred = bandit.decide(["a", "b"], defer=True).id
    with pytest.raises(db.DriftBanditsError, match=r"row 1 of the frame.*was deferred"):
        bandit.reward_batch(pd.DataFrame({"id": [waits, deferred], "reward": [1.0, 1.0]}))


@pytest.mark.compiled  # thousands of decisions
@pytest.mark.parametrize("before", [40, 700])  # too few rewards, or some that came: before the test can begin, or after
def test_missing_rewards_are_noticed_in_a_batch_as_one_by_one(before):
    """One batch of decisions and two looks for many: the same alarm at the same decision, and the same test afterwards."""
    together, alone = db.Bandit(seed=1), db.Bandit(seed=1)
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=1500), "at": 1.7e9 + np.arange(1500.0)})
    for bandit in (together, alone):
        for t in range(before):
            d = bandit.decide(["a", "b"], {"x": float(t % 3)}, at=1.6e9 + t)
            bandit.reward(d.id, float(t % 2))
    together.decide_batch(frame, offers=["a", "b"], time="at")
    for row in frame.to_dict("records"):
        alone.decide(["a", "b"], {"x": row["x"]}, at=row["at"])
    assert together.drift_events() == alone.drift_events()
    assert [event.kind for event in alone.drift_events()] == (["missing rewards"] if before > 100 else [])
    one, other = together._arrivals.pack(), alone._arrivals.pack()
    assert one[0] == other[0]
    assert all(np.array_equal(a, b) for a, b in zip(one[1:], other[1:], strict=True))
