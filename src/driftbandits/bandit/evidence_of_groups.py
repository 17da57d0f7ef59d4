r"""How much more likely the rewards are with a group of columns than without it.

y = X_bθ_b + X_gθ_g + ε with θ_b ~ N(0, σ²Λ_b⁻¹), θ_g ~ N(0, σ²/λ·I). With the base eliminated,

    M = I − X_b(X_bᵀX_b + Λ_b)⁻¹X_bᵀ ,   X_gᵀMX_g = E diag(β) Eᵀ ,   ρ = EᵀX_gᵀMy ,
    RSS(λ) = yᵀMy − Σρ²/(β+λ) ,   σ̂²(λ) = (RSS(λ) + 5·Var y)/(n + 5) ,
    log BF(λ) = −½Σlog(1 + β/λ) − ½(n+5)·log(σ̂²(λ)/σ̂²(∞)) ,

the log Bayes factor of the group at prior precision λ. λ is not known: the evidence is the log of the mean of BF over λ = 4^{−1…8}, and the
posterior mean of 1/λ under the same uniform prior is what the group's precision is set from when it belongs to the base.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.linalg import Matrix, Vector

PSEUDO = 5.0
GRID = 4.0 ** np.arange(-1.0, 9.0)  # precisions λ in units of the noise, for columns of variance 1
FLAT = 1e-4  # precision of the constant


class Profile(NamedTuple):
    """What the log Bayes factor of a group needs."""

    beta: Vector
    rho2: Vector
    rest: float  # yᵀMy
    n: int
    variance: float  # Var y

    def log_factor(self, lam: float) -> float:
        """log BF(λ)."""
        extra, total = PSEUDO * self.variance, self.n + PSEUDO
        without = max(self.rest + extra, 1e-300)
        with_ = max(self.rest - float(np.sum(self.rho2 / (self.beta + lam))) + extra, 1e-300)
        return float(-0.5 * np.sum(np.log1p(self.beta / lam)) - 0.5 * total * np.log(with_ / without))


def profile(base: Sequence[tuple[Matrix, float]], X: Matrix, y: Vector) -> Profile:
    """The profile of the group X (n, m) beside base groups, each with its precision."""
    n = len(y)
    columns = np.hstack([np.ones((n, 1)), *(group for group, _ in base)])
    lam = np.concatenate([[FLAT], *(np.full(group.shape[1], precision) for group, precision in base)])
    solved = np.linalg.solve(columns.T @ columns + np.diag(lam), columns.T @ np.column_stack([X, y]))
    left = np.column_stack([X, y]) - columns @ solved  # MX, My
    beta, E = np.linalg.eigh(X.T @ left[:, :-1])
    rho = E.T @ (X.T @ left[:, -1])
    return Profile(np.maximum(beta, 0.0), rho * rho, float(y @ left[:, -1]), n, float(np.var(y)))


def evidence(found: Profile) -> tuple[float, float]:
    """The log mean Bayes factor over the grid, in nats, and the precision 1/E[1/λ]."""
    logs = np.array([found.log_factor(lam) for lam in GRID])
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
