r"""Linear algebra on four matrices at once: entry (i, j) of all four is one vector register.

A matrix of eleven columns is too short to fill registers by itself, four of them side by side are not: arrays have a last axis of `LANES`,
and every operation is done to all lanes alike (`lane_rows` has the operations on rows).

A factor U of A = UᵀU is upper triangular, its diagonal holds *reciprocals* (as in `linalg`), and of symmetric matrices only the entries on
and above the diagonal are read and written, unless it says otherwise.
"""

import math

import numpy as np

from .kernel import kernel, solver
from .lane_rows import (
    compiled_as,
    dot_rows,
    four_columns,
    one_column,
    reduce_row,
    scale_row,
    store_four,
    subtract_four,
    subtract_numbers,
    subtract_rows,
)
from .linalg import Matrix
from .simd4 import Four, above, entry_of, get, larger, put, root, set_entry, spread

LANES = 4
LINE = 64  # bytes of a line of the cache
SMALL = 4096  # bytes of an array that fits into the cache with everything else


def groups_of(n: int) -> int:
    """How many groups of four lanes hold n of them."""
    return -(-n // LANES)


def lane(array: Matrix, m: int) -> Matrix:
    """The view of number m in an array (groups, …, LANES)."""
    view: Matrix = array[m // LANES, ..., m % LANES]
    return view


def upper(array: Matrix) -> Matrix:
    """Matrices (…, n, n, LANES) without the entries below the diagonal."""
    return np.ascontiguousarray(np.moveaxis(np.triu(np.moveaxis(array, -1, 0)), 0, -1))


def symmetric(array: Matrix) -> Matrix:
    """Matrices (…, n, n, LANES), of which only the entries on and above the diagonal are kept, with both triangles."""
    whole = np.moveaxis(array, -1, 0)
    both = np.triu(whole) + np.swapaxes(np.triu(whole, 1), -1, -2)
    return np.ascontiguousarray(np.moveaxis(both, 0, -1))


def zeros(shape: tuple[int, ...]) -> Matrix:
    """Zeros (…, LANES), where four lanes never lie in two lines of the processor's cache; NumPy begins arrays at any 16 bytes.

    Factoring and inverting four matrices of 42 columns takes three quarters of the time then. Small arrays begin anywhere.
    """
    size = math.prod(shape)
    if 8 * size < SMALL:
        return np.zeros(shape)
    room = np.zeros(size + LINE // 8)
    # NumPy gives no alignment, so up to one line more is allocated and the array begins inside.
    first = -room.ctypes.data % LINE // 8
    return room[first : first + size].reshape(shape)


def aligned(array: Matrix) -> Matrix:
    """The same numbers, placed like `zeros`."""
    if array.nbytes < SMALL or (array.ctypes.data % LINE == 0 and array.flags.c_contiguous):
        return array
    copy = zeros(array.shape)
    copy[...] = array
    return copy


@solver
def factor(A: Matrix, least: Matrix) -> None:
    """Replace A (p, c, LANES), c ≥ p, by U and, in the columns after the first p, U⁻ᵀ of the right-hand sides there.

    `least` (p, LANES) is what rounding leaves of a pivot: a column whose pivot is not above it says nothing that the columns before it do
    not say. Its pivot is replaced by `least`, and it has no part in any other column or solution.
    """
    for k in range(A.shape[0]):
        reduce_row(A, k)
        pivot, floor = entry_of(A, k, k), get(least, k)
        # A branch would treat all four lanes alike; `larger` and `above` decide for each lane, without one.
        scale = 1.0 / root(larger(pivot, floor))
        # `above` is 0 or 1: a column whose pivot is rounding is multiplied by 0 and so takes no part in any other.
        scale_row(A[k], k + 1, scale * above(pivot, floor))
        set_entry(A, k, k, scale)


@solver
def solve_upper(U: Matrix, x: Matrix, y: Matrix) -> None:
    """x and y (p, LANES) with Ux and Uy the last two columns of U (p, p + 2, LANES).

    Each number has to wait for those after it; two solutions at once fill the wait.
    """
    p = x.shape[0]
    for k in range(p - 1, -1, -1):
        scale = entry_of(U, k, k)
        put(x, k, scale * (entry_of(U, k, p) - dot_rows(x, U[k], k + 1)))
        put(y, k, scale * (entry_of(U, k, p + 1) - dot_rows(y, U[k], k + 1)))


@solver
def squared_norms(U: Matrix, lane: int, d: Matrix) -> Four:
    """dᵀA⁻¹d of four vectors d (p, LANES), A = UᵀU being one of the four matrices; d is overwritten."""
    total, p, k = spread(0.0), d.shape[0], 0
    while k + 4 <= p:  # four rows of U at once: every entry of d is loaded and stored once for all of them
        a = U[k, k, lane] * get(d, k)
        b = U[k + 1, k + 1, lane] * (get(d, k + 1) - U[k, k + 1, lane] * a)
        x = U[k + 2, k + 2, lane] * (get(d, k + 2) - U[k, k + 2, lane] * a - U[k + 1, k + 2, lane] * b)
        y = get(d, k + 3) - U[k, k + 3, lane] * a - U[k + 1, k + 3, lane] * b - U[k + 2, k + 3, lane] * x
        y = U[k + 3, k + 3, lane] * y
        total = total + a * a + b * b + x * x + y * y
        subtract_four(d, k + 4, a, b, x, y, U, k, lane)
        k += 4
    while k < p:
        u = U[k, k, lane] * get(d, k)
        total = total + u * u
        subtract_numbers(d, k + 1, u, U, k, lane)
        k += 1
    return total


@solver
def squared_norm(U: Matrix, d: Matrix) -> Four:
    """dᵀA⁻¹d = ‖U⁻ᵀd‖²; d (p, LANES) is overwritten."""
    total = spread(0.0)
    for k in range(d.shape[0]):
        u = entry_of(U, k, k) * get(d, k)
        total = total + u * u
        subtract_rows(d, k + 1, u, U[k])
    return total


def invert(U: Matrix, Z: Matrix, R: Matrix) -> None:
    """R = (UᵀU)⁻¹ (k, k, LANES), both triangles; U is a factor, Z (k, k, LANES) is room."""
    upper = np.moveaxis(np.triu(np.moveaxis(U, -1, 0)), 0, -1)
    d = np.arange(len(U))
    upper[d, d] = 1.0 / upper[d, d]
    Z[:] = np.moveaxis(np.linalg.inv(np.moveaxis(upper, -1, 0)), 0, -1)
    R[:] = np.einsum("iql,jql->ijl", Z, Z)


@solver
def _invert(U: Matrix, Z: Matrix, R: Matrix) -> None:
    """Z = U⁻ᵀ, lower triangular, then R = ZᵀZ."""
    n = U.shape[0]
    for q in range(n):
        scale, j = entry_of(U, q, q), 0
        while (
            j < q
        ):  # Z_qj = −U_qq⁻¹ Σ_{j ≤ r < q} U_rq Z_rj ; four columns at a time may begin above their diagonal, where Z is 0
            if j + 4 <= q:
                _row_of_inverse(U, Z, q, j, scale)
                j += 4
            else:
                a = spread(0.0)
                for r in range(j, q):
                    a = a - entry_of(U, r, q) * entry_of(Z, r, j)
                set_entry(Z, q, j, scale * a)
                j += 1
        set_entry(Z, q, q, scale)
        for j in range(q + 1, n):
            set_entry(Z, q, j, spread(0.0))
    for j in range(n):
        i = 0
        while i <= j:
            if i + 4 <= j + 1:
                zero = spread(0.0)
                a, b, x, y = four_columns(Z, j, i, j, n, zero, zero, zero, zero)
                _store_both(R, i, j, a)
                _store_both(R, i + 1, j, b)
                _store_both(R, i + 2, j, x)
                _store_both(R, i + 3, j, y)
                i += 4
            else:
                _store_both(R, i, j, one_column(Z, j, i, j, n, spread(0.0)))
                i += 1


@kernel
def _row_of_inverse(U: Matrix, Z: Matrix, q: int, j: int, scale: Four) -> None:
    a, b, x, y = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for r in range(j, q):
        u = entry_of(U, r, q)
        a = a - u * entry_of(Z, r, j)
        b = b - u * entry_of(Z, r, j + 1)
        x = x - u * entry_of(Z, r, j + 2)
        y = y - u * entry_of(Z, r, j + 3)
    store_four(Z[q], j, scale * a, scale * b, scale * x, scale * y)


@kernel
def _store_both(R: Matrix, i: int, j: int, minus: Four) -> None:
    value = -1.0 * minus
    set_entry(R, i, j, value)
    set_entry(R, j, i, value)


@compiled_as(invert)
def _(U: Matrix, Z: Matrix, R: Matrix) -> None:
    _invert(U, Z, R)
