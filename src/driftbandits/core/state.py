"""Operations on whole states: copying, viewing, storing many of them, and packing into plain arrays for files.

A state is a tree of `NamedTuple`s of arrays, mutated in place. Operations that treat all arrays alike are written once here, so that parts
need no methods for them:

`copy_state`, `view_state`         available in compiled code and in Python
`filled`, `joined`, `duplicate`    make many copies of a state: the same tree with a leading axis; `view_state` returns one of them
`pack`, `unpack`                   convert a state to named arrays ("sums.A") and back, bit for bit
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShape, InvalidState, NoMethod
from .kernel import kernel
from .numba_private import class_of, compiled_form, fields_of, is_named_tuple

__all__ = ["copy_state", "duplicate", "filled", "joined", "leaves", "nodes", "pack", "scratch", "unpack", "view_state"]

T = TypeVar("T", bound=type)
C = TypeVar("C")


def _fields(kind: Any) -> Iterator[tuple[str, Any]]:
    """Names and numba types of the arrays and states in a state."""
    if not is_named_tuple(kind):
        raise NoMethod(f"a state must be a named tuple of arrays; {kind} is not")
    return fields_of(kind)


_scratch: set[type] = set()


def scratch(cls: T) -> T:
    """Mark a `NamedTuple` of arrays that need not be copied with a state: constants, or workspace that is written before it is read."""
    _scratch.add(cls)
    return cls


def copy_state(to: Any, source: Any) -> None:
    """Copy every array of `source` into the same array of `to`, a state of equal shapes; scratch arrays are left as they are."""
    for a, b in zip(to, source, strict=True):
        if type(a) in _scratch:
            continue
        if isinstance(a, tuple):
            copy_state(a, b)
        else:
            a[...] = b


@compiled_form(copy_state)
def _(to: Any, source: Any) -> Callable[..., None]:
    # Numba cannot loop over a tuple of fields of different types, so the loop is unrolled as source code, one line per field.
    lines = [
        f"    {'copy_state' if is_named_tuple(kind) else 'copy'}(to.{name}, source.{name})\n"
        for name, kind in _fields(to)
        if class_of(kind) not in _scratch
    ]
    code: dict[str, Any] = {"copy_state": copy_state, "copy": _copy_array}
    exec(f"def implementation(to, source):\n{''.join(lines) or '    pass'}", code)
    return cast(Callable[..., None], code["implementation"])


@kernel
def _copy_array(to: Any, source: Any) -> None:
    a, b = to.reshape(to.size), source.reshape(to.size)
    for j in range(to.size):  # numba's array assignment would need reference counting
        a[j] = b[j]


def view_state(store: Any, i: int) -> Any:
    """State i of a store: views of the same arrays without their leading axis, not copies."""
    return type(store)(*(view_state(a, i) if isinstance(a, tuple) else a[i] for a in store))


@compiled_form(view_state)
def _(store: Any, i: Any) -> Callable[..., Any]:
    parts = [f"view_state(store.{n}, i)" if is_named_tuple(kind) else f"store.{n}[i]" for n, kind in _fields(store)]
    code: dict[str, Any] = {"view_state": view_state, "make": class_of(store)}
    exec(f"def implementation(store, i):\n    return make({', '.join(parts)})", code)
    return cast(Callable[..., Any], code["implementation"])


# ------------------------------------------------------------------------------------------------------- many copies of one


def counters(kind: Callable[..., C], dtype: type = np.int64) -> C:
    """A `NamedTuple` of one-element arrays, all 0: named numbers that compiled code can change in place."""
    return kind(*(np.zeros(1, dtype) for _ in cast(Any, kind)._fields))


def filled(state: Any, places: int) -> Any:
    """A store of `places` copies of a state."""
    if isinstance(state, tuple):
        return type(state)(*(filled(field, places) for field in state))
    room = np.empty((places, *state.shape), state.dtype)
    room[...] = state
    return room


def joined(states: Sequence[Any]) -> Any:
    """A store of the given states, which must have equal shapes."""
    if isinstance(states[0], tuple):
        return type(states[0])(*map(joined, zip(*states, strict=True)))
    return np.stack(states)


def duplicate(state: Any) -> Any:
    """A copy of a state that shares no array with it."""
    return type(state)(*map(duplicate, state)) if isinstance(state, tuple) else state.copy()


# ----------------------------------------------------------------------------------------------------------- as plain arrays


def pack(state: Any) -> dict[str, NDArray[Any]]:
    """Copies of all arrays of a state, scratch included, by their paths and in the order of the fields.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Sums(NamedTuple):
    ...     A: NDArray[Any]
    >>> class State(NamedTuple):
    ...     sums: Sums
    ...     clock: NDArray[Any]
    >>> packed = pack(State(Sums(np.eye(2)), np.zeros(1, np.int64)))
    >>> list(packed)
    ['sums.A', 'clock']
    """
    return {name: np.array(array, order="C") for name, array in leaves(state)}


def unpack(like: Any, arrays: Mapping[str, NDArray[Any]], *, longer: Collection[str] = ()) -> Any:
    """The state that was packed: a new one, whose arrays must have the names, types and shapes of those in `like`.

    Compiled code checks no bounds, so only equal shapes are accepted. The exception are arrays named in `longer`, which grow with the
    number of observations: their last axis may be longer than in `like`, and must be equally long for all of them in one tuple.
    """
    expected = [name for name, _ in leaves(like)]
    for name in expected:
        if name not in arrays:
            raise InvalidState(
                f"the saved state has no array {name!r}: it was saved by another strategy, or is damaged"
            )
    for name in arrays:
        if name not in expected:
            raise InvalidState(f"the saved state has an array {name!r}, which is not part of this strategy's state")
    return _rebuilt(like, "", arrays, longer)


def nodes(state: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every tuple in a state, including the state itself, with the prefix of the paths of its fields."""
    yield path, state
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, tuple):
            yield from nodes(value, f"{path}{name}.")


def leaves(state: Any, path: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Every array in a state, with its path."""
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, tuple):
            yield from leaves(value, f"{path}{name}.")
        else:
            yield path + name, value


def _rebuilt(like: Any, path: str, arrays: Mapping[str, NDArray[Any]], longer: Collection[str]) -> Any:
    fields = []
    ends: dict[str, int] = {}
    for name, value in zip(like._fields, like, strict=True):
        full = path + name
        if isinstance(value, tuple):
            fields.append(_rebuilt(value, f"{full}.", arrays, longer))
            continue
        given = arrays[full]
        if full in longer and given.ndim == value.ndim > 0 and given.shape[-1] >= value.shape[-1]:
            ends[full] = given.shape[-1]
            value = np.empty((*value.shape[:-1], given.shape[-1]), value.dtype)
        if given.dtype != value.dtype or given.shape != value.shape:
            raise InvalidShape(
                f"the saved {full} is {given.dtype} of shape {given.shape}; "
                f"this strategy needs {value.dtype} of shape {value.shape}"
            )
        made = np.empty_like(value)  # keeps the memory layout (C or Fortran order), on which compiled code relies
        made[...] = given
        fields.append(made)
    if len(set(ends.values())) > 1:
        raise InvalidShape(f"the saved state has arrays of different lengths {ends}; they must be equally long")
    return type(like)(*fields)
