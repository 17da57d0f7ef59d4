"""Run the smoke set on the oldest and the newest numba we promise, each in an environment of its own under build/.

    python tests/versions/run.py [VERSION…]

Each version compiles into a cache of its own, and starts again from it: the second start must compile nothing. All versions must
choose the same arms, and agree on regrets and estimates to 1e-9.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

HERE = pathlib.Path(__file__).resolve()
TOP = HERE.parents[2]
BUILD = TOP / "build" / "numba"


def environment(version: str) -> pathlib.Path:
    """A Python with this numba."""
    folder = BUILD / version
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            f"numba=={version}",
            "scipy",
        ]
        subprocess.run(install, check=True)
        (folder / ".ready").touch()
    return python


def smoke(python: pathlib.Path, cache: pathlib.Path) -> tuple[Any, float]:
    """What the smoke set told, and how long it took."""
    settings = {
        **os.environ,
        "DRIFTBANDITS_CACHE": str(cache),
        "PYTHONPATH": str(TOP / "src"),
        "DRIFTBANDITS_COMPILE": "now",
    }
    began = time.monotonic()
    done = subprocess.run([python, HERE.parent / "smoke.py"], env=settings, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the smoke set fails:\n{done.stderr}")
    return json.loads(done.stdout), time.monotonic() - began


def differ(a: Any, b: Any) -> bool:
    """Integers must be equal, other numbers close."""
    if isinstance(a, dict):
        return a.keys() != b.keys() or any(differ(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) != len(b) or any(map(differ, a, b))
    return a != b if isinstance(a, int) else not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def check(version: str) -> Any:
    """Compile, start again, compare."""
    python, cache = environment(version), BUILD / f"{version}-cache"
    subprocess.run(["rm", "-rf", cache], check=True)
    first, slow = smoke(python, cache)
    kept = {p: p.stat().st_mtime_ns for p in cache.rglob("*.nbc")}
    second, fast = smoke(python, cache)
    if {p: p.stat().st_mtime_ns for p in cache.rglob("*.nbc")} != kept or not kept:
        sys.exit(f"numba {version}: the second start compiled again")
    if first != second:
        sys.exit(f"numba {version}: code from the cache gives other numbers")
    print(f"numba {version}: {len(kept)} pieces compiled in {slow:.0f} s, loaded in {fast:.0f} s", flush=True)
    return first


def main() -> None:
    """All versions asked for, or the ends of the tested range."""
    sys.path.insert(0, str(TOP / "src"))
    from driftbandits.core.numba_private import TESTED

    told = {version: check(version) for version in sys.argv[1:] or TESTED}
    reference = next(iter(told))
    for version, numbers in told.items():
        if differ(told[reference], numbers):
            sys.exit(f"numba {version} gives other numbers than {reference}")
    print("the same choices and numbers on all of them")


if __name__ == "__main__":
    main()
