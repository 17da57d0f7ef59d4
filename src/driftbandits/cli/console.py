"""The output of the command: a progress bar if standard error is a terminal, tables of results, errors."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from ..experiment.analyse.panel_results import MARKS, Panel, counted_verdicts, readings_of
from ..experiment.write.publish import Published, final_lines
from .interrupts import interrupt_at_once, interrupt_in_order

PARTS = 64  # of a log, between two looks at the progress bar
errors = Console(stderr=True, highlight=False, soft_wrap=True)
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)


def _bar(visible: bool) -> Bar:
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    return Bar(*columns, console=errors, transient=True, disable=not visible)


class Rows:
    """Reading, then rows done of all and the time left. Silent unless standard error is a terminal."""

    def __init__(self, quiet: bool = False) -> None:
        self.bar = _bar(not quiet and errors.is_terminal)
        self.task = self.bar.add_task("reading", total=None)

    def __enter__(self) -> "Rows":
        self.bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.__exit__(kind, error, trace)

    def replaying(self, done: int, total: int) -> None:
        """Show the number of rows done."""
        self.bar.update(self.task, description="replaying", completed=done, total=total)

    def learning(self, done: int) -> None:
        """Show the number of rows learned; how many there are is not known before."""
        self.bar.update(self.task, description="learning", completed=done)

    def of_parts(self, run: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        """Run tasks over the parts of a log, with the number of parts done; they are read twice, for statistics and for sums."""
        steps = iter(("statistics", "sums"))

        def shown(function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
            name, done = next(steps), 0
            self.bar.update(self.task, description=name, completed=0, total=len(tasks))
            answer: list[Any] = []
            for start in range(0, len(tasks), PARTS):
                answer += run(function, tasks[start : start + PARTS])
                done = min(start + PARTS, len(tasks))
                self.bar.update(self.task, description=name, completed=done, total=len(tasks))
            return answer

        return shown


class Reporter:
    """Compiling, then trials done of total and the time left. Silent unless standard error is a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.visible = not quiet and errors.is_terminal
        self.bar = _bar(self.visible)
        self.tasks: dict[str, Any] = {}
        self.began = time.perf_counter()

    def __enter__(self) -> "Reporter":
        interrupt_at_once()  # until the first trial
        self.bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        interrupt_in_order()
        self.bar.__exit__(kind, error, trace)

    def compiling(self, done: int, total: int) -> None:
        """Show the number of compositions compiled."""
        if total:
            self._show("compiling", done, total)

    def running(self, done: int, total: int) -> None:
        """Show the number of trials done."""
        interrupt_in_order()
        if "trials" not in self.tasks and "compiling" in self.tasks:
            self.bar.update(self.tasks["compiling"], visible=False)
        self._show("trials", done, total)

    def _show(self, name: str, done: int, total: int) -> None:
        if name not in self.tasks:
            self.tasks[name] = self.bar.add_task(name, total=total, completed=done)
        self.bar.update(self.tasks[name], completed=done, total=total)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began


def show_published(done: Published, seconds: float) -> None:
    """Print tables of regret and claims, and the paths of the results."""
    for panel in done.panels:
        out.print(_finals(panel))
        for v in panel.claims:
            colour = {"✓": "green", "✗": "yellow"}.get(MARKS[v.verdict], "dim")
            out.print(
                Text.assemble(
                    "  ", (MARKS[v.verdict], colour), f" {printable(v.claim)}  ", (printable(v.detail), "dim")
                )
            )
        for f in panel.fits:
            theorem = "" if f.theorem is None else f"; theorem {f.theorem:.2f}"
            exponent = f"{f.exponent:.2f} ± {f.exponent_std:.2f}{theorem}"
            out.print(Text(printable(f"  regret against {f.label}, {f.strategy}: exponent {exponent}")))
        out.print()
    if any(panel.smoke for panel in done.panels):
        out.print("this was a smoke test (--tiny): it is too small to test claims, so none were tested")
    if claims := [v for panel in done.panels for v in panel.claims]:
        out.print(Text(counted_verdicts(claims)))
    _show_robustness(done.panels)
    reused = done.total - done.computed
    out.print(f"{done.total} cells ({done.computed} computed, {reused} found) in {seconds:.1f} s")
    if done.report is not None:
        out.print(Text(f"report   {done.report}"))
    out.print(Text(f"figures  {done.root / 'figures'}"))
    out.print(Text(f"summary  {done.root / 'summary.json'}"))


def _show_robustness(panels: list[Panel]) -> None:
    """The table of claims × readings, if it was requested."""
    readings = readings_of(panels)
    if not readings:
        return
    table = Table(
        title="Claims over seeds and readings", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for heading in ("claim", "verdict", "replications", *readings):
        table.add_column(Text(printable(heading)))
    for v in (v for p in panels for v in p.claims if v.readings):
        found = {r.reading: r.mark for r in v.readings}
        marks = [found.get(reading, "") for reading in readings]
        table.add_row(*(Text(printable(t)) for t in (v.claim, v.robust, v.readings[0].times, *marks)))
    out.print(table)
    out.print()


def _finals(panel: Panel) -> Table:
    table = Table(
        title=Text(printable(f"{panel.name}: {panel.title}")),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    table.add_column("policy")
    table.add_column("final regret", justify="right")
    table.add_column("± std", justify="right")
    lines = final_lines(panel)
    told = any(earned is not None for *_, earned, _ in lines)  # episodes do not tell it
    for title in ([f"reward per {panel.unit}"] if told else []) + [f"µs per {panel.unit}"]:
        table.add_column(Text(printable(title)), justify="right")
    for name, mean, std, earned, cost in lines:
        reward = [("" if earned is None else f"{earned:.4g}")] if told else []
        table.add_row(Text(printable(name)), f"{mean:.1f}", f"{std:.1f}", *reward, f"{cost:.2f}")
    return table


def printable(text: str) -> str:
    """Text without control characters that a terminal would interpret; wrapped in `Text` it is not read as markup either."""
    return "".join(c if c.isprintable() else "�" for c in text)


def say_error(message: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"driftbandits: {' '.join(message.splitlines())}\n")
