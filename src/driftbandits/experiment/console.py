"""What the command says while it works: a bar on a terminal, nothing in a pipe."""

import sys
import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from .outcome import Panel
from .publish import Published, final_lines

errors = Console(stderr=True, highlight=False, soft_wrap=True)
out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)


class Reporter:
    """Compiling, then trials done of total and the time left. Silent unless standard error is a terminal."""

    def __init__(self, quiet: bool) -> None:
        self.visible = not quiet and errors.is_terminal
        columns = (
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
        )
        self.bar = Bar(*columns, console=errors, transient=True, disable=not self.visible)
        self.tasks: dict[str, Any] = {}
        self.began = time.perf_counter()

    def __enter__(self) -> "Reporter":
        self.bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.__exit__(kind, error, trace)

    def compiling(self, done: int, total: int) -> None:
        """So many compositions are compiled."""
        self._show("compiling", done, total)

    def running(self, done: int, total: int) -> None:
        """So many trials are done."""
        if "trials" not in self.tasks and "compiling" in self.tasks:
            self.bar.update(self.tasks["compiling"], visible=False)
        self._show("trials", done, total)

    def _show(self, name: str, done: int, total: int) -> None:
        if name not in self.tasks:
            self.tasks[name] = self.bar.add_task(name, total=total, completed=done)
        self.bar.update(self.tasks[name], completed=done, total=total)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.began


def show_published(done: Published, seconds: float) -> None:
    """Tables of regret and claims, and where everything is."""
    for panel in done.panels:
        out.print(_finals(panel))
        for v in panel.claims:
            mark, colour = ("✓", "green") if v.holds else ("✗", "yellow")
            out.print(f"  [{colour}]{mark}[/] {_plain(v.claim)}  [dim]{_plain(v.detail)}[/]")
        for f in panel.fits:
            theorem = "" if f.theorem is None else f"; theorem {f.theorem:.2f}"
            exponent = f"{f.exponent:.2f} ± {f.exponent_std:.2f}{theorem}"
            out.print(f"  regret against {_plain(f.label)}, {_plain(f.strategy)}: exponent {exponent}")
        out.print()
    reused = done.total - done.computed
    out.print(f"{done.total} cells ({done.computed} computed, {reused} found) in {seconds:.1f} s")
    if done.report is not None:
        out.print(f"report   {done.report}")
    out.print(f"figures  {done.root / 'figures'}")
    out.print(f"summary  {done.root / 'summary.json'}")


def _finals(panel: Panel) -> Table:
    table = Table(
        title=f"{panel.name}: {panel.title}", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    table.add_column("policy")
    table.add_column("final regret", justify="right")
    table.add_column("± std", justify="right")
    table.add_column(f"µs per {panel.unit}", justify="right")
    for name, mean, std, cost in final_lines(panel):
        table.add_row(_plain(name), f"{mean:.1f}", f"{std:.1f}", f"{cost:.2f}")
    return table


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def say_error(message: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"driftbandits: {message}\n")
