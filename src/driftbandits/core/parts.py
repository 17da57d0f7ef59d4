'''The four kinds of parts as base classes, so that mypy and `Optimistic` reject a part of the wrong kind.

    class Discounted(Memory):
        """Geometric forgetting with factor γ per round."""

        gamma: float

        def check(self) -> None: ...        # optional: raises on invalid numbers, at construction

    Discounted(gamma=0.98)                  # arguments are keyword-only

At run time such a class is a named tuple made by `kernel.part`, which compiled code identifies by its type. Fields are numbers or parts,
and integers become floats. The behaviour of a part is defined by its methods for the open functions of `protocol`.
'''

import collections
import inspect
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from ..errors import InvalidValue
from .kernel import part

__all__ = ["Memory", "Model", "Part", "Radius", "Rule", "require_kind"]


class _PartType(type):
    """Turns every class whose base is one of the four kinds into a named tuple."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not any(isinstance(base, _PartType) and base.__bases__ != (object,) for base in bases):
            return super().__new__(mcs, name, bases, {"__slots__": (), **body})  # `Part` itself, or a kind
        # A throw-away class resolves the annotations; the cell that `super()` uses belongs to the real one.
        bare = {key: value for key, value in body.items() if key != "__classcell__"}
        fields = list(inspect.get_annotations(type(name, (), bare)))
        defaults = [body.pop(field) for field in fields if field in body]
        record: type = collections.namedtuple(name, fields, defaults=defaults)  # type: ignore[misc]
        cls: Any = part(super().__new__(mcs, name, (record, *bases), {"__slots__": (), **body}))
        checked = cls.__new__

        def by_keyword(kind: type, *args: Any, **given: Any) -> Any:
            if args:
                names = ", ".join(f"{field}=…" for field in fields)
                raise InvalidValue(
                    f"{name} takes keyword arguments only, {name}({names}); {len(args)} were given by position"
                )
            return checked(kind, **given)

        cls.__new__ = by_keyword
        cls._make = classmethod(lambda kind, values: checked(kind, *values))
        cls.__signature__ = inspect.signature(record)  # compiled code binds its arguments by this
        return cls


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Part(metaclass=_PartType):
    """The base of all parts: tuples of named numbers, validated at construction."""

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]

        def _replace(self, **changes: Any) -> Self: ...

        def _asdict(self) -> dict[str, Any]: ...

        def __iter__(self) -> Iterator[Any]: ...

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), tuple(self))


def _restored(kind: Any, values: Iterable[Any]) -> Any:
    """A part from its field values, validated again; pickle and copy build parts by this."""
    return kind._make(values)


class Memory(Part):
    """How past observations are weighted: all of them equally, discounted, in a window, or restarted."""


class Model(Part):
    """Which parameter is estimated, and by which estimator."""


class Radius(Part):
    """The radius of the confidence set around the estimate."""


class Rule(Part):
    """How an arm is chosen, given the estimate and its confidence set."""


def require_kind(name: str, given: Any, kind: type[Part]) -> None:
    """Raise `InvalidValue` if a value is a part of another kind, or not a part."""
    if isinstance(given, kind):
        return
    known = [other for other in (Memory, Model, Radius, Rule) if isinstance(given, other)]
    found = f"a {known[0].__name__.lower()}" if known else f"a {type(given).__name__}"
    raise InvalidValue(
        f"{name} = {given!r} is {found}; it must be a {kind.__name__.lower()}, a subclass of {kind.__name__}"
    )
