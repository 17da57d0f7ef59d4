"""From experiments to a folder of results: plan all, run what is missing, write results, summary, tables, figures and report."""

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

from ... import __version__
from ...io.files import make_folder, write_atomically
from ..analyse.analysis import analyse, theory_bounds
from ..analyse.panel_results import Panel, label, readings_of, save, summary
from ..analyse.robustness import judged, variants
from ..analyse.statistics import describe
from ..run import platforms
from ..run.cells import library
from ..run.plan import Plan, plan
from ..run.runner import Progress, run_cells
from ..run.store import ResultStore
from ..spec.experiment import Experiment
from ..spec.schema import Collection
from ..spec.source import SpecError
from .check_mathtext import check_texts
from .drawing import artists, drawing
from .report import write_page


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
    yes: bool = False,
    strict: bool = False,
    robust: bool = False,
) -> Published:
    """Run experiments into a folder. Everything is checked before anything is written.

    Several processes may do so at once: they share the finished cells, and one after the other writes the results. With `strict`, cells
    computed on another platform (processor, NumPy, numba) are refused; without it they are used, with a warning. With `robust`, every claim
    is tested again over seeds and over the readings of each experiment.
    """
    if robust and any(e.smoke for e in experiments):
        raise SpecError(
            "--robust judges claims, and --tiny is a smoke test, too small to judge any: leave one of them out"
        )
    need("pyarrow", "matplotlib", "plotly", "jinja2")
    if cluster:
        from ..run.cluster import check_address

        check_address(cluster)
    with artists(1 if len(experiments) > 1 and jobs != 1 else 0) as pool:
        plans = [plan(e, yes=yes) for e in experiments]
        bounds = [theory_bounds(p) for p in plans]
        others = (
            [[(v.reading, plan(v.experiment, yes=yes)) for v in variants(e)] for e in experiments] if robust else []
        )
        _check_files(plans)
        for each in plans:
            check_texts(each)
        store = ResultStore.open(out, name)
        of_the_paper = collection is not None and any(e.name in collection.panels for e in experiments)
        title = collection.title if collection and of_the_paper else " · ".join(e.title for e in experiments)
        settings = _settings(name, title, experiments, command)
        store.claim(name, settings=settings)
        cells = [cell for p in (*plans, *(p for rows in others for _, p in rows)) for cell in p.cells]
        counter = _Counter(progress)
        results = run_cells(cells, store, jobs=jobs, cluster=cluster, progress=counter, strict=strict)
        settings["platforms"] = [[p, n] for p, n in platforms.count(r.platform for r in results.values())]
        panels = [analyse(p, results, b) for p, b in zip(plans, bounds, strict=True)]
        panels = judged(panels, others, results) if robust else panels
        answer = summary(panels, __version__)
        with store.publishing():
            save(panels, out, settings)
            write_atomically(out / "summary.json", json.dumps(answer, indent=1) + "\n")
            _tables(panels, out / "tables")
            with drawing(out, panels, collection, pool) as figures:
                report = write_page(panels, settings, out) if with_report else None
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
    make_folder(folder)
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
    claims: list[list[Any]] = [["experiment", "claim", "verdict", "margin", "p", "p_contrary", "detail", "source"]]
    fits: list[list[Any]] = [["experiment", "against", "strategy", "exponent", "std", "theorem"]]
    for panel in panels:
        for c in panel.curves:
            s = describe(c.final)
            finals.append(
                [panel.name, c.environment, c.strategy, s.n, s.mean, s.std, s.low, s.high, float(c.microseconds.mean())]
            )
        claims += [
            [panel.name, v.claim, v.verdict, v.margin, v.p, v.contrary, v.detail, v.source] for v in panel.claims
        ]
        fits += [[panel.name, f.label, f.strategy, f.exponent, f.exponent_std, f.theorem] for f in panel.fits]
    readings = readings_of(panels)
    robust: list[list[Any]] = [["experiment", "claim", "verdict", "replications", *readings]]
    for panel in panels:
        for v in panel.claims:
            found = {r.reading: r.verdict for r in v.readings}
            line = [panel.name, v.claim, v.robust, v.readings[0].times] if found else []
            robust += [[*line, *(found.get(r, "") for r in readings)]] if found else []
    tables = (("final_regret", finals), ("claims", claims), ("exponents", fits), ("robustness", robust))
    for name, rows in tables:
        if len(rows) > 1:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            write_atomically(folder / f"{name}.csv", text.getvalue())


def final_lines(panel: Panel) -> list[tuple[str, float, float, float | None, float]]:
    """Name, mean, std, reward per round (where it is known) and µs per round of every policy: environment by environment, best first."""
    rows = []
    for environment in panel.environments:
        for c in sorted(panel.shown(environment), key=lambda c: float(c.final.mean())):
            std = float(c.final.std(ddof=1)) if len(c.final) > 1 else 0.0
            costs = float(c.microseconds.mean())
            rows.append((label(panel, c), float(c.final.mean()), std, c.reward_per_round, costs))
    return rows


def this_command() -> str:
    """The command as it was typed."""
    return " ".join(["driftbandits", *sys.argv[1:]])
