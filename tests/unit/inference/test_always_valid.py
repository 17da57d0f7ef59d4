"""Bounds that hold at all times at once: against products over the whole history, and by simulated loops looked at again and again."""

import math

import numpy as np
import pytest
from naive import always_valid as naive

from driftbandits.inference.always_valid import LOG_PRIOR, LONG, SHORT, J, finite, levels, lower_bound, stakes
from driftbandits.replay.valued import Valued

ALPHA = 0.05


def wealth(phi, g, lam):
    return [float(np.sum(np.log1p(x * (phi - g)) + x * g)) for x in lam]


@pytest.mark.parametrize(("weight", "n", "rate"), [(1.0, 1e4, 0.3), (20.0, 1e4, 0.01), (7.0, 50.0, 0.3)])
def test_stakes_and_bounds_are_those_of_the_oracle(weight, n, rate):
    rng = np.random.default_rng(0)
    lam = long, short = stakes(weight, n, rate).tolist()
    assert long == pytest.approx(naive.stakes(weight, n, rate)[0])
    assert short == pytest.approx(naive.stakes(weight, n, rate)[1])
    r, g = (rng.random(200) < 0.4) * 1.0, rng.random(200)
    found = finite(200, float(r.mean()), wealth(r, g, long), wealth(1 - r, 1 - g, short), lam, 0.1)
    gain, loss = naive.levels(long, short, 0.1)
    assert gain + loss == pytest.approx(0.1)
    low = naive.lower([r.tolist()] * J, g.tolist(), long, gain)
    high = 1.0 - naive.lower([(1 - r).tolist()] * J, (1 - g).tolist(), short, loss)
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(("weight", "rate", "narrower"), [(20.0, 0.01, 0.97), (4.0, 0.03, 0.999), (1.0, 0.3, 1.002)])
def test_few_clicks_are_bounded_more_sharply_than_with_half_of_alpha_on_either_side(weight, rate, narrower):
    """As many clicks as are expected of 10,000 rounds that show the item with probability 1/weight."""
    n, lam = 10_000.0, stakes(weight, rate=rate).tolist()
    shown, clicks = n / weight, n / weight * rate
    gain, loss = (
        [
            clicks * math.log1p(sign * x * weight * (1.0 - rate))
            + (shown - clicks) * math.log1p(-sign * x * weight * rate)
            + x * n * (rate if sign > 0 else 1.0 - rate)
            for x in lam[side]
        ]
        for side, sign in ((LONG, 1.0), (SHORT, -1.0))
    )
    found = finite(n, rate, gain, loss, lam, ALPHA)
    halves = 1.0 - sum(lower_bound(b, side, n, 0.5 * ALPHA) for b, side in zip((gain, loss), lam, strict=True))
    assert found.lower < rate < found.upper
    assert found.upper - found.lower < narrower * halves


def test_the_solution_is_approached_from_below():
    """Whatever is left of Newton's steps makes a bound wider."""
    lam = stakes()[LONG].tolist()
    for b in ([0.0] * J, [x * 3000.0 - 5000.0 * x * x for x in lam], [-1e6 * x for x in lam]):
        m = lower_bound(b, lam, 1e4, 0.025)
        terms = [math.exp(p + c - x * 1e4 * m) for p, c, x in zip(LOG_PRIOR, b, lam, strict=True)]
        assert 40.0 - 1e-6 <= sum(terms) <= 40.0 * (1 + 1e-6)


def ever_wrong(alpha, rounds=600, runs=300):
    """Shares of loops of fair coins in which a bound was wrong at some time."""
    rng = np.random.default_rng(3)
    r = (rng.random((runs, rounds)) < 0.5) * 1.0
    g = np.full((runs, rounds), 0.5)
    n = np.arange(1, rounds + 1)
    wrong = np.zeros(runs, bool)
    sides = stakes(n=rounds)
    for phi, lam, level in zip((r, 1 - r), sides, levels(sides.tolist(), alpha), strict=True):
        b = np.cumsum(np.log1p(lam[:, None, None] * (phi - g)) + lam[:, None, None] * g, axis=2)
        log = np.log(np.exp(b + np.array(LOG_PRIOR)[:, None, None] - lam[:, None, None] * 0.5 * n).sum(0))
        wrong |= (log > math.log(1.0 / level)).any(1)
    return wrong.mean()


def test_bounds_are_hardly_ever_wrong_at_any_time():
    assert ever_wrong(ALPHA) <= ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / 300)


def test_bounds_that_promise_too_much_are_caught():
    """The test above can fail: bounds at a level of one half miss in many loops."""
    assert ever_wrong(1.0) > ALPHA + 2.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / 300)


def rows(rng, many):
    w = rng.choice([0.0, 1.25, 20.0], many)
    r = (rng.random(many) < 0.3) * 1.0
    direct, of_item = rng.random(many), rng.random(many)
    return w, r, np.full(many, 1.0), (direct, of_item)


@pytest.mark.parametrize("forecast", [True, False])
def test_rows_of_a_log_are_valued_as_by_the_oracle(forecast):
    rng = np.random.default_rng(2)
    w, r, largest, known = rows(rng, 150)
    valued = Valued(bounded=True, floor=0.05, rows=150)
    valued.add(w, r, largest, known if forecast else None)
    sides = naive.stakes(20.0, 150.0)
    total = earned = 0.0
    low, high, centres = [[] for _ in range(J)], [[] for _ in range(J)], []
    for t in range(150):
        mean = earned / total if total else 0.5
        direct, of_item = (known[0][t], known[1][t]) if forecast else (mean, mean)
        for j in range(J):
            s, short = (min(1.0, (0.9 / side[j] - 1.0) / 20.0) for side in sides)
            low[j].append(s * direct + w[t] * (r[t] - s * of_item))
            s = short
            high[j].append(s * (1 - direct) + w[t] * (1 - r[t] - s * (1 - of_item)))
        centres.append(direct)
        total, earned = total + w[t], earned + w[t] * r[t]
    b, (gain, loss) = valued.bounds(), naive.levels(*sides, ALPHA)
    assert b.lower == pytest.approx(naive.lower(low, centres, sides[0], gain), abs=1e-9)
    assert b.upper == pytest.approx(1.0 - naive.lower(high, [1 - g for g in centres], sides[1], loss), abs=1e-9)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("log", [90, 1000])
def test_chunks_of_a_log_do_not_matter(bounded, log):
    """Of a long log with rewards in [0, 1], the first 50 rows say how rare they are, and do not count."""
    w, r, largest, known = rows(np.random.default_rng(4), 90)
    once, parts = (Valued(bounded=bounded, floor=0.05, rows=log) for _ in range(2))
    once.add(w, r, largest, known)
    for part in (slice(0, 1), slice(1, 40), slice(40, 40), slice(40, 90)):
        parts.add(w[part], r[part], largest[part], (known[0][part], known[1][part]))
    assert once.bounds() == parts.bounds()
    assert once.bounds().n == (40 if bounded and log == 1000 else 90)
    if bounded and log == 1000:
        assert once._stakes[0].tolist() == pytest.approx(naive.stakes(20.0, 1000.0, (r[:50].sum() + 0.5) / 51.0)[0])
