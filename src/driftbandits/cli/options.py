"""Options that several subcommands share."""

from typing import Annotated

import typer

Trials = Annotated[
    int | None,
    typer.Option(
        "--trials",
        "--seeds",
        metavar="N",
        min=1,
        help="Number of independent trials, each with its own arms and noise. [dim]Default: set by the file (paper: 20).[/]",
    ),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        "--horizon", metavar="T", min=2, help="Rounds of a trial. [dim]Default: set by the file (paper: 6000).[/]"
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Random seed; results do not depend on --jobs or --cluster. [dim]Default: set by the file (0).[/]",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", min=1, help="Number of parallel trials. [dim]Default: all cores.[/]"),
]
Cluster = Annotated[
    str,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Run on Dask: local:N for N processes here, tcp://host:8786 for a cluster."
    ),
]
Tiny = Annotated[
    bool,
    typer.Option("--tiny", help="Run a smoke test: a few short trials. Claims are not tested."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help='Allow code from outside this library: [b]use = "module:function"[/] from modules next to the file, or installed.',
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes", "-y", help="Run a very large experiment: more than 20 000 cells, 10¹⁰ rounds or 10⁸ features."
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Reject finished trials from another processor, NumPy or numba version instead of warning."
    ),
]
Robust = Annotated[
    bool,
    typer.Option(
        "--robust",
        help="Test every claim again with new seeds, and under each alternative reading listed in the file as "
        "[b]\\[\\[reading]][/], with the same number of trials.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
