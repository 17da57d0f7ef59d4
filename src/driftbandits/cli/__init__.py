"""The command `driftbandits`: one file per subcommand, named as the user types it.

To add a subcommand, add a file here that decorates its function with `command(HEADING)` of `app`; nothing else has to change. Slow imports
belong inside the function, because every file is imported for `--help`.
"""

import gc
import importlib
import importlib.util
import pkgutil
import sys
from typing import Any

# The order of --help: data of one's own, algorithms and theorems, experiments; others follow by name.
FIRST = ("serve", "fit", "replay", "backup", "list", "tune", "table", "cite", "lab", "run", "reproduce", "report")


def application() -> Any:
    """The Typer application with every subcommand."""
    from .app import app

    found = [module.name for module in pkgutil.iter_modules(__path__) if module.name != "__main__"]
    for name in (*FIRST, *(name for name in found if name not in FIRST)):
        importlib.import_module(f".{name}", __name__)
    return app


def main() -> None:
    """Run the command; a missing optional dependency is reported in one line."""
    missing = [name for name in ("typer", "rich", "pydantic") if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"driftbandits: the command needs {' and '.join(missing)}: pip install 'driftbandits[command]'\n"
        )
        sys.exit(1)
    app = application()
    gc.freeze()  # imported objects live until the end, so the garbage collector need not scan them repeatedly
    app()
