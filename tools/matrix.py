"""A smoke set on every Python we promise that is installed here, each in an environment of its own with the locked, hashed versions.

    python tools/matrix.py [3.12 …]

What is run: `pip install --require-hashes` of the lock; compiled, the smoke set of tests/versions; interpreted, the tests of agents and
saved files. A Python that is not installed is named and left out.
"""

import os
import pathlib
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
PROMISED = ("3.11", "3.12", "3.13")
TESTS = ("tests/unit/test_agent.py", "tests/unit/test_saving.py", "tests/unit/memory", "tests/unit/test_stateful.py")


def interpreter(version: str) -> str | None:
    """The Python of this version, on the path or pyenv's."""
    for found in sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), reverse=True):
        return str(found)
    return shutil.which(f"python{version}")


def environment(version: str, python: str) -> pathlib.Path:
    """An environment with the locked versions; made anew when the lock has changed."""
    folder = TOP / "build" / "python" / version
    lock, stamp = TOP / "requirements.lock", folder / ".lock"
    if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", lock]
        subprocess.run([folder / "bin" / "python", *install], check=True)
        shutil.copy(lock, stamp)
    return folder / "bin" / "python"


def check(version: str, python: str) -> bool:
    """The smoke set; did it pass?"""
    try:
        own = environment(version, python)
        settings = {**os.environ, "PYTHONPATH": str(TOP / "src"), "DRIFTBANDITS_COMPILE": "now"}
        settings["DRIFTBANDITS_CACHE"] = str(TOP / "build" / "python" / f"{version}-cache")
        subprocess.run([own, "tests/versions/smoke.py"], cwd=TOP, env=settings, check=True, stdout=subprocess.DEVNULL)
        tests = [own, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow and not compiled"]
        subprocess.run([*tests, *TESTS], cwd=TOP, env={**settings, "NUMBA_DISABLE_JIT": "1"}, check=True)
    except subprocess.CalledProcessError as failure:
        print(f"Python {version} ({python}): FAILED at {' '.join(map(str, failure.cmd[:4]))} …", flush=True)
        return False
    print(f"Python {version} ({python}): lock installed, smoke set and agents pass", flush=True)
    return True


def main() -> int:
    """All versions asked for, or all that are promised; how many failed."""
    failed = 0
    for version in sys.argv[1:] or PROMISED:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not installed here, not tested", flush=True)
        else:
            failed += not check(version, python)
    return failed


if __name__ == "__main__":
    sys.exit(main())
