"""`driftbandits replay`: off-policy evaluation of half-lives on a log."""

import json
import math
import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from ..errors import InvalidValue
from .app import OWN_DATA, command
from .console import Rows, out, printable
from .options import Json, Quiet

if TYPE_CHECKING:
    from ..replay.answer import Answer


@command(OWN_DATA)
def replay(
    log: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG…",
            help="Parquet, CSV, JSON lines or Arrow files, read one after the other; or the file of a durable bandit.",
            show_default=False,
        ),
    ],
    item: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the item that was chosen.")] = None,
    reward: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with its reward.")] = None,
    propensity: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column with the propensity of the chosen item. Without it, choices must be uniform."
        ),
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the time of the decision.")] = None,
    offered: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column with the items on offer. [dim]Default: all items in every row.[/]"),
    ] = None,
    context: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN[,…]", help="Columns with context features; may be repeated.")
    ] = None,
    reward_time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the time at which the reward arrived.")
    ] = None,
    without_reward: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|drop",
            help="The value of an empty reward, or drop to omit the row. [dim]Default: an error.[/]",
        ),
    ] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(metavar="COLUMN", help="Column with an id that no two decisions share.")
    ] = None,
    drop_repeats: Annotated[
        bool,
        typer.Option("--drop-repeats", help="Leave out rows whose id was there before. [dim]Default: an error.[/]"),
    ] = False,
    half_life: Annotated[
        list[str] | None,
        typer.Option(metavar="DECISIONS|DURATION", help='A half-life to evaluate, like 300 or "2d"; may be repeated.'),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="value|click|count|amount", help="Kind of reward. [dim]Default: found from the log.[/]"),
    ] = None,
    estimator: Annotated[
        str, typer.Option(help="Estimator: dr, snips, ips or replay; docs/replay.md lists their requirements.")
    ] = "dr",
    by: Annotated[
        str | None,
        typer.Option(
            help="Length of a window: hour, day, week, a duration, or a number of rows. [dim]Default: day, if suitable.[/]"
        ),
    ] = None,
    interval: Annotated[
        str,
        typer.Option(
            metavar="bootstrap|always_valid",
            help="Interval of a value: for one look at the end, or for all looks at once.",
        ),
    ] = "bootstrap",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the bandits and of the bootstrap.")] = 0,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="threads|processes|ADDRESS", help="Evaluate half-lives at the same time on Dask."),
    ] = None,
    report: Annotated[
        bool,
        typer.Option("--report", help="Write an HTML report: replay.html, or the FILE.html that follows."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate from a log whether forgetting increases the reward, and with which half-life.

    [b]driftbandits replay log.parquet --item banner --reward clicked --propensity p --time shown_at --context age,country --report[/]
    """
    from ..replay.answer import answer
    from ..replay.log import Log

    files, page = _files(log, report)
    _check_columns(files, item, reward)
    with Rows(quiet=quiet or as_json) as rows:
        found = answer(
            Log.read(
                files if len(files) > 1 else files[0],
                item=item,
                reward=reward,
                propensity=propensity,
                time=time,
                offered=offered,
                context=[name for each in context or [] for name in each.split(",")],
                reward_time=reward_time,
                without_reward=None if without_reward is None else _number(without_reward),
                id=id,
                repeats="drop" if drop_repeats else "error",
            ),
            half_lives=[_number(text) for text in half_life] if half_life else None,
            reward=kind,
            estimator=estimator,
            by=int(by) if by is not None and by.isdigit() else by,
            interval=interval,
            seed=seed,
            progress=rows.replaying,
            scheduler=scheduler,
        )
    if page:
        _write(found, page)
    if as_json:
        typer.echo(json.dumps(_plain(found), indent=1))
    elif not quiet:
        _show(found)
        if page:
            out.print(Text(f"report   {pathlib.Path(page)}"))


def _files(given: list[str], report: bool) -> tuple[list[str], str]:
    """The files of the log, and that of the report ("" without one): typer has no option with an optional value."""
    pages = [path for path in given if path.endswith((".html", ".htm"))] if report else []
    files = [path for path in given if path not in pages]
    if not files or len(pages) > 1:
        raise InvalidValue("replay needs a LOG, and at most one FILE.html for the report")
    return files, (pages[0] if pages else "replay.html") if report else ""


def _check_columns(files: list[str], item: str | None, reward: str | None) -> None:
    """The file of a durable bandit knows its items and rewards; of any other log they must be named."""
    from ..tables.sources import is_sqlite

    if (item is None or reward is None) and not is_sqlite(files[0]):
        raise InvalidValue("replay needs --item COLUMN and --reward COLUMN: the item that was chosen, and its reward")


def _write(found: "Answer", page: str) -> None:
    from ..experiment.write.publish import need

    need("plotly", "jinja2")
    found.write(page)


def _number(text: str) -> int | float | str:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def _show(found: "Answer") -> None:
    replay, which = found.replay, found.estimator
    table = Table(
        title=Text(printable(repr(found.log))), title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    table.add_column("policy")
    for head in (f"value ({which})", "95 % interval", "worth, in rows"):
        table.add_column(head, justify="right")
    for name, e in [("as logged", replay.logged), *((n, replay.estimate(n, which)) for n in replay.policies)]:
        known = not math.isnan(e.value)
        numbers = (f"{e.value:.4g}", f"[{e.low:.4g}, {e.high:.4g}]") if known else ("refused", "")
        table.add_row(Text(printable(name)), *(Text(n) for n in numbers), f"{e.effective_n:.0f}")
    out.print(table)
    for line in replay.refused.values():
        out.print(Text(printable(f"  {line}"), "yellow"))
    out.print()
    out.print(Text(printable(found.verdict), "bold"))


def _plain(found: "Answer") -> dict[str, Any]:
    """Everything as JSON, which has no NaN."""
    rows = [
        {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}
        for row in found.replay.rows()
    ]
    gain = {k: v for k, v in found.gain._asdict().items() if k != "chosen"}
    return {
        "verdict": found.verdict,
        "best": found.best.name,
        "estimator": found.estimator,
        "chosen_by_the_log": gain,
        "drift_events": [event.to_dict() for event in found.events],
        "refused": list(found.replay.refused.values()),
        "values": rows,
    }
