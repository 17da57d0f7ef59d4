"""Small dense linear algebra for d up to a few hundred, without temporaries.

Conventions. Symmetric matrices are stored in full. A factor U is upper triangular, V = UᵀU, with garbage below the
diagonal: its rows are contiguous, so that factoring and solving run along rows without a sum across a vector register.
Arms are stored (d, n), so that the inner loop over arms is contiguous too. Everything is written into arrays the caller
owns.

Inner loops run over views from index 0: an index that might be negative means "from the end" to Python, and a loop that
has to ask does not vectorise.
"""

import numpy as np
from numpy.typing import NDArray

from .kernel import kernel, sqrt

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

CHUNK = 64  # arms treated at once: d × 64 numbers stay in the first-level cache
FLOOR = 1e-200  # faded sums below this are zero: denormal numbers are a hundred times slower and mean nothing


@kernel
def dot(x: Vector, y: Vector) -> float:
    """xᵀy."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@kernel
def cholesky(A: Matrix, shift: float, U: Matrix) -> None:
    """U with UᵀU = A + shift·I (d, d); U may be A.

    Two rows of U at a time, from which four earlier rows are subtracted a pass. The element left of the diagonal in the
    second row of a pair is garbage, as all below the diagonal.
    """
    d = A.shape[0]
    for k in range(0, d - 1, 2):
        m = d - k
        a, b = U[k, k:], U[k + 1, k:]
        a_source, b_source = A[k, k:], A[k + 1, k:]
        for j in range(m):
            a[j] = a_source[j]
            b[j] = b_source[j]
        a[0] += shift
        b[1] += shift
        for p in range(0, k - 3, 4):
            r0, r1, r2, r3 = U[p, k:], U[p + 1, k:], U[p + 2, k:], U[p + 3, k:]
            a0, a1, a2, a3 = r0[0], r1[0], r2[0], r3[0]
            b0, b1, b2, b3 = r0[1], r1[1], r2[1], r3[1]
            for j in range(m):
                a[j] -= a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j]
                b[j] -= b0 * r0[j] + b1 * r1[j] + b2 * r2[j] + b3 * r3[j]
        if k % 4 == 2:  # two earlier rows are left
            r0, r1 = U[k - 2, k:], U[k - 1, k:]
            a0, a1, b0, b1 = r0[0], r1[0], r0[1], r1[1]
            for j in range(m):
                a[j] -= a0 * r0[j] + a1 * r1[j]
                b[j] -= b0 * r0[j] + b1 * r1[j]
        a_inverse = 1.0 / sqrt(a[0])
        c = a[1] * a_inverse
        b_inverse = 1.0 / sqrt(b[1] - c * c)
        for j in range(m):
            a[j] *= a_inverse
            b[j] = (b[j] - c * a[j]) * b_inverse
    if d % 2 == 1:
        s = A[d - 1, d - 1] + shift
        for p in range(d - 1):
            s -= U[p, d - 1] * U[p, d - 1]
        U[d - 1, d - 1] = sqrt(s)


@kernel
def subtract(row: Vector, c: float, other: Vector) -> None:
    """Row ← row − c·other."""
    for j in range(row.shape[0]):
        row[j] -= c * other[j]


@kernel
def solve_lower(U: Matrix, y: Vector, out: Vector) -> None:
    """out = U⁻ᵀ y, by rows of U; `out` may be y."""
    d = y.shape[0]
    for i in range(d):
        out[i] = y[i]
    for i in range(d):
        out[i] /= U[i, i]
        subtract(out[i + 1 :], out[i], U[i, i + 1 :])


@kernel
def solve_upper(U: Matrix, y: Vector, out: Vector) -> None:
    """out = U⁻¹ y, by columns of U; `out` may be y."""
    d = y.shape[0]
    for i in range(d):
        out[i] = y[i]
    for i in range(d - 1, -1, -1):
        c = out[i] / U[i, i]
        out[i] = c
        for k in range(i):
            out[k] -= c * U[k, i]


@kernel
def solve(U: Matrix, y: Vector, out: Vector) -> None:
    """out = (UᵀU)⁻¹ y; `out` may be y."""
    solve_lower(U, y, out)
    solve_upper(U, out, out)


@kernel
def log_det(U: Matrix) -> float:
    """log det of the factored matrix."""
    total = 0.0
    for i in range(U.shape[0]):
        total += np.log(U[i, i])
    return 2.0 * total


@kernel
def norm(x: Vector) -> float:
    """‖x‖₂."""
    return float(sqrt(dot(x, x)))


@kernel
def symmetric_product(A: Matrix, x: Vector, out: Vector) -> None:
    """out = A x for symmetric A; `out` must not be x."""
    for i in range(x.shape[0]):
        out[i] = dot(A[i], x)


@kernel
def scale(A: Matrix, g: float) -> None:
    """A ← g·A, flushing what has faded away."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
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
    """A ← A + w·xxᵀ."""
    for i in range(A.shape[0]):
        c = w * x[i]
        for j in range(A.shape[1]):
            A[i, j] += c * x[j]


@kernel
def inner_products(X: Matrix, theta: Vector, out: Vector) -> None:
    """out_a = x_aᵀθ for all columns x_a of X (d, n); two rows of X a pass."""
    d, n = X.shape
    if d == 1:
        for a in range(n):
            out[a] = theta[0] * X[0, a]
        return
    c0, c1 = theta[0], theta[1]
    for a in range(n):
        out[a] = c0 * X[0, a] + c1 * X[1, a]
    for i in range(2, d - 1, 2):
        c0, c1 = theta[i], theta[i + 1]
        for a in range(n):
            out[a] += c0 * X[i, a] + c1 * X[i + 1, a]
    if d % 2 == 1:
        c0 = theta[d - 1]
        for a in range(n):
            out[a] += c0 * X[d - 1, a]


@kernel
def inverse_norms(X: Matrix, first: int, m: int, U: Matrix, Z: Matrix, out: Vector) -> None:
    """out_a = ‖x_a‖²_{V⁻¹} = ‖U⁻ᵀx_a‖² for the m ≤ CHUNK columns of X from `first`; Z (d, CHUNK) is workspace.

    Row i of Z is (x_i − Σ_{j<i} U_ji Z_j)/U_ii; four rows j are subtracted a pass.
    """
    x, z = X[0, first : first + m], Z[0]
    c = 1.0 / U[0, 0]
    for a in range(m):
        z[a] = c * x[a]
        out[a] = z[a] * z[a]
    for i in range(1, X.shape[0]):
        x, z, y = X[i, first : first + m], Z[i], Z[0]
        c = 1.0 / U[i, i]
        c0 = c * U[0, i]
        if i == 1:
            for a in range(m):
                z[a] = c * x[a] - c0 * y[a]
                out[a] += z[a] * z[a]
            continue
        for a in range(m):
            z[a] = c * x[a] - c0 * y[a]
        odd = 1 + (i - 1) % 4  # rows up to here one by one, then four at a time
        for j in range(1, odd):
            c0, y = c * U[j, i], Z[j]
            for a in range(m):
                z[a] -= c0 * y[a]
        for j in range(odd, i, 4):
            c0, c1, c2, c3 = c * U[j, i], c * U[j + 1, i], c * U[j + 2, i], c * U[j + 3, i]
            y0, y1, y2, y3 = Z[j], Z[j + 1], Z[j + 2], Z[j + 3]
            for a in range(m):
                z[a] -= c0 * y0[a] + c1 * y1[a] + c2 * y2[a] + c3 * y3[a]
        for a in range(m):
            out[a] += z[a] * z[a]


@kernel
def quadratic_forms(X: Matrix, first: int, m: int, M: Matrix, Z: Matrix, out: Vector) -> None:
    """out_a = x_aᵀ M x_a, M symmetric, for the m ≤ CHUNK columns of X from `first`; Z (d, CHUNK) is workspace."""
    z = Z[0]
    for a in range(m):
        out[a] = 0.0
    for i in range(X.shape[0]):
        x = X[i, first : first + m]
        c = 0.5 * M[i, i]
        for a in range(m):
            z[a] = c * x[a]
        for j in range(i):
            c, y = M[i, j], X[j, first : first + m]
            for a in range(m):
                z[a] += c * y[a]
        for a in range(m):
            out[a] += 2.0 * z[a] * x[a]
