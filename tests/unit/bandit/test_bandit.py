"""The contract of `Bandit`: decisions, rewards, clocks, invariances, bad input."""

import datetime
import json
import math
import threading

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit.saving import digest, to_bytes

pytestmark = pytest.mark.xdist_group("bandit")

ITEMS = {"a": {"price": 3.0, "kind": "new"}, "b": {"price": 2.0, "kind": "used"}, "c": {"price": 2.5, "kind": "new"}}
WHO = {"age": 31, "country": "se", "member": True}


def rounds(n, seed=0):
    """Offers, contexts and what each item would be worth."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        items = {
            name: {"price": float(rng.uniform(1, 5)), "kind": str(rng.choice(["new", "used"]))}
            for name in ("a", "b", "c")
        }
        context = {"age": float(rng.integers(18, 80)), "country": str(rng.choice(["se", "fr", "de"]))}
        worth = {k: 5 - f["price"] + (f["kind"] == "new") * (context["age"] < 40) for k, f in items.items()}
        yield items, context, {k: v + 0.3 * rng.normal() for k, v in worth.items()}


def run(bandit, n=120, change=lambda items, context: (items, context), pay=lambda r: r):
    chosen = []
    for items, context, worth in rounds(n):
        d = bandit.decide(*change(items, context))
        bandit.reward(d.id, pay(worth[d.item]))
        chosen.append(d.item)
    return chosen


def test_a_decision_says_everything():
    bandit = db.Bandit(seed=0)
    d = bandit.decide(items=ITEMS, context=WHO)
    assert d.item in ITEMS
    assert d.propensity == d.propensities[d.item]
    assert sum(d.propensities.values()) == pytest.approx(1.0)
    assert set(d.scores) == set(ITEMS)
    assert d.items == [d.item]
    again = json.loads(json.dumps(d.to_dict()))
    assert again["id"] == d.id
    assert again["at"] == d.at
    assert d.item in repr(d)
    assert len({bandit.decide(ITEMS).id for _ in range(50)}) == 50


@pytest.mark.compiled
def test_it_learns():
    chosen = run(db.Bandit(seed=0), 400)
    best = [max(w, key=w.get) for _, _, w in rounds(400)]
    assert np.mean([a == b for a, b in zip(chosen[200:], best[200:], strict=True)]) > 0.7


@pytest.mark.compiled
@pytest.mark.parametrize("features", ["item", "interact", "disjoint", "hybrid"])
def test_order_of_keys_and_items_never_matters(features):
    def shuffled(items, context):
        turn = {name: dict(reversed(items[name].items())) for name in reversed(items)}
        return turn, dict(reversed(context.items()))

    assert run(db.Bandit(features=features), 60) == run(db.Bandit(features=features), 60, shuffled)


@pytest.mark.compiled
def test_units_do_not_matter():
    def larger(items, context):
        return {k: {**f, "price": f["price"] * 1024} for k, f in items.items()}, context

    plain = run(db.Bandit())
    assert run(db.Bandit(), change=larger) == plain
    assert run(db.Bandit(), pay=lambda r: r * 1024) == plain


@pytest.mark.compiled
def test_an_offset_costs_nothing_once_the_intercept_is_learned():
    def offset(items, context):
        return {k: {**f, "price": f["price"] + 500} for k, f in items.items()}, context

    plain, far = run(db.Bandit(), 300), run(db.Bandit(), 300, offset, lambda r: r + 500)
    worth = [w for _, _, w in rounds(300)]
    earned = [sum(w[k] for w, k in zip(worth[100:], chosen[100:], strict=True)) for chosen in (plain, far)]
    assert earned[1] > 0.98 * earned[0]


@pytest.mark.compiled
def test_items_without_features_make_interact_the_same_as_disjoint():
    chosen = []
    for features in ("interact", "disjoint"):
        bandit = db.Bandit(features=features)
        chosen.append(run(bandit, 80, lambda items, context: (list(items), context)))
    assert chosen[0] == chosen[1]


def test_vectors_arrays_names_and_functions():
    bandit = db.Bandit(features="item")
    for _ in range(30):
        d = bandit.decide(np.eye(3), [0.1, 0.2])
        bandit.reward(d.id, float(d.item == 2))
    assert max(bandit.estimate(np.eye(3)).items(), key=lambda e: e[1].mean)[0] == 2
    own = db.Bandit(features=lambda item, who: {"gap": abs(item["x"] - who["x"])})
    for t in range(60):
        d = own.decide({"a": {"x": 0.0}, "b": {"x": 1.0}}, {"x": float(t % 2)})
        own.reward(d.id, float(d.item == "ab"[t % 2]))
    got = own.estimate({"a": {"x": 0.0}, "b": {"x": 1.0}}, {"x": 1.0})
    assert got["b"].mean > got["a"].mean + 0.3


def test_mask_and_rankings():
    bandit = db.Bandit(explore=0.3)
    for mask in ([True, False, True], {"b": False}):
        d = bandit.decide(ITEMS, mask=mask)
        assert set(d.propensities) == {"a", "c"}
    d = bandit.decide(ITEMS, k=3)
    assert sorted(d.items) == ["a", "b", "c"]
    assert 0.0 < d.propensity < 1.0
    bandit.reward(d.id, {d.items[0]: 1.0, d.items[1]: 0.0})
    assert bandit.info()["rewards"] == 1
    assert bandit.info()["effective_memory"] == pytest.approx(2.0)
    d = bandit.decide(ITEMS, k=2)
    bandit.reward(d.id, 1.0)
    assert bandit.info()["effective_memory"] == pytest.approx(4.0)


def test_a_second_reward():
    bandit = db.Bandit()
    d = bandit.decide(["a", "b"])
    bandit.reward(d.id, 1.0)
    with pytest.raises(db.DriftBanditsError, match="has had its reward"):
        bandit.reward(d.id, 1.0)
    ignoring = db.Bandit(on_repeat="ignore")
    d = ignoring.decide(["a", "b"])
    ignoring.reward(d.id, 1.0)
    before = ignoring.estimate(["a", "b"])
    ignoring.reward(d.id, 5.0)
    assert ignoring.estimate(["a", "b"]) == before
    assert ignoring.info()["ignored"] == 1


def test_replace_is_exact():
    one, two = (db.Bandit(on_repeat="replace", half_life=20) for _ in range(2))
    for t in range(30):
        a, b = (bandit.decide(["only"], {"x": float(t % 5)}) for bandit in (one, two))
        one.reward(a.id, float(t))
        two.reward(b.id, float(t) + 3.0 * (t == 7))
        if t == 7:
            wrong = b.id
    two.reward(wrong, 7.0)
    assert two.info()["replaced"] == 1
    assert two.info()["rewards"] == 30
    assert two.estimate(["only"], {"x": 1.0})["only"] == pytest.approx(
        one.estimate(["only"], {"x": 1.0})["only"], rel=1e-9
    )


def test_a_reward_from_the_log_alone():
    first = db.Bandit(features="item", half_life=10)
    made = [first.decide({"a": {"x": float(t)}}, {"y": 1.0}, at=1e9 + t) for t in range(20)]
    logged = [json.loads(json.dumps(d.to_dict())) for d in made]
    fresh = db.Bandit(features="item", half_life=10)
    for t, entry in enumerate(logged):
        first.reward(entry, float(t % 3))
        fresh.reward(entry, float(t % 3))
    with pytest.raises(db.DriftBanditsError, match="has had its reward"):
        fresh.reward(logged[0], 1.0)
    assert fresh.info()["rewards"] == 20
    probe = {"a": {"x": 4.0}}
    assert fresh.estimate(probe, {"y": 1.0})["a"] == pytest.approx(first.estimate(probe, {"y": 1.0})["a"], rel=1e-9)


def test_expire():
    bandit = db.Bandit(reward="click")
    old = [bandit.decide(["a", "b"], at=1000.0 + t) for t in range(5)]
    new = bandit.decide(["a", "b"], at=9000.0)
    assert bandit.expire(older_than="1h", reward=0.0) == 5
    assert bandit.info()["pending"] == 1
    assert bandit.info()["rewards"] == 5
    with pytest.raises(db.DriftBanditsError, match="has had its reward"):
        bandit.reward(old[0].id, 1)
    assert bandit.expire(older_than=datetime.timedelta(hours=1), at=20_000.0) == 1
    assert bandit.info()["rewards"] == 5
    assert new.at == 9000.0
    bandit.decide(["a", "b"], at=20_000.0)
    assert bandit.expire(older_than=0, at=20_001.0) == 1  # all


def test_a_decision_stands_for_its_id():
    bandit = db.Bandit()
    d = bandit.decide(["a", "b"])
    bandit.reward(d, 1.0)
    assert bandit.info()["rewards"] == 1
    with pytest.raises(db.DriftBanditsError, match="learned once"):
        bandit.reward(d.id, 1.0)


def test_numbers_too_large_to_be_squared_are_refused():
    bandit = db.Bandit()
    d = bandit.decide(["a", "b"])
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match="within"):
        bandit.reward(d.id, 1e200)
    assert digest(bandit) == before


def test_the_table_of_pending_decisions_is_bounded():
    bandit = db.Bandit(max_pending=10)
    first = bandit.decide(["a"])
    for _ in range(10):
        bandit.decide(["a"])
    assert bandit.info()["pending"] == 10
    assert bandit.info()["dropped"] == 1
    with pytest.raises(db.DriftBanditsError, match="no decision"):
        bandit.reward(first.id, 1.0)


def test_clocks():
    bandit = db.Bandit(half_life="3d")
    stamp = datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)
    assert bandit.decide(["a"], at=stamp).at == stamp.timestamp()
    bandit.decide(["a"], at=stamp.timestamp() - 50.0)
    assert bandit.info()["backwards"] == 1


def test_warm_start_and_drop():
    bandit = db.Bandit(features="disjoint")
    for t in range(40):
        bandit.observe("ab"[t % 2], {"x": 1.0}, reward=float(t % 2), at=1e9 + t, propensity=0.5)
    assert bandit.estimate(["a", "b"], {"x": 1.0})["b"].mean > 0.8
    d = bandit.decide(["a", "b"])
    bandit.drop(d.item)
    with pytest.raises(db.DriftBanditsError):
        bandit.reward(d.id, 1.0)


def test_info_is_json_and_repr_is_a_line():
    bandit = db.Bandit(reward="click")
    run(bandit, 20, pay=lambda r: int(r > 3))
    told = json.loads(json.dumps(bandit.info(), allow_nan=False))
    assert {"decisions", "rewards", "pending", "late", "effective_memory", "sigma", "calibration", "version"} <= set(
        told
    )
    assert told["rewards"] == 20
    assert "\n" not in repr(bandit)


def test_estimates_of_clicks_are_probabilities():
    bandit = db.Bandit(reward="click")
    for _ in range(20):
        bandit.reward(bandit.decide(["a"]).id, 1)
    assert bandit.estimate(["a", "b"])["a"].mean <= 1.0


@pytest.mark.compiled
def test_threads_lose_nothing():
    bandit = db.Bandit(seed=0)
    failures = []

    def work(me):
        try:
            for t in range(60):
                d = bandit.decide({"a": {"x": 1.0 * me}, "b": {"x": float(t)}})
                bandit.reward(d.id, float(t % 2))
        except Exception as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    info = bandit.info()
    assert (info["decisions"], info["rewards"], info["pending"]) == (480, 480, 0)
    assert info["effective_memory"] == pytest.approx(480.0)


NAN, INF = math.nan, math.inf
LOGGED = {"format": 1, "id": "0", "tick": 1, "at": 0.0, "items": ["a"], "features": [None], "context": None}
BAD = {
    "nan in an item": (lambda b: b.decide({"a": {"x": NAN}}), "not finite"),
    "infinity in the context": (lambda b: b.decide(ITEMS, {"age": INF}), "not finite"),
    "number now a string": (lambda b: b.decide({"a": {"price": "3"}}), "was a number before"),
    "string now a number": (lambda b: b.decide({"a": {"kind": 3.0}}), "was a string before"),
    "number and string at once": (lambda b: b.decide({"a": {"q": 1.0}, "b": {"q": "x"}}), "was a number before"),
    "a list of strings": (lambda b: b.decide({"a": {"x": ["p", "q"]}}), "list of strings"),
    "a number now a vector": (lambda b: b.decide({"a": {"price": [1.0, 2.0]}}), "is a vector and was a number"),
    "a ragged list as a feature": (lambda b: b.decide({"a": {"x": [1.0, [2.0]]}}), "ragged"),
    "a matrix as a feature": (lambda b: b.decide({"a": {"x": np.eye(2)}}), "one axis"),
    "an empty vector": (lambda b: b.decide({"a": {"x": []}}), "at least one number"),
    "vectors of two lengths": (lambda b: b.decide({"a": {"x": [1.0]}, "b": {"x": [1.0, 2.0]}}), "keeps its length"),
    "a vector that is not finite": (lambda b: b.decide({"a": {"x": [1.0, math.inf]}}), r"'x\[1\]' = inf"),
    "a datetime": (lambda b: b.decide(["a"], {"now": datetime.datetime(2026, 1, 1)}), "features.calendar"),
    "rows of two lengths": (lambda b: b.decide({"a": [1.0], "b": [1.0, 2.0]}), "one length"),
    "a name that is no string": (lambda b: b.decide({"a": {3: 1.0}}), "names are strings"),
    "no items": (lambda b: b.decide({}), "empty"),
    "no items in a list": (lambda b: b.decide([]), "empty"),
    "a string for items": (lambda b: b.decide("ab"), "must be a dict"),
    "an item twice": (lambda b: b.decide(["a", "a"]), "twice"),
    "a name that is a float": (lambda b: b.decide([1.5]), "names are strings or whole numbers"),
    "everything masked": (lambda b: b.decide(ITEMS, mask=[False] * 3), "allows no item"),
    "a mask too short": (lambda b: b.decide(ITEMS, mask=[True]), "must have 3"),
    "a mask of others": (lambda b: b.decide(ITEMS, mask={"z": True}), "not on offer"),
    "k too large": (lambda b: b.decide(ITEMS, k=4), "≤ 3"),
    "k = 0": (lambda b: b.decide(ITEMS, k=0), "whole number"),
    "complex features": (lambda b: b.decide({"a": {"x": 1j}}), "complex"),
    "a complex vector": (lambda b: b.decide({"a": np.array([1j])}), "complex"),
    "an object array": (lambda b: b.decide({"a": np.array([None, "x"], object)}), "dtype object"),
    "a ragged vector": (lambda b: b.decide({"a": [[1.0], [1.0, 2.0]]}), "ragged"),
    "a matrix for a vector": (lambda b: b.decide({"a": np.eye(2)}), "one axis"),
    "a number for features": (lambda b: b.decide({"a": 3.0}), "of type float"),
    "a clock in the future": (lambda b: b.decide(ITEMS, at=4e9), "future"),
    "milliseconds": (lambda b: b.decide(ITEMS, at=1.7e12), "milliseconds"),
    "a clock that is a string": (lambda b: b.decide(ITEMS, at="now"), "no moment"),
    "a clock that is a date": (lambda b: b.decide(ITEMS, at=datetime.date(2024, 1, 1)), "no moment"),
    "a mask that is a number": (lambda b: b.decide(ITEMS, mask=1), "booleans"),
    "a mask of words": (lambda b: b.decide(ITEMS, mask={"a": "no"}), "True or False"),
    "three axes": (lambda b: b.decide(np.zeros((2, 2, 2))), "two axes"),
    "bytes for a string": (lambda b: b.decide({"a": {"kind": b"x"}}), "of type bytes"),
    "a whole number without end": (lambda b: b.decide({"a": {"price": 10**400}}), "not finite"),
    "a huge feature": (lambda b: b.decide({"a": {"price": 1e200}}), "within"),
    "huge features": (lambda b: b.decide(np.array([[1e200], [-1e200]])), "within"),
    "a huge weight": (lambda b: b.reward(b._waiting, 1, weight=1e200), "weight"),
    "a log from the future": (lambda b: b.reward(LOGGED | {"at": 1e12}, 1), "future"),
    "a log with too many decisions": (lambda b: b.reward(LOGGED | {"tick": 10**30}, 1), "so many decisions"),
    "an unknown id": (lambda b: b.reward("nope", 1), "no decision"),
    "an id that is no id": (lambda b: b.reward(17, 1), "no decision"),
    "a dict that is no decision": (lambda b: b.reward({"id": "x"}, 1), "to_dict"),
    "half a click": (lambda b: b.reward(b._waiting, 0.5), "0 or 1"),
    "a nan reward": (lambda b: b.reward(b._waiting, NAN), "finite"),
    "a string reward": (lambda b: b.reward(b._waiting, "1"), "string"),
    "a complex reward": (lambda b: b.reward(b._waiting, 1j), "complex"),
    "no reward": (lambda b: b.reward(b._waiting, None), "not a number"),
    "an unknown item in a reward": (lambda b: b.reward(b._waiting, {"z": 1}), "not shown"),
    "a negative weight": (lambda b: b.reward(b._waiting, 1, weight=-1.0), "≥ 0"),
    "a reward from the future": (lambda b: b.reward(b._waiting, 1, at=4e9), "future"),
    "no duration": (lambda b: b.expire("soon"), "duration"),
    "a bad expiry reward": (lambda b: b.expire("1h", reward=0.5), "0 or 1"),
    "propensity of two": (lambda b: b.observe("a", reward=1, propensity=2.0), r"in \(0, 1\]"),
    "observe nan": (lambda b: b.observe({"x": NAN}, reward=1), "not finite"),
    "drop a list": (lambda b: b.drop(["a"]), "names are strings"),
    "estimate nothing": (lambda b: b.estimate({}), "empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_changes_nothing(case, used):
    call, says = BAD[case]
    before = digest(used), to_bytes(used)
    with pytest.raises(db.DriftBanditsError, match=says) as problem:
        call(used)
    assert "\n" not in str(problem.value)
    assert (digest(used), to_bytes(used)) == before


@pytest.fixture(scope="module")
def used():
    bandit = db.Bandit(reward="click", seed=0)
    run(bandit, 10, pay=lambda r: int(r > 3))
    bandit._waiting = bandit.decide(ITEMS, WHO).id
    return bandit


def test_sparse_matrices_are_said_so(used):
    from scipy import sparse

    for items in (sparse.eye(3), {"a": sparse.eye(1)}):
        with pytest.raises(db.DriftBanditsError, match="sparse"):
            used.decide(items)


@pytest.mark.parametrize(
    "settings",
    [
        {"reward": "clicks"},
        {"features": "cubic"},
        {"half_life": -1},
        {"half_life": "3 moons"},
        {"explore": 2.0},
        {"explore": True},
        {"seed": -1},
        {"on_repeat": "maybe"},
        {"buckets": 0},
        {"max_pending": 0},
        {"on_drift": 3},
        {"strategy": 3},
    ],
)
def test_bad_settings(settings):
    with pytest.raises(db.DriftBanditsError, match=next(iter(settings))):
        db.Bandit(**settings)


def test_repr_says_half_lives_as_they_are_given():
    assert "half_life='2d'" in repr(db.Bandit(half_life="48h"))
    assert "half_life=300.0" in repr(db.Bandit(half_life=300))
    never = db.Bandit(half_life=float("inf"))
    never.observe("a", reward=1.0)
    assert "half_life=inf" in repr(never)
    assert repr(never).endswith(": 0 decisions, 0 rewards, 1 observed")
    with pytest.raises(db.DriftBanditsError, match="a timedelta or a number of decisions"):
        db.Bandit(half_life=0)


@pytest.mark.parametrize("features", ["item", "interact", "disjoint"])
def test_a_reward_of_a_dropped_item_is_not_taken_back(features):
    """The sums that held it are gone."""
    bandit = db.Bandit(features=features, on_repeat="replace")
    d = bandit.decide(["a", "b"])
    bandit.reward(d.id, 1.0)
    bandit.drop(d.item)
    bandit.reward(d.id, 0.0)
    assert bandit.info()["ignored"] == 1
    assert all(math.isfinite(score) for score in bandit.decide(["a", "b"]).scores.values())


@pytest.mark.parametrize(
    "call",
    [
        lambda b: b.decide(["a"], at=datetime.datetime.min),
        lambda b: b.decide(["a"], at=pytest.importorskip("pandas").NaT),
        lambda b: b.decide(["a"], mask=[10**5000]),
        lambda b: b.value(["a"]),
        lambda b: b.promote(["a"]),
        lambda b: b.drop_challenger({}),
        lambda b: db.Bandit.from_parts(None),
        lambda b: b.decide({"a": {"x": 1e90}}, {"q": 1e90}),  # their product cannot be squared
        lambda b: b.decide_batch(pytest.importorskip("pandas").DataFrame({"c": [1.0]}), offers=["\udcff"]),
    ],
)
def test_further_wrong_values_are_refused(call):
    bandit = db.Bandit(seed=0)
    bandit.reward(bandit.decide(["a", "b"]).id, 1.0)
    before = to_bytes(bandit)
    with pytest.raises(db.DriftBanditsError):
        call(bandit)
    assert to_bytes(bandit) == before


def test_explain_takes_a_log_without_scores():
    bandit = db.Bandit(seed=0)
    logged = bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}).to_dict() | {"scores": 3}
    assert bandit.explain(logged).item
