"""Modules that users of version 0.1 import, and where they are now.

`from driftbandits.parts import Memory` stands in every extension written for 0.1. Such an import is answered by the module of today, the
very same object, with a `DeprecationWarning` that names the new place.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

MOVED = {
    "driftbandits.kernel": "driftbandits.core.kernel",
    "driftbandits.parts": "driftbandits.core.parts",
    "driftbandits.linalg": "driftbandits.core.linalg",
    "driftbandits.ties": "driftbandits.core.ties",
    "driftbandits.state": "driftbandits.core.state",
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules in `MOVED`, and nothing else."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        """The specification of a module that moved."""
        return importlib.machinery.ModuleSpec(name, self) if name in MOVED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module of today."""
        warnings.warn(
            f"{spec.name} is {MOVED[spec.name]} since version 0.2: import it from there",
            DeprecationWarning,
            stacklevel=2,
        )
        module = importlib.import_module(MOVED[spec.name])
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; the import system has put its own specification into the module, which is undone."""
        module.__spec__ = self._own


def answer_old_names() -> None:
    """Let imports of the old names find the modules of today."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
