r"""How much more likely the rewards are with a group of columns than without it.

y = X_bθ_b + X_gθ_g + ε with θ_b ~ N(0, σ²Λ_b⁻¹), θ_g ~ N(0, σ²/λ·I). With the base eliminated,

    M = I − X_b(X_bᵀX_b + Λ_b)⁻¹X_bᵀ ,   A = X_gᵀMX_g ,   ρ = X_gᵀMy ,
    RSS(λ) = yᵀMy − ρᵀ(A + λI)⁻¹ρ ,   σ̂²(λ) = (RSS(λ) + 5·Var y)/(n + 5) ,
    log BF(λ) = −½log|I + A/λ| − ½(n+5)·log(σ̂²(λ)/σ̂²(∞)) ,

the log Bayes factor of the group at prior precision λ. λ is not known: the evidence is the log of the mean of BF over λ = 4^{−1…8}, and the
posterior mean of 1/λ under the same uniform prior is what the group's precision is set from when it belongs to the base.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpttrf, dsytrd, dtrtrs

from ..core.linalg import Matrix, Vector

PSEUDO = 5.0
GRID = 4.0 ** np.arange(-1.0, 9.0)  # precisions λ in units of the noise, for columns of variance 1
FLAT = 1e-4  # precision of the constant
CONSTANT, REWARD = 0, 1  # places of the constant and of y among the groups
Base = Sequence[tuple[int, float]]  # places of the groups of a base, and their precisions


class Groups:
    """Groups of columns over the same n observations, and every product X_aᵀX_b that was asked for.

    A look compares many bases of the same few groups: the products, which cost most, are computed once.
    """

    def __init__(self, y: Vector) -> None:
        self.columns: list[Matrix] = [np.ones((len(y), 1)), y[:, None]]
        self._products: dict[tuple[int, int], Matrix] = {}

    def add(self, X: Matrix) -> int:
        """The place of a group X (n, m)."""
        self.columns.append(X)
        return len(self.columns) - 1

    def width(self, place: int) -> int:
        """How many columns a group has."""
        return int(self.columns[place].shape[1])

    def product(self, a: int, b: int) -> Matrix:
        """X_aᵀX_b."""
        if a > b:
            return self.product(b, a).T
        if (a, b) not in self._products:
            self._products[a, b] = self.columns[a].T @ self.columns[b]
        return self._products[a, b]


class Eliminated:
    """A base that was eliminated: products of the other groups with M between them.

    With X_bᵀX_b + Λ_b = LLᵀ, L lower triangular, and Z_g = L⁻¹X_bᵀX_g, X_gᵀMX_h = X_gᵀX_h − Z_gᵀZ_h.
    """

    def __init__(self, groups: Groups, base: Base) -> None:
        self.groups, self.places = groups, [CONSTANT, *(place for place, _ in base)]
        whole = np.block([[groups.product(a, b) for b in self.places] for a in self.places])
        precisions = [np.full(groups.width(place), precision) for place, precision in base]
        whole[np.diag_indices_from(whole)] += np.concatenate([[FLAT], *precisions])
        self.L, failed = dpotrf(whole, lower=1)
        if failed:
            raise np.linalg.LinAlgError("the columns of the base are not finite")
        self._of_y = self._solved(REWARD)

    def _solved(self, place: int) -> Matrix:
        """Z_g."""
        right = np.concatenate([self.groups.product(a, place) for a in self.places])
        solved: Matrix = dtrtrs(self.L, right, lower=1)[0]
        return solved

    def profile(self, place: int) -> "Profile":
        """The profile of a group beside the base."""
        groups, Z, z = self.groups, self._solved(place), self._of_y
        A = groups.product(place, place) - Z.T @ Z
        r = groups.product(place, REWARD) - Z.T @ z
        diagonal, beside, rho2 = _tridiagonal(A, r[:, 0])
        y = groups.columns[REWARD][:, 0]
        rest = float(groups.product(REWARD, REWARD)[0, 0] - z[:, 0] @ z[:, 0])
        return Profile(diagonal, beside, rho2, rest, len(y), float(np.var(y)))

    def residuals(self) -> Vector:
        """What the base leaves of y."""
        theta, columns = dtrtrs(self.L, self._of_y, lower=1, trans=1)[0], self.groups.columns
        left: Vector = columns[REWARD][:, 0] - np.hstack([columns[a] for a in self.places]) @ theta[:, 0]
        return left


class Profile(NamedTuple):
    """What the log Bayes factor of a group needs: X_gᵀMX_g = QTQᵀ with T tridiagonal, and X_gᵀMy = ‖ρ‖·Qe₁."""

    diagonal: Vector  # (m,)  of T
    beside: Vector  # (m − 1,)  beside its diagonal
    rho2: float  # ‖X_gᵀMy‖²
    rest: float  # yᵀMy
    n: int
    variance: float  # Var y

    def log_factor(self, lam: Vector) -> Vector:
        """log BF(λ) of several precisions.

        With f_m = T_mm + λ and f_j = T_jj + λ − T²_j,j+1/f_j+1 the determinant of T + λI is Πf_j, and the first entry of its inverse 1/f₁.
        """
        diagonal, beside = self.diagonal[::-1], self.beside[::-1]
        pivots = np.array([_pivots(diagonal + one, beside) for one in lam.tolist()])
        logdet, f = np.log(pivots).sum(axis=1), pivots[:, -1]
        extra, total = PSEUDO * self.variance, self.n + PSEUDO
        without = max(self.rest + extra, 1e-300)
        with_ = np.maximum(self.rest - self.rho2 / f + extra, 1e-300)
        return np.asarray(
            -0.5 * (logdet - len(self.diagonal) * np.log(lam)) - 0.5 * total * np.log(with_ / without), np.float64
        )


def _pivots(diagonal: Vector, beside: Vector) -> Vector:
    """f_m, …, f₁ of `log_factor` for one λ: the pivots of T + λI, both given from the last entry on.

    They are NaN if rounding has left T + λI without a positive pivot: such a group has no evidence.
    """
    if len(diagonal) == 1:
        return diagonal
    pivots, _, failed = dpttrf(diagonal, beside)
    return np.full(len(diagonal), math.nan) if failed else np.asarray(pivots)


def _tridiagonal(A: Matrix, r: Vector) -> tuple[Vector, Vector, float]:
    """A in an orthonormal basis that begins with r and in which it is tridiagonal: its diagonal, the entries beside it, and ‖r‖².

    No eigenvectors are needed then, which cost five times as much: a reflection takes r to the first axis, and LAPACK's reduction, done to
    the lower triangle, leaves that axis alone.
    """
    rho2 = float(r @ r)
    if len(r) == 1 or not np.isfinite(A).all():
        return np.diagonal(A).copy(), np.zeros(len(r) - 1), rho2
    h = r.copy()
    h[0] += np.copysign(np.sqrt(rho2), r[0])
    size = float(h @ h)
    if size > 0.0:
        Ah = A @ h * (2.0 / size)
        Ah -= h * (float(h @ Ah) / size)
        A = A - np.outer(Ah, h) - np.outer(h, Ah)
    _, diagonal, beside, _, _ = dsytrd(A, lower=1)
    return diagonal, beside, rho2


def evidence(found: Profile) -> tuple[float, float]:
    """The log mean Bayes factor over the grid, in nats, and the precision 1/E[1/λ]."""
    logs = found.log_factor(GRID)
    top = logs.max()
    share = np.exp(logs - top)
    return float(top + np.log(share.mean())), float(share.sum() / (share / GRID).sum())


def temper(left: Vector) -> float:
    """T = max(1, (kurtosis − 1)/2): how many times too well a normal likelihood knows variances."""
    second = float(np.mean(left**2))
    return max(1.0, 0.5 * (float(np.mean(left**4)) / second**2 - 1.0)) if second > 0.0 else 1.0
