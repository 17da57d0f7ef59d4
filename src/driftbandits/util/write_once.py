"""Attributes that are set once: compiled code checks no bounds, so a size that changed later would be a crash."""

from typing import Any, Generic, TypeVar, overload

from ..errors import ReadOnly

T = TypeVar("T")


class Fixed(Generic[T]):
    """An attribute that `__init__` sets and nothing changes.

    Examples
    --------
    >>> class Box:
    ...     size = Fixed[int]()
    ...     def __init__(self, size):
    ...         self.size = size
    >>> box = Box(3)
    >>> box.size
    3
    >>> box.size = 4
    Traceback (most recent call last):
    ...
    driftbandits.errors.ReadOnly: Box.size cannot be changed: what was made with it would not fit; make a new Box
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner.__name__, name

    @overload
    def __get__(self, instance: None, owner: type) -> "Fixed[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        """The value; the descriptor itself when asked of the class."""
        if instance is None:
            return self
        try:
            return instance.__dict__[self._name]
        except KeyError:
            raise AttributeError(f"{self._owner}.{self._name} is not set yet") from None

    def __set__(self, instance: object, value: T) -> None:
        """Set it, the first time."""
        if self._name in instance.__dict__:
            self._refuse()
        instance.__dict__[self._name] = value

    def __delete__(self, instance: object) -> None:
        """Never."""
        self._refuse()

    def _refuse(self) -> None:
        what = f"{self._owner}.{self._name}"
        raise ReadOnly(f"{what} cannot be changed: what was made with it would not fit; make a new {self._owner}")
