"""Ticks of logarithmic axes stand apart."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from driftbandits.plots.plot import MOST_TICKS, log_ticks, thinned


@given(st.floats(1e-12, 1e12), st.floats(1.0, 1e20))
def test_log_ticks_are_few_round_and_within(low: float, factor: float) -> None:
    high = low * factor
    ticks = log_ticks(low, high)
    assert len(ticks) <= MOST_TICKS
    assert all(low <= tick <= high for tick in ticks)
    assert all(a < b for a, b in itertools.pairwise(ticks))
    assert factor < 1e3 or len(ticks) >= 2
    assert all(math.log10(b / a) >= 0.04 * math.log10(factor) for a, b in itertools.pairwise(ticks))


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=20))
def test_thinned_values_stand_apart(values: list[float]) -> None:
    kept = thinned(values)
    assert set(kept) <= set(values)
    assert kept[-1] == max(values)
    span = math.log(max(values) / min(values))
    assert all(math.log(b / a) >= 0.1 * span for a, b in itertools.pairwise(kept))
