"""`driftbandits bench-suite`: play learners in the frozen worlds of DriftBench."""

import pathlib
from typing import Annotated, Literal

import typer

from .app import EXPERIMENTS, command
from .console import Reporter, out
from .options import Jobs, Quiet, Tiny

FOLDER, SMOKE = pathlib.Path("results/driftbench"), pathlib.Path("results/driftbench-tiny")


@command(EXPERIMENTS, "bench-suite")
def bench_suite(
    learners: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LEARNER]...",
            help="A name of --list, or a file of your own: FILE.py:Class. [dim]Default: all of --list.[/]",
            show_default=False,
        ),
    ] = None,
    track: Annotated[
        Literal["both", "untuned", "tuned"],
        typer.Option(help="Untuned, or the best of at most eight settings on draws of their own, or both."),
    ] = "both",
    world: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only these worlds, for trying things out; may be repeated."),
    ] = None,
    to: Annotated[
        pathlib.Path | None,
        typer.Option(
            "--out",
            help=f"Folder for one JSON per learner; one that is there is added to. [dim]Default: {FOLDER}, with --tiny {SMOKE}.[/]",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        pathlib.Path | None,
        typer.Option(
            help="Folder that keeps finished cells: what is there is not computed again. [dim]Default: that of --out.[/]",
            show_default=False,
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List worlds and learners, and exit.")] = False,
    tiny: Tiny = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Play learners in DriftBench v1: 38 frozen worlds that drift, one score per family, one JSON per learner.

    A learner of your own is a class with [b]select(arms)[/] and [b]update(reward)[/]; docs/driftbench.md has one in ten lines. Interrupted,
    the same command resumes. [b]driftbandits leaderboard[/] makes a page of the results.

    [b]driftbandits bench-suite my_learner.py --track untuned[/]
    """
    from ..driftbench.entrants import ENTRANTS
    from ..driftbench.run import TRACKS, Runner
    from ..driftbench.submission import there, write
    from ..driftbench.suite import FAMILIES, WORLDS

    if list_:
        for family in FAMILIES:
            out.print(f"\n[b]{family}[/]")
            for each in WORLDS.values():
                if each.family == family:
                    out.print(f"  {each.name:20} {each.drift:12} {each.rounds:5}  {each.about}")
        out.print(f"\n[b]learners[/]\n  {', '.join(ENTRANTS)}")
        return
    folder = to or (SMOKE if tiny else FOLDER)
    tracks = TRACKS if track == "both" else (track,)
    with Reporter(quiet) as reporter:
        runner = Runner(cells or folder, worlds=world, tiny=tiny, jobs=jobs, progress=reporter)
        asked = learners or list(ENTRANTS)
        for name in asked:  # whatever is wrong is told before the first of them plays
            there(folder, runner.identity(name, tracks), runner.parts(tracks))
        files = [write(folder, runner.submit(name, tracks)) for name in asked]
    if quiet:
        return
    for name, why in runner.missing.items():
        out.print(f"[dim]without {name}: {why}[/]")
    if tiny:
        out.print("[dim]A smoke test: short worlds and two draws. The scores mean nothing.[/]")
    for file in files:
        out.print(str(file))
