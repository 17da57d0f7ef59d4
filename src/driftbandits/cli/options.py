"""Options that several subcommands share."""

from typing import Annotated

import typer

Trials = Annotated[
    int | None,
    typer.Option(
        "--trials",
        metavar="N",
        min=1,
        help="Independent trials; each has arms and noise of its own. [dim]Default: as the file says (paper: 20).[/]",
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        "--horizon", metavar="T", min=2, help="Rounds of a trial. [dim]Default: as the file says (paper: 6000).[/]"
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="The same seed gives the same numbers, whatever --jobs or --cluster. [dim]Default: as the file says (0).[/]",
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="Trials at a time. [dim]Default: all cores.[/]")
]
Cluster = Annotated[
    str,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Run on Dask: local:N for N processes here, tcp://host:8786 for a cluster."
    ),
]
Tiny = Annotated[
    bool,
    typer.Option("--tiny", help="A smoke test: a few short trials, to see that everything works. No claim is judged."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help='Run code that is not of this library: [b]use = "module:function"[/] of modules next to the file, or installed.',
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes", "-y", help="Run it although it is very large: more than 20 000 cells, 10¹⁰ rounds or 10⁸ features."
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse finished trials of another processor, NumPy or numba, instead of warning."),
]
Robust = Annotated[
    bool,
    typer.Option(
        "--robust",
        help="Test every claim again with fresh seeds, and under the readings that the file lists as [b]\\[\\[reading]][/]; "
        "as many trials each.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
