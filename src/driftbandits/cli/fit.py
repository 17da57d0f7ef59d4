"""`driftbandits fit`: a bandit from a log of past choices."""

import json
import pathlib
from typing import Annotated, Any

import typer
from rich.text import Text

from ..errors import InvalidValue
from ..util.words import counted
from .app import OWN_DATA, command
from .console import Rows, out, printable
from .options import Json, Quiet


@command(OWN_DATA)
def fit(
    log: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG…",
            help="Parquet, CSV, JSON lines or Arrow files, or folders of them, in order of time.",
            show_default=False,
        ),
    ],
    target: Annotated[
        pathlib.Path, typer.Option("--out", metavar="FILE", help="Where the bandit goes; [b]Bandit.load[/] reads it.")
    ],
    item: Annotated[str, typer.Option(metavar="COLUMN", help="Column with the item that was chosen.")],
    reward: Annotated[str, typer.Option(metavar="COLUMN", help="Column with its reward.")],
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the time of the choice.")] = None,
    propensity: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the propensity of the chosen item; it is checked.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the weight of each row. [dim]Default: 1.[/]")
    ] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(metavar="COLUMN", help="Column with an id that no two rows share.")
    ] = None,
    drop_repeats: Annotated[
        bool,
        typer.Option("--drop-repeats", help="Leave out rows whose id was there before. [dim]Default: an error.[/]"),
    ] = False,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[,…]", help="Columns with context features; may be repeated. [dim]Default: the others.[/]"
        ),
    ] = None,
    kind: Annotated[str, typer.Option(metavar="value|click|count|amount", help="Kind of reward.")] = "value",
    features: Annotated[
        str,
        typer.Option(metavar="interact|linear|item|disjoint|hybrid", help="How features of items and context combine."),
    ] = "interact",
    half_life: Annotated[
        str | None,
        typer.Option(
            metavar="DECISIONS|DURATION", help='Like 300 or "2d". [dim]Default: found out from the rewards.[/]'
        ),
    ] = None,
    sums: Annotated[
        bool,
        typer.Option(
            "--sums", help="Learn all but the end of the log by its sums: many times as fast, see docs/large-logs.md."
        ),
    ] = False,
    tail: Annotated[
        int, typer.Option(min=1, help="With --sums: so many of the last rows are learned exactly.")
    ] = 20_000,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="threads|processes|ADDRESS", help="Read files in parallel on Dask; implies --sums."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the bandit.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a log of past choices, and write the bandit that is ready to decide.

    [b]driftbandits fit log/*.parquet --item banner --reward clicked --time shown_at --kind click --out shop.bandit[/]
    """
    from ..bandit import Bandit
    from ..bandit.bulk.by_sums import fit_by_sums, parts_of
    from ..bandit.bulk.fit import fit as learn
    from ..bandit.bulk.sources import Data, Repeats
    from ..util.tasks import OnDask, in_turn

    files: Any = log if len(log) > 1 else log[0]
    _check_target(target, files)
    life: Any = int(half_life) if half_life is not None and half_life.isdigit() else half_life
    settings: dict[str, Any] = {"reward": kind, "features": features, "half_life": life, "seed": seed}
    bandit = Bandit(**settings)
    names = [name for each in context or [] for name in each.split(",")]
    columns: dict[str, Any] = {"item": item, "reward": reward, "time": time, "propensity": propensity, "weight": weight}
    columns |= {"id": id, "context": names or None, "item_features": None}
    repeats: Repeats = "drop" if drop_repeats else "error"
    with Rows(quiet=quiet or as_json) as rows:
        if sums or scheduler is not None:
            run = in_turn if scheduler is None else OnDask(scheduler)
            fit_by_sums(bandit, parts_of(files, repeats, columns), tail, rows.of_parts(run))
        else:
            learn(bandit, Data(files, repeats, columns), rows.learning)
    bandit.save(target)
    info = bandit.info()
    if as_json:
        typer.echo(json.dumps(info, indent=1))
    elif not quiet:
        done = info["fit"]
        dropped = f", {done['repeated']} repeated ones left out" if done["repeated"] else ""
        sizes = f"{counted(info['items'], 'item')}, {counted(info['columns'], 'column')}"
        out.print(Text(printable(f"{counted(done['rows'], 'row')} learned{dropped}; {sizes}")))
        out.print(Text(f"bandit   {target}"))


def _check_target(target: pathlib.Path, files: Any) -> None:
    """Before anything is learned: it may take hours."""
    from ..tables.sources import is_sqlite, open_sources

    if not target.parent.is_dir():
        raise InvalidValue(f"--out {target}: the folder {target.parent} is not there")
    if target.is_dir():
        raise InvalidValue(f"--out {target} is a folder; it must be the path of a file")
    if is_sqlite(target):
        raise InvalidValue(f"--out {target} is a durable bandit, and has a log; choose another path")
    if target.exists() and any(target.samefile(source.name) for source in open_sources(files)):
        raise InvalidValue(f"--out {target} is part of the log, and would be overwritten; choose another path")
