"""The whole way: plan everything, run what is missing, and write results, summary, tables, figures and report."""

import csv
import io
import json
import os
import pathlib
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import __version__
from .analyse import analyse
from .cells import Plan, library, plan
from .drawing import artist, draw
from .outcome import Panel, label, save, summary
from .panels import Collection
from .runner import Progress, run_cells
from .source import SpecError
from .spec import Experiment
from .stats import describe
from .store import Store, write_text

EXTRAS = {"pyarrow": "pyarrow", "matplotlib": "matplotlib", "plotly": "plotly"}


@dataclass(frozen=True)
class Published:
    """What was written, and what it says."""

    root: pathlib.Path
    panels: list[Panel]
    summary: dict[str, Any]
    figures: list[pathlib.Path]
    report: pathlib.Path | None
    computed: int  # cells computed now
    total: int


def publish(
    name: str,
    experiments: list[Experiment],
    out: pathlib.Path,
    *,
    jobs: int | None = None,
    cluster: str = "",
    progress: Progress | None = None,
    collection: Collection | None = None,
    with_report: bool = True,
    command: str = "",
) -> Published:
    """Run experiments into a folder. Everything is checked before anything is written."""
    need("pyarrow", "matplotlib", "plotly")
    if cluster:
        from .cluster import check_address

        check_address(cluster)
    with artist(wanted=len(experiments) > 1 and jobs != 1) as helper:
        plans = [plan(e) for e in experiments]
        _check_files(plans)
        store = Store.open(out, name)
        of_the_paper = collection is not None and any(e.name in collection.panels for e in experiments)
        title = collection.title if collection and of_the_paper else " · ".join(e.title for e in experiments)
        settings = _settings(name, title, experiments, command)
        store.claim(name, settings=settings)
        cells = [cell for p in plans for cell in p.cells]
        counter = _Counter(progress)
        results = run_cells(cells, store, jobs=jobs, cluster=cluster, progress=counter)
        panels = [analyse(p, results) for p in plans]
        answer = summary(panels, __version__)
        save(panels, out, settings)
        write_text(out / "summary.json", json.dumps(answer, indent=1) + "\n")
        _tables(panels, out / "tables")
        figures = draw(out, panels, collection, helper)
    report = None
    if with_report:
        from .report import write_report

        report = write_report(out)
    return Published(out, panels, answer, figures, report, counter.computed, len({c.key for c in cells}))


class _Counter:
    """Passes progress on and counts what was computed now."""

    def __init__(self, inner: Progress | None) -> None:
        self.inner = inner
        self.first: int | None = None
        self.last = 0

    def compiling(self, done: int, total: int) -> None:
        if self.inner:
            self.inner.compiling(done, total)

    def running(self, done: int, total: int) -> None:
        self.first = done if self.first is None else self.first
        self.last = done
        if self.inner:
            self.inner.running(done, total)

    @property
    def computed(self) -> int:
        return self.last - (self.first or 0)


def need(*modules: str) -> None:
    """Say in one line what to install, if something is missing."""
    import importlib.util

    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise SpecError(f"{', '.join(missing)} is not installed: pip install 'driftbandits[command]'")


def _check_files(plans: list[Plan]) -> None:
    seen: set[str] = set()
    for p in plans:
        if p.experiment.name in seen:
            raise SpecError(
                f"two experiments are named '{p.experiment.name}'; their results would overwrite each other"
            )
        seen.add(p.experiment.name)


def _settings(name: str, title: str, experiments: list[Experiment], command: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "trials": experiments[0].trials * len(experiments[0].seeds),
        "horizon": experiments[0].horizon,
        "seeds": list(experiments[0].seeds),
        "command": command,
        "library": library(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": {
            module: _version(module) for module in ("numpy", "numba", "scipy", "pyarrow", "matplotlib", "plotly")
        },
        "specifications": [
            {
                "name": e.name,
                "file": pathlib.Path(e.source.file).name,
                "text": e.source.text,
                "constants": dict(e.constants),
            }
            for e in experiments
        ],
    }


def _version(module: str) -> str:
    try:
        return version(module)
    except PackageNotFoundError:
        return "not installed"


def _tables(panels: list[Panel], folder: pathlib.Path) -> None:
    """The numbers behind the figures, for a spreadsheet."""
    folder.mkdir(parents=True, exist_ok=True)
    finals: list[list[Any]] = [
        [
            "experiment",
            "environment",
            "strategy",
            "trials",
            "mean",
            "std",
            "low_95",
            "high_95",
            "microseconds_per_round",
        ]
    ]
    claims: list[list[Any]] = [["experiment", "claim", "holds", "margin", "p", "detail", "source"]]
    fits: list[list[Any]] = [["experiment", "against", "strategy", "exponent", "std", "theorem"]]
    for panel in panels:
        for c in panel.curves:
            s = describe(c.final)
            finals.append(
                [panel.name, c.environment, c.strategy, s.n, s.mean, s.std, s.low, s.high, float(c.microseconds.mean())]
            )
        claims += [[panel.name, v.claim, v.holds, v.margin, v.p, v.detail, v.source] for v in panel.claims]
        fits += [[panel.name, f.label, f.strategy, f.exponent, f.exponent_std, f.theorem] for f in panel.fits]
    for name, rows in (("final_regret", finals), ("claims", claims), ("exponents", fits)):
        if len(rows) > 1:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            write_text(folder / f"{name}.csv", text.getvalue())


def failed_claims(panels: list[Panel]) -> list[str]:
    """Claims that do not hold, as lines."""
    return [f"{panel.name}: {v.claim} — {v.detail}" for panel in panels for v in panel.claims if not v.holds]


def final_lines(panel: Panel) -> list[tuple[str, float, float, float]]:
    """Name, mean, std and µs a round of every policy: environment by environment, best first."""
    rows = []
    for environment in panel.environments:
        for c in sorted(panel.shown(environment), key=lambda c: float(c.final.mean())):
            std = float(c.final.std(ddof=1)) if len(c.final) > 1 else 0.0
            rows.append((label(panel, c), float(c.final.mean()), std, float(c.microseconds.mean())))
    return rows


def this_command() -> str:
    """The command as it was typed."""
    return " ".join(["driftbandits", *sys.argv[1:]])
