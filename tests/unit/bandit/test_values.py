"""Vectors, calendars and numbers of every kind through all doors of a bandit."""

import copy
import datetime
import json
import pickle
from decimal import Decimal

import numpy as np
import pytest

import driftbandits as db
from driftbandits.adaptive.columns import CONSTANT, NUMBER, new_scale, settle_scale
from driftbandits.bandit.saving import digest

pytestmark = pytest.mark.xdist_group("bandit")


def offers(n, seed=0, d=3):
    """Items with an embedding that says what they are worth, in every form a value comes in."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=d)
    for t in range(n):
        made = rng.normal(size=(2, d))
        give = (list, tuple, np.asarray, lambda x: x.astype(np.float32))[t % 4]
        items = {
            "p": {"e": give(made[0]), "kind": "new", "price": Decimal("2.5"), "sold": True, "note": None},
            "q": {"e": give(made[1]), "kind": "used", "price": np.int16(3), "sold": np.bool_(False)},
        }
        when = datetime.datetime(2026, 11, 16, t % 24, tzinfo=datetime.UTC)
        yield (
            items,
            {"who": give(rng.normal(size=2)), **db.features.calendar(when)},
            dict(zip("pq", made @ taste, strict=True)),
        )


def play(bandit, n):
    for items, context, worth in offers(n):
        d = bandit.decide(items, context, at=0.0)
        json.dumps(d.to_dict())
        bandit.reward(d.id, float(worth[d.item]))
    return bandit


LAST = [*offers(30)][-1][:2]


def test_vectors_through_every_door(tmp_path):
    bandit = play(db.Bandit(features="item", seed=1), 20)
    before = bandit.estimate(*LAST)
    for same in (copy.copy(bandit), copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))):
        assert same.estimate(*LAST) == before
        assert digest(same) == digest(bandit)
    bandit.save(tmp_path / "b")
    assert db.Bandit.load(tmp_path / "b").estimate(*LAST) == before
    with db.Bandit.open(tmp_path / "d", features="item", seed=1) as durable:
        play(durable, 10)
        durable._snapshot()
        play(durable, 10)  # read again from the log, as lists
        known = durable.estimate(*LAST)
        durable._reload()
        assert durable.estimate(*LAST) == known
        follower = db.Bandit.follow(tmp_path / "d")
        d = follower.decide(*LAST)
        follower.reward(d.id, 1.0)
        follower.close()
        assert durable.absorb() == 2
        assert durable.info()["refused"] == 0


def test_a_decision_that_only_a_log_has_is_learned():
    here, there = db.Bandit(features="item", seed=1), db.Bandit(features="item", seed=1)
    for items, context, worth in offers(6):
        d = here.decide(items, context, at=0.0)
        there.reward(json.loads(json.dumps(d.to_dict())), float(worth[d.item]))
    assert there.info()["rewards"] == 6
    assert there._learner.items.vectors == {"e": 3}
    assert there._learner.context.vectors == {"who": 2}


def test_a_feature_that_is_a_vector_is_forgotten_whole():
    bandit = play(db.Bandit(features="item", seed=1), 5)
    bandit.forget_feature("e")
    d = bandit.decide({"p": {"e": [1.0]}, "q": {"e": [2.0]}})
    bandit.reward(d.id, 1.0)
    with pytest.raises(db.DriftBanditsError, match="keeps its length"):
        bandit.decide({"p": {"e": [1.0, 2.0]}})


def test_entries_of_a_vector_have_one_scale():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 4)) * [1.0, 3.0, 0.1, 2.0]
    scale = new_scale([CONSTANT, NUMBER, NUMBER, NUMBER, NUMBER], [0, 1, 1, 1, 4])
    scale.seen[1:], scale.mean[1:], scale.M2[1:] = 50.0, x.mean(0), 50.0 * x.var(0)
    settle_scale(scale)
    assert scale.s[1:4] == pytest.approx([np.sqrt(x[:, :3].var(0).mean())] * 3)
    assert scale.s[4] == pytest.approx(x[:, 3].std())
    assert scale.mu[1:] == pytest.approx(x.mean(0))
    scale.M2[1:4] = 0.0
    settle_scale(scale)
    assert scale.s[1:4].tolist() == [1.0, 1.0, 1.0]


def test_an_embedding_is_learned():
    """Its first entry decides; the others are noise. Chosen well means above the mean of two draws, 0."""
    bandit, got = db.Bandit(seed=0), []
    for items, _, worth in offers(120, seed=5, d=6):
        d = bandit.decide(items)
        bandit.reward(d.id, float(worth[d.item]))
        got.append(worth[d.item] - np.mean([*worth.values()]))
    assert np.mean(got[60:]) > 0.5 * np.mean(np.abs(got[60:]))


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_hold_vectors(frame):
    library = pytest.importorskip(frame)
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=2).tolist() for _ in range(12)]
    table = library.DataFrame({"item": ["a", "b"] * 6, "reward": [1.0, 0.0] * 6, "e": rows})
    bandit = db.Bandit().fit(table, item="item", reward="reward")
    assert bandit.info()["observed"] == 12
    assert bandit._learner.context.vectors == {"e": 2}


ODD = [b"x", {1}, {"a": 1}, (x for x in [1]), np.datetime64("2020-01-01"), np.timedelta64(1, "D"), 10**400, [10**400], [None],
       np.array([1, None]), [1j], object(), Decimal("NaN"), Decimal("sNaN"), datetime.timedelta(1), np.array("x"), [[]], [1e101], np.eye(2),
       np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])]  # fmt: skip


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_odd_values_are_one_line_wherever_they_stand(value):
    bandit = play(db.Bandit(features="item", seed=1), 1)
    before = digest(bandit)
    for items, context in (
        ({"p": {"x": value}}, None),
        ({"p": {"x": 1.0}, "q": {"x": value}}, None),
        ({"p": {"e": value}, "q": {"e": [1.0, 2.0, 3.0]}}, None),
        (["p"], {"x": value}),
    ):
        with pytest.raises(db.DriftBanditsError) as problem:
            bandit.decide(items, context)
        assert "\n" not in str(problem.value)
    assert digest(bandit) == before
