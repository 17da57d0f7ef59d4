"""Probabilities of the choice: against quadrature, and against frequencies."""

import numpy as np
import pytest
from naive import bandit as naive
from scipy import stats

import driftbandits as db
from driftbandits.bandit.chance import seed_of, uniform
from driftbandits.bandit.drawing import draw, draw_ranking

pytestmark = pytest.mark.xdist_group("bandit")


@pytest.mark.parametrize("seed", range(5))
def test_the_envelope_is_the_integral(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    mean, sd, p = rng.normal(size=n), rng.exponential(size=n), np.zeros(n)
    draw(mean, sd, np.ones(n, np.int64), 0.0, 0.5, p, np.empty((2, n)))
    top = np.argmax(mean)
    v, gap = sd**2 + sd[top] ** 2, mean[top] - mean
    checks = v / (v + gap**2)
    assert p.sum() == pytest.approx(1.0)
    assert p == pytest.approx(0.99 * naive.envelope(mean, sd) + 0.01 * checks / checks.sum(), abs=1e-4)


def test_equal_items_share():
    p = np.zeros(4)
    draw(np.zeros(4), np.zeros(4), np.ones(4, np.int64), 0.0, 0.5, p, np.empty((2, 4)))
    assert p == pytest.approx(0.25)
    draw(np.array([1.0, 1.0, 0.0, 5.0]), np.ones(4), np.array([1, 1, 1, 0]), 0.0, 0.5, p, np.empty((2, 4)))
    assert p[0] == p[1] > p[2] > 0.0
    assert p[3] == 0.0


def test_the_floor_holds_for_everybody():
    p = np.zeros(5)
    draw(np.array([9.0, 0, 0, 0, 0]), np.full(5, 1e-9), np.ones(5, np.int64), 0.1, 0.5, p, np.empty((2, 5)))
    assert p.min() >= 0.02
    assert p.sum() == pytest.approx(1.0)


def test_chance_is_uniform():
    u = np.array([uniform(seed_of(0), tick, 0) for tick in range(20_000)])
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.03


def trained(k=3):
    bandit = db.Bandit(seed=0, explore=0.1)
    rng = np.random.default_rng(0)
    items = {f"i{j}": {"x": float(j), "y": float(rng.normal())} for j in range(5)}
    for _ in range(25):
        d = bandit.decide(items)
        bandit.reward(d.id, items[d.item]["y"] + 2.0 * rng.normal())
    return bandit, items


def frequencies(bandit, items, repeats, k):
    """Draws of one state: the number of the decision, hence its chance, moves; what has been learned does not."""
    learner = bandit._learner
    names = sorted(items)
    placed = learner.place(learner.read(names, [items[n] for n in names], None), 0, learn=False)
    mean, sd = learner.score(placed)
    counts, expected = {}, {}
    for tick in range(repeats):
        chance = [uniform(seed_of(7), tick, place) for place in range(k)]
        drawn, propensity, _ = draw_ranking(mean, sd, 0.1, chance)
        counts[tuple(drawn)] = counts.get(tuple(drawn), 0) + 1
        expected[tuple(drawn)] = propensity
    return counts, expected


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("repeats", [3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_propensities_are_frequencies(k, repeats):
    counts, expected = frequencies(*trained(), repeats, k)
    if repeats == 100_000:
        assert sum(expected.values()) == pytest.approx(1.0)  # every ranking was drawn
    enough = [key for key in counts if expected[key] * repeats >= 5]
    rare = [key for key in counts if expected[key] * repeats < 5]
    observed = [counts[key] for key in enough] + [sum(counts[key] for key in rare) + 1e-9]
    p = [expected[key] for key in enough]
    p.append(1.0 - sum(p) + 1e-12)
    assert stats.chisquare(observed, np.array(p) / sum(p) * sum(observed)).pvalue > 1e-3
