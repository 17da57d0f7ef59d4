"""A folder of finished cells. Experiments, studies and benchmarks keep their results in it.

A cell is a unit of work that is described by plain data, its *specification*: all that decides its result. The result is one file,

    ROOT/cells/ab/abcd….SUFFIX

named by a digest of the specification. A changed specification therefore names another file, and nothing has to be invalidated. Files are
whole or absent, so any number of processes may work in one folder, and what one has finished the others find. A file that
was changed or cut since it was written counts as absent: the cell is computed again.
"""

import hashlib
import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from .files import make_folder, write_atomically

Found = TypeVar("Found")


def digest(spec: Mapping[str, Any]) -> str:
    """The name of a cell.

    Examples
    --------
    >>> digest({"a": 1}) == digest({"a": 1}) != digest({"a": 2})
    True
    """
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class CellStore(Generic[Found]):
    """A folder of finished cells; a subclass says how a result is written as bytes."""

    root: pathlib.Path
    damaged: set[str] = field(default_factory=set)  # keys of files that were there and were refused
    suffix: ClassVar[str] = ""

    def file(self, key: str) -> pathlib.Path:
        """The file of a cell."""
        return self.root / "cells" / key[:2] / f"{key}{self.suffix}"

    def write(self, key: str, data: bytes) -> None:
        """Keep the bytes of a result, in one piece."""
        path = self.file(key)
        make_folder(path.parent)
        write_atomically(path, data)

    def get(self, key: str) -> Found | None:
        """A kept result, or None. A damaged file is as good as absent, and noted in `damaged`."""
        try:
            data = self.file(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError:  # the disk cannot read it any more
            self.damaged.add(key)
            return None
        result = self.decode(data, key)
        if result is None:
            self.damaged.add(key)
        return result

    def decode(self, data: bytes, key: str) -> Found | None:
        """The result in these bytes, or None if they are not what was written for this cell."""
        raise NotImplementedError


@dataclass(frozen=True)
class JsonStore(CellStore[dict[str, Any]]):
    """Results that are JSON objects."""

    suffix: ClassVar[str] = ".json"

    def put(self, spec: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a result, and return it as `get` will: tuples and arrays become lists."""
        content = json.loads(json.dumps({"spec": spec, "result": result}, default=_plain))
        content["sha256"] = _checksum(content)
        self.write(digest(spec), (json.dumps(content, ensure_ascii=False) + "\n").encode())
        answer: dict[str, Any] = content["result"]
        return answer

    def decode(self, data: bytes, key: str) -> dict[str, Any] | None:
        """The result, if checksum and specification agree."""
        try:
            content = json.loads(data)
            same = content.pop("sha256") == _checksum(content) and digest(content["spec"]) == key
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        answer: dict[str, Any] = content["result"]
        return answer if same else None


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as numbers and lists; anything else cannot be kept."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a result must be plain data, and {type(value).__name__} is none")
