r"""A likelihood-ratio test of whether the mean reward of an arm has changed at some time in the epoch.

`LikelihoodRatio` (Besson et al. 2022; Gerogiannis et al. 2025) tests the rewards of each arm of a covering set:

    GLR   max_s  s·kl(m₁, m) + (n−s)·kl(m₂, m) ≥ β(n, δ),      m₁, m₂, m: means of the first s, the last n−s, all
    GSR   log Σ_s exp(the same) ≥ β(n, δ)
    β = log(4n^{3/2}/δ), for the GSR n^{5/2} in place of n^{3/2};   published: 6 log(1+log n) + (5/2)·log(4n^{3/2}/δ) + 11

kl is the divergence of Gaussian (variance σ²), Bernoulli or Poisson distributions. Every s is tried up to n = 256, then every second,
fourth, … (the sum is multiplied accordingly), so that memory and time per observation stay bounded.
"""

from typing import NamedTuple

import numpy as np

from ...core.kernel import kernel, part
from ...core.linalg import Matrix, Vector
from ...errors import require
from ...protocol import Integers, indices_valid
from .contract import blank_watch, check_settings, forget, refuted

PLACES = 256  # change points tried per covering arm
GAUSSIAN, BERNOULLI, POISSON = 0.0, 1.0, 2.0


@part
class LikelihoodRatio(NamedTuple):
    """Compares the rewards of each covering arm before and after every possible change point."""

    noise: float  # σ of Gaussian rewards
    law: float = GAUSSIAN
    delta: float = 0.05
    summed: float = 0.0  # 1: GSR
    published: float = 0.0  # 1: the proof's thresholds

    def check(self) -> None:
        """The law must be one of the three constants."""
        check_settings(self.noise, self.delta)
        require(
            self.law in (GAUSSIAN, BERNOULLI, POISSON), "law", self.law, "0, 1 or 2", "Gaussian, Bernoulli or Poisson"
        )


class ArmSums(NamedTuple):
    """The rewards of every covering arm in this epoch."""

    cover: Matrix  # (N, d)
    plays: Integers  # (N,)
    total: Vector  # (N,)
    before: Matrix  # (N, PLACES) sums of the first `step`, 2·`step`, … rewards
    step: Integers  # (N,)
    used: Integers  # (N,) places


@blank_watch.register(LikelihoodRatio)
def _(detector: LikelihoodRatio, dim: int, cover: Matrix) -> ArmSums:
    N = len(cover)
    return ArmSums(
        cover=np.ascontiguousarray(cover),
        plays=np.zeros(N, np.int64),
        total=np.zeros(N),
        before=np.zeros((N, PLACES)),
        step=np.ones(N, np.int64),
        used=np.zeros(N, np.int64),
    )


@indices_valid.register(ArmSums)
def _(watch: ArmSums) -> bool:
    return bool((watch.used >= 0).all() and (watch.used < PLACES).all() and watch.step.min(initial=1) >= 1)


@forget.register(ArmSums)
def _(watch: ArmSums) -> None:
    for a in range(watch.plays.shape[0]):
        watch.plays[a] = watch.used[a] = 0
        watch.total[a] = 0.0
        watch.step[a] = 1


@kernel
def covering_arm(cover: Matrix, x: Vector) -> int:
    """The covering arm with these features, or −1."""
    for a in range(cover.shape[0]):
        same = True
        for i in range(x.shape[0]):
            same = same and cover[a, i] == x[i]
        if same:
            return a
    return -1


@refuted.register(LikelihoodRatio)
def _(detector: LikelihoodRatio, watch: ArmSums, x: Vector, h: float, y: float, weight: float) -> int:
    a = covering_arm(watch.cover, x)
    if a < 0 or weight == 0.0:
        return 0
    watch.plays[a] += 1
    watch.total[a] += y
    if watch.plays[a] % watch.step[a] == 0:
        watch.before[a, watch.used[a]] = watch.total[a]
        watch.used[a] += 1
        # The table of possible change points is full: keep every second one, and record half as often from now on.
        if watch.used[a] == PLACES:
            for p in range(PLACES // 2):
                watch.before[a, p] = watch.before[a, 2 * p + 1]
            watch.used[a] = PLACES // 2
            watch.step[a] *= 2
    n = float(watch.plays[a])
    if n < 2.0:
        return 0
    threshold = np.log(4.0 * n ** (2.5 if detector.summed else 1.5) / detector.delta)
    if detector.published:
        threshold = 6.0 * np.log(1.0 + np.log(n)) + 2.5 * threshold + 11.0
    return a + 1 if _ratio(detector, watch, a) >= threshold else 0


@kernel
def _ratio(detector: LikelihoodRatio, watch: ArmSums, a: int) -> float:
    """The statistic of one covering arm: the maximum over change points (GLR), or the logarithm of the sum of exponentials (GSR)."""
    n, step, total = watch.plays[a], watch.step[a], watch.total[a]
    top, extra = -np.inf, 0.0  # a running log-sum-exp, top + log(extra), which cannot overflow; GLR uses only `top`
    for p in range(watch.used[a]):
        s = (p + 1) * step
        # At s = n nothing lies after the change, and m₂ would be 0/0.
        if s >= n:
            break
        value = _split(detector, watch.before[a, p], float(s), total, float(n))
        if value > top:
            extra = extra * np.exp(top - value) + 1.0 if extra > 0.0 else 1.0
            top = value
        else:
            extra += np.exp(value - top)
    # Only every `step`-th change point was tried; multiplying the sum by `step` stands in for the others.
    return float(top + np.log(extra * step) if detector.summed and extra > 0.0 else top)


@kernel
def _split(detector: LikelihoodRatio, first: float, s: float, total: float, n: float) -> float:
    """s·kl(m₁, m) + (n−s)·kl(m₂, m)."""
    m1, m2, m = first / s, (total - first) / (n - s), total / n
    if detector.law == GAUSSIAN:
        # For Gaussian rewards the two divergences add up to this, which has one subtraction less and no rounding of m.
        return s * (n - s) / n * (m1 - m2) ** 2 / (2.0 * detector.noise * detector.noise)
    value = s * _plogp(m1, m) + (n - s) * _plogp(m2, m)
    if detector.law == BERNOULLI:
        value += s * _plogp(1.0 - m1, 1.0 - m) + (n - s) * _plogp(1.0 - m2, 1.0 - m)
    return value


@kernel
def _plogp(p: float, q: float) -> float:
    """p·log(p/q), 0 at p = 0."""
    return float(p * np.log(p / q)) if p > 0.0 and q > 0.0 else 0.0
