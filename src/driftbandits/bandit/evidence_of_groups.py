r"""How much more likely the rewards are with a group of columns than without it.

y = X_bθ_b + X_gθ_g + ε with θ_b ~ N(0, σ²Λ_b⁻¹), θ_g ~ N(0, σ²/λ·I). With the base eliminated,

    M = I − X_b(X_bᵀX_b + Λ_b)⁻¹X_bᵀ ,   A = X_gᵀMX_g ,   ρ = X_gᵀMy ,
    RSS(λ) = yᵀMy − ρᵀ(A + λI)⁻¹ρ ,   σ̂²(λ) = (RSS(λ) + 5·Var y)/(n + 5) ,
    log BF(λ) = −½log|I + A/λ| − ½(n+5)·log(σ̂²(λ)/σ̂²(∞)) ,

the log Bayes factor of the group at prior precision λ. λ is not known: the evidence is the log of the mean of BF over λ = 4^{−1…8}, and the
posterior mean of 1/λ under the same uniform prior is what the group's precision is set from when it belongs to the base.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dsytrd

from ..core.linalg import Matrix, Vector

PSEUDO = 5.0
GRID = 4.0 ** np.arange(-1.0, 9.0)  # precisions λ in units of the noise, for columns of variance 1
FLAT = 1e-4  # precision of the constant


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
        squares = np.append(self.beside**2, 0.0)
        f, logdet = np.ones_like(lam), np.zeros_like(lam)
        for d, e2 in zip(self.diagonal[::-1].tolist(), squares[::-1].tolist(), strict=True):
            f = d + lam - e2 / f
            logdet += np.log(f)
        extra, total = PSEUDO * self.variance, self.n + PSEUDO
        without = max(self.rest + extra, 1e-300)
        with_ = np.maximum(self.rest - self.rho2 / f + extra, 1e-300)
        return np.asarray(
            -0.5 * (logdet - len(self.diagonal) * np.log(lam)) - 0.5 * total * np.log(with_ / without), np.float64
        )


def profile(base: Sequence[tuple[Matrix, float]], X: Matrix, y: Vector) -> Profile:
    """The profile of the group X (n, m) beside base groups, each with its precision."""
    n = len(y)
    columns = np.hstack([np.ones((n, 1)), *(group for group, _ in base)])
    lam = np.concatenate([[FLAT], *(np.full(group.shape[1], precision) for group, precision in base)])
    both = np.column_stack([X, y])
    left = both - columns @ np.linalg.solve(columns.T @ columns + np.diag(lam), columns.T @ both)  # MX, My
    diagonal, beside, rho2 = _tridiagonal(X.T @ left[:, :-1], X.T @ left[:, -1])
    return Profile(diagonal, beside, rho2, float(y @ left[:, -1]), n, float(np.var(y)))


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


def residuals(base: Sequence[tuple[Matrix, float]], y: Vector) -> Vector:
    """What the base leaves of y."""
    columns = np.hstack([np.ones((len(y), 1)), *(group for group, _ in base)])
    lam = np.concatenate([[FLAT], *(np.full(group.shape[1], precision) for group, precision in base)])
    left: Vector = y - columns @ np.linalg.solve(columns.T @ columns + np.diag(lam), columns.T @ y)
    return left


def temper(left: Vector) -> float:
    """T = max(1, (kurtosis − 1)/2): how many times too well a normal likelihood knows variances."""
    second = float(np.mean(left**2))
    return max(1.0, 0.5 * (float(np.mean(left**4)) / second**2 - 1.0)) if second > 0.0 else 1.0
