"""Values of policies against their oracle; `experiments/value_study.py` checks how often their bounds are wrong."""

import math

import numpy as np
import pytest
from naive import policy_value as naive

from driftbandits.inference import outcomes as oc
from driftbandits.inference import policy_value as pv
from driftbandits.inference.always_valid import J, stakes


def decisions(rng, many):
    """Offers of different sizes with drifting probabilities, forecasts that are poor, rewards 0 or 1."""
    out = []
    for t in range(many):
        n = int(rng.integers(2, 5))
        p = rng.dirichlet(np.full(n, 0.5)) * 0.9 + 0.1 / n
        f = rng.uniform(-0.2, 1.2, n)
        a = int(rng.choice(n, p=p))
        out.append((p, f, a, float(rng.random() < 0.3 + 0.2 * math.sin(t / 30)), n))
    return out


def batch(rows):
    """Decisions as arrays; items have the same places in every offer."""
    size = np.array([len(row[0]) for row in rows])
    start = np.r_[0, np.cumsum(size)[:-1]]
    p, f = (np.concatenate([row[i] for row in rows]) for i in (0, 1))
    r, chosen = np.array([row[3] for row in rows]), start + [row[2] for row in rows]
    place = np.concatenate([np.arange(n) for n in size])
    return oc.Batch(p, np.clip(f, 0.0, 1.0), start, size, chosen, r, np.ones(len(rows)), place)


def counted(b, weights=(5.0, 20.0), bounded=True):
    """Terms of uniform choice and of the first item, (2, B, columns), and sums of items; with their stakes."""
    width = oc.BOUNDED if bounded else oc.UNBOUNDED
    pi = np.zeros((2, len(b.p)))
    pi[0], pi[1, b.start] = np.repeat(1.0 / b.size, b.size), 1.0
    terms, items = np.empty((2, len(b.r), width)), np.zeros((4, width))
    lam = np.array([stakes(w) for w in weights])
    made = oc.count(
        b, pi, np.ones((2, len(b.r))), oc.Stakes(lam, lam[1], stakes()), terms, items, np.empty(width), np.empty((2, J))
    )
    assert made == len(b.r)
    return terms, items, lam.tolist()


def policies(rows, policy):
    for p, f, a, r, n in rows:
        pi = [1.0 / n] * n if policy == "random" else [1.0] + [0.0] * (n - 1)
        yield p.tolist(), f.tolist(), a, r, pi


@pytest.mark.parametrize(("policy", "place"), [("random", 0), ("first", 1)])
@pytest.mark.parametrize("weight", [1.0, 30.0])
def test_values_are_those_of_the_oracle(policy, place, weight):
    """With small weights the stakes are large, and forecasts are cut; with large ones some are not."""
    rows = decisions(np.random.default_rng(0), 200)
    terms, _, lam = counted(batch(rows), (weight, weight))
    sums = pv.in_turn(np.zeros(oc.BOUNDED), terms[place]).tolist()
    expected = naive.value([*policies(rows, policy)], weight=weight, alpha=0.1)
    got = [
        pv.own_interval(sums, bounded=True, alpha=0.1, lam=stakes().tolist()),
        pv.other_interval(sums, bounded=True, alpha=0.1, lam=lam[place]),
        pv.lift_interval(sums, bounded=True, alpha=0.1, lam=lam[place]),
    ]
    for interval, (mean, lower, upper) in zip(got, expected, strict=True):
        assert interval[:3] == pytest.approx((mean, lower, upper), abs=1e-8)
        assert interval.n == 200
    weights = [pi[a] / p[a] for p, _, a, _, pi in policies(rows, policy)]
    assert got[1].effective_n == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("weight", [1.0, 30.0])
def test_one_item_is_the_policy_that_always_shows_it(bounded, weight):
    terms, items, _ = counted(batch(decisions(np.random.default_rng(1), 50)), (weight, weight), bounded)
    assert items[0] == pytest.approx(terms[1].sum(0), abs=1e-10)


def test_no_wealth_is_lost_whatever_the_weights_are():
    """Every factor 1 + λ(φ − g) is at least 1 − .9, also for items that are hardly ever shown."""
    rng = np.random.default_rng(5)
    rows = [
        (np.array([1 - 2e-4, 1e-4, 1e-4]), rng.random(3), int(a), float(r), 3)
        for a in range(3)
        for r in (0, 1)
        for _ in range(20)
    ]
    terms, items, _ = counted(batch(rows), (1.0, 400.0))
    assert np.isfinite(terms).all()
    assert np.isfinite(items).all()
    assert terms[:, :, oc.COMMON :].min() > math.log(0.1) - 0.46


def test_a_reward_that_is_taken_back_leaves_nothing():
    b = batch(decisions(np.random.default_rng(6), 30))
    twice = oc.Batch(
        *(np.r_[x, x] if x.dtype == np.float64 else x for x in b[:2]), np.r_[b.start, b.start + len(b.p)],
        np.r_[b.size, b.size], np.r_[b.chosen, b.chosen + len(b.p)], np.r_[b.r, b.r], np.r_[b.sign, -b.sign],
        np.r_[b.place, b.place],
    )  # fmt: skip
    terms, items, _ = counted(twice)
    assert np.abs(terms.sum(1)).max() < 1e-12
    assert np.abs(items).max() < 1e-12


def test_what_does_not_fit_is_refused_and_changes_nothing():
    b = batch(decisions(np.random.default_rng(7), 5))
    width = oc.BOUNDED
    items, lam = np.zeros((4, width)), np.array([stakes()] * 2)
    args = np.zeros((2, len(b.p))), np.ones((2, 5)), oc.Stakes(lam, lam[0], lam[0]), np.zeros((2, 5, width)), items
    space = np.empty(width), np.empty((2, J))
    for wrong in (b._replace(chosen=b.chosen + 100), b._replace(place=b.place + 4), b._replace(sign=np.ones(4))):
        assert oc.count(wrong, *args, *space) == -1
    assert oc.count(b, *args, np.empty(width - 1), space[1]) == -1
    assert not items.any()


def purchases(rng, many, rate):
    """Decisions about amounts that are mostly 0."""
    for p, f, a, _, n in decisions(rng, many):
        yield p, 5.0 * f, a, float(rng.random() < rate) * float(rng.exponential(20.0)), n


@pytest.mark.parametrize(("policy", "place"), [("random", 0), ("first", 1)])
@pytest.mark.parametrize(("many", "rate", "known"), [(600, 0.5, True), (600, 1.0, True), (100, 0.1, False)])
def test_amounts_are_valued_as_by_the_oracle(policy, place, many, rate, known):
    rows = [*purchases(np.random.default_rng(2), many, rate)]
    arrays = batch(rows)._replace(forecast=np.concatenate([row[1] for row in rows]))
    terms, _, lam = counted(arrays, bounded=False)
    sums = terms[place].sum(0).tolist()
    expected = naive.unbounded([*policies(rows, policy)], alpha=0.05)
    for interval, bounds in zip((pv.own_interval, pv.other_interval, pv.lift_interval), expected, strict=True):
        found = interval(sums, bounded=False, alpha=0.05, lam=lam[place])
        assert found[:3] == pytest.approx(bounds, rel=1e-9)
        assert not found.finite
        assert math.isfinite(found.lower) == known


def test_huge_amounts_overflow_nothing():
    rows = [(p, f, a, 9e99 * r, n) for p, f, a, r, n in decisions(np.random.default_rng(3), 200)]
    terms, items, lam = counted(batch(rows), bounded=False)
    assert np.isfinite(terms).all()
    assert np.isfinite(items).all()
    found = pv.own_interval(terms[0].sum(0).tolist(), bounded=False, alpha=0.05, lam=lam[0])
    assert 0.0 < found.mean < found.upper < math.inf


def test_terms_are_added_one_after_the_other():
    """Else a process that was killed would continue with other last digits than one that was not."""
    terms = np.random.default_rng(0).normal(size=(300, 3, 5)) * 10.0 ** np.random.default_rng(1).uniform(
        -8, 8, (300, 3, 5)
    )
    total = np.zeros((3, 5))
    for row in terms:
        total = total + row
    assert pv.in_turn(np.zeros((3, 5)), terms).tobytes() == total.tobytes()
