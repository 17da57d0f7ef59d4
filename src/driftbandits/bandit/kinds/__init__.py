"""Kinds of rewards: each is one file of this folder, with a `Kind` called `KIND`."""

import importlib
import pkgutil

from .kind import Kind

__all__ = ["KINDS", "Kind", "find_kinds"]


def find_kinds() -> dict[str, Kind]:
    """The kinds by name, in alphabetical order."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name != "kind")
    return {name: importlib.import_module(f"{__name__}.{name}").KIND for name in names}


KINDS = find_kinds()
