"""Saved state: one file of named arrays (safetensors) with JSON in its header. There is no pickle, and loading runs no code.

`write`, `read`      write the file atomically and read it, with its format, its kind and a checksum of the whole content
`finite`             converts the values of `info` to plain JSON

`core.part_json` converts a strategy to JSON.

Files of all older formats stay readable; a file of a later format is refused with a one-line error.
"""

import hashlib
import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CannotRead, DriftBanditsError, InvalidState
from .files import Path, write_atomically

FORMATS = {"Bandit": 2}  # of kinds whose content has changed since format 1
KEY = "driftbandits"
Arrays = Mapping[str, NDArray[Any]]


# ------------------------------------------------------------------------------------------------------------------ files


def write(path: Path, kind: str, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Write the file, or leave the existing one unchanged."""
    write_atomically(path, to_bytes(kind, about, arrays))


def read(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The JSON and the arrays that `write` was given."""
    name = os.fspath(path)
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError as problem:
        raise CannotRead(f"{name} cannot be read: {(problem.strerror or str(problem)).lower()}") from None
    try:
        return from_bytes(data, kind)
    except CannotRead as problem:
        raise CannotRead(f"{name} cannot be loaded: {problem}") from None


def to_bytes(kind: str, about: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The content of a file; equal states give equal bytes."""
    return of_text(kind, text_of(about), arrays)


def text_of(about: Mapping[str, Any]) -> str:
    """The JSON of a file."""
    return json.dumps(about, separators=(",", ":"), allow_nan=False)


def of_text(kind: str, text: str, arrays: Arrays) -> bytes:
    """The same as `to_bytes`, from JSON that is text already."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    head = {"format": FORMATS.get(kind, 1), "kind": kind, "checksum": _checksum(text, plain), "about": text}
    return bytes(_safetensors().save(plain, {KEY: json.dumps(head)}))


def from_bytes(data: bytes, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The inverse of `to_bytes`; any other content raises a one-line error."""
    head = _head(data)
    version = head.get("format")
    if not isinstance(version, int) or version < 1:
        raise CannotRead("it is not a file of this library, or damaged")
    known = FORMATS.get(str(head.get("kind")), 1)
    if version > known:
        raise CannotRead(
            f"it was written by a later version (format {version}, known up to {known}): upgrade driftbandits"
        )
    if head.get("kind") != kind:
        raise CannotRead(f"it holds {_article(head.get('kind'))}, not {_article(kind)}")
    found = arrays(data)
    try:
        text = head["about"]
        intact = head["checksum"] == _checksum(text, found)
        about = json.loads(text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CannotRead("it is damaged") from None
    if not intact or not isinstance(about, dict):
        raise CannotRead("it is damaged: its checksum does not match its content")
    return about, found


def _head(data: bytes) -> dict[str, Any]:
    """The header that `to_bytes` wrote."""
    found = metadata(data)
    try:
        head = json.loads(found[KEY])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CannotRead("it is not a file of this library, or damaged") from None
    if not isinstance(head, dict):
        raise CannotRead("it is not a file of this library, or damaged")
    return head


def metadata(data: bytes) -> dict[str, Any]:
    """The strings in the header of a safetensors file: eight bytes of length, then the header."""
    length = int.from_bytes(data[:8], "little")
    if not 8 < 8 + length <= len(data):
        raise CannotRead("it is damaged, cut short, or not a file of this library")
    try:
        found = json.loads(data[8 : 8 + length])["__metadata__"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CannotRead("it is not a file of this library, or damaged") from None
    if not isinstance(found, dict):
        raise CannotRead("it is not a file of this library, or damaged")
    return found


def arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file."""
    try:
        return dict(_safetensors().load(data))
    except DriftBanditsError:
        raise
    except Exception:  # a parser may raise anything on damaged bytes
        raise CannotRead("it is damaged") from None


def _checksum(text: str, arrays: Arrays) -> str:
    mark = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        mark.update(f"{name}{array.dtype}{array.shape}".encode())
        mark.update(array.tobytes())
    return mark.hexdigest()


def _article(kind: Any) -> str:
    return f"{'an' if str(kind)[:1] in 'AEIOU' else 'a'} {kind}"


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise InvalidState("saving and loading need safetensors: pip install safetensors") from None
    return safetensors.numpy


# ------------------------------------------------------------------------------------------------------------- plain JSON


def finite(value: Any) -> Any:
    """A value as strict JSON: arrays become lists, NumPy's numbers become Python's, and NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(name): finite(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return finite(value.tolist())
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
