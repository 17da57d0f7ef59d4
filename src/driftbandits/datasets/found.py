"""Search for a data file: the given path, a folder of the user, or the folder of another package. Nothing is downloaded."""

import importlib.util
import os
import pathlib
from collections.abc import Sequence

from ..errors import CannotRead

FOLDER = "DRIFTBANDITS_DATA"  # environment variable


def find_file(name: str, file: "str | os.PathLike[str] | None", known_as: Sequence[str], get: str) -> pathlib.Path:
    """The file that was given, or the first of these names in $DRIFTBANDITS_DATA or river's folder of data.

    Parameters
    ----------
    get
        Where the file can be obtained, for the error message.
    """
    if file is not None:
        path = pathlib.Path(file).expanduser()
        if path.is_file():
            return path
        raise CannotRead(f"{name}: there is no file {str(path)!r}; get it from {get}")
    own = os.environ.get(FOLDER)
    river = pathlib.Path(os.environ.get("RIVER_DATA", pathlib.Path.home() / "river_data"))
    places = [*([pathlib.Path(own)] if own else []), *(river / folder for folder in ("Elec2", "Keystroke"))]
    for path in (place / known for place in places for known in known_as):
        if path.is_file():
            return path
    raise CannotRead(
        f"{name} is not on this machine: get it from {get}; then pass file='…/{known_as[0]}', or set {FOLDER} to its folder"
    )


def find_in_package(name: str, package: str, inside: str) -> pathlib.Path:
    """A file that an installed package ships; the package is not imported."""
    spec = importlib.util.find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec is not None else []:
        path = pathlib.Path(root) / inside
        if path.is_file():
            return path
    raise CannotRead(
        f"{name} ships with the package {package}, which is not installed: pip install --no-deps {package}, or pass file='…'"
    )
