"""Statistics against SciPy, and at the edges."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from driftbandits.experiment.analyse.statistics import describe, exponents, holm, p_differ, p_less


def test_paired_t_test_is_scipys() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=15), rng.normal(size=15) + 0.4
    assert p_less(a, b) == pytest.approx(scipy_stats.ttest_rel(a, b, alternative="less").pvalue)
    assert p_differ(a, b) == pytest.approx(scipy_stats.ttest_rel(a, b).pvalue)
    sample = describe(a)
    low, high = scipy_stats.t.interval(0.95, 14, loc=a.mean(), scale=a.std(ddof=1) / math.sqrt(15))
    assert [sample.low, sample.high] == pytest.approx([low, high])


def test_statistics_at_the_edges() -> None:
    assert math.isnan(p_less([1.0], [2.0]))
    assert p_less([1.0, 1.0], [2.0, 2.0]) == 0.0
    assert p_less([2.0, 2.0], [1.0, 1.0]) == 1.0
    assert p_less([1.0, 2.0], [1.0, 2.0]) == 0.5
    assert describe([3.0]).std == 0.0
    assert holm([0.01]) == [0.01]
    np.testing.assert_allclose(exponents([1, 2, 4, 8], [[3 * v**0.75 for v in (1, 2, 4, 8)]]), [0.75])
