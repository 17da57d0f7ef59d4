"""Rows of matrices of which four are computed at once: entry j of all four is one vector register (`lanes`).

Each operation is written twice: as one NumPy expression, which interpreted code runs, and below it as a loop over registers, which is
compiled. `tests/unit/core/test_lanes.py` compares both with NumPy. Rows have shape (n, 4); a `Four` has one number of each matrix.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .kernel import kernel
from .linalg import Matrix, Vector
from .numba_private import compiled_form
from .simd4 import Four, entry_of, get, number, number_in, put, root, spread

F = TypeVar("F", bound=Callable[..., Any])


def compiled_as(function: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate the loop that compiled code runs in place of `function`."""

    def take(form: F) -> F:
        compiled_form(function)(lambda *_: form)
        return form

    return take


def set_numbers(row: Matrix, x: Vector) -> None:
    """row_j ← x_j in every lane."""
    row[:] = x[:, None]


@compiled_as(set_numbers)
def _(row: Matrix, x: Vector) -> None:
    for j in range(x.shape[0]):
        put(row, j, spread(number(x, j)))


def copy_rows(out: Matrix, first: int, other: Matrix) -> None:
    """out_j ← other_j for j ≥ first; `out` may have more rows."""
    out[first : len(other)] = other[first:]


@compiled_as(copy_rows)
def _(out: Matrix, first: int, other: Matrix) -> None:
    for j in range(first, other.shape[0]):
        put(out, j, get(other, j))


def fade_add(row: Matrix, first: int, fade: Four, c: Four, x: Vector) -> None:
    """row_j ← fade·row_j + c·x_j for j ≥ first; row (n, LANES), x (n,)."""
    row[first:] = fade * row[first:] + c * x[first:, None]


@compiled_as(fade_add)
def _(row: Matrix, first: int, fade: Four, c: Four, x: Vector) -> None:
    for j in range(first, row.shape[0]):
        put(row, j, fade * get(row, j) + number(x, j) * c)


def fade_exchange(row: Matrix, first: int, fade: Four, a: Four, x: Vector, c: Four, other: Matrix) -> None:
    """row_j ← fade·row_j + a·x_j − c·other_j for j ≥ first; row and other (n, LANES), x (n,)."""
    row[first:] = fade * row[first:] + a * x[first:, None] - c * other[first:]


@compiled_as(fade_exchange)
def _(row: Matrix, first: int, fade: Four, a: Four, x: Vector, c: Four, other: Matrix) -> None:
    for j in range(first, row.shape[0]):
        put(row, j, fade * get(row, j) + number(x, j) * a - c * get(other, j))


def fade_subtract(row: Matrix, first: int, fade: Four, c: Four, other: Matrix) -> None:
    """row_j ← fade·row_j − c·other_j for j ≥ first; row and other (n, LANES)."""
    row[first:] = fade * row[first:] - c * other[first:]


@compiled_as(fade_subtract)
def _(row: Matrix, first: int, fade: Four, c: Four, other: Matrix) -> None:
    for j in range(first, row.shape[0]):
        put(row, j, fade * get(row, j) - c * get(other, j))


def subtract_rows(row: Matrix, first: int, c: Four, other: Matrix) -> None:
    """row_j ← row_j − c·other_j for j ≥ first; `other` may have more rows."""
    row[first:] -= c * other[first : len(row)]


@compiled_as(subtract_rows)
def _(row: Matrix, first: int, c: Four, other: Matrix) -> None:
    for j in range(first, row.shape[0]):
        put(row, j, get(row, j) - c * get(other, j))


def scale_row(row: Matrix, first: int, c: Four) -> None:
    """row_j ← c·row_j for j ≥ first."""
    row[first:] *= c


@compiled_as(scale_row)
def _(row: Matrix, first: int, c: Four) -> None:
    for j in range(first, row.shape[0]):
        put(row, j, c * get(row, j))


def dot_rows(a: Matrix, b: Matrix, first: int) -> Four:
    """Σ_{j ≥ first} a_j·b_j in every lane; b may have more rows."""
    total: Four = np.einsum("jl,jl->l", a[first:], b[first : len(a)])
    return total


@compiled_as(dot_rows)
def _(a: Matrix, b: Matrix, first: int) -> Four:
    # Two sums, because each addition has to wait for the one before it.
    x, y = spread(0.0), spread(0.0)
    n = a.shape[0]
    for j in range(first, n - 1, 2):
        x = x + get(a, j) * get(b, j)
        y = y + get(a, j + 1) * get(b, j + 1)
    if (n - first) % 2 == 1:
        x = x + get(a, n - 1) * get(b, n - 1)
    return x + y


def dot_numbers(a: Matrix, x: Vector) -> Four:
    """Σ_j a_j·x_j in every lane; a (n, LANES), x (n,)."""
    return x @ a


@compiled_as(dot_numbers)
def _(a: Matrix, x: Vector) -> Four:
    u, v = spread(0.0), spread(0.0)
    n = x.shape[0]
    for j in range(0, n - 1, 2):
        u = u + number(x, j) * get(a, j)
        v = v + number(x, j + 1) * get(a, j + 1)
    if n % 2 == 1:
        u = u + number(x, n - 1) * get(a, n - 1)
    return u + v


def blend(row: Matrix, first: int, a: Four, b: Four, one: Vector, two: Vector) -> None:
    """row_j ← row_j + a·one_j + b·two_j for j ≥ first; `row` may have more rows."""
    row[first : len(one)] += a * one[first:, None] + b * two[first:, None]


@compiled_as(blend)
def _(row: Matrix, first: int, a: Four, b: Four, one: Vector, two: Vector) -> None:
    for j in range(first, one.shape[0]):
        put(row, j, get(row, j) + (number(one, j) * a + number(two, j) * b))


def difference(out: Matrix, first: int, a: Matrix, b: Matrix) -> None:
    """out_j ← a_j − b_j for j ≥ first."""
    out[first : len(a)] = a[first:] - b[first:]


@compiled_as(difference)
def _(out: Matrix, first: int, a: Matrix, b: Matrix) -> None:
    for j in range(first, a.shape[0]):
        put(out, j, get(a, j) - get(b, j))


def combine_rows(out: Matrix, c: Matrix, rows: Matrix) -> None:
    """out_j ← Σ_b c_b·rows_bj; c (k, LANES), rows (k, p, LANES), k > 0."""
    out[:] = np.einsum("bl,bjl->jl", c, rows)


@compiled_as(combine_rows)
def _(out: Matrix, c: Matrix, rows: Matrix) -> None:
    for j in range(out.shape[0]):
        x = get(c, 0) * entry_of(rows, 0, j)
        for b in range(1, c.shape[0]):
            x = x + get(c, b) * entry_of(rows, b, j)
        put(out, j, x)


@kernel
def store_four(row: Matrix, j: int, a: Four, b: Four, x: Four, y: Four) -> None:
    """row_j … row_j+3 ← a, b, x, y."""
    put(row, j, a)
    put(row, j + 1, b)
    put(row, j + 2, x)
    put(row, j + 3, y)


def subtract_combined(out: Matrix, c: Matrix, rows: Matrix) -> None:
    """out_j ← out_j − Σ_b c_b·rows_bj."""
    out -= np.einsum("bl,bjl->jl", c, rows)


@compiled_as(subtract_combined)
def _(out: Matrix, c: Matrix, rows: Matrix) -> None:
    p, k, j = out.shape[0], c.shape[0], 0
    while j + 4 <= p:
        a, b, x, y = get(out, j), get(out, j + 1), get(out, j + 2), get(out, j + 3)
        for q in range(k):
            u = get(c, q)
            a = a - u * entry_of(rows, q, j)
            b = b - u * entry_of(rows, q, j + 1)
            x = x - u * entry_of(rows, q, j + 2)
            y = y - u * entry_of(rows, q, j + 3)
        store_four(out, j, a, b, x, y)
        j += 4
    while j < p:
        a = get(out, j)
        for q in range(k):
            a = a - get(c, q) * entry_of(rows, q, j)
        put(out, j, a)
        j += 1


def add_product(out: Matrix, first: int, f: Four, left: Matrix, right: Matrix) -> None:
    """out_j ← out_j + f·Σ_a left_a,first·right_aj for j ≥ first; left, right (k, p, LANES)."""
    out[first:] += f * np.einsum("al,ajl->jl", left[:, first], right[:, first:])


@compiled_as(add_product)
def _(out: Matrix, first: int, f: Four, left: Matrix, right: Matrix) -> None:
    for a in range(left.shape[0]):
        c = f * entry_of(left, a, first)
        for j in range(first, out.shape[0]):
            put(out, j, get(out, j) + c * entry_of(right, a, j))


def subtract_numbers(row: Matrix, first: int, c: Four, U: Matrix, k: int, lane: int) -> None:
    """row_j ← row_j − c·U_kj for j ≥ first, U_kj being the numbers of one lane of U (p, c, LANES)."""
    row[first:] -= c * U[k, first : len(row), lane, None]


@compiled_as(subtract_numbers)
def _(row: Matrix, first: int, c: Four, U: Matrix, k: int, lane: int) -> None:
    numbers = U[k]
    for j in range(first, row.shape[0]):
        put(row, j, get(row, j) - number_in(numbers, j, lane) * c)


def subtract_four(row: Matrix, first: int, a: Four, b: Four, x: Four, y: Four, U: Matrix, k: int, lane: int) -> None:
    """`subtract_numbers` for rows k … k + 3 of U, with the factors a, b, x, y."""
    for q, c in enumerate((a, b, x, y)):
        row[first:] -= c * U[k + q, first : len(row), lane, None]


@compiled_as(subtract_four)
def _(row: Matrix, first: int, a: Four, b: Four, x: Four, y: Four, U: Matrix, k: int, lane: int) -> None:
    one, two, three, four = U[k], U[k + 1], U[k + 2], U[k + 3]
    for j in range(first, row.shape[0]):
        v = get(row, j) - number_in(one, j, lane) * a - number_in(two, j, lane) * b
        put(row, j, v - number_in(three, j, lane) * x - number_in(four, j, lane) * y)


def take_lane(out: Matrix, to: int, rows: Matrix, lane: int) -> None:
    """Lane `to` of out ← lane `lane` of rows."""
    out[:, to] = rows[:, lane]


@compiled_as(take_lane)
def _(out: Matrix, to: int, rows: Matrix, lane: int) -> None:
    for j in range(out.shape[0]):
        out[j, to] = rows[j, lane]


def rotate(row: Matrix, v: Matrix, k: int, size: Four) -> None:
    """Rotate row k of a factor, multiplied by `size`, and v (c, LANES) so that v_k becomes 0; entries before k are not touched.

    row_k holds a reciprocal.
    """
    u = size / row[k]
    r = np.sqrt(u * u + v[k] * v[k])
    c, s = u / r, v[k] / r
    kept = size * row[k + 1 :]
    row[k + 1 :] = c * kept + s * v[k + 1 :]
    v[k + 1 :] = c * v[k + 1 :] - s * kept
    row[k] = 1.0 / r


@compiled_as(rotate)
def _(row: Matrix, v: Matrix, k: int, size: Four) -> None:
    u, x = size / get(row, k), get(v, k)
    scale = 1.0 / root(u * u + x * x)
    c, s = scale * u, scale * x
    a, b = size * c, size * s
    for j in range(k + 1, row.shape[0]):
        old, other = get(row, j), get(v, j)
        put(row, j, a * old + s * other)
        put(v, j, c * other - b * old)
    put(row, k, scale)


@kernel
def four_columns(
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
def one_column(A: Matrix, column: int, j: int, first: int, last: int, a: Four) -> Four:
    """a − Σ_q A_q,column·A_qj over first ≤ q < last."""
    for q in range(first, last):
        a = a - entry_of(A, q, column) * entry_of(A, q, j)
    return a


def reduce_row(A: Matrix, k: int) -> None:
    """A_kj ← A_kj − Σ_{q<k} A_qk·A_qj for j ≥ k: row k of the Schur complement; A (p, c, LANES) with c ≥ p."""
    A[k, k:] -= np.einsum("ql,qjl->jl", A[:k, k], A[:k, k:])


@compiled_as(reduce_row)
def _(A: Matrix, k: int) -> None:
    row, c, j = A[k], A.shape[1], k
    while j + 4 <= c:
        old = get(row, j), get(row, j + 1), get(row, j + 2), get(row, j + 3)
        a, b, x, y = four_columns(A, k, j, 0, k, old[0], old[1], old[2], old[3])
        store_four(row, j, a, b, x, y)
        j += 4
    while j < c:
        put(row, j, one_column(A, k, j, 0, k, get(row, j)))
        j += 1
