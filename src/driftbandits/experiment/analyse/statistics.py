"""Means, intervals and paired tests over trials.

All algorithms of a trial share its arms and its noise, so differences are taken trial by trial before they are
averaged: most of the variance is common and cancels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.95


@dataclass(frozen=True)
class Sample:
    """Summary of one number over trials."""

    mean: float
    std: float  # between trials, n − 1 in the denominator
    low: float  # confidence interval of the mean (Student)
    high: float
    n: int


def describe(values: ArrayLike, level: float = LEVEL) -> Sample:
    """Mean, standard deviation and confidence interval; of a single trial, only the mean is known.

    Examples
    --------
    >>> sample = describe([1.0, 2.0, 3.0])
    >>> sample.mean, sample.std, round(sample.high, 3)
    (2.0, 1.0, 4.484)
    """
    from scipy.special import stdtrit

    x = np.asarray(values, float)
    n, mean = len(x), float(x.mean())
    if n < 2:
        return Sample(mean, 0.0, mean, mean, n)
    std = float(x.std(ddof=1))
    half = float(stdtrit(n - 1, 0.5 + level / 2.0) * std / np.sqrt(n))
    return Sample(mean, std, mean - half, mean + half, n)


def p_less(left: ArrayLike, right: ArrayLike) -> float:
    """One-sided paired t-test: the p-value of "left is not less than right". NaN for fewer than two trials.

    Examples
    --------
    >>> round(p_less([1.0, 2.0, 3.0], [2.0, 3.5, 3.8]), 4)
    0.017
    """
    from scipy.special import stdtr

    difference = np.asarray(left, float) - np.asarray(right, float)
    n = len(difference)
    if n < 2:
        return float("nan")
    spread = float(difference.std(ddof=1))
    mean = float(difference.mean())
    if spread == 0.0:
        return 0.5 if mean == 0.0 else float(mean > 0.0)
    return float(stdtr(n - 1, mean / (spread / np.sqrt(n))))


def p_sign(left: ArrayLike, right: ArrayLike) -> float:
    """One-sided sign test, for data with outliers: the p-value of "left is not less than right in most trials".

    Examples
    --------
    >>> p_sign([1.0, 1.0, 1.0, 90.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0])
    0.1875
    """
    from scipy.special import bdtr

    difference = np.asarray(left, float) - np.asarray(right, float)
    decided = difference[difference != 0.0]
    n, less = len(decided), int((decided < 0.0).sum())
    return float(bdtr(n - less, n, 0.5)) if n > 1 else float("nan")


def p_differ(left: ArrayLike, right: ArrayLike) -> float:
    """Two-sided paired t-test."""
    return 2.0 * min(p_less(left, right), p_less(right, left))


def holm(p_values: ArrayLike) -> list[float]:
    """Holm's correction: p-values that may be read together.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, float)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    answer = np.empty(len(p))
    answer[order] = np.minimum(steps, 1.0)
    return [float(v) for v in answer]


def exponents(x: ArrayLike, regret: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Slope of log regret against log x, for every trial; regret is (trials, points).

    Examples
    --------
    >>> exponents([1, 10, 100], [[2.0, 20.0, 200.0], [1.0, 3.1623, 10.0]]).round(3).tolist()
    [1.0, 0.5]
    """
    u = np.log(np.asarray(x, float))
    v = np.log(np.asarray(regret, float))
    u = u - u.mean()
    return (v - v.mean(axis=1, keepdims=True)) @ u / (u @ u)  # type: ignore[no-any-return]
