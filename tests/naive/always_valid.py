"""Always-valid bounds from their definitions, many logs at once: the mixture by quadrature, the sums by arrays."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import gamma, gammainc, gammaincc, gammaln


def log_mixture(s, v, rho):
    """log ∫ exp(λ s − ψ(λ) v) dF(λ), F the truncated gamma density of the module's equations."""
    norm = gamma(rho) * (1.0 - gammaincc(rho, rho))

    def term(lam):
        psi = -math.log1p(-lam) - lam
        density = rho**rho * math.exp(-rho * (1.0 - lam)) * (1.0 - lam) ** (rho - 1.0) / norm
        return math.exp(lam * s - psi * v) * density

    return math.log(quad(term, 0.0, 1.0 - 1e-12, limit=200)[0])


class Loops:
    """`Bounded` for R logs at once, and whether a bound was ever on the wrong side of the truth."""

    def __init__(self, runs, k, alpha, tightest):
        self.k, self.alpha, self.rho, self.n = k, alpha, tightest / 8.0, 0
        self.sums, self.squares, self.truth = np.zeros((2, runs)), np.zeros((2, runs)), np.zeros(runs)
        self.missed = np.zeros(runs, bool)

    def add(self, low, high, value):
        scale = 1.0 / (1.0 + self.k)
        for side, phi in enumerate((low, 1.0 - high)):
            xi = phi * scale
            ahead = np.minimum(self.sums[side] / self.n, scale) if self.n else 0.5 * scale
            self.sums[side] += xi
            self.squares[side] += (xi - ahead) ** 2
        self.truth += value
        self.n += 1

    def look(self):
        """The bound excludes the truth where M at the truth is at least 2/α."""
        for side, truth in enumerate((self.truth, self.n - self.truth)):
            s, v = self.sums[side] - truth / (1.0 + self.k), self.squares[side]
            b = np.maximum(s, 0.0) + v + self.rho
            a = v + self.rho
            head = self.rho * math.log(self.rho) - self.rho - gammaln(self.rho) - math.log(gammainc(self.rho, self.rho))
            log_m = head + b - a * np.log(b) + gammaln(a) + np.log(gammainc(a, b))
            self.missed |= (s > 0.0) & (log_m >= math.log(2.0 / self.alpha))
