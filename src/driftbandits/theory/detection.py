r"""DAL in numbers (successors §B.1): how often it explores by force, and when its published detectors raise an alarm.

    α_k = √(k·N·log T/T)                                            epoch k, N covering arms: the fraction of rounds that play them
    β(n) = log(4n^{3/2}/δ)                                          practice;  GSR: n^{5/2}
    β(n) = 6·log(1 + log n) + (5/2)·log(4n^{3/2}/δ) + 11            as in the proof

δ is the probability of a false alarm, R-sub-Gaussian or bounded rewards.
"""

from math import log, sqrt

from ..errors import integer, probability
from .checks import horizon


def dal_exploration(*, T: int, N: int, epoch: int = 1) -> float:
    """α_k of DAL, the fraction of rounds of an epoch that play one of N covering arms (N = d in a linear bandit), at most 1.

    Examples
    --------
    >>> round(dal_exploration(T=6000, N=2), 4), round(dal_exploration(T=6000, N=2, epoch=4), 4)
    (0.0539, 0.1077)
    """
    T = horizon("T", T)
    N = integer("N", N, least=1, why="it counts covering arms")
    k = integer("epoch", epoch, least=1, why="epochs count from 1")
    return min(sqrt(k * N * log(max(T, 2)) / T), 1.0)


def glr_threshold(*, n: int, delta: float, summed: bool = False, published: bool = False) -> float:
    """β(n, δ): the statistic of n rewards of one arm above which `detector="glr"` (`summed`: "gsr") restarts.

    Examples
    --------
    >>> round(glr_threshold(n=100, delta=0.05), 2), round(glr_threshold(n=100, delta=0.05, published=True), 2)
    (11.29, 49.57)
    """
    n = integer("n", n, least=1, why="it counts rewards")
    value = log(4.0 * n ** (2.5 if summed else 1.5) / probability("delta", delta))
    return 6.0 * log(1.0 + log(n)) + 2.5 * value + 11.0 if published else value
