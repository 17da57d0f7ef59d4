"""Keep what the tables of README and docs are made from: a small file from a folder of results.

    driftbandits reproduce successors --out results/successors
    python experiments/keep.py results/successors                # docs/results/successors.json
    python docs/tables.py                                        # the tables

It is the folder's summary.json with the command that made it, fitted exponents, and for every policy the time of its fastest trial: what a
loaded machine adds is never negative.
"""

import argparse
import csv
import json
import pathlib
from typing import Any

import pyarrow.parquet as pq

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "docs" / "results"


def fastest(folder: pathlib.Path) -> dict[tuple[str, str], float]:
    """µs per round of the fastest trial, by world and learner."""
    found: dict[tuple[str, str], float] = {}
    for cell in sorted((folder / "cells").rglob("*.parquet")):
        run = pq.read_table(cell)
        key = run["environment"][0].as_py(), run["strategy"][0].as_py()
        seconds = json.loads(run.schema.metadata[b"driftbandits"])["seconds"]
        found[key] = min(seconds / run["round"][-1].as_py() * 1e6, found.get(key, float("inf")))
    return found


def exponents(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Fitted exponents, if there are any."""
    path = folder / "tables" / "exponents.csv"
    if not path.exists():
        return []
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return [row | {key: float(row[key]) for key in ("exponent", "std", "theorem") if row[key]} for row in rows]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--name", help="of the file, without suffix; by default the folder's")
    asked = parser.parse_args()
    summary = json.loads((asked.folder / "summary.json").read_text())
    command = json.loads((asked.folder / "details.json").read_text())["settings"]["command"]
    times = fastest(asked.folder)
    for panel in summary["panels"].values():
        for policy in panel["policies"]:
            learner, _, world = policy["name"].partition(" @ ")
            least = [us for (env, name), us in times.items() if name == learner and world in ("", env)]
            policy["microseconds_at_best"] = min(least)
    kept = {"made_by": command, **summary} | ({"exponents": found} if (found := exponents(asked.folder)) else {})
    name = asked.name or asked.folder.resolve().name
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
