"""Run everything, or what is missing of it, and write benchmarks/results/: `python -m bench [--anew] [--seeds 8] …`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core for everybody
os.environ.setdefault("DRIFTBANDITS_COMPILE", "now")

import argparse
import importlib.metadata
import json
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib

from . import charts, limits, play, quick, report
from .cells import ROOT, Store, chosen, present, seeds, version
from .peers import OURS, PEERS, module

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
    """Play what is not kept yet, everything in one process; what did not work."""
    if not asked.only:
        return {}
    most = "all" if asked.seeds is None else str(asked.seeds)
    command = [sys.executable, "-m", "bench.worker", folder(asked), str(asked.scale), "0", most, ";".join(asked.only)]
    if subprocess.run([*command, *asked.streams], check=False).returncode:
        told = "some runs failed; what was finished is kept"
        print(told, file=sys.stderr)
        return {", ".join(asked.only): told}
    return {}


def folder(asked):
    """Where cells are kept: in the repository, unless streams are shorter or longer than those of the page."""
    return str(RESULTS / "cells" if asked.scale == 1 else ROOT / "results" / "bench")


def gather(names, asked):
    """Of each stream and learner: the seeds played, the shares earned as documented and tuned, and the settings chosen."""
    stores = {name: Store(folder(asked), name) for name in names}
    here, absent = present(asked.scale)
    tree = {title: {name: {"seeds": []} for name in names} for title in here}
    spent = {name: {} for name in names}
    for title, source in here.items():
        for seed in seeds(title, source, 0, asked.seeds):
            for name, store in stores.items():
                told = one_seed(name, seed, store)
                for what, value in told.items():
                    tree[title][name].setdefault(what, []).append(value)
                spent[name] |= seconds(name, seed, store)
    runs = {name: {"runs": len(took), "CPU minutes": round(sum(took.values()) / 60, 1)} for name, took in spent.items()}
    return {"streams": tree, "absent": absent, "runs": runs}


def seconds(name, seed, store):
    """CPU of every run of a seed, those that chose a setting too, by key."""
    took = {}
    for rounds in (seed.rounds, *seed.tuning):
        for setting in range(len(module(name).SETTINGS)):
            if (cell := store.found(key := rounds.key(setting))) is not None:
                took[key] = 1e-6 * cell["micros"] * len(rounds.stream.R)
    return took


def one_seed(name, seed, store):
    """What a learner earned as documented, and tuned; None while a run is missing."""
    learner = module(name)
    cell = store.found(seed.rounds.key(0))
    if (refused := learner.refuses(seed.rounds.stream)) or cell is None:
        return {"refused": refused} if refused else {}
    if "reward" not in cell:
        return {"stopped": cell["micros"]}
    told = {"seeds": int(seed.rounds.which), "reward": cell["reward"], "default": round(play.share(cell), 6)}
    if len(learner.SETTINGS) == 1:
        return told
    setting = chosen(name, seed, store)
    tuned = None if setting is None else store.found(seed.rounds.key(setting))
    return {**told, "tuned": None if tuned is None else round(play.share(tuned), 6), "setting": setting}


def measure(asked):
    """Everything that the page tells."""
    for name in asked.only if asked.anew else ():
        (pathlib.Path(folder(asked)) / f"{name}.csv").unlink(missing_ok=True)
    versions = {name: version(name) for name in (*OURS, *PEERS)}
    here = [name for name, found in versions.items() if found is not None]
    trouble = {name: "not installed" for name in versions if name not in here}
    asked.only = [name for name in asked.only if name in here]
    before, began, clock = machine(), time.strftime("%Y-%m-%dT%H:%M:%S"), time.time()
    trouble |= play_all(asked)
    found = {
        **gather(here, asked),
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


def written(found):
    """JSON with a list of numbers on one line."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n"


def publish():
    """From bench.json the page, in both places, and the pictures."""
    data = json.loads((RESULTS / "bench.json").read_text())
    notes = tomllib.loads((ROOT / "benchmarks" / "notes.toml").read_text())["why"]
    charts.reward_chart(data, RESULTS)
    charts.cost_chart(data, RESULTS)
    (RESULTS / "README.md").write_text(report.page(data, ".", notes))
    (ROOT / "docs" / "benchmarks.md").write_text(report.page(data, "../benchmarks/results", notes))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the streams' lengths")
    parser.add_argument(
        "--seeds",
        type=int,
        help="at most so many of each stream; by default 32 or 64, and three stretches of real ones",
    )
    parser.add_argument(
        "--only", nargs="*", default=[*OURS, *PEERS], help="play these only, or nobody; the others as far as kept"
    )
    parser.add_argument("--streams", nargs="*", default=[], help="play these only")
    parser.add_argument("--anew", action="store_true", help="play again also what is kept in benchmarks/results/cells")
    parser.add_argument("--rewards", action="store_true", help="no costs: for a machine on which others compute too")
    parser.add_argument("--cells", action="store_true", help="only play what is missing; write no page")
    parser.add_argument("--report", action="store_true", help="only write the page again from results/bench.json")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    if asked.cells:
        play_all(asked)
        return
    if not asked.report:
        (RESULTS / "bench.json").write_text(written(measure(asked)))
    publish()


if __name__ == "__main__":
    main()
