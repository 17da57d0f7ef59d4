"""Imports of modules by their names in version 0.1.

Every extension written for 0.1 contains `from driftbandits.parts import Memory`. Such an import returns the module at its present place,
the same object, with a `DeprecationWarning` that names the new place.
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
        """The module at its present place."""
        warnings.warn(
            f"{spec.name} moved to {MOVED[spec.name]} in version 0.2: import it from there",
            DeprecationWarning,
            stacklevel=2,
        )
        module = importlib.import_module(MOVED[spec.name])
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing again; restore the module's own specification, which the import system has replaced."""
        module.__spec__ = self._own


def answer_old_names() -> None:
    """Make imports by the old names work."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
