"""Always-valid bounds on what a policy earns, from the rows of a log (`inference.always_valid`).

With w_t = π_t(a_t)/p_t and a forecast r̂_t made from rows before t, the pseudo-outcome

    φ_t = s D_t + w_t (r_t − s r̂_t(a_t)),    D_t = Σ_a π_t(a) r̂_t(a)

has the mean that π_t would have earned at t, whatever r̂ is. Without a forecast by item, r̂_t is the weighted mean reward of the rows before.
Finite-sample bounds need φ_t ≥ −k for each stake's k. If no item on offer ever had a probability below `floor`, w_t is at most
m_t = max_a π_t(a)/floor, which is known before the choice is drawn; with s = min(1, k/m_t), φ_t ≥ −k. D_t, also known before, is the
centre of the bets. The stakes are those for the m of the first row that counts, narrowest at the end of the log. In a log of at least 1,000
rows the first 50 say how rare rewards are, and do not count.
"""

import numpy as np

from ..core.linalg import Matrix, Vector
from ..inference.always_valid import LONG, RATE, SHORT, TOP, Bounds, J, finite, stakes
from ..inference.asymptotic import Observed, asymptotic, payments, unknown_share, worth
from ..inference.outcomes import MOST_SQUARED
from ..inference.policy_value import EARLY, LARGEST, in_turn, rate_of
from ..tables.kinds import Codes

N, PHI, WEIGHTS, EARNED = range(4)
LOW, HIGH = 4, 4 + J  # of rewards in [0, 1]; of others
SQUARES, FOURTHS, RESIDUALS, W2, PAID, W_PAID, W2_PAID = range(4, 11)
LONG_LOG = 1000  # rows of which EARLY can be spared


class Valued:
    """The bounds of one policy; O(1) memory.

    Examples
    --------
    >>> valued = Valued(bounded=True, floor=1.0, rows=400)
    >>> one = np.ones(400)
    >>> valued.add(one, np.tile([1.0, 0.0, 1.0, 1.0], 100), one)
    >>> b = valued.bounds()
    >>> b.mean, b.lower < 0.75 < b.upper
    (0.75, True)
    """

    def __init__(self, *, bounded: bool, floor: float, rows: int, alpha: float = 0.05) -> None:
        self._bounded, self._floor, self._rows, self._alpha = bounded, floor, float(max(rows, 1)), alpha
        self._stakes: Matrix | None = None
        self._early, self._early_sum = 0, 0.0  # rows that do not count, and what they earned
        self._sums = np.zeros(4 + 2 * J if bounded else 11)
        self._paid = np.zeros((3, 0))  # of each item: Σw; Σw and Σw² where it was paid for

    def add(
        self,
        w: Vector,
        r: Vector,
        largest: Vector,
        forecast: tuple[Vector, Vector] | None = None,
        item: Codes | None = None,
    ) -> None:
        """Rows: weights, rewards, max_a π(a), and if there is a forecast, D and r̂ of the item that the log chose.

        `item` are numbers of the items that the log chose; without them, all rows are about one.
        """
        spared = min(EARLY - self._early, len(r)) if self._bounded and self._rows >= LONG_LOG else 0
        self._early, self._early_sum = self._early + spared, self._early_sum + float(r[:spared].sum())
        w, r, largest = w[spared:], r[spared:], largest[spared:]
        if not len(r):
            return
        forecast = None if forecast is None else (forecast[0][spared:], forecast[1][spared:])
        direct, of_item = (self._before(w, r),) * 2 if forecast is None else forecast
        surprise = r - of_item
        terms = np.empty((len(r), len(self._sums)))
        terms[:, N], terms[:, PHI], terms[:, WEIGHTS], terms[:, EARNED] = 1.0, direct + w * surprise, w, w * r
        if not self._bounded:
            terms[:, SQUARES:] = _spread(w, r, surprise)
            self._count_payments(w, r, np.zeros(len(r), np.int64) if item is None else item)
        else:
            most = largest / self._floor
            if self._stakes is None:
                weight = min(max(float(most[0]), 1.0), LARGEST)
                known = self._early > 0
                self._stakes = stakes(weight, self._rows, rate_of(self._early, self._early_sum) if known else RATE)
            terms[:, LOW:HIGH] = _wealth(w, r, most, direct, of_item, self._stakes[LONG])
            terms[:, HIGH:] = _wealth(w, 1.0 - r, most, 1.0 - direct, 1.0 - of_item, self._stakes[SHORT])
        self._sums = in_turn(self._sums, terms)

    def _before(self, w: Vector, r: Vector) -> Vector:
        """The weighted mean reward of the rows before each."""
        weights = np.cumsum(np.r_[self._sums[WEIGHTS], w])[:-1]
        earned = np.cumsum(np.r_[self._sums[EARNED], w * r])[:-1]
        none = np.full(len(w), 0.5 if self._bounded else 0.0)
        mean = np.divide(earned, weights, out=none, where=weights > 0.0)
        return np.asarray(np.clip(mean, 0.0, 1.0) if self._bounded else mean)

    def bounds(self) -> Bounds:
        """The bounds after the rows so far."""
        n, phi = self._sums[:WEIGHTS].tolist()
        if not self._bounded:
            return asymptotic(self._observed(), self._alpha, self._rows)
        lam = (stakes(n=self._rows) if self._stakes is None else self._stakes).tolist()
        low, high = self._sums[LOW:HIGH].tolist(), self._sums[HIGH:].tolist()
        return finite(n, phi / n if n else 0.0, low, high, lam, self._alpha)

    def _observed(self) -> Observed:
        n, phi, weights, _, squares, fourths, residuals, w2, paid, w_paid, w2_paid = self._sums.tolist()
        share, pooled = (paid / n, w2 * residuals / n) if n else (0.0, 0.0)
        m = payments(weights, w2, w_paid, w2_paid, share)
        shown, of_paid, of_squares = self._paid
        unknown = unknown_share(shown, of_paid, of_squares, weights)
        return Observed(n, phi, squares, fourths, pooled, worth(weights, w2), m, unknown)

    def _count_payments(self, w: Vector, r: Vector, item: Codes) -> None:
        """How much of the policy's weight is on each item, and on its payments."""
        new = max(int(item.max()) + 1 - self._paid.shape[1], 0)
        grown = np.pad(self._paid, ((0, 0), (0, new)))
        for row, values in zip(grown, (w, w * (r != 0.0), w * w * (r != 0.0)), strict=True):
            np.add.at(row, item, values)
        self._paid = grown


def _spread(w: Vector, r: Vector, surprise: Vector) -> Matrix:
    """What asymptotic bounds ask for (T, 7), in the order of the columns."""
    squares, paid = (w * surprise) ** 2, (r != 0.0) * 1.0
    fourths = np.minimum(squares, MOST_SQUARED) ** 2
    return np.stack([squares, fourths, surprise**2, w * w, paid, w * paid, w * w * paid], axis=1)


def _wealth(w: Vector, r: Vector, most: Vector, direct: Vector, of_item: Vector, lam: Vector) -> Matrix:
    """The wealth of each stake (T, J): log(1 + λ(φ − D)) + λ D with s of that stake."""
    k = TOP / lam - 1.0
    s = np.minimum(1.0, np.divide(k, most[:, None], out=np.full((len(w), J), 1.0), where=most[:, None] > 0.0))
    phi = s * direct[:, None] + w[:, None] * (r[:, None] - s * of_item[:, None])
    return np.asarray(np.log1p(lam * (phi - direct[:, None])) + lam * direct[:, None])
