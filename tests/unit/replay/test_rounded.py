"""Propensities that were rounded: a uniform log is read as it was, others are refused with what to do."""

import numpy as np
import pandas as pd
import pytest

import driftbandits as db


def uniform_log(sizes, digits, rows=900):
    """Each row offers the first so many of the items, and one of them is chosen uniformly."""
    rng = np.random.default_rng(0)
    size = rng.choice(sizes, rows)
    item = (rng.random(rows) * size).astype(int)
    offered = ["|".join(f"i{k}" for k in range(n)) for n in size]
    p = np.round(1.0 / size, digits)
    frame = pd.DataFrame({"item": [f"i{k}" for k in item], "r": (item == 0) * 1.0, "p": p, "offered": offered})
    return db.Log.read(frame, item="item", reward="r", propensity="p", offered="offered")


@pytest.mark.parametrize(("sizes", "digits"), [([7], 2), ([8], 2), ([30], 2), ([3, 7, 11], 2), ([150], 3)])
def test_one_of_n_is_read_as_such(sizes, digits):
    log = uniform_log(sizes, digits)
    for chunk in log.chunks():
        assert np.array_equal(chunk.propensity, 1.0 / chunk.offers.sizes())
    assert log.facts.least == 1.0 / max(sizes)
    assert "rounded propensities of 1/n" in repr(log)
    assert next(iter(log)).propensity in {1.0 / n for n in sizes}


def test_its_estimates_are_those_of_a_log_with_all_digits():
    policies = {"uniform": lambda items, context, at: dict.fromkeys(items, 1.0 / len(items))}
    rounded, exact = (
        db.replay(policies, uniform_log([7], digits), estimators=["ips", "snips"]).estimate("uniform", "ips")
        for digits in (2, 17)
    )
    assert rounded == exact


def test_propensities_of_no_uniform_log_stay_as_they_are():
    frame = pd.DataFrame({"item": ["a", "b", "a"] * 40, "r": 1.0, "p": [0.67, 0.33, 0.67] * 40})
    log = db.Log.read(frame, item="item", reward="r", propensity="p")
    assert {*next(log.chunks()).propensity.tolist()} == {0.67, 0.33}
    frame["p"] = [0.6666667, 0.3333333, 0.6666667] * 40
    log = db.Log.read(frame, item="item", reward="r", propensity="p")
    assert log.facts.least == 0.3333333


def test_what_is_refused_for_its_few_digits_says_so():
    rng = np.random.default_rng(1)
    true = np.r_[0.5, np.full(14, 0.5 / 14)]  # 0.0357 is logged as 0.04
    item = rng.choice(15, 4000, p=true)
    frame = pd.DataFrame({"item": [f"i{k:02}" for k in item], "r": 1.0, "p": np.round(true, 2)[item]})
    log = db.Log.read(frame, item="item", reward="r", propensity="p")
    others = {"others": lambda items, context, at: {f"i{k:02}": 1.0 / 14 for k in range(1, 15)}}
    with pytest.raises(db.errors.InvalidValue, match=r"2 digits, and 0.04 may be 0.035 to 0.045: log more digits"):
        db.replay(others, log, estimators=["ips"])
