"""Estimates from sums are those of the equations; intervals have the width of the textbook; what cannot be estimated is refused."""

import math

import numpy as np
import pytest
from naive import ope

from driftbandits.replay.estimators import (
    DR,
    EACH,
    HEAD,
    MR,
    WR,
    WW,
    M,
    W,
    effective_n,
    estimate,
    interval,
    ratio,
    resampled,
    why_not,
)


def blocks_of(r, p, pi, direct=0.0, agrees=None):
    """A block per row, for one policy."""
    n, w = len(r), pi / p
    agrees = np.zeros(n) if agrees is None else agrees
    table = np.zeros((n, HEAD + EACH))
    table[:, 0], table[:, 1] = 1.0, r
    own = table[:, HEAD:]
    own[:, W], own[:, WW], own[:, WR], own[:, M], own[:, MR] = w, w * w, w * r, agrees, agrees * r
    own[:, DR] = direct
    return table


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 400
    return rng.normal(1.0, 1.0, n), rng.uniform(0.2, 0.8, n), rng.uniform(0.0, 1.0, n), rng.random(n) < 0.4


def test_they_are_those_of_the_equations(rows):
    r, p, pi, agrees = rows
    total = blocks_of(r, p, pi, agrees=agrees).sum(axis=0)
    assert ratio(total, 0, "ips") == pytest.approx(ope.ips(r, p, pi))
    assert ratio(total, 0, "snips") == pytest.approx(ope.snips(r, p, pi))
    assert ratio(total, 0, "replay") == pytest.approx(ope.replay(r, agrees))
    assert effective_n(total, 0, "ips") == pytest.approx(ope.effective_n(pi / p))
    assert effective_n(total, 0, "replay") == agrees.sum()


def test_the_interval_of_a_mean_is_the_textbook_one():
    r = np.random.default_rng(1).normal(size=300)
    ones = np.ones(300)
    blocks = blocks_of(r, ones, ones)
    found = estimate(blocks, resampled(blocks, 0), 0, "ips", 0.0)
    half = 1.96 * r.std(ddof=1) / math.sqrt(300)
    assert found.value == pytest.approx(r.mean())
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)  # of 1000 resamples
    assert found.effective_n == pytest.approx(300.0)


def test_too_few_rows_are_no_estimate(rows):
    r, p, pi, agrees = rows
    blocks = blocks_of(r, p, pi, agrees=agrees)
    draws = resampled(blocks, 0)
    worth = effective_n(blocks.sum(axis=0), 0, "ips")
    assert math.isnan(estimate(blocks, draws, 0, "ips", worth + 1.0).value)
    assert not math.isnan(estimate(blocks, draws, 0, "ips", worth - 1.0).value)
    assert interval(np.full(1000, np.nan)) == (pytest.approx(math.nan, nan_ok=True),) * 2


def test_what_cannot_be_estimated_is_refused():
    rng = np.random.default_rng(2)
    n = 2000
    r, half = rng.normal(size=n), np.full(n, 0.5)
    good = blocks_of(r, half, (rng.random(n) < 0.5) * 1.0).sum(axis=0)
    assert why_not(good, 0, "ips", 0.5) is None
    missing = blocks_of(r, half, (rng.random(n) < 0.3) * 1.0).sum(axis=0)
    assert "average 0.598 ± 0.020 and must average 1" in why_not(missing, 0, "snips", 0.5)
    few = blocks_of(r, np.full(n, 0.01), (rng.random(n) < 0.01) * 1.0).sum(axis=0)
    assert "overlap with it is too small" in why_not(few, 0, "dr", 0.5)
    assert "overlap with it is too small" in why_not(blocks_of(r, half, np.zeros(n)).sum(axis=0), 0, "ips", 0.5)
    assert "agrees with 0 rows of 2000" in why_not(good, 0, "replay", 0.5)
    half_kept, third_kept = (blocks_of(r, half, half, agrees=(rng.random(n) < p) * 1.0).sum(axis=0) for p in (0.5, 0.3))
    assert why_not(half_kept, 0, "replay", 0.5) is None
    assert "and must keep 0.5 ± 0.011" in why_not(third_kept, 0, "replay", 0.5)
    rounded = blocks_of(r, np.full(n, 0.333), np.full(n, 1 / 3)).sum(axis=0)
    assert why_not(rounded, 0, "ips", 0.5) is None
