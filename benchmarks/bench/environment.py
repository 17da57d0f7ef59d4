"""Make `.venv-bench` with what driftbandits needs and every peer that installs. Only the standard library is used here."""

import pathlib
import subprocess
import sys
import tempfile
import venv

from peers import PEERS  # this is a script: its own folder is on the path

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv-bench"
NEEDED = ("numpy", "scipy", "numba", "llvmlite", "narwhals", "pyarrow", "matplotlib", "scikit-learn")
COMMAND = ("pydantic", "typer", "rich", "jinja2")  # `driftbandits bench-suite` plays the peers too

FILES = ("safetensors", "orjson")  # `bench_bulk` measures a durable bandit


def locked():
    """Our own versions of what both sides use, so that all are measured with the same NumPy."""
    words = [line.split()[0] for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line]
    return [word for word in words if word.split("==")[0].lower() in (*NEEDED, *COMMAND, *FILES, "pandas")]


def install(*packages):
    """Did pip install them?"""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(locked()))
        file.flush()
        pip = [str(PLACE / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        return subprocess.run([*pip, *packages, "--constraint", file.name], check=False).returncode == 0


def main():
    if not (PLACE / "bin" / "python").exists():
        venv.create(PLACE, with_pip=True)
    if not install(*NEEDED, *COMMAND, *FILES):
        sys.exit("what driftbandits itself needs could not be installed")
    for peer in PEERS:
        if peer not in NEEDED and not install(peer):
            print(f"{peer} could not be installed; it is left out", file=sys.stderr)


if __name__ == "__main__":
    main()
