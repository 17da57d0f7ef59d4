"""Attributes that are set once. Compiled code checks no bounds, so changing a size of an existing object would make it crash."""

from typing import Any, Generic, TypeVar, overload

from ..errors import ReadOnly

T = TypeVar("T")


class WriteOnce(Generic[T]):
    """An attribute that `__init__` sets and that cannot be changed afterwards.

    Examples
    --------
    >>> class Box:
    ...     size = WriteOnce[int]()
    ...     def __init__(self, size):
    ...         self.size = size
    >>> box = Box(3)
    >>> box.size
    3
    >>> box.size = 4
    Traceback (most recent call last):
    ...
    driftbandits.errors.ReadOnly: Box.size cannot be changed: the state was built with it; make a new Box
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner.__name__, name

    @overload
    def __get__(self, instance: None, owner: type) -> "WriteOnce[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        """The value; on the class, the descriptor itself."""
        if instance is None:
            return self
        try:
            return instance.__dict__[self._name]
        except KeyError:
            raise AttributeError(f"{self._owner}.{self._name} is not set yet") from None

    def __set__(self, instance: object, value: T) -> None:
        """Set the value; raises if it is already set."""
        if self._name in instance.__dict__:
            self._refuse()
        instance.__dict__[self._name] = value

    def __delete__(self, instance: object) -> None:
        """Raise: the attribute cannot be deleted."""
        self._refuse()

    def _refuse(self) -> None:
        what = f"{self._owner}.{self._name}"
        raise ReadOnly(f"{what} cannot be changed: the state was built with it; make a new {self._owner}")
