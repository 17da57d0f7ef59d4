"""Misfit: evidence against its oracle, noticed where a model is wrong, silent where it is right, through all doors."""

import copy

import numpy as np
import pytest

import driftbandits as db
from driftbandits.adaptive.layout import Columns
from driftbandits.bandit.derived import pairs_of, waves_of
from driftbandits.bandit.evidence_of_groups import FLAT, GRID, Eliminated, Groups, evidence, temper
from driftbandits.bandit.features import Table
from driftbandits.bandit.learner import Memo
from driftbandits.bandit.misfit import NATS, Misfit

pytestmark = pytest.mark.xdist_group("bandit")


def log_marginal_likelihood(groups, y):
    """From the definition: y ~ N(0, σ²C), C = I + Σ X Xᵀ/λ, with σ̂² plugged in; up to a constant of n alone."""
    n = len(y)
    C = np.eye(n) + np.ones((n, n)) / FLAT + sum(X @ X.T / lam for X, lam in groups)
    rss = y @ np.linalg.solve(C, y)
    return -0.5 * np.linalg.slogdet(C)[1] - 0.5 * (n + 5) * np.log((rss + 5 * np.var(y)) / (n + 5))


def test_evidence_is_the_difference_of_two_marginal_likelihoods():
    rng = np.random.default_rng(0)
    a, b, X = rng.normal(size=(30, 3)), rng.normal(size=(30, 2)), rng.normal(size=(30, 4))
    y = a @ [1.0, 0.0, 2.0] + 0.5 * X[:, 0] + rng.normal(size=30)
    base = [(a, 0.7), (b, 3.0)]
    groups = Groups(y)
    without = Eliminated(groups, [(groups.add(columns), precision) for columns, precision in base])
    found = without.profile(groups.add(X))
    C = np.eye(30) + np.ones((30, 30)) / FLAT + sum(columns @ columns.T / precision for columns, precision in base)
    assert without.residuals() == pytest.approx(np.linalg.solve(C, y), abs=1e-8)
    for lam in (0.25, 1.0, 64.0):
        want = log_marginal_likelihood([*base, (X, lam)], y) - log_marginal_likelihood(base, y)
        assert found.log_factor(np.array([lam])) == pytest.approx(want, abs=1e-8)
    factors = [np.exp(log_marginal_likelihood([*base, (X, lam)], y) - log_marginal_likelihood(base, y)) for lam in GRID]
    nats, precision = evidence(found)
    assert nats == pytest.approx(np.log(np.mean(factors)), abs=1e-8)
    assert precision == pytest.approx(np.sum(factors) / np.sum(factors / GRID), rel=1e-8)


def test_heavy_tails_temper():
    rng = np.random.default_rng(0)
    assert temper(rng.normal(size=4000)) == pytest.approx(1.0, abs=0.1)
    clicks = (rng.random(4000) < 0.05) - 0.05
    p = 0.05
    kurtosis = (1 - 3 * p * (1 - p)) / (p * (1 - p))
    assert temper(clicks) == pytest.approx((kurtosis - 1) / 2, rel=0.2)


def test_derived_columns_are_their_formulas():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 4))
    mu, s = np.array([0.5, -1.0]), np.array([2.0, 3.0])
    z = (rows[:, [1, 3]] - mu) / s
    pairs, waves = pairs_of([1, 3], mu, s), waves_of([1, 3], mu, s)
    assert pairs.values(rows) == pytest.approx(np.c_[z[:, 0] ** 2, z[:, 0] * z[:, 1], z[:, 1] ** 2])
    assert waves.values(rows) == pytest.approx(np.cos(z @ waves.W + waves.c))
    assert type(pairs).from_json(pairs.to_json(), 4).values(rows) == pytest.approx(pairs.values(rows))
    with pytest.raises(db.DriftBanditsError, match="do not fit"):
        type(pairs).from_json(pairs.to_json(), 3)


def world(kind, n, seed):
    """Offers of items with two numbers, and what each is worth."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        x = rng.normal(size=(4, 2))
        r = np.hypot(*x.T)
        worth = {
            "linear": x @ [0.7, -0.4],
            "product": x[:, 0] * x[:, 1],
            "ring": np.exp(-(((r - 1.2) / 0.4) ** 2)),
            "price": -((x[:, 0] - 0.3) ** 2),
        }[kind]
        items = {f"i{t}_{a}": {"x": float(x[a, 0]), "y": float(x[a, 1])} for a in range(4)}
        yield items, dict(zip(items, worth + 0.3 * rng.normal(size=4), strict=True))


def first_found(kind, n, seed):
    """Random choices in a world: when columns would be added, and the largest evidence for any."""
    items, context, misfit = Table("item"), Table("context"), Misfit()
    most = 0.0
    for t, (offer, worth) in enumerate(world(kind, n, seed), 1):
        rows = items.write(items.read([*offer.values()]))
        who = context.write(context.read([None]))
        misfit.add(Memo(next(iter(offer)), rows[0].copy(), who[0], np.zeros(0)), next(iter(worth.values())))
        if misfit.due:
            found = misfit.look(items, context, Columns(products=True, slopes=False))
            most = max(most, misfit.nats["curvature"])
            if found is not None:
                return t, found, most
    return None, None, most


@pytest.mark.parametrize("kind", ["product", "ring", "price"])
def test_curvature_is_noticed(kind):
    at, found, most = first_found(kind, 300, seed=1)
    assert at is not None
    assert found.side == "item"
    assert most == found.nats > NATS
    assert "not linear in the numbers of the item" in found.sentence()


@pytest.mark.parametrize("seed", range(4))
def test_a_linear_world_gives_no_alarm(seed):
    at, _, most = first_found("linear", 250, seed)
    assert at is None
    assert most < 3.0


def play(bandit, kind, n, seed=0):
    for items, worth in world(kind, n, seed):
        d = bandit.decide(items, at=0.0)
        bandit.reward(d.id, float(worth[d.item]))
    return bandit


def test_a_bandit_adds_columns_says_so_and_goes_on(tmp_path):
    bandit, linear = play(db.Bandit(), "product", 60), play(db.Bandit(features="linear"), "product", 60)
    told = bandit.info()["misfit"]
    assert len(told["events"]) == 1
    assert "squares and products" in told["events"][0]
    assert bandit.info()["columns"] > linear.info()["columns"] == 3
    assert linear.info()["misfit"]["curvature"] > NATS
    assert linear.info()["misfit"]["events"] == []
    offer = {"p": {"x": 1.0, "y": 1.0}, "q": {"x": 1.0, "y": -1.0}}
    bandit.save(tmp_path / "b")
    for same in (copy.deepcopy(bandit), db.Bandit.load(tmp_path / "b")):
        assert same.estimate(offer) == bandit.estimate(offer)
        assert same.info()["misfit"] == told
        misfit = same._learner.misfit
        assert len(misfit.kept.of(misfit.count)[0]) == 60
    play(bandit, "product", 60, seed=7)
    known = bandit.estimate(offer)
    assert known["p"].mean > known["q"].mean + 0.5


def test_rewards_are_replaced_exactly_after_columns_were_added():
    bandit, made = db.Bandit(on_repeat="replace"), []
    for items, worth in world("product", 60, 1):
        d = bandit.decide(items, at=0.0)
        made.append((d.id, float(worth[d.item])))
        bandit.reward(*made[-1])
    began = int(bandit.info()["misfit"]["events"][0].split()[1])
    V, b = bandit._learner.model.state.V.copy(), bandit._learner.model.state.b.copy()
    for id_, r in made[:began]:  # before there were columns for curvature: their sums must not change
        bandit.reward(id_, r + 1.0)
    state = bandit._learner.model.state
    assert pytest.approx(V, rel=1e-9, abs=1e-9) == state.V
    assert state.b[:, 3:] == pytest.approx(b[:, 3:], rel=1e-9, abs=1e-9)
    assert not np.allclose(state.b[:, :3], b[:, :3])


def test_own_slopes_are_added_when_items_differ_in_them_and_rewards_are_replaced_exactly(tmp_path):
    bandit, rng = db.Bandit(on_repeat="replace"), np.random.default_rng(0)
    slope = dict(zip("abc", (2.0, -2.0, 0.0), strict=True))
    made = []
    for _ in range(60):
        c = float(rng.normal())
        d = bandit.decide({name: {"size": 1.0} for name in "abc"}, {"c": c})
        made.append((d.id, slope[d.item] * c + 0.2 * float(rng.normal())))
        bandit.reward(*made[-1])
    assert bandit._learner.model.columns.slopes
    assert "slopes of its own" in bandit.info()["misfit"]["events"][0]
    offer, who = {name: {"size": 1.0} for name in "abc"}, {"c": 1.0}
    before = bandit.estimate(offer, who)
    bandit.save(tmp_path / "b")
    assert db.Bandit.load(tmp_path / "b").estimate(offer, who) == before
    state = bandit._learner.model.state
    kept, began = (state.own_M.copy(), state.own_t.copy()), int(bandit.info()["misfit"]["events"][0].split()[1])
    for id_, r in made[:began]:  # before there were slopes: their sums must not change
        bandit.reward(id_, r + 1.0)
    state = bandit._learner.model.state
    assert state.own_M == pytest.approx(kept[0], rel=1e-9, abs=1e-9)
    assert state.own_t[..., 1:, :] == pytest.approx(kept[1][..., 1:, :], rel=1e-9, abs=1e-9)
    assert not np.allclose(state.own_t[..., 0, :], kept[1][..., 0, :])


def test_rows_that_overflow_are_no_evidence():
    items, context, misfit = Table("item"), Table("context"), Misfit()
    for t in range(40):
        rows = items.write(items.read([{"x": (-1.0) ** t * 10.0 ** (41 + t % 9), "y": 1.0 * t}]))
        misfit.add(Memo("a", rows[0], context.write(context.read([None]))[0], np.zeros(0)), float(t % 2))
    assert misfit.look(items, context, Columns(products=True, slopes=False)) is None


@pytest.mark.parametrize("rewards", [[], [0.0], [1.0, 1.0, 1.0], [0.0, 1.0]])
def test_nothing_is_ever_sure(rewards):
    bandit = db.Bandit(features="item")
    for r in rewards:
        bandit.observe("a", reward=r)
    known = bandit.estimate(["a", "b"])
    assert 0.0 < known["a"].sd < np.inf
    assert known["b"].sd >= known["a"].sd


def test_a_memory_that_takes_no_part_has_no_weight():
    bandit, rng = db.Bandit(features="item"), np.random.default_rng(0)
    for _ in range(3):
        d = bandit.decide({name: rng.normal(size=36) for name in "ab"})
        bandit.reward(d.id, float(rng.normal()))
    told = bandit.info()["memories"]
    assert told[0] == [8.0, 0.0]
    assert sum(weight for _, weight in told) == pytest.approx(1.0)
    assert max(weight for _, weight in told) < 0.2
