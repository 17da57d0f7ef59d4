"""The command `driftbandits`. Its commands live in `commands`; here, what is missing is told in one line."""

import gc
import importlib.util
import sys


def main() -> None:
    """Run the command."""
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"driftbandits: the command needs {' and '.join(missing)}: pip install 'driftbandits[command]'\n"
        )
        sys.exit(1)
    from .experiment import inquiries

    gc.freeze()  # what is imported stays; the garbage collector need not look through it again and again
    inquiries.app()


if __name__ == "__main__":
    main()
