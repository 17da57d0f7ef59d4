"""Write the tables of algorithms in docs from the zoo's records: `make tables`. `tests/docs/test_tables.py` compares.

A page says `<!-- algorithms: linear -->` where the table of a family belongs, up to `<!-- end -->`; `all` is the table of all families.
`<!-- rivals: mdp_rivals -->` is the table of a study in docs/results/, `<!-- results: … -->` one of `pages/studies.py`,
`<!-- driftbench: untuned -->` that of a track of DriftBench.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from pages import studies

from driftbandits.driftbench import leaderboard
from driftbandits.zoo.record import Record, records

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ("docs/algorithms.md", "docs/linear.md", "docs/generalized.md", "docs/adaptive.md", "docs/mdp.md")
STUDIED = (
    "docs/successors.md",
    "docs/reproduction.md",
    "docs/notebook/learner.md",
    "docs/notebook/adaptive.md",
    "docs/notebook/generalized.md",
    "docs/replay.md",
    "docs/theorems/sharp.md",
    "docs/notebook/mdp.md",
    "docs/neighbours.md",
    "docs/driftbench.md",
)  # without a table of algorithms
FAMILIES = {
    "linear": "**linear** ([docs](linear.md))",
    "generalized": "**generalized linear, self-concordant** ([docs](generalized.md))",
    "adaptive": "**rate of drift unknown** ([docs](adaptive.md))",
    "mdp": "**MDPs** ([docs](mdp.md))",
}
PLACE = re.compile(r"(<!-- algorithms: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

STUDY = re.compile(r"(<!-- rivals: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

DRIFTBENCH = re.compile(r"(<!-- driftbench: (\w+) -->\n\n).*?(\n<!-- end -->)", re.DOTALL)
SUBMISSIONS = ROOT / "docs" / "results" / "driftbench"

RESULTS = re.compile(r"(<!-- results: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def row(*cells: str) -> str:
    """A row of a table. Markdown takes what stands between two indices of norms for emphasis, so they are escaped, too."""
    escaped = [cell.replace("|", "\\|").replace("‖_", "‖\\_") for cell in cells]
    return f"| {' | '.join(escaped)} |\n"


def overview() -> str:
    """All algorithms: what each remembers, its guarantee, who published it."""
    text = row("`db.zoo`", "remembers", "dynamic regret", "published") + "|---|---|---|---|\n"
    for family, title in FAMILIES.items():
        text += row(title, "", "", "")
        for record in records():
            if record.family == family:
                text += row(f"`{record.name}`", record.remembers, record.regret, record.source)
    return text


def family_table(family: str) -> str:
    """The algorithms of a family: what each remembers and plays, what tunes it, who published it."""
    first = "remembers", "plays the action of largest" if family == "mdp" else "plays the arm of largest"
    text = row("`db.zoo`", *first, "`db.theory` tunes", "published") + "|---|---|---|---|---|\n"
    for record in records():
        if record.family == family:
            text += row(f"`{record.name}`", record.remembers, record.plays, tuning(record), record.source)
    return text


def tuning(record: Record) -> str:
    """Parameters and their formulas."""
    return ", ".join(f"`{name}`: {formula}" for name, formula in record.tuned_by.items()) or "–"


def rivals(study: str) -> str:
    """A row per world, a column per learner: mean regret ± its standard error; the least is bold, with all that are within it."""
    found = json.loads((ROOT / "docs" / "results" / f"{study}.json").read_text())
    learners = list(next(iter(found["worlds"].values())))
    text = row("final regret", *learners) + "|---|" + "---|" * len(learners) + "\n"
    for world, runs in found["worlds"].items():
        least = min(runs.values(), key=lambda run: run["mean"])
        cells = [f"{run['mean']:.0f}" + (f" ± {run['error']:.0f}" if run["error"] else "") for run in runs.values()]
        near = [run["mean"] - run["error"] <= least["mean"] + least["error"] for run in runs.values()]
        text += row(world, *(f"**{cell}**" if best else cell for cell, best in zip(cells, near, strict=True)))
    return text


def filled(page: str) -> str:
    """A page with its tables made anew."""
    page = PLACE.sub(lambda m: m[1] + (overview() if m[2] == "all" else family_table(m[2])) + m[3], page)
    if DRIFTBENCH.search(page):
        played = leaderboard.read(SUBMISSIONS)
        page = DRIFTBENCH.sub(lambda m: m[1] + leaderboard.markdown(played, m[2]) + m[3], page)
    page = STUDY.sub(lambda m: m[1] + rivals(m[2]) + m[3], page)
    return RESULTS.sub(lambda m: m[1] + studies.write(m[2]) + m[3], page)


if __name__ == "__main__":
    for name in (*PAGES, *STUDIED):
        path = ROOT / name
        path.write_text(filled(path.read_text()))
