"""Always-valid bounds on what a policy earns, from the rows of a log (`inference.always_valid`).

With w_t = π_t(a_t)/p_t and a forecast r̂_t made from rows before t, the pseudo-outcome

    φ_t = s D_t + w_t (r_t − s r̂_t(a_t)),    D_t = Σ_a π_t(a) r̂_t(a)

has the mean that π_t would have earned at t, whatever r̂ is. Without a forecast by item, r̂_t is the weighted mean reward of the rows before.
Finite-sample bounds need φ_t ≥ −k for a k that was fixed before. If no item on offer ever had a probability below `floor`, w_t is at most
m_t = max_a π_t(a)/floor, which is known before the choice is drawn; with s = min(1, k/m_t), φ_t ≥ −k. k is the m of the first row. Others
are valid too: a smaller one gives up some of the forecast, a larger one widens the bounds after few rows.
"""

from ..inference.always_valid import Asymptotic, Bounded, Bounds

TYPICAL = 0.15  # variance of φ divided by its largest weight, for which the bounds are tightest at the end of the log


class Valued:
    """The bounds of one policy, row by row; O(1) each."""

    def __init__(self, *, bounded: bool, floor: float, rows: int, alpha: float = 0.05) -> None:
        self._bounded, self._floor, self._rows, self._alpha = bounded, floor, rows, alpha
        self._made: Bounded | None = None
        self._rough = Asymptotic(alpha=alpha, tightest=max(1.0, float(rows)))
        self._weights = self._earned = 0.0

    def add(self, w: float, r: float, largest: float, forecast: tuple[float, float] | None = None) -> None:
        """A row: its weight, its reward, max_a π(a), and if there is a forecast, D and r̂ of the item that the log chose."""
        mean = self._earned / self._weights if self._weights else 0.5 if self._bounded else 0.0
        direct, of_item = (mean, mean) if forecast is None else forecast
        if self._bounded:
            self._add_bounded(w, r, largest / self._floor, direct, of_item)
        else:
            self._rough.add(direct + w * (r - of_item))
        self._weights += w
        self._earned += w * r

    def _add_bounded(self, w: float, r: float, most: float, direct: float, of_item: float) -> None:
        if self._made is None:
            tightest = max(1.0, TYPICAL * most * self._rows / (1.0 + most) ** 2)
            self._made = Bounded(k=most, alpha=self._alpha, tightest=tightest)
        s = min(1.0, self._made.k / most) if most > 0.0 else 1.0
        low = s * direct + w * (r - s * of_item)
        high = 1.0 - (s * (1.0 - direct) + w * ((1.0 - r) - s * (1.0 - of_item)))
        self._made.add(low, high)

    def bounds(self) -> Bounds:
        """The bounds after the rows so far."""
        return self._rough.bounds() if self._made is None else self._made.bounds()
