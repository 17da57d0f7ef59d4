"""Run everything, or what is missing of it, and write benchmarks/results/: `python -m bench [--anew] [--seeds 8] …`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core for everybody
os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import argparse
import importlib.metadata
import json
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from . import limits, quick, report
from .cells import ROOT, Store, version, wanted
from .peers import OURS, PEERS, module

STORE = ROOT / "results" / "bench"
RESULTS = ROOT / "benchmarks" / "results"


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


def costs(what, *names):
    """What bench.cost finds, in a process of its own; {} if that dies."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "found.json"
        subprocess.run([sys.executable, "-m", "bench.cost", what, str(file), *names], check=False)
        return json.loads(file.read_text()) if file.exists() else {}


def play_all(asked):
    """Play what is not in the store yet; what did not work, by learner."""
    trouble, most = {}, [] if asked.seeds is None else [str(asked.seeds)]
    for name in asked.only:
        command = [sys.executable, "-m", "bench.worker", name, str(STORE), str(asked.scale), *most]
        if subprocess.run(command, check=False).returncode:
            trouble[name] = "some of its runs failed"
            print(f"{name}: some of its runs failed; what it finished is kept", file=sys.stderr)
    return trouble


def gather(tasks, absent, began):
    """Finished cells as a tree: of each stream, learner and seed the runs as documented and tuned; and how many are older than this run."""
    store, kept = Store(STORE), {}
    tree = {task.stream: {} for its in tasks.values() for task in its}
    for name, its in tasks.items():
        settings = module(name).SETTINGS
        for task in its:
            cell, chosen = store.found(task.default), task.chosen(store)
            if cell is None:
                continue
            found = {"default": cell}
            if chosen is not None and (tuned := store.found(task.tuned(chosen))) is not None:
                found |= {"tuned": tuned, "setting": settings[chosen]}
            tree[task.stream].setdefault(name, {})[str(task.seed)] = found
            kept[name] = kept.get(name, 0) + (cell["measured"] < began)
    return {"streams": tree, "absent": absent, "kept": {name: n for name, n in kept.items() if n}}


def measure(asked):
    """Everything that the page tells."""
    if asked.anew:
        shutil.rmtree(STORE / "cells", ignore_errors=True)
    versions = {name: version(name) for name in (*OURS, *PEERS)}
    here = [name for name, found in versions.items() if found is not None]
    trouble = {name: "not installed" for name in versions if name not in here}
    asked.only = [name for name in asked.only if name in here]
    before, began, clock = machine(), time.strftime("%Y-%m-%dT%H:%M:%S"), time.time()
    trouble |= play_all(asked)
    found = {
        **gather(*wanted(here, asked.scale, asked.seeds), began),
        "long": {} if asked.rewards else {name: costs("long", name) for name in here},
        "cost": {} if asked.rewards else costs("shapes", *here),
        "limits": [] if asked.rewards else limits.measure(),
        "quick": quick.measure(),
    }
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "made_by": "make bench",
        "machine": before,
        "load at the end": machine()["load"],
        "began": began,
        "minutes": round((time.time() - clock) / 60, 1),
        "CPU minutes": round(sum(u.ru_utime + u.ru_stime for u in used) / 60, 1),
        "versions": versions,
        "trouble": trouble,
        "scale": asked.scale,
        "seeds": asked.seeds,
        **found,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the streams' lengths")
    parser.add_argument(
        "--seeds",
        type=int,
        help="at most so many of each stream; by default 32 or 64, and three stretches of real ones",
    )
    parser.add_argument("--only", nargs="*", default=[*OURS, *PEERS], help="play these only; the others as far as kept")
    parser.add_argument("--anew", action="store_true", help="play everything again, also what was finished here before")
    parser.add_argument("--rewards", action="store_true", help="no costs: for a machine on which others compute too")
    parser.add_argument("--cells", action="store_true", help="only play what is missing; write no page")
    parser.add_argument("--report", action="store_true", help="only write the page again from results/bench.json")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if asked.cells:
        play_all(asked)
        return
    if not asked.report:
        found = json.dumps(measure(asked), indent=1, ensure_ascii=False)
        (RESULTS / "bench.json").write_text(found + "\n")
    report.write(RESULTS / "bench.json", ROOT)


if __name__ == "__main__":
    main()
