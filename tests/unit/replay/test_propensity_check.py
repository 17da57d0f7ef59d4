"""True propensities pass; those that cannot be true are refused with the item and the numbers."""

import math

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
import logs
from driftbandits.errors import InvalidValue
from driftbandits.replay.chunks import Chunk, Offers
from driftbandits.replay.propensity_check import BETS, LEVEL, ROUNDED, PropensityCheck


def problem(frame, **options):
    return db.Log.read(frame, item="item", reward="r", propensity="p", **options).facts.untrue


def checked(chosen, p, items):
    """The check of a log in which everything is on offer, without the rest of a log."""
    n = len(chosen)
    offers = Offers(np.zeros(n, np.int64), [dict.fromkeys(range(items))], np.array([0, items]), np.arange(items))
    check = PropensityCheck()
    check.add(Chunk(np.arange(n), "log", [*range(items)], chosen, np.zeros(n), p, None, None, offers, {}))
    return check


def test_a_constant_that_is_no_probability_is_refused_with_the_item_and_the_numbers():
    frame = logs.frame(600, 0, uniform=True).assign(p=0.1)
    log = db.Log.read(frame, item="item", reward="r", propensity="p")
    counts = frame["item"].value_counts()
    with pytest.raises(InvalidValue, match="the propensities of the frame cannot be true: item") as raised:
        db.replay({"t": lambda items, context, at: "a"}, log)
    worst = max(counts.index, key=lambda name: counts[name])
    assert f"item {worst!r} was on offer 600 times and chosen {counts[worst]} times" in str(raised.value)
    assert f"sum to {10 * counts[worst]}" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_propensities_that_are_too_large_are_refused():
    frame = logs.frame(600, 0, uniform=True)
    assert "they are too large" in problem(frame.assign(p=0.9))
    assert "600 choices have a propensity between 1/2 and 1" in problem(frame.assign(p=0.9))
    assert problem(frame.assign(p=1.0)) is None  # a logger without chance


def test_one_propensity_that_is_next_to_nothing_is_refused():
    frame = logs.frame(400, 1)
    assert problem(frame) is None
    frame.loc[17, "p"] = 1e-12
    assert "sum to 1e+12" in problem(frame)


def test_what_is_alone_on_offer_has_probability_one():
    frame = pd.DataFrame({"item": ["a", "b"], "r": [0.0, 1.0], "p": [0.5, 0.5], "offer": [["a", "b"], ["b"]]})
    assert problem(frame, offered="offer") == (
        "row 1 of the frame has only 'b' on offer, and its propensity is 0.5; it must be 1"
    )


def test_the_product_is_that_of_the_equation():
    rng = np.random.default_rng(0)
    p, chosen = rng.uniform(0.1, 0.9, 50), rng.integers(3, size=50)
    check = checked(chosen, p, 3)
    for a in range(3):
        x = (chosen == a) / ((1.0 + ROUNDED) * p)
        product = np.mean([math.prod(1.0 - bet + bet * value for value in x) for bet in BETS])
        assert check.evidence()[a] == pytest.approx(math.log(product))


def simulated(rng, rows, items, kind):
    """Choices with their true propensities: even, greedy with a floor that moves about, without chance, or rounded."""
    if kind == "even":
        p = np.full((rows, items), 1.0 / items)
    elif kind == "without chance":
        p = np.eye(items)[rng.integers(items, size=rows)]
    else:
        floor = 0.02
        p = np.full((rows, items), floor)
        p[np.arange(rows), np.arange(rows) // 50 % items] += 1.0 - items * floor
    if kind == "dirichlet":
        p = rng.dirichlet(np.full(items, 0.3), rows)
    chosen = (rng.random(rows)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=items - 1)
    own = p[np.arange(rows), chosen]
    return chosen, np.round(own, 2) if kind == "rounded" else own


@pytest.mark.parametrize("kind", ["even", "greedy", "without chance", "dirichlet", "rounded"])
def test_true_propensities_are_hardly_ever_refused(kind):
    """At most 3 LEVEL = 3e-4 by the theorem: none of 400 logs, or something is wrong (probability 0.11 at the level itself)."""
    rng = np.random.default_rng(5)
    found = [checked(*simulated(rng, 300, 4, kind), 4) for _ in range(400)]
    assert [check.problem() for check in found if check.problem() is not None] == []
    if (
        kind != "rounded"
    ):  # Markov's inequality, where it can be seen: evidence above log 20 in at most 1/20 of logs for each item
        share = np.mean([check.evidence() > math.log(20.0) for check in found], axis=0)
        assert (share <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / 400)).all()
    assert LEVEL == 1e-4


def following(rows, seed, *, by):
    """A log with p = 1/2 of a logger that shows "a" to one half of the visitors and "b" to the other, in 9 of 10 decisions."""
    rng = np.random.default_rng(seed)
    land, x, new = rng.choice(["se", "no"], rows), rng.normal(size=rows), rng.random(rows) < 0.5
    at = 1.7e9 + 600.0 * np.arange(rows)
    side = {
        "land": land == "se",
        "x": x > 0.0,
        "new": new,
        "at": at // 3600.0 % 24.0 < 12.0,
        "rows": np.arange(rows) < 500,
    }[by]
    chosen = np.where(side == (rng.random(rows) < 0.9), "a", "b")
    columns = {"item": chosen, "r": rng.integers(2, size=rows), "p": 0.5, "land": land, "x": x, "new": new, "at": at}
    return pd.DataFrame(columns)


CONTEXT = ["land", "x", "new"]


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("land", "where 'land' = '"),
        ("x", "where 'x' "),
        ("new", "where 'new' = "),
        ("at", "o'clock UTC, item"),
        ("rows", "in decisions"),
    ],
)
def test_a_constant_is_refused_if_the_logger_follows_what_it_saw(by, told):
    """Overall each item is chosen in half of the rows: only parts of the log tell."""
    found = problem(following(1000, 3, by=by), context=CONTEXT, time="at")
    assert told in found
    assert "they are too small there; the logger" in found
    assert "\n" not in found


def test_the_numbers_of_a_part_are_its_own():
    frame = following(1000, 4, by="land")
    found = problem(frame, context=CONTEXT)
    land = "se" if "'se'" in found else "no"
    rows = frame[frame["land"] == land]
    item = "a" if land == "se" else "b"
    many = int((rows["item"] == item).sum())
    assert found == (
        f"where 'land' = {land!r}, item {item!r} was on offer {len(rows)} times and chosen {many} times with propensities whose "
        f"inverses sum to {2 * many:.4g}; if they were true it would be near {len(rows)}, or less: they are too small there; the logger "
        "followed 'land', or 'land' was known only after the choice and is no context"
    )


def test_contexts_of_dicts_are_looked_at_alike():
    frame = following(1000, 4, by="land")
    columns = problem(frame, context=CONTEXT)
    frame["who"] = [
        {"land": land, "x": x, "new": new} for land, x, new in zip(frame.land, frame.x, frame.new, strict=True)
    ]
    assert problem(frame, context=["who"]) == columns
    frame["who"] = [{"new": bool(new), "x": 0.5} for new in frame["land"] == "se"]
    assert "where 'new' = " in problem(frame, context=["who"])


@pytest.mark.parametrize("kind", ["follows", "adaptive"])
def test_true_propensities_that_follow_the_context_are_hardly_ever_refused(kind):
    rng = np.random.default_rng(8)
    refused = []
    for _ in range(60):
        n, items = 400, int(rng.integers(2, 6))
        land, x = rng.integers(20, size=n), rng.normal(size=n)
        p = np.exp(rng.normal(size=(20, items))[land] + np.outer(x, rng.normal(size=items)))
        if kind == "follows":
            p = 0.02 / items + 0.98 * p / p.sum(axis=1, keepdims=True)
            chosen = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=items - 1)
        else:
            chosen, counts = np.zeros(n, np.int64), np.ones(items)
            for t in range(n):  # what was chosen becomes more likely
                p[t] = 0.02 / items + 0.98 * counts / counts.sum()
                chosen[t] = rng.choice(items, p=p[t])
                counts[chosen[t]] += 0.5
        frame = {
            "item": [f"i{a}" for a in chosen],
            "r": 0,
            "p": p[np.arange(n), chosen],
            "land": [f"l{k}" for k in land],
            "x": x,
        }
        offered = [f"i{a}" for a in range(items)]
        refused.append(problem(pd.DataFrame(frame), context=["land", "x"], offered=offered))
    assert refused == [None] * 60


def test_a_column_may_have_any_name():
    frame = following(1000, 4, by="land").rename(columns={"land": "rows"})
    assert "where 'rows' = '" in problem(frame, context=["rows", "x"])
