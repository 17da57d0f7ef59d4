"""Chance and propensities of a bandit, against frequencies."""

import numpy as np
import pytest
from scipy import stats

import driftbandits as db
from driftbandits.bandit.chance import seed_of, uniform
from driftbandits.bandit.learner import Draft

pytestmark = pytest.mark.xdist_group("bandit")


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
    offer = learner.read(names, [items[n] for n in names], None)
    counts, expected = {}, {}
    for tick in range(repeats):
        draft = Draft()  # of no number: nothing is counted
        learner.decision(draft, offer, 0.1, [uniform(seed_of(7), tick, place) for place in range(k)], {})
        draft.make(draft)
        choice = learner.choice(draft)
        counts[tuple(choice.drawn)] = counts.get(tuple(choice.drawn), 0) + 1
        expected[tuple(choice.drawn)] = choice.propensity
    return counts, expected


@pytest.mark.compiled
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
