"""The tables of docs/successors.md from the results of its panel.

    driftbandits reproduce successors --out results/successors
    python experiments/successors_table.py results/successors          # writes docs/successors.md

Regret is mean ± standard deviation over trials, the least of a row in bold. Times are the least of all trials, in µs per round: what a
loaded machine adds is never negative.
"""

import argparse
import csv
import json
import pathlib
import re

import pyarrow.parquet as pq

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "successors.md"
PLACE = re.compile(r"(<!-- successors: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

Rows = list[dict[str, str]]


def read(folder: pathlib.Path) -> tuple[Rows, dict[tuple[str, str], float]]:
    """Final regret, and µs per round of the fastest trial, by world and learner."""
    with (folder / "tables" / "final_regret.csv").open() as file:
        rows = list(csv.DictReader(file))
    fastest: dict[tuple[str, str], float] = {}
    for cell in sorted((folder / "cells").rglob("*.parquet")):
        run = pq.read_table(cell)
        key = run["environment"][0].as_py(), run["strategy"][0].as_py()
        seconds = json.loads(run.schema.metadata[b"driftbandits"])["seconds"]
        fastest[key] = min(seconds / run["round"][-1].as_py() * 1e6, fastest.get(key, float("inf")))
    return rows, fastest


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"


def table(kind: str, rows: Rows, fastest: dict[tuple[str, str], float]) -> str:
    """Worlds of a kind by learners: regret (time)."""
    own = [r for r in rows if r["environment"].startswith(kind)]
    worlds, learners = (list(dict.fromkeys(r[key] for r in own)) for key in ("environment", "strategy"))
    found = {(r["environment"], r["strategy"]): r for r in own}
    text = row(f"{kind}, {own[0]['trials']} trials", *learners) + "|---" * (len(learners) + 1) + "|\n"
    for world in worlds:
        least = min(float(found[world, s]["mean"]) for s in learners if (world, s) in found)
        cells = []
        for s in learners:
            if (world, s) not in found:
                cells.append("–")
                continue
            mean, std = float(found[world, s]["mean"]), float(found[world, s]["std"])
            regret = f"**{mean:.0f}**" if mean == least else f"{mean:.0f}"
            cells.append(f"{regret} ± {std:.0f} ({fastest[world, s]:.2g})")
        text += row(world.partition(", ")[2], *cells)
    return text


def main() -> None:
    """Write the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    results = read(parser.parse_args().folder)
    PAGE.write_text(PLACE.sub(lambda m: m[1] + table(m[2], *results) + m[3], PAGE.read_text()))


if __name__ == "__main__":
    main()
