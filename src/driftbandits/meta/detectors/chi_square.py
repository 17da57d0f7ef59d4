r"""Has the world changed since the last restart? Detectors for `meta.dal`.

`ChiSquare` (ours). In an epoch of n observations, A = Σ h x xᵀ and b = Σ y x over blocks of m = 16, 32, …, 2048 of them, against the rest:

    θ₁ = A₁⁻¹b₁ (the block that is full),   θ₀ = A₀⁻¹b₀ (all others),   stat = (θ₁−θ₀)ᵀ(A₁⁻¹+A₀⁻¹)⁻¹(θ₁−θ₀)/R²
    alarm if stat > d + 2√(dy) + 2y,   y = log(J(n/m)²/δ),   J = 8 block lengths,   and the rest has at least m observations

Linear rewards: h = 1, y = r. A link μ, with `Linked`: h = μ′(z), y = h·z + r − μ(z) at z = xᵀθ̂, the base's estimate before it learns r, and
R = 1 where rewards are Bernoulli or Poisson. If θ stands still and x_1, x_2, … were fixed in advance, stat has at most the law χ²_d, whose
tail the threshold is (Laurent and Massart 2000). **Arms chosen from the past make it a heuristic**, as does the linearisation of a link;
docs/successors.md has the rate of false alarms that was measured. R must be the size of the noise, not a bound: twice too large, the
statistic is a quarter. Needs no forced exploration and no fixed arms. Blocks are sums of two shorter ones, so an observation costs O(d²),
and tests O(d³/16) in the mean.

`LikelihoodRatio` (Besson et al. 2022; Gerogiannis et al. 2025). Of each arm of a covering set, the rewards of the epoch:

    GLR   max_s  s·kl(m₁, m) + (n−s)·kl(m₂, m) ≥ β(n, δ),      m₁, m₂, m: means of the first s, the last n−s, all
    GSR   log Σ_s exp(the same) ≥ β(n, δ)
    β = log(4n^{3/2}/δ), for the GSR n^{5/2} in place of n^{3/2};   published: 6 log(1+log n) + (5/2)·log(4n^{3/2}/δ) + 11

kl is that of Gaussian (variance σ²), Bernoulli or Poisson rewards. Every s is tried up to n = 256; from then on every second, fourth, …
(the sum is multiplied accordingly), so that memory and time per observation stay bounded.
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import positive, probability, require
from ..kernel import generic, kernel, part
from ..linalg import Matrix, Vector, add_outer, cholesky, dot, solve, symmetric_product
from ..links import dmu, mu
from ..protocol import Integers, sound
from ..strategy import Optimistic, OptimisticState

SHORTEST = 16  # observations of the shortest block
LENGTHS = 8  # J; each is twice the one before
RIDGE = 1e-6  # times the mean squared norm of an arm, for blocks that do not span all directions
PLACES = 256  # change points tried per covering arm
GAUSSIAN, BERNOULLI, POISSON = 0.0, 1.0, 2.0


@generic
def blank_watch(detector: Any, dim: int, cover: Matrix) -> Any:
    """What the detector keeps, before the first observation; `cover` (N, d). (Python only.)"""


@generic
def weigh(detector: Any, base: Any, state: Any, x: Vector, r: float) -> tuple[float, float]:
    """(h, y): the weight and the working response of an observation that the base, in this state, has not learned yet."""
    return 1.0, r


@generic
def predictor(base: Any, state: Any, x: Vector) -> float:
    """xᵀθ̂ by the base's estimate, in compiled code: what `Linked` needs of a base."""


@predictor.register(Optimistic)
def _(base: Optimistic, state: OptimisticState, x: Vector) -> float:
    return dot(x, state.est.theta)


@generic
def refuted(detector: Any, watch: Any, x: Vector, h: float, y: float, weight: float) -> int:
    """Note an observation that counts as `weight`; 0, or the block length or covering arm (from 1) that says: the world has changed."""


@generic
def forget(watch: Any) -> None:
    """Begin an epoch."""


# ------------------------------------------------------------------------------------------------------------------ χ²


@part
class ChiSquare(NamedTuple):
    """Compares the estimates of blocks; for linear rewards with noise of size R."""

    noise: float
    delta: float = 0.05

    def check(self) -> None:
        """The statistic is divided by the noise's variance."""
        _check(self.noise, self.delta)


@part
class Linked(NamedTuple):
    """`ChiSquare` for rewards of mean μ(xᵀθ)."""

    link: Any
    noise: float = 1.0
    delta: float = 0.05

    def check(self) -> None:
        """The statistic is divided by the noise's variance."""
        _check(self.noise, self.delta)


def _check(noise: float, delta: float) -> None:
    positive("noise", noise, "it is the size of the noise, by which a change is told from chance")
    probability("delta", delta)


class BlockSums(NamedTuple):
    """The open block of each length, and the epoch."""

    A: Matrix  # (J, d, d)
    b: Matrix  # (J, d)
    filled: Integers  # (J,) observations in each
    epoch: Integers  # (1,) observations in all full blocks of the epoch
    all_A: Matrix  # (d, d) of all of these
    all_b: Vector  # (d,)
    rest: Matrix  # (d, d) workspace: the epoch without a block
    factors: Matrix  # (3, d, d) workspace: of the block, the rest and both
    vectors: Matrix  # (4, d) workspace


@blank_watch.register(ChiSquare, Linked)
def _(detector: Any, dim: int, cover: Matrix) -> BlockSums:
    return BlockSums(
        A=np.zeros((LENGTHS, dim, dim)),
        b=np.zeros((LENGTHS, dim)),
        filled=np.zeros(LENGTHS, np.int64),
        epoch=np.zeros(1, np.int64),
        all_A=np.zeros((dim, dim)),
        all_b=np.zeros(dim),
        rest=np.zeros((dim, dim)),
        factors=np.zeros((3, dim, dim)),
        vectors=np.zeros((4, dim)),
    )


@weigh.register(Linked)
def _(detector: Linked, base: Any, state: Any, x: Vector, r: float) -> tuple[float, float]:
    z = predictor(base, state, x)
    h = dmu(detector.link, z)
    return h, h * z + r - mu(detector.link, z)


@forget.register(BlockSums)
def _(watch: BlockSums) -> None:
    for j in range(LENGTHS):
        _clear(watch, j)
    watch.epoch[0] = 0
    _set(watch.all_A, 0.0)
    for i in range(watch.all_b.shape[0]):
        watch.all_b[i] = 0.0


@kernel
def _set(A: Matrix, value: float) -> None:
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] = value


@kernel
def _clear(watch: BlockSums, j: int) -> None:
    _set(watch.A[j], 0.0)
    for i in range(watch.b.shape[1]):
        watch.b[j, i] = 0.0
    watch.filled[j] = 0


@kernel
def _add(A: Matrix, b: Vector, watch: BlockSums, j: int) -> None:
    """(A, b) ← (A, b) + the block of length j."""
    for i in range(b.shape[0]):
        b[i] += watch.b[j, i]
        for k in range(b.shape[0]):
            A[i, k] += watch.A[j, i, k]


@refuted.register(ChiSquare, Linked)
def _(detector: Any, watch: BlockSums, x: Vector, h: float, y: float, weight: float) -> int:
    add_outer(watch.A[0], x, weight * h)
    for i in range(x.shape[0]):
        watch.b[0, i] += weight * y * x[i]
    watch.filled[0] += 1
    if watch.filled[0] < SHORTEST:
        return 0
    _add(watch.all_A, watch.all_b, watch, 0)
    watch.epoch[0] += SHORTEST
    n, m, alarm = watch.epoch[0], SHORTEST, 0
    for j in range(LENGTHS):  # a full block of one length is half of the next
        if alarm == 0 and n >= 2 * m and _changed(detector, watch, j, float(m), float(n)):
            alarm = m
        if j + 1 < LENGTHS:
            _add(watch.A[j + 1], watch.b[j + 1], watch, j)
            watch.filled[j + 1] += m
        _clear(watch, j)
        m *= 2
        if j + 1 == LENGTHS or watch.filled[j + 1] < m:
            break
    return alarm


@kernel
def _changed(detector: Any, watch: BlockSums, j: int, m: float, n: float) -> bool:
    """Does block j differ from the rest of the epoch by more than chance? (A₁⁻¹+A₀⁻¹)⁻¹ = A₁(A₁+A₀)⁻¹A₀."""
    d, block, all_A, rest = watch.all_b.shape[0], watch.A[j], watch.all_A, watch.rest
    trace = 0.0
    for i in range(d):
        trace += all_A[i, i]
        for k in range(d):
            rest[i, k] = all_A[i, k] - block[i, k]
    ridge = RIDGE * trace / n
    gap, left, right, old = watch.vectors[0], watch.vectors[1], watch.vectors[2], watch.vectors[3]
    cholesky(block, ridge, watch.factors[0])
    cholesky(rest, ridge, watch.factors[1])
    cholesky(all_A, 2.0 * ridge, watch.factors[2])
    for i in range(d):
        old[i] = watch.all_b[i] - watch.b[j, i]
    solve(watch.factors[0], watch.b[j], gap)
    solve(watch.factors[1], old, old)
    for i in range(d):
        gap[i] -= old[i]
    symmetric_product(block, gap, left)
    symmetric_product(rest, gap, right)
    for i in range(d):
        left[i] += ridge * gap[i]
        right[i] += ridge * gap[i]
    solve(watch.factors[2], right, right)
    y = np.log(LENGTHS * (n / m) ** 2 / detector.delta)
    return bool(dot(left, right) > (d + 2.0 * np.sqrt(d * y) + 2.0 * y) * detector.noise * detector.noise)


# -------------------------------------------------------------------------------------------------------- likelihood ratios


@part
class LikelihoodRatio(NamedTuple):
    """Compares the rewards of covering arms before and after every moment."""

    noise: float  # σ of Gaussian rewards
    law: float = GAUSSIAN
    delta: float = 0.05
    summed: float = 0.0  # 1: GSR
    published: float = 0.0  # 1: the proof's thresholds

    def check(self) -> None:
        """One of three laws."""
        _check(self.noise, self.delta)
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


@sound.register(ArmSums)
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
        if watch.used[a] == PLACES:  # keep every second
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
    """The statistic of one covering arm: the largest over all moments, or the logarithm of the sum of exponentials."""
    n, step, total = watch.plays[a], watch.step[a], watch.total[a]
    top, extra = -np.inf, 0.0  # log Σ exp = top + log(extra), where only `top` is needed otherwise
    for p in range(watch.used[a]):
        s = (p + 1) * step
        if s >= n:
            break
        value = _split(detector, watch.before[a, p], float(s), total, float(n))
        if value > top:
            extra = extra * np.exp(top - value) + 1.0 if extra > 0.0 else 1.0
            top = value
        else:
            extra += np.exp(value - top)
    return float(top + np.log(extra * step) if detector.summed and extra > 0.0 else top)


@kernel
def _split(detector: LikelihoodRatio, first: float, s: float, total: float, n: float) -> float:
    """s·kl(m₁, m) + (n−s)·kl(m₂, m)."""
    m1, m2, m = first / s, (total - first) / (n - s), total / n
    if detector.law == GAUSSIAN:
        return s * (n - s) / n * (m1 - m2) ** 2 / (2.0 * detector.noise * detector.noise)
    value = s * _plogp(m1, m) + (n - s) * _plogp(m2, m)
    if detector.law == BERNOULLI:
        value += s * _plogp(1.0 - m1, 1.0 - m) + (n - s) * _plogp(1.0 - m2, 1.0 - m)
    return value


@kernel
def _plogp(p: float, q: float) -> float:
    """p·log(p/q), 0 at p = 0."""
    return float(p * np.log(p / q)) if p > 0.0 and q > 0.0 else 0.0
