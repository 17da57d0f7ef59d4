"""Values of policies against their oracle, and whether their bounds hold."""

import math

import numpy as np
import pytest
from naive import policy_value as naive

from driftbandits.inference import policy_value as pv


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
    size = np.array([len(row[0]) for row in rows])
    start = np.r_[0, np.cumsum(size)[:-1]]
    p, f = (np.concatenate([row[i] for row in rows]) for i in (0, 1))
    r, chosen = np.array([row[3] for row in rows]), start + [row[2] for row in rows]
    return pv.Batch(p, f, start, size, chosen, start, r, np.ones(len(rows)))


def policies(rows, policy):
    for p, f, a, r, n in rows:
        pi = [1.0 / n] * n if policy == "random" else [1.0] + [0.0] * (n - 1)
        yield p.tolist(), f.tolist(), a, r, pi


@pytest.mark.parametrize("policy", ["random", "first"])
def test_values_are_those_of_the_oracle(policy):
    rows = decisions(np.random.default_rng(0), 300)
    b = batch(rows)
    pi = pv.uniform(b) if policy == "random" else pv.always_first(b)
    sums = pv.in_turn(np.zeros(pv.SUMS), pv.outcomes(b, pi, bounded=True, k=3.0)).tolist()
    expected = naive.value([*policies(rows, policy)], bounded=True, k=3.0, alpha=0.1)
    got = [
        pv.own_interval(sums, bounded=True, alpha=0.1),
        pv.other_interval(sums, bounded=True, alpha=0.1, k=3.0),
        pv.lift_interval(sums, bounded=True, alpha=0.1, k=3.0),
    ]
    for interval, (mean, lower, upper) in zip(got, expected, strict=True):
        assert interval[:3] == pytest.approx((mean, lower, upper), abs=1e-8)
        assert interval.n == 300
    weights = [naive.terms(*d, bounded=True, k=3.0)[4] for d in policies(rows, policy)]
    assert got[1].effective_n == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))


@pytest.mark.parametrize("bounded", [True, False])
def test_one_item_is_the_policy_that_always_shows_it(bounded):
    rows = decisions(np.random.default_rng(1), 50)
    b = batch(rows)
    of_items = pv.item_outcomes(b, bounded=bounded, k=2.0)
    first = pv.outcomes(b, pv.always_first(b), bounded=bounded, k=2.0)
    assert of_items[b.start] == pytest.approx(first, abs=1e-12)


def test_asymptotic_bounds_follow_the_formula():
    rows = decisions(np.random.default_rng(2), 400)
    b = batch(rows)
    sums = pv.in_turn(np.zeros(pv.SUMS), pv.outcomes(b, pv.uniform(b), bounded=False, k=1.0)).tolist()
    phi, _, g, _, _ = zip(*(naive.terms(*d, bounded=False, k=1.0) for d in policies(rows, "random")), strict=True)
    got = pv.other_interval(sums, bounded=False, alpha=0.05, k=1.0)
    variance = np.mean((np.array(phi) - g) ** 2)
    x = 2 * math.log(20) + math.log1p(2 * math.log(20))
    rho2 = x / (2000 * variance)
    half = math.sqrt(
        2 * (400 * variance * rho2 + 1) / (400**2 * rho2) * math.log(math.sqrt(400 * variance * rho2 + 1) / 0.05)
    )
    assert got[:3] == pytest.approx((np.mean(phi), np.mean(phi) - half, np.mean(phi) + half))
    assert not got.finite
    few = pv.other_interval([20.0, *sums[1:]], bounded=False, alpha=0.05, k=1.0)
    assert (few.lower, few.upper) == (-math.inf, math.inf)


def test_sums_do_not_depend_on_batches():
    rows = decisions(np.random.default_rng(3), 100)
    whole = batch(rows)
    once = pv.in_turn(np.zeros(pv.SUMS), pv.outcomes(whole, pv.uniform(whole), bounded=True, k=2.0))
    total = np.zeros(pv.SUMS)
    for part in (rows[:7], rows[7:60], rows[60:]):
        b = batch(part)
        total = pv.in_turn(total, pv.outcomes(b, pv.uniform(b), bounded=True, k=2.0))
    assert total.tobytes() == once.tobytes()


def test_terms_are_added_one_after_the_other():
    """Else a process that was killed would continue with other last digits than one that was not."""
    terms = np.random.default_rng(0).normal(size=(300, 3, 5)) * 10.0 ** np.random.default_rng(1).uniform(
        -8, 8, (300, 3, 5)
    )
    total = np.zeros((3, 5))
    for row in terms:
        total = total + row
    assert pv.in_turn(np.zeros((3, 5)), terms).tobytes() == total.tobytes()


# ------------------------------------------------------------------------------------------------------------- coverage


def means(kind, rng, T, n):
    t = np.arange(T)[:, None]
    if kind == "drift":
        return 0.5 + 0.4 * np.sin(t / 200 + rng.uniform(0, 6, n))
    if kind == "jumps":
        return np.repeat(rng.uniform(0.05, 0.95, (T // 400 + 1, n)), 400, 0)[:T]
    if kind == "rare clicks":
        return 0.01 * rng.uniform(0.5, 2.0, n) * (1 + 0.8 * np.sin(t / 300))
    return np.tile(rng.uniform(0.2, 0.8, n), (T, 1))


def loops(kind, rng, L, T, n, floor, late):
    """L loops at once: probabilities adapt to rewards, which come `late` rounds later. Returns truth and logs, each (T, L, n) or (T, L)."""
    world = np.stack([means(kind, rng, T, n) for _ in range(L)], axis=1)
    q = np.full((L, n), 0.01 if kind == "rare clicks" else 0.5)
    P, F = np.empty((T, L, n)), np.empty((T, L, n))
    A, R = np.empty((T, L), np.int64), np.empty((T, L))
    every = np.arange(L)
    for t in range(T):
        p = np.full((L, n), floor)
        p[every, q.argmax(1)] += 1 - n * floor
        A[t] = np.minimum((p.cumsum(1) < rng.random(L)[:, None]).sum(1), n - 1)
        P[t], F[t], R[t] = p, q, rng.random(L) < world[t, every, A[t]]
        if t >= late:
            a = A[t - late]
            q[every, a] += 0.05 * (R[t - late] - q[every, a])
    return world, P, F, A, R


def ever_missed(kind, seed, *, L, T, n=4, floor=0.05, late=0, alpha=0.05):
    """Shares of loops in which a bound on own, other (two policies) or lift was wrong at one of 40 looks; mean width over fixed ones."""
    rng = np.random.default_rng(seed)
    world, P, F, A, R = loops(kind, rng, L, T, n, floor, late)
    looks = np.unique(np.geomspace(30, T, 40).astype(int)) - 1
    wrong, width = np.zeros((L, 5), bool), []
    every = np.arange(T)
    for i in range(L):
        b = pv.Batch(
            P[:, i].ravel(),
            F[:, i].ravel(),
            every * n,
            np.full(T, n),
            every * n + A[:, i],
            every * n,
            R[:, i],
            np.ones(T),
        )
        acts = (P[:, i] * world[:, i]).sum(1)
        for j, (pi, most) in enumerate(((pv.uniform(b), 1.0), (pv.always_first(b), n))):
            k = pv.limit(most, floor * n)
            sums = np.cumsum(pv.outcomes(b, pi, bounded=True, k=k), axis=0)
            other = (pi.reshape(T, n) * world[:, i]).sum(1)
            truth = [np.cumsum(v) / (every + 1) for v in (acts, other, acts - other)]
            for t in looks:
                s = sums[t].tolist()
                got = [
                    pv.own_interval(s, bounded=True, alpha=alpha),
                    pv.other_interval(s, bounded=True, alpha=alpha, k=k),
                    pv.lift_interval(s, bounded=True, alpha=alpha, k=k),
                ]
                for q, (interval, v) in enumerate(zip(got, truth, strict=True)):
                    wrong[i, q + 2 * j * (q > 0)] |= not interval.lower <= v[t] <= interval.upper
            w = (pi / b.p).reshape(T, n)[every, A[:, i]]
            phi = w * (R[:, i] - F[every, i, A[:, i]]) + (pi.reshape(T, n) * F[:, i]).sum(1)
            fixed = 2 * 1.96 * np.array([phi.std(), (R[:, i] - phi).std()]) / math.sqrt(T)
            width.append([(x.upper - x.lower) for x in got[1:]] / fixed)
    return wrong.mean(0), np.mean(width, axis=0)


def test_bounds_hold_in_a_few_loops():
    missed, _ = ever_missed("drift", 7, L=8, T=800)
    assert missed.max() <= 1 / 8


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 50])
@pytest.mark.parametrize("kind", ["drift", "jumps", "rare clicks", "still"])
def test_bounds_hold_at_all_times(kind, late):
    """250 loops of 3000 rounds in each of eight worlds, 2000 in all; each of five bounds is ever wrong in at most α + 2 standard errors."""
    missed, width = ever_missed(kind, 11 + late, L=250, T=3000, late=late)
    print(kind, late, missed, width)
    assert missed.max() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 250)
