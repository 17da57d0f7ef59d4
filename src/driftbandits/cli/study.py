"""`driftbandits study`: rerun a study by its name."""

import json
import pathlib
from typing import Annotated, Any

import typer

from ..errors import InvalidValue
from .app import EXPERIMENTS, command
from .console import Reporter, out
from .options import Jobs, Quiet, Tiny

FOLDER = pathlib.Path("results/studies")


@command(EXPERIMENTS)
def study(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A study, or a Python file that defines one.", show_default=False),
    ] = None,
    tiny: Tiny = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the study in place of its default; may be repeated."
        ),
    ] = None,
    folder: Annotated[
        pathlib.Path, typer.Option("--out", help="Folder for the results; docs replaces those of the site.")
    ] = FOLDER,
    cells: Annotated[
        pathlib.Path, typer.Option(help="Folder that keeps finished cells: what is there is not computed again.")
    ] = FOLDER,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Rerun a study: what the tables and figures of the documentation are made from. Without a name: which there are.

    Interrupted, the same command resumes. [b]docs/studies.md[/] shows how to write one in twenty lines.

    [b]driftbandits study drift --set trials=20[/]
    """
    from ..experiment.study.study import find, studies

    if name is None:
        for each in studies().values():
            out.print(f"[b]{each.name:16}[/] {each.about}")
        return
    found = find(name)
    with Reporter(quiet) as reporter:
        settings = dict(map(_assignment, set_ or []))
        done = found.run(folder, cells=cells, tiny=tiny, jobs=jobs, progress=reporter, **settings)
    if not quiet:
        out.print(f"{done.cells} cells ({done.computed} computed, {done.cells - done.computed} found)")
        for file in done.files:
            out.print(str(file))


def _assignment(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise InvalidValue(f"--set {text}: it must be NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
