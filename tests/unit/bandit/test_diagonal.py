"""Above 500 columns: hashed columns, one variance each."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.adaptive.sums import COUNT, R0, SUM
from driftbandits.bandit import adaptive, widening
from driftbandits.bandit.saving import digest, from_bytes, to_bytes
from driftbandits.bandit.sparse import LEVEL, PRIOR
from driftbandits.errors import CannotRead
from driftbandits.io import saving

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.compiled]


def words(rng, n=3):
    return {f"i{k}": {"word": f"w{rng.integers(5000)}", "good": float(rng.integers(2))} for k in range(n)}


def wide(rounds, features="item"):
    bandit = db.Bandit(features=features, seed=0, buckets=1 << 12)
    bandit.decide({"i0": {f"f{j}": 1.0 for j in range(600)}})  # too wide at once
    rng = np.random.default_rng(0)
    earned = []
    for _ in range(rounds):
        items = words(rng)
        d = bandit.decide(items, {"user": f"u{rng.integers(1000)}"})
        earned.append(items[d.item]["good"] + 0.1 * rng.normal())
        bandit.reward(d.id, earned[-1])
    return bandit, earned


def test_it_becomes_diagonal_says_so_and_still_learns():
    bandit, earned = wide(300)
    info = bandit.info()
    assert info["covariance"] == "diagonal"
    assert info["columns"] > 100  # those that have been learned from
    assert info["collisions"] > 0
    assert info["buckets"] == 4096
    assert np.mean(earned[-80:]) > 0.75  # at random 0.5; the best of three 0.875


def test_it_keeps_what_it_knew_and_what_waits():
    bandit = db.Bandit(features="item", seed=0)
    for t in range(60):
        d = bandit.decide({"a": {"x": 1.0 + t % 3}, "b": {"x": 5.0}})
        bandit.reward(d.id, 2.0 * (1.0 + t % 3) if d.item == "a" else 10.0)
    waiting = bandit.decide({"a": {"x": 1.0}})
    before = bandit.estimate({"a": {"x": 1.0}, "b": {"x": 5.0}})
    bandit.decide({"a": {f"f{j}": 1.0 for j in range(600)}})
    after = bandit.estimate({"a": {"x": 1.0}, "b": {"x": 5.0}})
    assert bandit.info()["covariance"] == "diagonal"
    gap = before["b"].mean - before["a"].mean  # of all memories; the new learner asks one
    assert after["b"].mean - after["a"].mean == pytest.approx(gap, rel=0.2)
    bandit.reward(waiting.id, 2.0)
    assert bandit.info()["rewards"] == 61


@pytest.mark.parametrize("features", [None, "item", "interact", "hybrid"])
def test_estimates_are_those_of_the_full_covariance(features):
    """With one memory no forecast moves: effects of features, of items, and their products are kept."""
    chosen = {} if features is None else {"features": features}
    bandit = db.Bandit(seed=0, half_life=1e9, **chosen)
    rng = np.random.default_rng(1)
    base, slope = rng.normal(size=4), rng.normal(size=4)

    def offer():
        return {f"i{k}": {"price": 5.0 + k + 0.1 * rng.normal()} for k in range(4)}, {"age": 30.0 + rng.normal()}

    for _ in range(150):
        items, context = offer()
        d = bandit.decide(items, context)
        k = int(d.item[1:])
        bandit.reward(
            d.id, base[k] + slope[k] * (context["age"] - 30.0) - 0.3 * items[d.item]["price"] + 0.1 * rng.normal()
        )
    questions = [offer() for _ in range(5)]
    before = [[*(e.mean for e in bandit.estimate(*q).values())] for q in questions]
    bandit.decide({"i0": {f"f{j}": 1.0 for j in range(600)}})
    assert bandit.info()["covariance"] == "diagonal"
    after = [[*(e.mean for e in bandit.estimate(*q).values())] for q in questions]
    assert np.array(after) == pytest.approx(np.array(before), abs=1e-6)


@pytest.mark.parametrize(("own", "covariance"), [(24, "full"), (500, "diagonal")])
def test_a_still_world_earns_as_much_after_the_limit_as_before(own, covariance, monkeypatch):
    """New levels of a category have cells; where each had a column, the covariance became diagonal."""
    monkeypatch.setattr(adaptive, "FULL", 40)  # columns; the limit of 500 takes minutes to reach
    monkeypatch.setattr(adaptive, "OWN_SLOTS", own)
    shares = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        bandit, base, slopes = db.Bandit(seed=seed), rng.normal(size=10) * 0.5, rng.normal(size=(10, 3)) * 0.4
        earned = []
        for t in range(1800):
            x = 2.0 + rng.normal(size=3)
            page = f"p{rng.integers(20 if t < 1200 else 500)}"  # new categories come, and mean nothing
            d = bandit.decide([f"i{k}" for k in range(10)], {"x": x[0], "y": x[1], "z": x[2], "page": page})
            mean = base + slopes @ x
            k = int(d.item[1:])
            earned.append((mean[k] - mean.mean()) / (mean.max() - mean.mean()))
            bandit.reward(d.id, mean[k] + 0.3 * rng.normal())
        assert bandit.info()["covariance"] == covariance
        shares.append((np.mean(earned[900:1200]), np.mean(earned[1220:1520])))
    before, after = np.mean(shares, axis=0)
    assert before > 0.95
    assert after > before - 0.03  # −.13 to −.55 when own effects and certainty were forgotten


def test_interrupted_while_it_becomes_diagonal_it_is_what_it_was(monkeypatch):
    bandit = db.Bandit(features="item", seed=0, on_repeat="replace")
    made = [bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}) for _ in range(3)]
    bandit.reward(made[0].id, 1.0)
    before, convert, calls = to_bytes(bandit), widening.converted, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return convert(*args)

    monkeypatch.setattr(widening, "converted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bandit.decide({"a": {f"f{j}": 1.0 for j in range(600)}})
    assert to_bytes(bandit) == before
    bandit.decide({"a": {f"f{j}": 1.0 for j in range(600)}})
    assert bandit.info()["covariance"] == "diagonal"
    for d in made[1:]:
        bandit.reward(d.id, 0.5)
    assert bandit.info()["rewards"] == 3


def test_it_is_saved():
    bandit, _ = wide(120, "interact")
    again = from_bytes(to_bytes(bandit), "x")
    assert digest(again) == digest(bandit)
    rng = np.random.default_rng(5)
    for _ in range(10):
        items = words(rng)
        d, e = bandit.decide(items), again.decide(items)
        assert d.propensities == e.propensities
        bandit.reward(d.id, 1.0)
        again.reward(e.id, 1.0)
    assert digest(again) == digest(bandit)


@pytest.mark.parametrize("mode", ["named", 2**63, None, ["named sums"]])
def test_a_file_that_says_another_kind_of_diagonal_is_refused(mode):
    bandit = db.Bandit(buckets=8)
    bandit.decide({"a": {f"f{i}": 1.0 for i in range(520)}, "b": {"f0": 1.0}})
    about, arrays = saving.from_bytes(to_bytes(bandit), "Bandit")
    assert from_bytes(saving.to_bytes("Bandit", about, arrays), "x").info()["covariance"] == "diagonal"
    about["learner"]["diagonal"] = mode
    with pytest.raises(CannotRead, match="diagonal covariance is"):
        from_bytes(saving.to_bytes("Bandit", about, arrays), "x")


def test_one_step_is_the_filter():
    bandit, _ = wide(150)
    learner = bandit._learner
    names, rows = ["a"], [{"word": "never seen", "good": 1.0}]
    placed = learner.place(learner.read(names, rows, None), 200)
    memo = learner.memo(placed, 0)
    n = int(memo.row[0])
    cols, x = memo.row[1 : 1 + n].astype(int), memo.row[1 + n : 1 + 2 * n]
    lam, m = learner.trial.numbers[PRIOR], learner.trial.numbers
    v = learner.ratio[-1, cols] / lam
    theta = learner.mean[-1, cols].copy()
    f = m[R0] + m[SUM] / m[COUNT] + learner.trial.sums[-1, LEVEL] + x @ theta
    r, S = 3.0, 1.0 + x**2 @ v
    learner.learn(memo, 200.0, r, 1.0, judge=False)
    assert learner.mean[-1, cols] == pytest.approx(theta + v * x * (r - f) / S, rel=1e-12)
    assert learner.ratio[-1, cols] / lam == pytest.approx(v - (v * x) ** 2 / S, rel=1e-9)


def test_a_feature_keeps_its_kind():
    bandit, _ = wide(120)
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match="was a number before"):
        bandit.decide({"a": {"good": "yes"}})
    assert digest(bandit) == before


def test_it_becomes_diagonal_if_the_precision_is_singular_up_to_rounding(monkeypatch):
    """A number of 2⁶³ among ones made numpy's inverse raise, and the bandit could not decide any more."""

    def widened():
        bandit, rng = db.Bandit(seed=0, buckets=1 << 12), np.random.default_rng(0)
        for _ in range(20):
            items = words(rng)
            d = bandit.decide(items)
            bandit.reward(d.id, items[d.item]["good"])
        bandit.decide({"i0": {f"f{j}": 1.0 for j in range(600)}})
        assert bandit.info()["covariance"] == "diagonal"
        return bandit.estimate({"i0": {"word": "w1", "good": 1.0}, "i1": {"good": 0.0}})

    def singular(_):
        raise np.linalg.LinAlgError("Singular matrix")

    expected = widened()
    monkeypatch.setattr(np.linalg, "inv", singular)
    found = widened()
    for item, estimate in expected.items():
        assert found[item] == pytest.approx(estimate, rel=1e-6)


def test_variances_of_columns_of_very_different_sizes():
    """A = [[10⁴², 10²¹], [10²¹, 2]] has the inverse [[2, −10²¹], [−10²¹, 10⁴²]] / 10⁴²."""
    found = widening._scaled_variances(np.array([[[1e42, 1e21], [1e21, 2.0]]]))
    np.testing.assert_allclose(found, [[2e-42, 1.0]], rtol=1e-9)
    collinear = widening._scaled_variances(np.array([[[1.0, 1.0], [1.0, 1.0]]]))
    assert (collinear > 1e12).all()  # nothing is known of the difference; the prior bounds it
