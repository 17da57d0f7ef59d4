"""Explanations: contributions add up to the score, in the user's names, for every mode and every learner."""

import dataclasses
import json
import math

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit.contributions import AVERAGE
from driftbandits.bandit.events import DriftEvent
from driftbandits.bandit.explanation_sentence import largest
from driftbandits.bandit.pending import UnknownDecision

pytestmark = pytest.mark.xdist_group("bandit")


def offer(kind, rng, t):
    """Items and context with numbers, categories, a name on both sides; or names only; or arrays; or with gaps."""
    if kind == "array":
        return rng.normal(size=(4, 3)), rng.normal(size=2)
    context = {"age": rng.normal(40, 5), "city": str(rng.choice(["x", "y"])), "new": bool(rng.random() < 0.5)}
    items = {n: {"price": rng.normal(3, 1), "kind": str(rng.choice(["u", "v", "w"])), "age": 1.0} for n in "abc"}
    if kind == "names":
        return list("abc"), context
    if kind == "gaps":
        if t % 3 == 0:
            del context["age"]
        if t % 4 == 0:
            del context["city"]
        if t % 5 == 0:
            del items["a"]["price"]
        if t % 7 == 0:
            del items["b"]["kind"]
    return items, context


def priced(features, context):
    return {"p": features["price"] * context["age"], "kind": features["kind"]}


MODES = ("item", "interact", "disjoint", "hybrid", "linear")
CASES = [(mode, kind) for mode in MODES for kind in ("dicts", "names", "array", "gaps")] + [(priced, "dicts")]


@pytest.mark.parametrize("half_life", [None, 30])
@pytest.mark.parametrize(("features", "kind"), CASES)
def test_contributions_add_up_to_the_score(features, kind, half_life):
    rng = np.random.default_rng(0)
    bandit = db.Bandit(features=features, seed=1, half_life=half_life)
    for t in range(8 if half_life is None else 15):
        d = bandit.decide(*offer(kind, rng, t))
        e = bandit.explain(d)
        assert sum(e.contributions.values()) == pytest.approx(d.scores[d.item], abs=1e-9)
        assert (e.item, e.estimate, e.propensity) == (d.item, pytest.approx(d.scores[d.item], abs=1e-12), d.propensity)
        other = e.runner_up
        assert sum(other.contributions.values()) == pytest.approx(d.scores[other.item], abs=1e-9)
        assert d.scores[other.item] == max(s for item, s in d.scores.items() if item != d.item)
        if t % 4:  # some rewards never come
            bandit.reward(d.id, (d.item in ("b", 2)) + 0.2 * rng.normal())
    assert len(e.contributions) > 1


@pytest.mark.interpreted  # compiles a strategy
def test_contributions_of_a_strategy_and_of_hashed_columns_add_up():
    rng = np.random.default_rng(0)
    ridge = db.Bandit(
        strategy=db.zoo.lb_weight_ucb(gamma=0.9, lam=1.0, S=1.0, L=9.0, R=0.1, delta=0.01), features="interact", seed=0
    )
    wide = db.Bandit(features="interact", buckets=1 << 12, seed=0)
    for t in range(10):
        for bandit in (ridge, wide):
            items, context = offer("array" if bandit is ridge else "dicts", rng, t)
            if bandit is wide:
                context |= {f"n{i}": rng.normal() for i in range(130)}
            d = bandit.decide(items, context)
            e = bandit.explain(d)
            assert sum(e.contributions.values()) == pytest.approx(d.scores[d.item], abs=1e-9)
            bandit.reward(d.id, rng.normal() + 1.0)
    assert wide.info()["covariance"] == "diagonal"
    assert math.isnan(ridge.explain(ridge.decide(*offer("array", rng, 0))).sd)


def test_an_effect_is_named_in_the_units_of_the_reward():
    """r = 2 price + 3 [colour = red], no noise: contributions are those effects, relative to the mean offer."""
    rng = np.random.default_rng(3)
    bandit = db.Bandit(features="item", explore=1.0, half_life=1e9, seed=0)
    for _ in range(300):
        items = {n: {"price": rng.uniform(0, 1), "colour": str(rng.choice(["red", "blue"]))} for n in range(3)}
        d = bandit.decide(items)
        bandit.reward(d.id, 2.0 * items[d.item]["price"] + 3.0 * (items[d.item]["colour"] == "red"))
    items = {0: {"price": 1.0, "colour": "red"}, 1: {"price": 0.0, "colour": "blue"}}
    e = bandit.explain(bandit.decide(items, mask={1: False}))
    assert e.contributions["price"] == pytest.approx(2.0 * (1.0 - 0.5), abs=0.1)
    assert e.contributions["colour=red"] == pytest.approx(3.0 * (1.0 - 0.5), abs=0.2)
    assert e.contributions[AVERAGE] == pytest.approx(2.5, abs=0.15)
    assert e.runner_up is None  # the other was masked
    assert "price (+" in e.sentence
    assert "colour (+" in e.sentence
    assert e.sentence.count(".") >= 1
    assert [*bandit.importance()][:2] == ["colour", "price"]


def test_effects_are_relative_to_what_is_usually_on_offer():
    """Over all offers the contributions of a feature have mean 0, also where its value is sometimes missing."""
    rng = np.random.default_rng(4)
    bandit, made = db.Bandit(features="item", half_life=1e9, seed=0), []
    for t in range(60):
        row = {"size": rng.uniform(0, 1)} | ({"price": rng.uniform(5, 6)} if t % 3 else {})
        made.append(bandit.decide({"only": row}))
        bandit.reward(made[-1].id, row["size"] + 2.0 * ("price" in row) + row.get("price", 0.0) + 0.1 * rng.normal())
    parts = [bandit.explain(d).contributions for d in made]
    for name in ("size", "price"):
        assert np.mean([part[name] for part in parts]) == pytest.approx(0.0, abs=1e-9)
        assert np.std([part[name] for part in parts]) > 0.1


def test_what_speaks_against_the_choice_is_not_its_reason():
    assert largest({"a": 0.3, "b": -0.2, "c": 0.1}) == ", because of a (+0.3) and c (+0.1), in spite of b (-0.2)"
    assert (
        largest({"a": -0.3, "b": 0.2}, -1.0) == ", because of a (-0.3), in spite of b (+0.2)"
    )  # chosen to learn more about it
    assert largest({"a": -0.3}) == ", in spite of a (-0.3)"


def test_the_sentence_names_item_probability_and_evidence():
    bandit = db.Bandit(seed=0, half_life=50)
    first = bandit.explain(bandit.decide(["a", "b"]))
    assert "no reward is known yet" in first.sentence
    assert "50 %" in first.sentence
    for _ in range(60):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, float(d.item == "b"))
    e = bandit.explain(bandit.decide(["a", "b"]))
    assert e.sentence.startswith("'b' was chosen with probability 99")
    assert "for 'a'" in e.sentence
    assert e.observations == pytest.approx(bandit.info()["effective_memory"])
    assert 0.0 < e.item_observations < e.observations + 1e-9
    assert f"{e.observations:,.0f} observations" in e.sentence
    assert "(a memory of 73 decisions)" in e.sentence
    assert json.loads(json.dumps(e.to_dict()))["sentence"] == str(e)


def test_decisions_are_found_by_id_while_they_are_remembered():
    bandit = db.Bandit(seed=0)
    first = bandit.decide(["a", "b"])
    assert bandit.explain(first.id).item == first.item
    for _ in range(64):
        bandit.decide(["a", "b"])
    with pytest.raises(UnknownDecision, match="not among the last 64"):
        bandit.explain(first.id)
    assert bandit.explain(first).item == bandit.explain(first.to_dict()).item == first.item
    with pytest.raises(db.errors.InvalidValue, match="is no decision"):
        bandit.explain(3)


def test_durable_following_and_loaded_bandits_explain(tmp_path):
    with db.Bandit.open(tmp_path / "log.db", seed=0) as bandit:
        first = bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}})
        for _ in range(80):
            d = bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}})
            bandit.reward(d.id, float(d.item == "b"))
        now, weights = bandit.explain(first.id), bandit.importance()
        bandit.save(tmp_path / "saved.npz")
    with db.Bandit.open(tmp_path / "log.db") as again:
        assert again.explain(first.id) == now
        assert again.explain(first.id).propensity == first.propensity
        assert again.importance() == weights != {}
        with pytest.raises(UnknownDecision, match="is in"):
            again.explain("0" * 32)
    with db.Bandit.follow(tmp_path / "log.db") as follower:
        assert follower.explain(first.id).contributions == now.contributions
    assert db.Bandit.load(tmp_path / "saved.npz").explain(first).contributions == now.contributions


def test_a_vector_is_one_feature_of_importance_and_its_entries_on_request():
    bandit = db.Bandit(seed=0)
    rng = np.random.default_rng(0)
    for t in range(40):
        taste = rng.normal(size=3)
        d = bandit.decide({"a": {"taste": taste, "price": 1.0}, "b": {"taste": -taste, "price": 2.0}}, at=1e9 + t)
        bandit.reward(d.id, float(taste[0]) * (1.0 if d.item == "a" else -1.0))
    whole, single = bandit.importance(), bandit.importance(entries=True)
    assert "taste" in whole
    assert not any("taste[" in name for name in whole)
    assert {"taste[0]", "taste[1]", "taste[2]"} <= single.keys()
    assert whole["taste"] <= sum(value for name, value in single.items() if name.startswith("taste[")) + 1e-12


@pytest.mark.parametrize("half_life", [None, "30d"])
def test_a_sentence_says_how_old_the_evidence_is(half_life):
    bandit = db.Bandit(seed=0, half_life=half_life, explore=0.0)
    for t in range(140):  # "a" is shown ten times, then never again
        bandit.observe("a" if t < 10 else "b", reward=0.5 if t < 10 else 1.0 + 0.1 * (t % 2), at=1e9 + 3600.0 * t)
    d = bandit.decide(["a", "b"], at=1e9 + 3600.0 * 140)
    e = bandit.explain(d)
    part = {x.item: x for x in (e, e.runner_up)}
    unit = 3600.0 if half_life else 1.0
    assert (part["a"].age, part["b"].age) == (131.0 * unit, 1.0 * unit)
    assert 0.0 < part["a"].item_observations <= 10.0 + 1e-9
    assert part["b"].item_observations > part["a"].item_observations
    text = "last rewarded 5 days ago" if half_life else "last rewarded 131 decisions ago"
    assert e.sentence.count(text) == 1
    assert json.loads(json.dumps(e.to_dict()))["runner_up"]["age"] == e.runner_up.age
    new = bandit.explain(bandit.decide(["b", "z"], at=1e9 + 3600.0 * 141))
    assert "which has no reward yet" in new.sentence


def test_one_new_observation_does_not_make_old_ones_young():
    bandit = db.Bandit(seed=0, explore=0.0)
    shown = ["a"] * 50 + ["b"] * 400 + ["a"] + ["b"] * 120
    for t, item in enumerate(shown):
        bandit.observe(item, reward=0.5 + 0.1 * (t % 3) + (item == "b"))
    e = bandit.explain(bandit.decide(["a", "b"]))
    left = e.runner_up
    ages = [len(shown) - t for t, item in enumerate(shown) if item == "a"]
    assert (left.item, left.age) == ("a", 121.0)
    assert 0.8 * np.mean(ages) < left.mean_age <= np.mean(ages) + 1e-9
    assert f"last rewarded 121 decisions ago, on average {left.mean_age:,.0f} decisions ago" in e.sentence


def test_only_what_was_not_the_best_was_chosen_to_learn_more_about_it(tmp_path):
    """What the scores said when the decision was made is the reason, whatever is known by now."""
    with db.Bandit.open(tmp_path / "log.db", seed=0, explore=0.4, half_life=20) as bandit:
        for _ in range(40):
            d = bandit.decide(["a", "b"])
            bandit.reward(d.id, float(d.item == "b"))
        made = [bandit.decide(["a", "b"]) for _ in range(30)]
        best, worst = (next(d for d in made if d.item == item) for item in "ba")
        assert "to learn more" not in bandit.explain(best).sentence
        assert bandit.explain(worst).sentence.startswith(
            f"'a' was chosen with probability {100 * worst.propensity:.3g} % to learn more about it: its"
        )
        for d in made[:-1]:
            bandit.reward(d.id, float(d.item == "a"))  # now it is the other way round
        for given in (best, best.id, best.to_dict()):
            e = bandit.explain(given)
            assert (e.highest, e.guided) == (True, False)
            assert "to learn more" not in e.sentence
        sentence = bandit.explain(best).sentence
        assert f"its expected reward was then the highest ({best.scores['b']:.3g}), and is now" in sentence
        assert ", below " in sentence
        sentence = bandit.explain(worst.id).sentence
        assert "to learn more about it: its expected reward is now" in sentence
        assert ", against " in sentence
        shown = bandit.decide(["a", "b"], show="b")
        ids = best.id, worst.id, shown.id
        told = [bandit.explain(id_).sentence for id_ in ids]
        assert told[2].startswith("'b' was shown because your own policy said so: its expected reward is")
    with db.Bandit.open(tmp_path / "log.db") as again:
        assert [again.explain(id_).sentence for id_ in ids] == told


def test_of_a_ranking_the_probability_is_that_of_the_first_place(tmp_path):
    with db.Bandit.open(tmp_path / "log.db", seed=0, explore=0.9) as bandit:
        for _ in range(30):
            d = bandit.decide(["a", "b", "c"], k=2)
            bandit.reward(d.id, {d.items[0]: 1.0})
        d = bandit.decide(["a", "b", "c"], k=2)
        assert d.propensity < d.propensities[d.item]
        for given in (d, d.id, d.to_dict()):
            e = bandit.explain(given)
            assert (e.places, e.propensity) == (2, pytest.approx(d.propensities[d.item]))
            assert e.sentence.startswith(f"{d.item!r} was placed first of 2 with probability ")
    with db.Bandit.open(tmp_path / "log.db") as again:
        assert again.explain(d.id).propensity == pytest.approx(d.propensities[d.item])


@pytest.mark.parametrize(
    ("propensity", "sd", "why"), [(0.97, 0.1, "one of its two estimates"), (0.97, 0.3, "learn"), (0.02, 0.1, "learn")]
)
def test_a_likely_item_that_is_no_less_certain_owes_it_to_one_of_two_voices(propensity, sd, why):
    bandit = db.Bandit(seed=0)
    for _ in range(5):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, 1.0)
    e = bandit.explain(d)
    other = dataclasses.replace(e.runner_up, sd=0.2)
    assert why in dataclasses.replace(e, runner_up=other, sd=sd, propensity=propensity, highest=False).sentence


def test_sentences_of_long_names_are_short():
    long = "n" * 100_000
    bandit = db.Bandit(seed=0, explore=0.5)
    for t in range(20):
        d = bandit.decide({long: {long: float(t % 3)}, "b": {long: 1.0}}, {"x": float(t % 2)})
        bandit.reward(d.id, float(t % 3) * (d.item == long))
    told = bandit.explain(d)
    event = DriftEvent(1e9, "best item", 900, 700, 12.3, long, long, 0.08, 0.3)
    value = bandit.value(item=long)
    for text in (told.sentence, told._repr_html_(), value.sentence, value._repr_html_(), event.sentence):
        assert len(text) < 3000
    assert abs(sum(told.contributions.values()) - told.estimate) < 1e-9
    assert long in told.contributions  # the names themselves are whole
