r"""A χ² test of whether the estimate from a block of observations differs significantly from the estimate from all others.

`ChiSquare` is our own. In an epoch of n observations, A = Σ h x xᵀ and b = Σ y x are kept for blocks of m = 16, 32, …, 2048 observations,
and each full block is compared with the rest:

    θ₁ = A₁⁻¹b₁ (the block that is full),   θ₀ = A₀⁻¹b₀ (all others),   stat = (θ₁−θ₀)ᵀ(A₁⁻¹+A₀⁻¹)⁻¹(θ₁−θ₀)/R²
    alarm if stat > d + 2√(dy) + 2y,   y = log(J(n/m)²/δ),   J = 8 block lengths,   and the rest has at least m observations

For linear rewards h = 1, y = r. For a link μ, with `Linked`, h = μ′(z) and y = h·z + r − μ(z) at z = xᵀθ̂, the base's estimate before it
learns r, and R = 1 for Bernoulli and Poisson rewards. If θ is constant and x_1, x_2, … were fixed in advance, stat is stochastically at
most χ²_d, and the threshold bounds the tail of that distribution (Laurent and Massart 2000). **Because arms are chosen from past data, the
test is a heuristic**, as is the linearisation of a link; docs/successors.md has the measured rate of false alarms. R must be the standard
deviation of the noise, not a bound: an R twice too large divides the statistic by four. Forced exploration and fixed arms are not needed.
Each block is the sum of two shorter ones, so an observation costs O(d²), and the tests O(d³/16) on average.
"""

from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, part
from ...core.linalg import Matrix, Vector, add_outer, cholesky, dot, solve, symmetric_product
from ...core.state import scratch
from ...links import dmu, mu
from ...protocol import Integers
from .contract import blank_watch, check_settings, forget, predictor, refuted, weigh

SHORTEST = 16  # observations of the shortest block
LENGTHS = 8  # J; each is twice the one before
RIDGE = 1e-6  # times the mean squared norm of an arm, for blocks that do not span all directions


@part
class ChiSquare(NamedTuple):
    """Compares the estimates of blocks; for linear rewards with noise of size R."""

    noise: float
    delta: float = 0.05

    def check(self) -> None:
        """The noise must be positive, δ a probability."""
        check_settings(self.noise, self.delta)


@part
class Linked(NamedTuple):
    """`ChiSquare` for rewards of mean μ(xᵀθ)."""

    link: Any
    noise: float = 1.0
    delta: float = 0.05

    def check(self) -> None:
        """The noise must be positive, δ a probability."""
        check_settings(self.noise, self.delta)


@scratch
class Comparison(NamedTuple):
    """Workspace: a block against the rest of its epoch."""

    rest: Matrix  # (d, d) A₀: the epoch without the block
    factor_block: Matrix  # (d, d) of A₁
    factor_rest: Matrix  # (d, d) of A₀
    factor_both: Matrix  # (d, d) of A₁ + A₀
    old: Vector  # (d,) b₀, then θ₀
    gap: Vector  # (d,) θ₁ − θ₀
    left: Vector  # (d,) A₁(θ₁−θ₀)
    right: Vector  # (d,) A₀(θ₁−θ₀), then (A₁+A₀)⁻¹ times it


class ChiSquareSums(NamedTuple):
    """The open block of each length, and the epoch."""

    A: Matrix  # (J, d, d)
    b: Matrix  # (J, d)
    filled: Integers  # (J,) observations in each
    epoch: Integers  # (1,) observations in all full blocks of the epoch
    all_A: Matrix  # (d, d) of all of these
    all_b: Vector  # (d,)
    work: Comparison


@blank_watch.register(ChiSquare, Linked)
def _(detector: Any, dim: int, cover: Matrix) -> ChiSquareSums:
    return ChiSquareSums(
        A=np.zeros((LENGTHS, dim, dim)),
        b=np.zeros((LENGTHS, dim)),
        filled=np.zeros(LENGTHS, np.int64),
        epoch=np.zeros(1, np.int64),
        all_A=np.zeros((dim, dim)),
        all_b=np.zeros(dim),
        work=Comparison(*(np.zeros((dim, dim)) for _ in range(4)), *(np.zeros(dim) for _ in range(4))),
    )


@weigh.register(Linked)
def _(detector: Linked, base: Any, state: Any, x: Vector, r: float) -> tuple[float, float]:
    z = predictor(base, state, x)
    h = dmu(detector.link, z)
    # One step of iteratively reweighted least squares: with weight h and working response y the link looks linear at z.
    return h, h * z + r - mu(detector.link, z)


@forget.register(ChiSquareSums)
def _(watch: ChiSquareSums) -> None:
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
def _clear(watch: ChiSquareSums, j: int) -> None:
    _set(watch.A[j], 0.0)
    for i in range(watch.b.shape[1]):
        watch.b[j, i] = 0.0
    watch.filled[j] = 0


@kernel
def _add(A: Matrix, b: Vector, watch: ChiSquareSums, j: int) -> None:
    """(A, b) ← (A, b) + the block of length j."""
    for i in range(b.shape[0]):
        b[i] += watch.b[j, i]
        for k in range(b.shape[0]):
            A[i, k] += watch.A[j, i, k]


@refuted.register(ChiSquare, Linked)
def _(detector: Any, watch: ChiSquareSums, x: Vector, h: float, y: float, weight: float) -> int:
    add_outer(watch.A[0], x, weight * h)
    for i in range(x.shape[0]):
        watch.b[0, i] += weight * y * x[i]
    watch.filled[0] += 1
    if watch.filled[0] < SHORTEST:
        return 0
    _add(watch.all_A, watch.all_b, watch, 0)
    watch.epoch[0] += SHORTEST
    # The lengths work like the digits of a binary counter: a full block is tested, added to the open block of twice its length and
    # cleared. The loop ends at the first length whose block is not full yet.
    n, m, alarm = watch.epoch[0], SHORTEST, 0
    for j in range(LENGTHS):
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
def _changed(detector: Any, watch: ChiSquareSums, j: int, m: float, n: float) -> bool:
    """Whether block j differs significantly from the rest of the epoch; (A₁⁻¹+A₀⁻¹)⁻¹ is computed as A₁(A₁+A₀)⁻¹A₀."""
    d, block, all_A, work = watch.all_b.shape[0], watch.A[j], watch.all_A, watch.work
    rest, old, gap, left, right = work.rest, work.old, work.gap, work.left, work.right
    trace = 0.0
    for i in range(d):
        trace += all_A[i, i]
        for k in range(d):
            rest[i, k] = all_A[i, k] - block[i, k]
    # Blocks of few rounds may not span all directions; with a tiny ridge both factors exist all the same.
    ridge = RIDGE * trace / n
    cholesky(block, ridge, work.factor_block)
    cholesky(rest, ridge, work.factor_rest)
    # (A₁ + ridge·I) + (A₀ + ridge·I): twice the ridge keeps the identity of the docstring exact.
    cholesky(all_A, 2.0 * ridge, work.factor_both)
    for i in range(d):
        old[i] = watch.all_b[i] - watch.b[j, i]
    solve(work.factor_block, watch.b[j], gap)
    solve(work.factor_rest, old, old)
    for i in range(d):
        gap[i] -= old[i]
    symmetric_product(block, gap, left)
    symmetric_product(rest, gap, right)
    for i in range(d):
        left[i] += ridge * gap[i]
        right[i] += ridge * gap[i]
    solve(work.factor_both, right, right)
    # P(χ²_d > d + 2√(dy) + 2y) ≤ e^{−y}; e^{−y} is δ shared among the lengths and the blocks of each.
    y = np.log(LENGTHS * (n / m) ** 2 / detector.delta)
    return bool(dot(left, right) > (d + 2.0 * np.sqrt(d * y) + 2.0 * y) * detector.noise * detector.noise)
