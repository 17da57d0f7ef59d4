"""Bounds on the mean of what was observed so far that hold at all times at once, while the mean itself changes.

Observation i has a pseudo-outcome φ_i with E[φ_i | past] = ν_i, which may differ from round to round. What is covered is the running mean
ν̄_t = (1/t) Σ_{i≤t} ν_i, at every t simultaneously with probability 1 − α: one may look after every observation.

**Finite-sample** (`Bounded`): ν_i is in [0, 1]. The lower bound has pseudo-outcomes φ_i ≥ −k, the upper one 1 − φ′_i ≥ −k, for a k that was
fixed before, each at α/2. With ξ_i = φ_i/(1+k) ≥ −k/(1+k) and ξ̂_i = min(mean of ξ_1 … ξ_{i−1}, 1/(1+k)), so that ξ_i − ξ̂_i ≥ −1,

    S_t = Σ ξ_i − t ν̄_t/(1+k),    V_t = Σ (ξ_i − ξ̂_i)²,    ψ(λ) = −log(1−λ) − λ

exp(λ S_t − ψ(λ) V_t) is a supermartingale for each λ in [0, 1) (Fan, Grama, Liu 2015; Howard et al. 2021), also while ν_i changes, because
λ does not. Mixed over λ with the truncated gamma density ρ^ρ e^{−ρ(1−λ)} (1−λ)^{ρ−1} / (Γ(ρ) − Γ(ρ, ρ)) it is

    M_t = ρ^ρ e^{−ρ} / (Γ(ρ) − Γ(ρ, ρ)) · 1/(V_t+ρ) · 1F1(1; V_t+ρ+1; S_t+V_t+ρ)

which stays below 2/α at all times with probability 1 − α/2 (Waudby-Smith, Wu, Ramdas, Karampatziakis, Mineiro 2022). So the S at which
M_t = 2/α bounds the mean from below; the same of 1 − φ′ bounds it from above.

**Asymptotic** (`Asymptotic`): for outcomes without a known range (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024). σ̂² is their variance,
and ρ² = x/(t₀ σ̂²), so that the bounds are tightest at t₀:

    mean ± sqrt(2 (t σ̂² ρ² + 1)/(t² ρ²) · log(sqrt(t σ̂² ρ² + 1)/α))

Its coverage is approximate, and approached as t grows; wherever it is shown it must be called asymptotic.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple, Self

from scipy.optimize import brentq
from scipy.special import gammainc, gammaln

from ..errors import InvalidValue

LEAST = 30  # observations before the asymptotic bounds say anything


class Bounds(NamedTuple):
    """A running mean with bounds that hold at all times; `finite` says whether they are exact for every sample size."""

    mean: float
    lower: float
    upper: float
    n: int
    finite: bool


def log_mixture(s: float, v: float, rho: float) -> float:
    """log M at S = s ≥ 0, V = v, by 1F1(1; a; b) = (a−1) e^b b^{1−a} γ(a−1, b) (Kummer)."""
    a, b = v + rho + 1.0, s + v + rho
    head = rho * math.log(rho) - rho - float(gammaln(rho)) - math.log(float(gammainc(rho, rho)))
    # (a−1)/(v+ρ) = 1, and γ(a−1, b) is Γ(a−1) times the regularised function, which is ≥ 1/2 or so because b ≥ a − 1.
    return head + b + (1.0 - a) * math.log(b) + float(gammaln(a - 1.0)) + math.log(float(gammainc(a - 1.0, b)))


def boundary(v: float, alpha: float, rho: float) -> float:
    """The S that Σ ξ − t ν̄/(1+k) exceeds at some time with probability at most α, at V = v."""
    goal = -math.log(alpha)
    high = 1.0
    while log_mixture(high, v, rho) < goal:
        high *= 2.0
    return float(brentq(lambda s: log_mixture(s, v, rho) - goal, 0.0, high, xtol=1e-10 * high))


class Bounded:
    """Finite-sample bounds on a running mean in [0, 1].

    Parameters
    ----------
    k
        Pseudo-outcomes are ≥ −k for the lower bound and ≤ 1 + k for the upper one; fixed before the first is seen.
    alpha
        Either bound is ever wrong with at most this probability.
    tightest
        The value of V_t at which the bounds are tightest, relative to their width; any value is valid.

    Examples
    --------
    >>> bounds = Bounded(alpha=0.05)
    >>> for r in [1.0, 0.0, 1.0, 1.0] * 100:
    ...     bounds.add(r, r)
    >>> b = bounds.bounds()
    >>> b.mean, b.lower < 0.75 < b.upper
    (0.75, True)
    """

    def __init__(self, *, k: float = 0.0, alpha: float = 0.05, tightest: float = 20.0) -> None:
        if not (0.0 <= k < math.inf and 0.0 < alpha < 1.0 and 0.0 < tightest < math.inf):
            raise InvalidValue(
                f"k = {k!r}, alpha = {alpha!r}, tightest = {tightest!r}: k ≥ 0, 0 < alpha < 1 and tightest > 0"
            )
        self.k, self.alpha, self.tightest = float(k), float(alpha), float(tightest)
        self.n = 0
        self._sums = [0.0, 0.0]  # Σ ξ of the lower side, and of the upper
        self._squares = [0.0, 0.0]  # V

    def add(self, low: float, high: float) -> None:
        """The next pseudo-outcomes, both with the round's value as their mean; low ≥ −k, high ≤ 1 + k."""
        if not (low >= -self.k - 1e-9 and high <= 1.0 + self.k + 1e-9 and math.isfinite(low) and math.isfinite(high)):
            raise InvalidValue(f"pseudo-outcomes {low!r} and {high!r} must be ≥ {-self.k:g} and ≤ {1.0 + self.k:g}")
        scale = 1.0 / (1.0 + self.k)
        for side, phi in ((0, low), (1, 1.0 - high)):
            xi = phi * scale
            ahead = min(self._sums[side] / self.n, scale) if self.n else 0.5 * scale
            self._sums[side] += xi
            self._squares[side] += (xi - ahead) ** 2
        self.n += 1

    def bounds(self) -> Bounds:
        """The mean of the lower pseudo-outcomes, with bounds in [0, 1]."""
        if not self.n:
            return Bounds(math.nan, 0.0, 1.0, 0, True)
        # A normal mixture is tightest where V is about 8 ρ (α = 0.05), and hardly worse between 3 ρ and 40 ρ.
        rho, stretch = self.tightest / 8.0, (1.0 + self.k) / self.n
        low, high = (
            (total - boundary(v, 0.5 * self.alpha, rho)) * stretch
            for total, v in zip(self._sums, self._squares, strict=True)
        )
        mean = self._sums[0] * stretch
        return Bounds(mean, min(max(low, 0.0), 1.0), max(min(1.0 - high, 1.0), 0.0), self.n, True)

    def state(self) -> dict[str, float]:
        """Everything, as numbers."""
        keys = ("sum_low", "sum_high", "squares_low", "squares_high")
        own = dict(zip(keys, (*self._sums, *self._squares), strict=True))
        return {"k": self.k, "alpha": self.alpha, "tightest": self.tightest, "n": self.n, **own}

    @classmethod
    def from_state(cls, state: Mapping[str, float]) -> Self:
        """The accumulator that gave this state."""
        made = cls(k=state["k"], alpha=state["alpha"], tightest=state["tightest"])
        made.n = int(state["n"])
        made._sums = [float(state["sum_low"]), float(state["sum_high"])]
        made._squares = [float(state["squares_low"]), float(state["squares_high"])]
        return made


class Asymptotic:
    """Asymptotic bounds on a running mean of outcomes without a known range, tightest after `tightest` observations.

    Examples
    --------
    >>> bounds = Asymptotic(alpha=0.05, tightest=400)
    >>> for r in [3.0, -1.0] * 200:
    ...     bounds.add(r)
    >>> b = bounds.bounds()
    >>> b.lower < 1.0 < b.upper, b.finite
    (True, False)
    """

    def __init__(self, *, alpha: float = 0.05, tightest: float = 1000.0) -> None:
        if not (0.0 < alpha < 1.0 and 1.0 <= tightest < math.inf):
            raise InvalidValue(f"alpha = {alpha!r}, tightest = {tightest!r}: 0 < alpha < 1 and tightest ≥ 1")
        self.alpha, self.tightest = float(alpha), float(tightest)
        self.n, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, outcome: float) -> None:
        """The next pseudo-outcome."""
        if not math.isfinite(outcome):
            raise InvalidValue(f"outcome = {outcome!r} must be finite")
        self.n += 1
        step = outcome - self._mean
        self._mean += step / self.n
        self._squares += step * (outcome - self._mean)  # Welford

    def bounds(self) -> Bounds:
        """The mean with its bounds; without limits before 30 observations."""
        if self.n < LEAST:
            return Bounds(self._mean if self.n else math.nan, -math.inf, math.inf, self.n, False)
        variance = self._squares / self.n
        # ρ in units of the outcomes: t₀ σ̂² ρ² = x is tightest for x = 2 log(1/α) + log(1 + 2 log(1/α)), eq. (24) of the paper.
        x = 2.0 * math.log(1.0 / self.alpha) + math.log1p(2.0 * math.log(1.0 / self.alpha))
        grown = self.n / self.tightest * x + 1.0  # t σ̂² ρ² + 1
        half = math.sqrt(2.0 * grown / (grown - 1.0) * variance / self.n * math.log(math.sqrt(grown) / self.alpha))
        return Bounds(self._mean, self._mean - half, self._mean + half, self.n, False)

    def state(self) -> dict[str, float]:
        """Everything, as numbers."""
        own = {"n": self.n, "mean": self._mean, "squares": self._squares}
        return {"alpha": self.alpha, "tightest": self.tightest, **own}

    @classmethod
    def from_state(cls, state: Mapping[str, float]) -> Self:
        """The accumulator that gave this state."""
        made = cls(alpha=state["alpha"], tightest=state["tightest"])
        made.n, made._mean, made._squares = int(state["n"]), float(state["mean"]), float(state["squares"])
        return made
