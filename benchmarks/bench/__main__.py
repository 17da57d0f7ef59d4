"""Run everything, or what is missing of it, and write benchmarks/results/: `python -m bench [--scale 1] [--seeds 3] [--only NAME …]`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core for everybody
os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import argparse
import hashlib
import importlib.metadata
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

from . import limits, quick, report, streams
from .peers import OURS, PEERS, module

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORE = ROOT / "results" / "bench" / "cells.jsonl"
RESULTS = ROOT / "benchmarks" / "results"


def version(name):
    """Of a peer; of ours, a digest of the code that decides. None if it is not installed."""
    if name in OURS:
        code = hashlib.sha256()
        for file in sorted((ROOT / "src" / "driftbandits").rglob("*.py")):
            if file.relative_to(ROOT / "src" / "driftbandits").parts[0] not in ("experiment", "cli", "integrations"):
                code.update(file.read_bytes())
        return f"{importlib.import_module('driftbandits').__version__}+{code.hexdigest()[:10]}"
    try:
        return importlib.metadata.version(module(name).PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None


def machine():
    """What it ran on, and how busy that was."""
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")  # noqa: SIM115, PTH123
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": [round(x, 1) for x in os.getloadavg()],
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": importlib.metadata.version("numba"),
    }


def gather(versions, scale, seeds):
    """The cells of these versions and sizes, as one tree."""
    tree = {"streams": {title: {} for title in streams.catalogue(scale)}, "long": {}}
    for line in STORE.read_text().splitlines():
        read = json.loads(line)
        name, what, title, seed, its_scale, its_version = read["key"]
        if (its_scale, its_version) != (scale, versions.get(name)) or seed >= seeds:
            continue
        if what == "long":
            tree["long"][name] = read["found"]
        elif title in tree["streams"]:
            tree["streams"][title].setdefault(name, {})[str(seed)] = read["found"]
    return tree


def costs(names):
    """µs by learner and shape, measured in a process of their own; {} if that dies."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "cost.json"
        subprocess.run([sys.executable, "-m", "bench.cost", str(file), *names], check=False)
        return json.loads(file.read_text()) if file.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the streams' lengths")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[*OURS, *PEERS])
    parser.add_argument("--report", action="store_true", help="only write the page again from results/bench.json")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if not asked.report:
        STORE.parent.mkdir(parents=True, exist_ok=True)
        versions = {name: version(name) for name in (*OURS, *PEERS)}
        before = machine()
        trouble = {name: "not installed" for name, found in versions.items() if found is None}
        for name in asked.only:
            if versions[name] is None:
                print(f"{name} is not installed; it is left out", file=sys.stderr)
                continue
            command = [sys.executable, "-m", "bench.worker", name, str(STORE), str(asked.scale), str(asked.seeds)]
            if subprocess.run([*command, versions[name]], check=False).returncode:
                trouble[name] = "its process died"
                print(f"{name}: its process died; what it finished is kept", file=sys.stderr)
        found = gather(versions, asked.scale, asked.seeds)
        found["cost"] = costs([name for name in (*OURS, *PEERS) if name not in trouble])
        about = {"machine": before, "load at the end": machine()["load"], "versions": versions, "trouble": trouble}
        sizes = {"scale": asked.scale, "seeds": asked.seeds}
        whole = {
            "made_by": "make bench",
            **about,
            **sizes,
            **found,
            "limits": limits.measure(),
            "quick": quick.measure(),
        }
        (RESULTS / "bench.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    report.write(RESULTS / "bench.json", ROOT)


if __name__ == "__main__":
    main()
