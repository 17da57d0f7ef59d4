"""What both kinds of agents share: saving, loading, copying and pickling by one representation, JSON and arrays."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from numpy.typing import NDArray

from ..errors import CannotRead, DriftBanditsError
from .saving import read, write

Arrays = Mapping[str, NDArray[Any]]
#: What reading a forged description may raise; every other error of ours has a message of its own.
INCONSISTENT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, MemoryError, RecursionError)


class Saveable:
    """An agent that can be saved. A subclass defines `_packed`, called with the lock held, and `_unpacked`."""

    _kind: ClassVar[str]  # in the file
    _lock: Any

    def _recover(self) -> None:
        """Finish or undo an interrupted call."""
        raise NotImplementedError

    def _packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        raise NotImplementedError

    @classmethod
    def _unpacked(cls, about: Mapping[str, Any], arrays: Arrays, **options: Any) -> Self:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole agent to one file, atomically: after `load` it continues as if it had never been saved.

        The file holds arrays (safetensors) and JSON, no pickle. An episode may be running.
        """
        write(path, self._kind, *self.pack())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        compile: Literal["background", "now", "never"] = "background",  # noqa: A002
    ) -> Self:
        """Load a saved agent; a file that is damaged, manipulated or from a later version is refused with a one-line error.

        Parts of your own must be imported before, because loading a file neither imports a module nor runs code.
        """
        about, arrays = read(path, cls._kind)
        try:
            return cls.unpack(about, arrays, compile=compile)
        except DriftBanditsError as problem:
            raise CannotRead(f"{os.fspath(path)} cannot be loaded: {problem}") from None

    def pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The whole agent as JSON and arrays."""
        with self._lock:
            self._recover()
            return self._packed()

    @classmethod
    def unpack(cls, about: Mapping[str, Any], arrays: Arrays, **options: Any) -> Self:
        """The agent that was packed; inconsistent content raises a one-line error before an agent exists."""
        try:
            return cls._unpacked(about, arrays, **options)
        except DriftBanditsError:
            raise
        except INCONSISTENT:
            raise CannotRead("its description of the agent is inconsistent") from None

    def __reduce__(self) -> Any:
        """Copy and pickle use the same representation as `save`."""
        return _copied, (type(self), *self.pack())


def _copied(kind: type[Saveable], about: Mapping[str, Any], arrays: Arrays) -> Saveable:
    return kind.unpack(about, arrays)
