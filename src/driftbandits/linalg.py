"""Small dense linear algebra for d up to a few hundred, without temporaries.

Conventions: a factor is lower triangular, row-major, with garbage above the diagonal. Arms are stored (d, n), so that the inner loop over
arms is contiguous and vectorises. Everything is written into arrays the caller owns.
"""

import numpy as np
from numpy.typing import NDArray

from .kernel import kernel

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

CHUNK = 64  # arms treated at once: d × 64 numbers stay in the first-level cache
FLOOR = 1e-200  # faded sums below this are zero: denormal numbers are a hundred times slower and mean nothing


@kernel
def cholesky(A: Matrix, shift: float, factor: Matrix) -> None:
    """Factor of A + shift·I (d, d): A + shift·I = factor·factorᵀ. Reads the lower triangle of A; `factor` may be A."""
    for i in range(A.shape[0]):
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            factor[i, j] = s / factor[j, j]
        s = A[i, i] + shift
        for k in range(i):
            s -= factor[i, k] * factor[i, k]
        factor[i, i] = np.sqrt(s)


@kernel
def solve_lower(factor: Matrix, y: Vector, out: Vector) -> None:
    """out = factor⁻¹ y; `out` may be y."""
    for i in range(y.shape[0]):
        s = y[i]
        for k in range(i):
            s -= factor[i, k] * out[k]
        out[i] = s / factor[i, i]


@kernel
def solve_upper(factor: Matrix, y: Vector, out: Vector) -> None:
    """out = factor⁻ᵀ y; `out` may be y."""
    d = y.shape[0]
    for i in range(d):
        out[i] = y[i]
    for i in range(d - 1, -1, -1):  # by columns of factorᵀ, i.e. contiguous rows of factor
        out[i] /= factor[i, i]
        for k in range(i):
            out[k] -= factor[i, k] * out[i]


@kernel
def solve(factor: Matrix, y: Vector, out: Vector) -> None:
    """out = (factor·factorᵀ)⁻¹ y; `out` may be y."""
    solve_lower(factor, y, out)
    solve_upper(factor, out, out)


@kernel
def log_det(factor: Matrix) -> float:
    """log det of the factored matrix."""
    total = 0.0
    for i in range(factor.shape[0]):
        total += np.log(factor[i, i])
    return 2.0 * total


@kernel
def dot(x: Vector, y: Vector) -> float:
    """xᵀy."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@kernel
def norm(x: Vector) -> float:
    """‖x‖₂."""
    return float(np.sqrt(dot(x, x)))


@kernel
def symmetric_product(A: Matrix, x: Vector, out: Vector) -> None:
    """out = A x for symmetric A of which only the lower triangle is read."""
    d = x.shape[0]
    for i in range(d):
        s = A[i, i] * x[i]
        for k in range(i):
            s += A[i, k] * x[k]
            out[k] += A[i, k] * x[i]
        out[i] = s


@kernel
def scale(A: Matrix, g: float) -> None:
    """A ← g·A for a square A, lower triangle only, flushing what has faded away."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            v = g * A[i, j]
            A[i, j] = v if abs(v) > FLOOR else 0.0


@kernel
def scale_vector(b: Vector, g: float) -> None:
    """b ← g·b, flushing what has faded away."""
    for i in range(b.shape[0]):
        v = g * b[i]
        b[i] = v if abs(v) > FLOOR else 0.0


@kernel
def add_outer(A: Matrix, x: Vector, w: float) -> None:
    """A ← A + w·xxᵀ, lower triangle only."""
    for i in range(A.shape[0]):
        wx = w * x[i]
        for j in range(i + 1):
            A[i, j] += wx * x[j]


@kernel
def inner_products(X: Matrix, theta: Vector, out: Vector) -> None:
    """out_a = x_aᵀθ for all columns x_a of X (d, n)."""
    n = X.shape[1]
    for a in range(n):
        out[a] = X[0, a] * theta[0]
    for i in range(1, X.shape[0]):
        c = theta[i]
        for a in range(n):
            out[a] += c * X[i, a]


@kernel
def inverse_norms(X: Matrix, first: int, m: int, factor: Matrix, Z: Matrix, out: Vector) -> None:
    """out_a = ‖x_a‖²_{V⁻¹} = ‖factor⁻¹x_a‖² for the m ≤ CHUNK columns of X from `first`; Z (d, CHUNK) is workspace."""
    for a in range(m):
        out[a] = 0.0
    for i in range(X.shape[0]):
        for a in range(m):
            Z[i, a] = X[i, first + a]
        for j in range(i):
            c = factor[i, j]
            for a in range(m):
                Z[i, a] -= c * Z[j, a]
        c = 1.0 / factor[i, i]
        for a in range(m):
            z = Z[i, a] * c
            Z[i, a] = z
            out[a] += z * z


@kernel
def quadratic_forms(X: Matrix, first: int, m: int, M: Matrix, Z: Matrix, out: Vector) -> None:
    """out_a = x_aᵀ M x_a, M symmetric in full storage, for the m ≤ CHUNK columns of X from `first`; Z (d, CHUNK) is workspace."""
    d = X.shape[0]
    for a in range(m):
        out[a] = 0.0
    for i in range(d):
        for a in range(m):
            Z[0, a] = 0.5 * M[i, i] * X[i, first + a]
        for j in range(i):
            c = M[i, j]
            for a in range(m):
                Z[0, a] += c * X[j, first + a]
        for a in range(m):
            out[a] += 2.0 * Z[0, a] * X[i, first + a]
