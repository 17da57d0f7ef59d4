"""Small dense linear algebra for d up to a few hundred, without temporaries.

Conventions. Symmetric matrices are stored in full. A factor U is upper triangular, V = UᵀU. Its diagonal holds the *reciprocals* 1/U_ii,
because a solve then multiplies where it would divide; the entries below the diagonal are undefined. Its rows are contiguous, so that
factoring and solving run along rows without a sum across a vector register. Arms are stored (d, n), so that the inner loop over arms
is contiguous too. All results are written into arrays of the caller.

Inner loops run over views from index 0: a negative index would mean "from the end" to Python, and a loop that has to test for it does not
vectorise. The case d = 2 is written out, because the overhead of a loop over two numbers exceeds the arithmetic.
"""

import numpy as np
from numpy.typing import NDArray

from .kernel import kernel, solver, sqrt
from .simd4 import Four, load, store

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

CHUNK = 64  # arms treated at once: d × 64 numbers stay in the first-level cache
WIDE_FROM = 80  # dimension from which the Cholesky factor is computed sixteen columns at a time
# Discounted sums below this are set to zero: they are negligible, and arithmetic with denormal numbers is a hundred times slower.
FLOOR = 1e-200


@kernel
def dot(x: Vector, y: Vector) -> float:
    """xᵀy."""
    total: float
    if x.shape[0] == 2:
        total = x[1] * y[1] + x[0] * y[0]
        return total
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@kernel
def cholesky(A: Matrix, shift: float, U: Matrix) -> None:
    """U with UᵀU = A + shift·I (d, d); U must not be A.

    The loop computes two rows of U at a time, four columns of each in one register. The last four columns overlap the ones before and
    are computed again from A, which is why A must not be overwritten. The registers may reach left of the diagonal, into entries that
    are undefined by convention.
    """
    d = A.shape[0]
    if d < 4:
        _small_cholesky(A, shift, U)
        return
    for k in range(0, d - 1, 2):
        # With a, b the rows k, k+1 of the Schur complement: U_kk = √(a_k+shift), c = U_{k,k+1}, U_{k+1,k+1} = √(b_{k+1}+shift−c²).
        i = min(k, d - 4)
        a, b = _schur(A, U, k, i)
        a_inverse = 1.0 / sqrt(a[k - i] + shift)
        c = a_inverse * a[k + 1 - i]
        b_inverse = 1.0 / sqrt(b[k + 1 - i] + shift - c * c)
        while True:
            a = a_inverse * a
            store(U[k], i, a)
            store(U[k + 1], i, b_inverse * (b - c * a))
            if d >= WIDE_FROM:
                i = _wide_rows(A, U, k, i, a_inverse, b_inverse, c)
            if i == d - 4:
                break
            i = min(i + 4, d - 4)
            a, b = _schur(A, U, k, i)
        # Reciprocals are stored last: while the row is computed, its register may write over the diagonal.
        U[k, k] = a_inverse
        U[k + 1, k + 1] = b_inverse
    if d % 2 == 1:  # the last row of an odd dimension has no partner; only its diagonal entry is needed
        a = load(A[d - 1], d - 4)
        for p in range(d - 1):
            a = a - U[p, d - 1] * load(U[p], d - 4)
        U[d - 1, d - 1] = 1.0 / sqrt(a[3] + shift)


@kernel
def _schur(A: Matrix, U: Matrix, k: int, i: int) -> tuple[Four, Four]:
    """Columns i..i+3 of rows k and k+1 of A − Σ_{p<k} u_p u_pᵀ, u_p the rows of U."""
    a, b = load(A[k], i), load(A[k + 1], i)
    for p in range(k):
        row = U[p]
        u = load(row, i)
        a = a - row[k] * u
        b = b - row[k + 1] * u
    return a, b


@solver
def _wide_rows(A: Matrix, U: Matrix, k: int, i: int, a_inverse: float, b_inverse: float, c: float) -> int:
    """Rows k and k+1 of U right of columns i..i+3, in blocks of sixteen columns; returns the first of the last four columns done.

    Four columns use half a cache line of every row above; sixteen use two whole ones, and eight independent sums hide the latency of the
    arithmetic. The sums are those of `_schur`, in the same order, so the results are equal to the last bit.
    """
    d = A.shape[0]
    # Columns i..i+3 are done; a block of sixteen must fit behind them. What is left over goes back to the caller, four at a time.
    while i + 20 <= d:
        j = i + 4
        a0, a1, a2, a3 = load(A[k], j), load(A[k], j + 4), load(A[k], j + 8), load(A[k], j + 12)
        b0, b1, b2, b3 = load(A[k + 1], j), load(A[k + 1], j + 4), load(A[k + 1], j + 8), load(A[k + 1], j + 12)
        for p in range(k):
            row = U[p]
            x, y = row[k], row[k + 1]
            u = load(row, j)
            a0 = a0 - x * u
            b0 = b0 - y * u
            u = load(row, j + 4)
            a1 = a1 - x * u
            b1 = b1 - y * u
            u = load(row, j + 8)
            a2 = a2 - x * u
            b2 = b2 - y * u
            u = load(row, j + 12)
            a3 = a3 - x * u
            b3 = b3 - y * u
        a0, a1, a2, a3 = a_inverse * a0, a_inverse * a1, a_inverse * a2, a_inverse * a3
        store(U[k], j, a0)
        store(U[k], j + 4, a1)
        store(U[k], j + 8, a2)
        store(U[k], j + 12, a3)
        store(U[k + 1], j, b_inverse * (b0 - c * a0))
        store(U[k + 1], j + 4, b_inverse * (b1 - c * a1))
        store(U[k + 1], j + 8, b_inverse * (b2 - c * a2))
        store(U[k + 1], j + 12, b_inverse * (b3 - c * a3))
        i = j + 12
    return i


@kernel
def _small_cholesky(A: Matrix, shift: float, U: Matrix) -> None:
    """`cholesky` for d ≤ 3, written out."""
    d = A.shape[0]
    if d > 0:
        U[0, 0] = 1.0 / sqrt(A[0, 0] + shift)
    if d > 1:
        U[0, 1] = A[0, 1] * U[0, 0]
        U[1, 1] = 1.0 / sqrt(A[1, 1] + shift - U[0, 1] ** 2)
    if d > 2:
        U[0, 2] = A[0, 2] * U[0, 0]
        U[1, 2] = (A[1, 2] - U[0, 1] * U[0, 2]) * U[1, 1]
        U[2, 2] = 1.0 / sqrt(A[2, 2] + shift - U[0, 2] ** 2 - U[1, 2] ** 2)


@kernel
def solve_lower(U: Matrix, y: Vector, out: Vector) -> None:
    """out = U⁻ᵀ y by forward substitution, two rows of U per pass; `out` may be y."""
    d = y.shape[0]
    if d == 2:
        c0 = y[0] * U[0, 0]
        out[1] = (y[1] - c0 * U[0, 1]) * U[1, 1]
        out[0] = c0
        return
    for i in range(d):
        out[i] = y[i]
    for i in range(0, d - 1, 2):
        c0 = out[i] * U[i, i]
        c1 = (out[i + 1] - c0 * U[i, i + 1]) * U[i + 1, i + 1]
        out[i] = c0
        out[i + 1] = c1
        fours = d - (d - i - 2) // 4 * 4  # columns before this one by one, from here on four at a time
        for j in range(i + 2, fours):
            out[j] -= c0 * U[i, j] + c1 * U[i + 1, j]
        for j in range(fours, d, 4):
            store(out, j, load(out, j) - c0 * load(U[i], j) - c1 * load(U[i + 1], j))
    if d % 2 == 1:
        out[d - 1] *= U[d - 1, d - 1]


@kernel
def solve_upper(U: Matrix, y: Vector, out: Vector) -> None:
    """out = U⁻¹ y by back substitution, two columns of U per pass; `out` may be y."""
    d = y.shape[0]
    if d == 2:
        c1 = y[1] * U[1, 1]
        out[0] = (y[0] - c1 * U[0, 1]) * U[0, 0]
        out[1] = c1
        return
    for i in range(d):
        out[i] = y[i]
    if d % 2 == 1:
        c1 = out[d - 1] * U[d - 1, d - 1]
        out[d - 1] = c1
        for k in range(d - 1):
            out[k] -= c1 * U[k, d - 1]
    # Column-oriented: the inner loop runs down two columns at once, which halves the passes over `out`.
    for i in range(d - 2 - d % 2, -1, -2):
        c1 = out[i + 1] * U[i + 1, i + 1]
        c0 = (out[i] - c1 * U[i, i + 1]) * U[i, i]
        out[i] = c0
        out[i + 1] = c1
        for k in range(i):
            out[k] -= c0 * U[k, i] + c1 * U[k, i + 1]


@kernel
def solve(U: Matrix, y: Vector, out: Vector) -> None:
    """out = (UᵀU)⁻¹ y; `out` may be y."""
    solve_lower(U, y, out)
    solve_upper(U, out, out)


@kernel
def inverse(U: Matrix, B: Matrix, P: Matrix) -> None:
    """P = (UᵀU)⁻¹ = BᵀB with B = U⁻ᵀ, which is written into the workspace B; the three arrays must be distinct."""
    d = U.shape[0]
    whole = d - d % 4  # columns before this one four at a time, the rest one by one
    # B is lower triangular, with zeros right of the diagonal. Row i follows from those above: B_i = (e_i − Σ_{k<i} U_ki B_k) / U_ii.
    for i in range(d):
        row = B[i]
        for j in range(d):
            row[j] = 0.0
        for k in range(i):
            c, above = U[k, i], B[k]
            for j in range(0, min(k + 1, whole), 4):
                store(row, j, load(row, j) - c * load(above, j))
            for j in range(whole, k + 1):
                row[j] -= c * above[j]
        for j in range(i):
            row[j] *= U[i, i]
        row[i] = U[i, i]
    # The lower triangle of P = Σ_k B_kᵀB_k, in blocks of four columns that may reach beyond it; then the upper one by symmetry.
    for i in range(d):
        out = P[i]
        for j in range(0, min(i + 1, whole), 4):
            x = B[i, i] * load(B[i], j)
            for k in range(i + 1, d):
                x = x - (-B[k, i]) * load(B[k], j)
            store(out, j, x)
        for j in range(whole, i + 1):
            y = 0.0
            for k in range(i, d):
                y += B[k, i] * B[k, j]
            out[j] = y
    for i in range(d):
        for j in range(i):
            P[j, i] = P[i, j]


@kernel
def row_of_factor(U: Matrix, i: int, out: Vector) -> None:
    """out = row i of the triangular matrix itself, without the storage convention: zeros, U_ii, and the entries right of it."""
    row = U[i]
    for j in range(row.shape[0]):
        out[j] = row[j] if j > i else 0.0
    out[i] = 1.0 / row[i]


@kernel
def log_det(U: Matrix) -> float:
    """log det UᵀU of the factored matrix."""
    total = 0.0
    for i in range(U.shape[0]):
        total -= np.log(U[i, i])  # the diagonal holds 1/U_ii
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
def _faded(v: float) -> float:
    """v, or 0 if |v| ≤ FLOOR."""
    return v if abs(v) > FLOOR else 0.0


@kernel
def scale(A: Matrix, g: float) -> None:
    """A ← g·A; entries below FLOOR become 0."""
    if A.shape[0] == 2:
        A[0, 0], A[0, 1] = _faded(g * A[0, 0]), _faded(g * A[0, 1])
        A[1, 0], A[1, 1] = _faded(g * A[1, 0]), _faded(g * A[1, 1])
        return
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = _faded(g * A[i, j])


@kernel
def scale_vector(b: Vector, g: float) -> None:
    """b ← g·b; entries below FLOOR become 0."""
    if b.shape[0] == 2:
        b[0], b[1] = _faded(g * b[0]), _faded(g * b[1])
        return
    for i in range(b.shape[0]):
        b[i] = _faded(g * b[i])


@kernel
def add_outer(A: Matrix, x: Vector, w: float) -> None:
    """A ← A + w·xxᵀ."""
    if A.shape[0] == 2:
        c0, c1 = w * x[0], w * x[1]
        A[0, 0] += c0 * x[0]
        A[0, 1] += c0 * x[1]
        A[1, 0] += c1 * x[0]
        A[1, 1] += c1 * x[1]
        return
    for i in range(A.shape[0]):
        c = w * x[i]
        for j in range(A.shape[1]):
            A[i, j] += c * x[j]


@kernel
def add_outer_to_factor(U: Matrix, p: Vector, w: float, t: Vector, s: Vector) -> None:
    """U ← the factor of UᵀU + w·xxᵀ, w ≥ 0, given p = U⁻ᵀx; t and s (d,) are workspace.

    UᵀU + w·xxᵀ = Uᵀ(I + w·ppᵀ)U, and the Cholesky factor C of the middle has a closed form: with t_k² = 1 + w·Σ_{i≤k} p_i² its diagonal
    is t_k/t_{k−1} and the entries right of it are w·p_k p_j/(t_{k−1}t_k). The new factor is CU. Row k of it needs Σ_{j>k} p_j U_j, which s
    accumulates from the last row up; this costs O(d²) instead of the O(d³) of a new factorisation.
    """
    d = p.shape[0]
    square = 1.0
    for k in range(d):
        square += w * p[k] * p[k]
        t[k] = sqrt(square)
    for k in range(d - 1, -1, -1):
        # The diagonal of C is t_k/t_{k−1}, and the entries right of it are share·p_j: only two numbers per row.
        before = t[k - 1] if k > 0 else 1.0
        stretch, share = t[k] / before, w * p[k] / (before * t[k])
        row, c = U[k], p[k]
        for j in range(k + 1, d):
            old = row[j]
            row[j] = stretch * old + share * s[j]
            s[j] += c * old
        # The diagonal holds reciprocals: p_k·U_kk is c / row[k], and multiplying U_kk by `stretch` divides its reciprocal.
        s[k] = c / row[k]
        row[k] /= stretch


@kernel
def inner_products(X: Matrix, theta: Vector, out: Vector) -> None:
    """out_a = x_aᵀθ for all columns x_a of X (d, n); four rows of X per pass, which loads and stores `out` less often."""
    d, n = X.shape
    if d == 1:
        for a in range(n):
            out[a] = theta[0] * X[0, a]
        return
    c0, c1 = theta[0], theta[1]
    for a in range(n):
        out[a] = c0 * X[0, a] + c1 * X[1, a]
    odd = 2 + (d - 2) % 4  # rows up to here one by one, then four at a time
    for i in range(2, odd):
        c0 = theta[i]
        for a in range(n):
            out[a] += c0 * X[i, a]
    for i in range(odd, d, 4):
        c0, c1, c2, c3 = theta[i], theta[i + 1], theta[i + 2], theta[i + 3]
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for a in range(n):
            out[a] += c0 * x0[a] + c1 * x1[a] + c2 * x2[a] + c3 * x3[a]


@kernel
def largest(score: Vector) -> float:
    """max of the scores (n,); −∞ for n = 0. Four running maxima shorten the chain of dependent comparisons."""
    n = score.shape[0]
    m0 = m1 = m2 = m3 = -np.inf
    for a in range(0, n - 3, 4):
        m0 = score[a] if score[a] > m0 else m0
        m1 = score[a + 1] if score[a + 1] > m1 else m1
        m2 = score[a + 2] if score[a + 2] > m2 else m2
        m3 = score[a + 3] if score[a + 3] > m3 else m3
    for a in range(n - n % 4, n):
        m0 = score[a] if score[a] > m0 else m0
    m0 = m1 if m1 > m0 else m0
    m2 = m3 if m3 > m2 else m2
    return m2 if m2 > m0 else m0


@kernel
def position(score: Vector, value: float) -> int:
    """The first index of the value; 0 if it does not occur."""
    for a in range(score.shape[0]):
        if score[a] == value:
            return a
    return 0


@kernel
def inverse_norms(X: Matrix, first: int, m: int, U: Matrix, Z: Matrix, out: Vector) -> None:
    """out_a = ‖x_a‖²_{V⁻¹} = ‖U⁻ᵀx_a‖² for the m ≤ CHUNK columns of X from `first`; Z (d, CHUNK) is workspace.

    This is forward substitution for m right-hand sides at once. Row i of Z is (x_i − Σ_{j<i} U_ji Z_j)/U_ii, and the factor holds 1/U_ii;
    four rows j are subtracted per pass.
    """
    # Arms are columns, so the inner loop runs over arms: it is contiguous and long, whatever d is.
    x, z = X[0, first : first + m], Z[0]
    c = U[0, 0]
    for a in range(m):
        z[a] = c * x[a]
        out[a] = z[a] * z[a]
    for i in range(1, X.shape[0]):
        x, z, y = X[i, first : first + m], Z[i], Z[0]
        c = U[i, i]
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
    # xᵀMx = 2 Σ_i x_i (½M_ii x_i + Σ_{j<i} M_ij x_j): symmetry halves the number of products.
    for i in range(X.shape[0]):
        x = X[i, first : first + m]
        # The diagonal enters with ½ because the sum over i is doubled at the end.
        c = 0.5 * M[i, i]
        for a in range(m):
            z[a] = c * x[a]
        for j in range(i):
            c, y = M[i, j], X[j, first : first + m]
            for a in range(m):
                z[a] += c * y[a]
        for a in range(m):
            out[a] += 2.0 * z[a] * x[a]
