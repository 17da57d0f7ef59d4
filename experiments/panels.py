"""The panels (TOML files beside this one) from whose summaries the tables of README and docs are made.

Each study runs its panels as `driftbandits reproduce` does, into results/NAME, and keeps their summary with the fitted exponents and, for
every policy, the time of its fastest trial: what a loaded machine adds is never negative.
"""

import csv
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq

from driftbandits import experiment
from driftbandits.experiment.spec import panels
from driftbandits.experiment.study import Cells, Report, Study, study


def panel_study(name: str, *files: str, robust: bool = False, tiny_panels: int = 1, **sizes: Any) -> Study:
    """A study that publishes panels and keeps their summary; a smoke test runs the first of them."""

    def publish(cells: Cells, *, smoke: bool = False) -> Report:
        wanted = [panels.file(panel) for panel in (files[:tiny_panels] if smoke else files)]
        out = cells.store.root.parent / name
        experiment.publish(
            panels.paper().name,
            [experiment.load(path, tiny=smoke, **({} if smoke else sizes)) for path in wanted],
            out,
            jobs=cells.jobs,
            progress=cells.progress,
            collection=panels.paper(),
            command=f"driftbandits study {name}",
            robust=robust and not smoke,
        )
        return Report(kept(out))

    publish.__doc__ = f"The panels {', '.join(files)}."
    return study(name=name, tiny={"smoke": True})(publish)


PAPER: Sequence[str] = panels.paper().panels
paper = panel_study("paper", *PAPER, robust=True, trials=20, horizon=6000, seed=0)
norm_5 = panel_study("norm-5", "glb-s5", "scb-s5", constants={"theta_norm": 5.0})
beyond = panel_study("beyond", "mdp-linear", "mdp-mnl", "adaptive")
piecewise = panel_study("piecewise", "piecewise")
scaling = panel_study("scaling", "scaling")
successors = panel_study("successors", "successors")
learners = panel_study("learners", "learners")
neighbours = panel_study("neighbours", "russac", "kim", "faury", "lower-bound")
cheung = panel_study("cheung", "cheung")
wei_luo = panel_study("wei-luo", "wei-luo")


def kept(folder: pathlib.Path) -> dict[str, Any]:
    """The summary of a folder of results, with times and exponents."""
    summary = json.loads((folder / "summary.json").read_text())
    times = fastest(folder)
    for panel in summary["panels"].values():
        for policy in panel["policies"]:
            learner, _, world = policy["name"].partition(" @ ")
            least = [us for (env, name), us in times.items() if name == learner and world in ("", env)]
            policy["microseconds_at_best"] = min(least)
    return summary | ({"exponents": found} if (found := exponents(folder)) else {})


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
