"""Four adjacent numbers as one value: a vector register, for loops too short for the compiler to vectorise.

LLVM vectorises a loop over a row sixteen numbers at a time, after a check that no arrays overlap, and runs the remainder as scalar code:
nearly all of a row of twenty. Written with `load` and `store`, the same row is five vector registers, whatever the length of the
loop. In interpreted mode the value is a NumPy array of four.

Compiled code supports `-` and `*` of two values or of a number and a value, and `value[i]`.
"""

import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import float64, types
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
def _item(typing: Any, value: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(*args)

    return float64(register, types.intp), generate


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


_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
