"""A log learned by its sums: those of a serial pass, whatever the parts, and then an exact tail."""

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.adaptive.shards import added
from driftbandits.bandit.bulk import by_sums
from driftbandits.bandit.bulk.sources import Data
from driftbandits.bandit.saving import digest
from driftbandits.util.tasks import OnDask, in_turn

pytestmark = pytest.mark.xdist_group("bandit")
COLUMNS = {"item": "item", "reward": "r", "time": "at"}


def a_log(seed, rows=40):
    """Nothing changes, so that nothing is refuted; no value is extreme."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.uniform(-1, 1, rows), "y": np.where(rng.random(rows) < 0.3, np.nan, rng.uniform(size=rows))}
    )
    frame["c"] = rng.choice(np.array(["r", "s", None], object), rows)
    frame["item"] = np.where(np.arange(rows) < rows // 2, "a", rng.choice(["a", "b", "d"], rows))
    frame["item.price"] = rng.choice([1.0, 2.0], rows)
    frame["w"] = rng.choice([1.0, 0.5], rows)
    frame["r"] = frame["x"] + rng.normal(size=rows)
    frame["at"] = 1.7e9 + np.arange(rows, dtype=float)
    return frame


def sums_of(bandit):
    s, m = bandit._learner.model.state, bandit._learner.model
    kept = {name: getattr(s, name) for name in ("V", "b", "Q", "n", "own_M", "own_S", "own_t", "last")}
    scales = {
        f"{side}.{name}": getattr(getattr(m, side), name)
        for side in ("items", "context")
        for name in ("seen", "mean", "M2", "anchor")
    }
    return kept | scales | {"numbers": s.numbers[[0, 1, 2, 3, 4, 5]]}


def close(a, b, within=1e-12):
    x, y = sums_of(a), sums_of(b)
    for name, value in x.items():
        assert value.shape == y[name].shape, name
        assert np.abs(value - y[name]).max(initial=0.0) <= within * max(1.0, np.abs(value).max(initial=0.0)), name


@pytest.mark.parametrize(
    ("features", "half_life", "own"), [("item", None, True), ("interact", "20s", False), ("hybrid", 10, True)]
)
def test_the_sums_are_those_of_a_serial_pass(features, half_life, own):
    frame = a_log(0) if own else a_log(0).drop(columns="item.price")
    made = {"features": features, "half_life": half_life}
    exact = db.Bandit(**made).fit(frame, weight="w", **COLUMNS)
    assert not exact.drift_events()
    quick = db.Bandit(**made).fit(frame, weight="w", exact=False, tail=1, **COLUMNS)
    close(exact, quick)
    assert quick.info()["fit"] == {"rows": 40, "repeated": 0, "exact_from": 39}
    assert [quick.info()[name] for name in ("observed", "columns", "items")] == [
        exact.info()[name] for name in ("observed", "columns", "items")
    ]


def test_parts_add_up_in_any_order(tmp_path):
    frame = a_log(1)
    cuts = [0, 7, 8, 30, 40]
    for k in range(4):
        frame[cuts[k] : cuts[k + 1]].to_parquet(tmp_path / f"{k}.parquet")
    whole = db.Bandit(features="item").fit(frame, weight="w", exact=False, tail=3, **COLUMNS)
    for run in (in_turn, OnDask("threads"), OnDask("synchronous")):
        bandit = db.Bandit(features="item")
        by_sums.fit_by_sums(bandit, [*Data(tmp_path, "error", {**COLUMNS, "weight": "w"}).each()], 3, run)
        close(whole, bandit)
    shards = []
    monkey = by_sums._joined
    by_sums._joined = lambda a, b: (shards.extend([a, b]), monkey(a, b))[1]
    try:
        db.Bandit(features="item").fit(tmp_path, weight="w", exact=False, tail=3, **COLUMNS)
    finally:
        by_sums._joined = monkey
    a, b = shards[0].shard, shards[1].shard
    for x, y in zip(added(a, b), added(b, a), strict=True):
        assert np.allclose(x, y, rtol=1e-14, atol=0.0)


def test_a_dask_collection(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    frame = a_log(2, 24).drop(columns="w")
    frames = dask.from_pandas(frame, npartitions=3)
    bandit = db.Bandit(features="item").fit(frames, exact=False, tail=2, scheduler="synchronous", **COLUMNS)
    close(bandit, db.Bandit(features="item").fit(frame, exact=False, tail=2, **COLUMNS))
    with pytest.raises(db.DriftBanditsError, match="exact=False"):
        db.Bandit().fit(frames, **COLUMNS)


def test_a_short_log_is_learned_exactly():
    frame = a_log(3, 10)
    a, b = (db.Bandit(features="item").fit(frame, exact=exact, **COLUMNS) for exact in (True, False))
    assert digest(a) == digest(b)
    assert b.info()["fit"]["exact_from"] == 0


def test_what_cannot_be_summed_is_one_line_and_nothing_is_learned(tmp_path):
    frame = a_log(4, 20)
    frame[:10].to_parquet(tmp_path / "0.parquet")
    frame[10:].assign(r=[*[0.0] * 9, np.inf]).to_parquet(tmp_path / "1.parquet")
    bandit = db.Bandit(features="item")
    before = digest(bandit)
    used = db.Bandit(features="item").fit(frame[:2], **COLUMNS)
    for call, says in (
        (lambda: bandit.fit(tmp_path, exact=False, tail=2, **COLUMNS), r"row 9 of .*1\.parquet.*reward"),
        (lambda: used.fit(frame[2:], exact=False, **COLUMNS), "has seen nothing"),
        (lambda: bandit.fit(frame, exact=False, tail=0, **COLUMNS), "tail"),
        (
            lambda: db.Bandit(max_items=2, features="item").fit(frame, exact=False, tail=2, **COLUMNS),
            "more items than max_items",
        ),
    ):
        with pytest.raises(db.DriftBanditsError, match=says) as problem:
            call()
        assert "\n" not in str(problem.value)
    assert digest(bandit) == before
    (tmp_path / "0.parquet").rename(tmp_path / "2.parquet")
    frame[10:].to_parquet(tmp_path / "1.parquet")
    with pytest.raises(db.DriftBanditsError, match="in order of time"):
        bandit.fit(tmp_path, exact=False, tail=2, **COLUMNS)


def test_errors_in_a_part_name_the_part(tmp_path):
    import dask.dataframe as dd

    frame = pd.DataFrame({"item": ["a", "b"] * 30, "r": np.arange(60.0), "x": np.arange(60) % 7})
    frame[:30].to_parquet(tmp_path / "1.parquet")
    frame[30:].assign(x="text").to_parquet(tmp_path / "2.parquet")
    names = {"item": "item", "reward": "r", "exact": False, "tail": 5}
    with pytest.raises(db.DriftBanditsError, match=r"row 0 of .*2.parquet: context feature 'x' = 'text' is a string"):
        db.Bandit().fit(tmp_path, **names)
    parts = dd.from_pandas(frame.assign(r=frame["r"].where(frame.index != 47)), npartitions=3)
    with pytest.raises(
        db.DriftBanditsError, match="row 7 of partition 2 of the Dask collection has nothing in column 'r'"
    ):
        db.Bandit().fit(parts, **names)
    with pytest.raises(db.DriftBanditsError, match="it must be a Dask data frame"):
        db.Bandit().fit(parts.to_delayed()[0], **names)


def test_partitions_agree_on_what_is_an_id():
    import dask.dataframe as dd

    frame = pd.DataFrame({"item": ["a", "b"] * 60, "r": np.arange(120.0), "x": np.arange(120) % 7})
    frame["who"] = ["same"] * 60 + [f"u{k}" for k in range(60)]
    bandit = db.Bandit().fit(dd.from_pandas(frame, npartitions=2), item="item", reward="r", exact=False, tail=5)
    assert [*bandit._learner.context.strings] == ["who"]
    frame["who"] = frame["who"].to_numpy()[::-1]
    with pytest.warns(UserWarning, match="'who' has another text in each of the first 60 rows"):
        bandit = db.Bandit().fit(dd.from_pandas(frame, npartitions=2), item="item", reward="r", exact=False, tail=5)
    assert [*bandit._learner.context.strings] == []
