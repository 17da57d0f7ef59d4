'''The four kinds of parts, as types: a part says what it is by its base, and mypy and `Optimistic` refuse it anywhere else.

    class Discounted(Memory):
        """Geometric forgetting with factor γ per round."""

        gamma: float

        def check(self) -> None: ...        # optional: refuses bad numbers, at construction

    Discounted(gamma=0.98)                  # by keyword only

At run time such a class is a named tuple made by `kernel.part`, which compiled code knows by its type: fields are numbers or parts, and
integers become floats. What a part does is in its methods of the open functions of `protocol`.
'''

import collections
import inspect
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from ..errors import InvalidValue
from .kernel import part

__all__ = ["Memory", "Model", "Part", "Radius", "Rule", "demand"]


class _PartType(type):
    """Makes a named tuple of every class whose base is one of the four kinds."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not any(isinstance(base, _PartType) and base.__bases__ != (object,) for base in bases):
            return super().__new__(mcs, name, bases, {"__slots__": (), **body})  # `Part` itself, or a kind
        bare = {key: value for key, value in body.items() if key != "__classcell__"}
        fields = list(inspect.get_annotations(type(name, (), bare)))
        defaults = [body.pop(field) for field in fields if field in body]
        record: type = collections.namedtuple(name, fields, defaults=defaults)  # type: ignore[misc]
        cls: Any = part(super().__new__(mcs, name, (record, *bases), {"__slots__": (), **body}))
        checked = cls.__new__

        def by_keyword(kind: type, *args: Any, **given: Any) -> Any:
            if args:
                names = ", ".join(f"{field}=…" for field in fields)
                raise InvalidValue(f"{name} is built with keywords, {name}({names}); {len(args)} came without a name")
            return checked(kind, **given)

        cls.__new__ = by_keyword
        cls._make = classmethod(lambda kind, values: checked(kind, *values))
        cls.__signature__ = inspect.signature(record)  # compiled code binds its arguments by this
        return cls


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Part(metaclass=_PartType):
    """What all parts have in common: they are tuples of named numbers that check themselves."""

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]

        def _replace(self, **changes: Any) -> Self: ...

        def _asdict(self) -> dict[str, Any]: ...

        def __iter__(self) -> Iterator[Any]: ...

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), tuple(self))


def _restored(kind: Any, values: Iterable[Any]) -> Any:
    """A part from its numbers, checked again: how pickle and copy make one."""
    return kind._make(values)


class Memory(Part):
    """What is forgotten?"""


class Model(Part):
    """What is estimated, and how?"""


class Radius(Part):
    """How sure are we?"""


class Rule(Part):
    """How do we choose?"""


def demand(name: str, given: Any, kind: type[Part]) -> None:
    """Refuse a part that is of another kind, or none at all."""
    if isinstance(given, kind):
        return
    known = [other for other in (Memory, Model, Radius, Rule) if isinstance(given, other)]
    found = f"a {known[0].__name__.lower()}" if known else f"a {type(given).__name__}"
    raise InvalidValue(
        f"{name} = {given!r} is {found}; it must be a {kind.__name__.lower()}, a subclass of {kind.__name__}"
    )
