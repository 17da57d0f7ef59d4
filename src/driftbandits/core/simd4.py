"""Four adjacent numbers as one value: a vector register, for loops too short for the compiler to vectorise.

LLVM vectorises a loop over a row sixteen numbers at a time, after a check that no arrays overlap, and runs the remainder as scalar code:
nearly all of a row of twenty. Written with `load` and `store`, the same row is five vector registers, whatever the length of the
loop. In interpreted mode the value is a NumPy array of four.

Compiled code supports `+`, `-`, `*` and `/` of two values or of a number and a value, `value[i]`, `spread` and `root`.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import float64, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from .numba_private import compiled_form, row_address

Four = NDArray[np.float64]  # (4,)
REGISTER = ir.VectorType(ir.DoubleType(), 4)
ITEM = 8  # bytes: the alignment that LLVM may assume, because a row may begin at any number
FUSED = ("contract",)  # a product and a sum may be one instruction


class _Register(types.Type):
    """Numba's type of the value."""


@register_model(_Register)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, REGISTER)  # type: ignore[no-untyped-call]


register: Any = cast(Any, _Register)("four")


def load(row: NDArray[np.float64], j: int) -> Four:
    """row[j:j+4] of a contiguous row."""
    return row[j : j + 4].copy()


def store(row: NDArray[np.float64], j: int, value: Four) -> None:
    """row[j:j+4] ← value."""
    row[j : j + 4] = value


def get(rows: NDArray[np.float64], j: int) -> Four:
    """rows[j] of a contiguous array (n, 4)."""
    value: Four = rows[j].copy()
    return value


def put(rows: NDArray[np.float64], j: int, value: Four) -> None:
    """rows[j] ← value."""
    rows[j] = value


def entry_of(A: NDArray[np.float64], i: int, j: int) -> Four:
    """A[i, j] of a contiguous array (m, n, 4)."""
    value: Four = A[i, j].copy()
    return value


def set_entry(A: NDArray[np.float64], i: int, j: int, value: Four) -> None:
    """A[i, j] ← value."""
    A[i, j] = value


def number(x: NDArray[np.float64], j: int) -> float:
    """x[j]."""
    return x[j]  # type: ignore[no-any-return]


def number_in(rows: NDArray[np.float64], j: int, lane: int) -> float:
    """rows[j, lane] of a contiguous array (n, 4)."""
    return rows[j, lane]  # type: ignore[no-any-return]


def spread(x: float) -> Four:
    """The same number four times."""
    return np.full(4, x)


def root(value: Four) -> Four:
    """√value."""
    return np.sqrt(value)


def larger(a: Four, b: Four) -> Four:
    """The larger of both; b where a is NaN."""
    return np.where(a > b, a, b)


def above(a: Four, b: Four) -> Four:
    """1 where a > b, otherwise 0."""
    return np.where(a > b, 1.0, 0.0)


# --------------------------------------------------------------------------------------------------------- their compiled forms


def _instruction(generator: Callable[..., Any]) -> Any:
    return intrinsic(generator)


def _address(context: Any, builder: Any, kind: Any, row: Any, j: Any) -> Any:
    return builder.bitcast(row_address(context, builder, kind, row, j), REGISTER.as_pointer())


@_instruction
def _load(typing: Any, row: Any, j: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *args), align=ITEM)

    return register(row, types.intp), generate


@_instruction
def _store(typing: Any, row: Any, j: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _address(context, builder, signature.args[0], *args[:2]), align=ITEM)
        return context.get_dummy_value()

    return types.void(row, types.intp, register), generate


# Indexing an array would test every index for being negative, "from the end": more instructions than the arithmetic. These do not.


def _place(context: Any, builder: Any, kind: Any, array: Any, indices: Any) -> Any:
    """The address of array[indices] (4,) in a contiguous array."""
    made = context.make_array(kind)(context, builder, array)
    place = indices[0]
    for axis, index in enumerate(indices[1:], 1):
        place = builder.add(builder.mul(place, builder.extract_value(made.shape, axis)), index)
    place = builder.mul(place, ir.Constant(place.type, 4))
    return builder.bitcast(builder.gep(made.data, [place]), REGISTER.as_pointer())


def _each(builder: Any, indices: Any) -> Any:
    return cgutils.unpack_tuple(builder, indices)  # type: ignore[no-untyped-call]


@_instruction
def _get(typing: Any, array: Any, indices: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = _each(builder, args[1])
        return builder.load(_place(context, builder, signature.args[0], args[0], places), align=ITEM)

    return register(array, indices), generate


@_instruction
def _put(typing: Any, array: Any, indices: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = _each(builder, args[1])
        builder.store(args[2], _place(context, builder, signature.args[0], args[0], places), align=ITEM)
        return context.get_dummy_value()

    return types.void(array, indices, register), generate


@_instruction
def _number(typing: Any, x: Any, j: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(row_address(context, builder, signature.args[0], *args))

    return float64(x, types.intp), generate


@_instruction
def _number_in(typing: Any, rows: Any, j: Any, lane: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, j, lane = args
        place = builder.add(builder.mul(j, ir.Constant(j.type, 4)), lane)
        return builder.load(row_address(context, builder, signature.args[0], rows, place))

    return float64(rows, types.intp, types.intp), generate


@_instruction
def _spread(typing: Any, number: Any) -> Any:
    """The same number four times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nothing, first = ir.Constant(REGISTER, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4)
        return builder.shuffle_vector(builder.insert_element(nothing, args[0], first), nothing, everywhere)

    return register(float64), generate


def _arithmetic(instruction: str) -> Any:
    @_instruction
    def apply(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args, flags=FUSED)

        return register(register, register), generate

    return apply


@_instruction
def _larger(typing: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return register(register, register), generate


@_instruction
def _above(typing: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        yes, no = ir.Constant(REGISTER, [1.0] * 4), ir.Constant(REGISTER, [0.0] * 4)
        return builder.select(builder.fcmp_ordered(">", *args), yes, no)

    return register(register, register), generate


@_instruction
def _item(typing: Any, value: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(*args)

    return float64(register, types.intp), generate


@_instruction
def _root(typing: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(REGISTER, [REGISTER])
        root_of_four = cgutils.get_or_insert_function(builder.module, kind, "llvm.sqrt.v4f64")  # type: ignore[no-untyped-call]
        return builder.call(root_of_four, args)

    return register(register), generate


@compiled_form(get)
def _(rows: Any, j: Any) -> Any:
    return lambda rows, j: _get(rows, (j,))


@compiled_form(put)
def _(rows: Any, j: Any, value: Any) -> Any:
    return lambda rows, j, value: _put(rows, (j,), value)


@compiled_form(entry_of)
def _(A: Any, i: Any, j: Any) -> Any:
    return lambda A, i, j: _get(A, (i, j))


@compiled_form(set_entry)
def _(A: Any, i: Any, j: Any, value: Any) -> Any:
    return lambda A, i, j, value: _put(A, (i, j), value)


@compiled_form(number)
def _(x: Any, j: Any) -> Any:
    return lambda x, j: _number(x, j)


@compiled_form(number_in)
def _(rows: Any, j: Any, lane: Any) -> Any:
    return lambda rows, j, lane: _number_in(rows, j, lane)


@compiled_form(spread)
def _(x: Any) -> Any:
    return lambda x: _spread(x)


@compiled_form(larger)
def _(a: Any, b: Any) -> Any:
    return lambda a, b: _larger(a, b)


@compiled_form(above)
def _(a: Any, b: Any) -> Any:
    return lambda a, b: _above(a, b)


@compiled_form(root)
def _(value: Any) -> Any:
    return lambda value: _root(value)


@compiled_form(load)
def _(row: Any, j: Any) -> Any:
    return lambda row, j: _load(row, j)


@compiled_form(operator.getitem)
def _(value: Any, i: Any) -> Any:
    return (lambda value, i: _item(value, i)) if isinstance(value, _Register) else None


@compiled_form(store)
def _(row: Any, j: Any, value: Any) -> Any:
    return lambda row, j, value: _store(row, j, value)


def _operator(symbol: Callable[..., Any], instruction: str) -> None:
    apply = _arithmetic(instruction)

    @compiled_form(symbol)
    def _(a: Any, b: Any) -> Any:
        if isinstance(a, _Register) and isinstance(b, _Register):
            return lambda a, b: apply(a, b)
        if isinstance(a, _Register) and isinstance(b, types.Float):
            return lambda a, b: apply(a, _spread(b))
        if isinstance(b, _Register) and isinstance(a, types.Float):
            return lambda a, b: apply(_spread(a), b)
        return None


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")
