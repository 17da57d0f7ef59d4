r"""Linear algebra on four matrices at once: entry (i, j) of all four is one vector register.

A matrix of eleven columns is too short to fill registers by itself, four of them side by side are not: arrays have a last axis of `LANES`,
and every operation is done to all lanes alike. Each function below works on whole rows; compiled code walks them one register per entry,
in interpreted mode a row is one NumPy operation.

A factor U of A = UᵀU is upper triangular, its diagonal holds *reciprocals* (as in `linalg`), and of symmetric matrices only the entries on
and above the diagonal are read and written, unless it says otherwise.
"""

from typing import Any

import numpy as np

from .kernel import kernel, solver
from .linalg import Matrix, Vector
from .numba_private import compiled_form
from .simd4 import Four, entry_of, get, number, number_in, put, root, set_entry, spread

LANES = 4


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


# ------------------------------------------------------------------------------------------------------------ rows, interpreted


def set_numbers(row: Matrix, x: Vector) -> None:
    """row_j ← x_j in every lane."""
    row[:] = x[:, None]


def copy_rows(out: Matrix, first: int, other: Matrix) -> None:
    """out_j ← other_j for j ≥ first; `out` may have more rows."""
    out[first : len(other)] = other[first:]


def fade_add(row: Matrix, first: int, fade: Four, c: Four, x: Vector) -> None:
    """row_j ← fade·row_j + c·x_j for j ≥ first; row (n, LANES), x (n,)."""
    row[first:] = fade * row[first:] + c * x[first:, None]


def subtract_rows(row: Matrix, first: int, c: Four, other: Matrix) -> None:
    """row_j ← row_j − c·other_j for j ≥ first; `other` may have more rows."""
    row[first:] -= c * other[first : len(row)]


def scale_row(row: Matrix, first: int, c: Four) -> None:
    """row_j ← c·row_j for j ≥ first."""
    row[first:] *= c


def dot_rows(a: Matrix, b: Matrix, first: int) -> Four:
    """Σ_{j ≥ first} a_j·b_j in every lane; b may have more rows."""
    total: Four = np.einsum("jl,jl->l", a[first:], b[first : len(a)])
    return total


def dot_numbers(a: Matrix, x: Vector) -> Four:
    """Σ_j a_j·x_j in every lane; a (n, LANES), x (n,)."""
    return x @ a


def blend(row: Matrix, first: int, mask: Four, one: Vector, two: Vector) -> None:
    """row_j ← row_j + one_j in lanes where the mask is 0, two_j where it is 1, for j ≥ first; `row` may have more rows."""
    row[first : len(one)] += (1.0 - mask) * one[first:, None] + mask * two[first:, None]


def difference(out: Matrix, first: int, a: Matrix, b: Matrix) -> None:
    """out_j ← a_j − b_j for j ≥ first."""
    out[first : len(a)] = a[first:] - b[first:]


def combine_rows(out: Matrix, c: Matrix, rows: Matrix) -> None:
    """out_j ← Σ_b c_b·rows_bj; c (k, LANES), rows (k, p, LANES), k > 0."""
    out[:] = np.einsum("bl,bjl->jl", c, rows)


def subtract_combined(out: Matrix, c: Matrix, rows: Matrix) -> None:
    """out_j ← out_j − Σ_b c_b·rows_bj."""
    out -= np.einsum("bl,bjl->jl", c, rows)


def add_product(out: Matrix, first: int, f: Four, left: Matrix, right: Matrix) -> None:
    """out_j ← out_j + f·Σ_a left_a,first·right_aj for j ≥ first; left, right (k, p, LANES)."""
    out[first:] += f * np.einsum("al,ajl->jl", left[:, first], right[:, first:])


def explain_row(
    out: Matrix, first: int, f: Four, M: Matrix, x: Four, R: Matrix, d: Matrix, y: Four, h: Matrix, z: Four, u: Matrix
) -> None:
    """out_j ← out_j + f·M_j + x·R_j·d_j + y·h_j + z·u_j for j ≥ first."""
    out[first:] += f * M[first:] + x * (R[first:] * d[first:]) + y * h[first:] + z * u[first:]


def subtract_numbers(row: Matrix, first: int, c: Four, U: Matrix, k: int, lane: int) -> None:
    """row_j ← row_j − c·U_kj for j ≥ first, U_kj being the numbers of one lane of U (p, c, LANES)."""
    row[first:] -= c * U[k, first : len(row), lane, None]


def take_lane(out: Matrix, to: int, rows: Matrix, lane: int) -> None:
    """Lane `to` of out ← lane `lane` of rows."""
    out[:, to] = rows[:, lane]


def rotate(row: Matrix, v: Matrix, k: int) -> None:
    """Rotate row k of a factor and v (c, LANES) so that v_k becomes 0; entries before k are not touched, row_k holds a reciprocal."""
    u = 1.0 / row[k]
    r = np.sqrt(u * u + v[k] * v[k])
    c, s = u / r, v[k] / r
    kept = row[k + 1 :].copy()
    row[k + 1 :] = c * kept + s * v[k + 1 :]
    v[k + 1 :] = c * v[k + 1 :] - s * kept
    row[k] = 1.0 / r


def reduce_row(A: Matrix, k: int) -> None:
    """A_kj ← A_kj − Σ_{q<k} A_qk·A_qj for j ≥ k: row k of the Schur complement; A (p, c, LANES) with c ≥ p."""
    A[k, k:] -= np.einsum("ql,qjl->jl", A[:k, k], A[:k, k:])


# -------------------------------------------------------------------------------------------------------------- rows, compiled


@compiled_form(set_numbers)
def _(row: Any, x: Any) -> Any:
    def form(row: Matrix, x: Vector) -> None:
        for j in range(x.shape[0]):
            put(row, j, spread(number(x, j)))

    return form


@compiled_form(copy_rows)
def _(out: Any, first: Any, other: Any) -> Any:
    def form(out: Matrix, first: int, other: Matrix) -> None:
        for j in range(first, other.shape[0]):
            put(out, j, get(other, j))

    return form


@compiled_form(fade_add)
def _(row: Any, first: Any, fade: Any, c: Any, x: Any) -> Any:
    def form(row: Matrix, first: int, fade: Four, c: Four, x: Vector) -> None:
        for j in range(first, row.shape[0]):
            put(row, j, fade * get(row, j) + number(x, j) * c)

    return form


@compiled_form(subtract_rows)
def _(row: Any, first: Any, c: Any, other: Any) -> Any:
    def form(row: Matrix, first: int, c: Four, other: Matrix) -> None:
        for j in range(first, row.shape[0]):
            put(row, j, get(row, j) - c * get(other, j))

    return form


@compiled_form(scale_row)
def _(row: Any, first: Any, c: Any) -> Any:
    def form(row: Matrix, first: int, c: Four) -> None:
        for j in range(first, row.shape[0]):
            put(row, j, c * get(row, j))

    return form


@compiled_form(dot_rows)
def _(a: Any, b: Any, first: Any) -> Any:
    def form(a: Matrix, b: Matrix, first: int) -> Four:
        # Two sums, because each addition has to wait for the one before it.
        x, y = spread(0.0), spread(0.0)
        n = a.shape[0]
        for j in range(first, n - 1, 2):
            x = x + get(a, j) * get(b, j)
            y = y + get(a, j + 1) * get(b, j + 1)
        if (n - first) % 2 == 1:
            x = x + get(a, n - 1) * get(b, n - 1)
        return x + y

    return form


@compiled_form(dot_numbers)
def _(a: Any, x: Any) -> Any:
    def form(a: Matrix, x: Vector) -> Four:
        u, v = spread(0.0), spread(0.0)
        n = x.shape[0]
        for j in range(0, n - 1, 2):
            u = u + number(x, j) * get(a, j)
            v = v + number(x, j + 1) * get(a, j + 1)
        if n % 2 == 1:
            u = u + number(x, n - 1) * get(a, n - 1)
        return u + v

    return form


@compiled_form(blend)
def _(row: Any, first: Any, mask: Any, one: Any, two: Any) -> Any:
    def form(row: Matrix, first: int, mask: Four, one: Vector, two: Vector) -> None:
        rest = spread(1.0) - mask
        for j in range(first, one.shape[0]):
            put(row, j, get(row, j) + (number(one, j) * rest + number(two, j) * mask))

    return form


@compiled_form(difference)
def _(out: Any, first: Any, a: Any, b: Any) -> Any:
    def form(out: Matrix, first: int, a: Matrix, b: Matrix) -> None:
        for j in range(first, a.shape[0]):
            put(out, j, get(a, j) - get(b, j))

    return form


@compiled_form(combine_rows)
def _(out: Any, c: Any, rows: Any) -> Any:
    def form(out: Matrix, c: Matrix, rows: Matrix) -> None:
        for j in range(out.shape[0]):
            x = get(c, 0) * entry_of(rows, 0, j)
            for b in range(1, c.shape[0]):
                x = x + get(c, b) * entry_of(rows, b, j)
            put(out, j, x)

    return form


@compiled_form(subtract_combined)
def _(out: Any, c: Any, rows: Any) -> Any:
    def form(out: Matrix, c: Matrix, rows: Matrix) -> None:
        p, k, j = out.shape[0], c.shape[0], 0
        while j + 4 <= p:
            a, b, x, y = get(out, j), get(out, j + 1), get(out, j + 2), get(out, j + 3)
            for q in range(k):
                u = get(c, q)
                a = a - u * entry_of(rows, q, j)
                b = b - u * entry_of(rows, q, j + 1)
                x = x - u * entry_of(rows, q, j + 2)
                y = y - u * entry_of(rows, q, j + 3)
            _store_four(out, j, a, b, x, y)
            j += 4
        while j < p:
            a = get(out, j)
            for q in range(k):
                a = a - get(c, q) * entry_of(rows, q, j)
            put(out, j, a)
            j += 1

    return form


@compiled_form(add_product)
def _(out: Any, first: Any, f: Any, left: Any, right: Any) -> Any:
    def form(out: Matrix, first: int, f: Four, left: Matrix, right: Matrix) -> None:
        for a in range(left.shape[0]):
            c = f * entry_of(left, a, first)
            for j in range(first, out.shape[0]):
                put(out, j, get(out, j) + c * entry_of(right, a, j))

    return form


@compiled_form(explain_row)
def _(out: Any, first: Any, f: Any, M: Any, x: Any, R: Any, d: Any, y: Any, h: Any, z: Any, u: Any) -> Any:
    def form(
        out: Matrix,
        first: int,
        f: Four,
        M: Matrix,
        x: Four,
        R: Matrix,
        d: Matrix,
        y: Four,
        h: Matrix,
        z: Four,
        u: Matrix,
    ) -> None:
        for j in range(first, out.shape[0]):
            one = get(out, j) + f * get(M, j) + x * (get(R, j) * get(d, j))
            put(out, j, one + y * get(h, j) + z * get(u, j))

    return form


@compiled_form(subtract_numbers)
def _(row: Any, first: Any, c: Any, U: Any, k: Any, lane: Any) -> Any:
    def form(row: Matrix, first: int, c: Four, U: Matrix, k: int, lane: int) -> None:
        numbers = U[k]
        for j in range(first, row.shape[0]):
            put(row, j, get(row, j) - number_in(numbers, j, lane) * c)

    return form


@compiled_form(take_lane)
def _(out: Any, to: Any, rows: Any, lane: Any) -> Any:
    def form(out: Matrix, to: int, rows: Matrix, lane: int) -> None:
        for j in range(out.shape[0]):
            out[j, to] = rows[j, lane]

    return form


@compiled_form(rotate)
def _(row: Any, v: Any, k: Any) -> Any:
    def form(row: Matrix, v: Matrix, k: int) -> None:
        u, x = 1.0 / get(row, k), get(v, k)
        scale = 1.0 / root(u * u + x * x)
        c, s = scale * u, scale * x
        for j in range(k + 1, row.shape[0]):
            old, other = get(row, j), get(v, j)
            put(row, j, c * old + s * other)
            put(v, j, c * other - s * old)
        put(row, k, scale)

    return form


@kernel
def _store_four(row: Matrix, j: int, a: Four, b: Four, x: Four, y: Four) -> None:
    put(row, j, a)
    put(row, j + 1, b)
    put(row, j + 2, x)
    put(row, j + 3, y)


@kernel
def _four_columns(
    A: Matrix, column: int, j: int, first: int, last: int, a: Four, b: Four, x: Four, y: Four
) -> tuple[Four, Four, Four, Four]:
    """Subtract Σ_q A_q,column·A_q,j+i over first ≤ q < last, i = 0…3: the four sums stay in registers."""
    for q in range(first, last):
        u = entry_of(A, q, column)
        a = a - u * entry_of(A, q, j)
        b = b - u * entry_of(A, q, j + 1)
        x = x - u * entry_of(A, q, j + 2)
        y = y - u * entry_of(A, q, j + 3)
    return a, b, x, y


@kernel
def _one_column(A: Matrix, column: int, j: int, first: int, last: int, a: Four) -> Four:
    for q in range(first, last):
        a = a - entry_of(A, q, column) * entry_of(A, q, j)
    return a


@compiled_form(reduce_row)
def _(A: Any, k: Any) -> Any:
    def form(A: Matrix, k: int) -> None:
        row, c, j = A[k], A.shape[1], k
        while j + 4 <= c:
            old = get(row, j), get(row, j + 1), get(row, j + 2), get(row, j + 3)
            a, b, x, y = _four_columns(A, k, j, 0, k, old[0], old[1], old[2], old[3])
            _store_four(row, j, a, b, x, y)
            j += 4
        while j < c:
            put(row, j, _one_column(A, k, j, 0, k, get(row, j)))
            j += 1

    return form


# ------------------------------------------------------------------------------------------------------------------- matrices


@solver
def factor(A: Matrix) -> None:
    """Replace A (p, c, LANES), c ≥ p, by U and, in the columns after the first p, U⁻ᵀ of the right-hand sides there."""
    for k in range(A.shape[0]):
        reduce_row(A, k)
        scale = 1.0 / root(entry_of(A, k, k))
        scale_row(A[k], k + 1, scale)
        set_entry(A, k, k, scale)


@solver
def solve_upper(U: Matrix, side: int, x: Matrix) -> None:
    """x (p, LANES) with Ux = z, z being column `side` of U (p, c, LANES)."""
    for k in range(x.shape[0] - 1, -1, -1):
        z = entry_of(U, k, side) - dot_rows(x, U[k], k + 1)
        put(x, k, entry_of(U, k, k) * z)


@solver
def squared_norms(U: Matrix, lane: int, d: Matrix) -> Four:
    """dᵀA⁻¹d of four vectors d (p, LANES), A = UᵀU being one of the four matrices; d is overwritten."""
    total = spread(0.0)
    for k in range(d.shape[0]):
        u = U[k, k, lane] * get(d, k)
        total = total + u * u
        subtract_numbers(d, k + 1, u, U, k, lane)
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
                a, b, x, y = _four_columns(Z, j, i, j, n, zero, zero, zero, zero)
                _store_both(R, i, j, a)
                _store_both(R, i + 1, j, b)
                _store_both(R, i + 2, j, x)
                _store_both(R, i + 3, j, y)
                i += 4
            else:
                _store_both(R, i, j, _one_column(Z, j, i, j, n, spread(0.0)))
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
    _store_four(Z[q], j, scale * a, scale * b, scale * x, scale * y)


@kernel
def _store_both(R: Matrix, i: int, j: int, minus: Four) -> None:
    value = -1.0 * minus
    set_entry(R, i, j, value)
    set_entry(R, j, i, value)


@compiled_form(invert)
def _(U: Any, Z: Any, R: Any) -> Any:
    return lambda U, Z, R: _invert(U, Z, R)
