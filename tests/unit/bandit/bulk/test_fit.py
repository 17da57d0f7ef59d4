"""By columns and row by row: the same state, events and refusals."""

import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandits as db
from driftbandits.bandit.bulk import fit as bulk
from driftbandits.bandit.saving import digest

pytestmark = pytest.mark.xdist_group("bandit")
MODES = ("item", "interact", "disjoint", "hybrid")


def random_log(seed, rows=70):
    """Numbers missing here and there, items and categories that appear in the middle, weights, a jump."""
    rng = np.random.default_rng(seed)
    half = np.arange(rows) >= rows // 2
    frame = pd.DataFrame({"x": rng.normal(3.0, 2.0, rows), "y": rng.normal(size=rows)})
    frame.loc[rng.random(rows) < rng.choice([0.0, 0.3]), "y"] = math.nan
    frame["late"] = np.where(half, rng.normal(size=rows), math.nan)
    frame["flag"] = rng.random(rows) < 0.5
    frame["c"] = rng.choice(np.array(["r", "s", None], object), rows)
    frame.loc[half & (rng.random(rows) < 0.3), "c"] = "new"
    frame["item"] = np.where(half, rng.choice(["a", "b", "d"], rows), rng.choice(["a", "b"], rows))
    if rng.random() < 0.5:
        frame["item.price"] = rng.choice([1.0, 2.0, math.nan], rows)
        frame["item.kind"] = rng.choice(["u", "v"], rows)
    frame["w"] = rng.choice([1.0, 1.0, 0.5, 0.0, math.nan], rows)
    frame["r"] = (frame["x"] + np.where(half, -4.0, 4.0) * (frame["item"] == "a") + rng.normal(size=rows)).round(3)
    frame["at"] = 1.7e9 + np.cumsum(rng.integers(0, 3, rows)).astype(float)
    return frame


def one_by_one(bandit, frame):
    """The same with `observe`."""
    own = [name for name in frame if name.startswith("item.")]
    who = [name for name in ("x", "y", "late", "flag", "c") if name in frame]
    for row in frame.to_dict("records"):
        there = {name: value for name, value in row.items() if value is not None and value == value}
        bandit.observe(
            {name.removeprefix("item."): there[name] for name in own if name in there} or None,
            {name: there[name] for name in who if name in there} or None,
            name=row["item"],
            reward=row["r"],
            at=row["at"],
            weight=there.get("w", 1.0),
        )
    return bandit


def by_columns(bandit, frame):
    return bandit.fit(frame, item="item", reward="r", time="at", weight="w")


@pytest.mark.compiled  # bit for bit in machine code, where a kernel could be vectorised otherwise in another caller
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), mode=st.sampled_from(MODES), half_life=st.sampled_from([None, 20, "1min"]))
def test_the_state_is_that_of_row_by_row(seed, mode, half_life):
    frame = random_log(seed)
    made = {"features": mode, "half_life": half_life, "max_items": 2 if seed % 3 == 0 else 4096}
    a, b = by_columns(db.Bandit(**made), frame), one_by_one(db.Bandit(**made), frame)
    assert digest(a) == digest(b)
    assert a.drift_events() == b.drift_events()
    # A second log, after a first one: what is known already, and times that go back.
    more = random_log(seed + 1)
    assert digest(by_columns(a, more)) == digest(one_by_one(b, more))


def test_most_rows_are_walked_by_the_kernel(monkeypatch):
    singles = []
    monkeypatch.setattr(
        bulk, "_single", lambda bandit, block, t, go=bulk._single: (singles.append(t), go(bandit, block, t))
    )
    by_columns(db.Bandit(), random_log(0, rows=40))
    assert 4 <= len(singles) <= 14


def test_more_than_five_hundred_columns_are_learned_row_by_row():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(6, 30)), columns=[f"x{j}" for j in range(30)])
    own = {f"item.z{j}": rng.normal(size=6) for j in range(20)}
    frame = frame.assign(item=["a", "b"] * 3, r=1.0, **own)
    assert db.Bandit(features="interact").fit(frame, item="item", reward="r").info()["covariance"] == "diagonal"


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_files_are_read_like_frames(kind, tmp_path):
    frame = random_log(3, rows=16).drop(columns=["flag", "w"])
    for k, part in enumerate((frame[:8], frame[8:])):
        path = tmp_path / f"{k}.{kind}"
        if kind == "parquet":
            part.to_parquet(path)
        elif kind == "csv":
            part.to_csv(path, index=False)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in part.to_dict("records")).replace("NaN", "null"))
    a, b = (db.Bandit().fit(data, item="item", reward="r", time="at") for data in (frame, tmp_path))
    assert a.info()["observed"] == b.info()["observed"] == 16
    assert a.estimate(["a", "b"], {"x": 1.0}) == b.estimate(["a", "b"], {"x": 1.0})


def test_a_log_is_learned_like_its_frame():
    frame = random_log(4, rows=20).drop(columns=["w"])
    context = ["x", "y", "late", "flag", "c"]
    own = [name for name in frame if name.startswith("item.")]
    frame = frame.drop(columns=own)
    log = db.Log.read(frame, item="item", reward="r", time="at", context=context)
    assert digest(db.Bandit().fit(log)) == digest(db.Bandit().fit(frame, item="item", reward="r", time="at"))
    with pytest.raises(db.DriftBanditsError, match="a Log knows its columns"):
        db.Bandit().fit(log, item="item")


# --------------------------------------------------------------------------------------------------------------- bad input


def small(seed, rows):
    """Few columns: interpreted, the engine takes milliseconds for each row."""
    return random_log(seed, rows)[["x", "c", "item", "w", "r", "at"]]


def refused(frame, says, **columns):
    bandit = db.Bandit(features="item")
    bandit.observe("a", {"x": 1.0, "c": "r"}, reward=1.0, at=1.6e9)
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match=says) as problem:
        bandit.fit(frame, **{"item": "item", "reward": "r", "time": "at"} | columns)
    assert "\n" not in str(problem.value)
    assert digest(bandit) == before


def test_a_broken_row_is_named_and_nothing_is_learned(tmp_path):
    frame = small(5, 32)
    late = frame.copy()
    late.loc[23, "x"] = math.inf
    refused(late, "row 23 of the frame.*'x' = inf")
    for k, part in enumerate((frame[:20], late[20:])):
        part.to_parquet(tmp_path / f"{k}.parquet")
    refused(tmp_path, r"row 3 of .*1\.parquet.*'x' = inf.*no row was learned")
    refused(frame.assign(r=[*frame["r"][:31], 1e200]), "row 31 .*reward")
    refused(frame.assign(w=-1.0), "row 0 .*weight", weight="w")
    refused(frame.assign(q=2.0), "row 0 .*propensity", propensity="q")
    refused(frame.assign(at=1e12), "row 0 .*future")
    refused(frame.assign(item=[*["a"] * 31, None]), "row 31 .*no item")
    refused(frame.assign(r=[*frame["r"][:31], math.nan]), "row 31 .*nothing in column 'r'")
    refused(frame.assign(c=[1.0] * 32), "row 0 .*was a string before")
    refused(frame.assign(q=["u"] * 31 + [1.0]), "row 31 .*numbers and strings")
    refused(frame, "no column 'nope'", item="nope")
    refused(frame, "cannot be a feature", context=["x", "r"])
    refused(frame.assign(seen=frame["r"]), "'seen' tells the reward in all 32 rows")


def test_files_out_of_order_are_refused_and_frames_are_sorted(tmp_path):
    frame = small(6, 10)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pandas(frame[::-1]), path)
    refused(path, "row 1 of .*earlier than the row before")
    assert digest(by_columns(db.Bandit(features="item"), frame[::-1][::-1])) == digest(
        by_columns(db.Bandit(features="item"), frame)
    )


def test_ids_propensities_and_rewards_are_no_features():
    frame = small(7, 8).assign(id=np.arange(8), propensity=0.5)
    plain = by_columns(db.Bandit(features="item"), frame.drop(columns=["id", "propensity"]))
    with pytest.warns(UserWarning, match="'id', 'propensity' is no feature"):
        assert digest(by_columns(db.Bandit(features="item"), frame)) == digest(plain)
    told = db.Bandit(features="item").fit(
        frame, item="item", reward="r", time="at", weight="w", id="id", propensity="propensity"
    )
    assert digest(told) == digest(plain)


def test_repeated_ids_are_refused_or_dropped_and_counted():
    frame = small(8, 10).assign(key=[*range(8), 3, 4])
    refused(frame, "row 8 .*2 rows in all", id="key")
    kept = db.Bandit(features="item").fit(frame, item="item", reward="r", time="at", id="key", repeats="drop")
    first = db.Bandit(features="item").fit(frame[:8].drop(columns="key"), item="item", reward="r", time="at")
    assert digest(kept) == digest(first)
    assert kept.info()["fit"] == {"rows": 8, "repeated": 2, "exact_from": 0}


def test_the_same_data_twice_is_a_warning(tmp_path):
    frame = small(9, 20)
    bandit = by_columns(db.Bandit(features="item"), frame[:10])
    by_columns(bandit, frame[10:])  # other rows
    bandit.save(tmp_path / "b")
    with pytest.warns(UserWarning, match="these 10 rows were learned before"):
        by_columns(db.Bandit.load(tmp_path / "b"), frame[:10])


def test_vectors_are_learned_row_by_row():
    frame = pd.DataFrame({"v": [[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], "item": ["a", "b", "a"], "r": [1.0, 0.0, 1.0]})
    a, b = db.Bandit(features="item").fit(frame, item="item", reward="r"), db.Bandit(features="item")
    for row in frame.to_dict("records"):
        b.observe(row["item"], {"v": row["v"]}, reward=row["r"])
    assert digest(a) == digest(b)
    when = frame.assign(v=pd.Timestamp("2024-05-01"))
    with pytest.raises(db.DriftBanditsError, match=r"row 0 of the frame: context feature 'v' is a .*calendar"):
        db.Bandit().fit(when, item="item", reward="r")


@pytest.mark.parametrize("learned", [0, 40])
def test_a_log_refuses_a_size_that_leaves_no_digits_as_observe_does(learned):
    """Weightless rows are not looked at; nothing is learned; row by row, the same row is refused."""
    rewards = [1.0, 2.0] * 25 + [1e20, 3.0, 1e19]
    frame = pd.DataFrame({"item": "a", "reward": rewards, "w": [1.0] * 50 + [0.0, 1.0, 1.0]})
    bandit, rows = (db.Bandit(seed=1) for _ in range(2))
    for each in (bandit, rows):
        for t in range(learned):
            each.observe("a", reward=float(t % 3))
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match=r"^row 52 .*leave no digits.*no row was learned"):
        bandit.fit(frame, item="item", reward="reward", weight="w")
    assert digest(bandit) == before
    for r, w in zip(rewards[:-1], frame["w"], strict=False):
        rows.observe("a", reward=r, weight=w)
    with pytest.raises(db.DriftBanditsError, match="leave no digits"):
        rows.observe("a", reward=rewards[-1])


def test_expire_refuses_a_size_that_leaves_no_digits():
    bandit = db.Bandit(seed=1)
    for t in range(40):
        bandit.reward(bandit.decide(["a", "b"]).id, float(t % 3))
    bandit.decide(["a", "b"])
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match="leave no digits"):
        bandit.expire(0, 1e30)
    assert digest(bandit) == before
