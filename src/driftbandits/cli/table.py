"""`driftbandits table`: Table 1 of the paper at a given size."""

import dataclasses
import functools
import json
import pathlib
from typing import Annotated, Any

import typer
from rich.table import Table

from .. import theory
from ..errors import InvalidValue
from ..io.files import write_atomically
from ..plots.latex import escaped, tabular
from .app import ALGORITHMS, command
from .console import out
from .options import Json

HORIZONS = tuple(10 ** (e / 4) for e in range(8, 33))  # 10² … 10⁸, four a decade


@command(ALGORITHMS)
def table(
    horizon: Annotated[int, typer.Option(min=2, help="Rounds T (for MDPs T = KH).")],
    dim: Annotated[int, typer.Option(min=1, help="Features d.")],
    path_length: Annotated[float | None, typer.Option(min=0.0, help="Path length P_T = Σ‖θ_t − θ_{t−1}‖.")] = None,
    changes: Annotated[int | None, typer.Option(min=0, help="Number of abrupt changes Γ_T.")] = None,
    S: Annotated[float, typer.Option("-S", "--S", help="Bound of ‖θ‖.")] = 1.0,
    L: Annotated[float, typer.Option("-L", "--L", help="Bound of ‖x‖.")] = 1.0,
    R: Annotated[
        float | None,
        typer.Option("-R", "--R", help="Sub-Gaussian constant; by default 1, and ½ in the generalized rows."),
    ] = None,
    link: Annotated[str, typer.Option(help="Link of the generalized rows.")] = "logistic",
    episode: Annotated[int | None, typer.Option(min=1, help="H, for the MDP rows.")] = None,
    variation: Annotated[float | None, typer.Option(min=0.0, help="Δ, for the MDP rows.")] = None,
    kappa: Annotated[float | None, typer.Option(help="κ, for the MNL row.")] = None,
    successors: Annotated[
        int, typer.Option(min=2, help="Largest number U of successors of a pair, for the MNL row.")
    ] = 2,
    variant: Annotated[
        str,
        typer.Option(
            help="printed: the paper's bounds as printed; corrected: with its errors corrected; repaired: Theorem 3 with its "
            "rate kept; sharp: also without the superfluous √d of the bias."
        ),
    ] = "printed",
    figure: Annotated[pathlib.Path | None, typer.Option(help="Draw rates and bounds against T into this file.")] = None,
    latex: Annotated[
        pathlib.Path | None, typer.Option(help="Write the table into this file, as LaTeX (booktabs).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print Table 1 as numbers: previous work, the paper and the lower bounds, and the horizons from which each improvement holds.

    [b]driftbandits table --horizon 6000 --dim 2 --path-length 6.28 --changes 5 -S 5[/]
    """
    if path_length is None and changes is None and variation is None:
        raise InvalidValue("give --path-length, --changes or, for the MDP rows, --episode and --variation")
    size: dict[str, Any] = {"d": dim, "P_T": path_length, "changes": changes, "S": S, "L": L, "R": R, "link": link}
    size |= {"H": episode, "Delta": variation, "kappa": kappa, "U": successors, "variant": variant}
    found = theory.table1(T=horizon, **size)
    if figure is not None:
        draw(size, figure)
    if latex is not None:
        write_atomically(latex, as_latex(found))
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), ensure_ascii=False, indent=1))
    else:
        show(found)


def show(found: theory.Table1) -> None:
    """Print the rows, the crossings, and an explanation of the numbers."""
    rows = Table(box=None, pad_edge=False)
    for name, justify in (
        ("setting", "left"),
        ("algorithm", "left"),
        ("rate", "left"),
        ("rate here", "right"),
        ("bound", "right"),
        ("source", "left"),
    ):
        rows.add_column(name, justify=justify)  # type: ignore[arg-type]
    last = ""
    for row in found.rows:
        bound = "" if row.bound is None else f"{row.bound.total:.4g}" + "*" * _vacuous(row.bound)
        mark = "Ω " if row.kind == "lower" else ""
        rows.add_row(
            row.setting if row.setting != last else "",
            row.algorithm,
            mark + row.rate,
            f"{row.value:.4g}",
            bound,
            row.source,
        )
        last = row.setting
    out.print(rows)
    for crossing in found.crossings:
        out.print(f"[dim]{crossing.setting}: the paper's rate is the smaller for {crossing}[/]")
    if any(row.bound is not None and _vacuous(row.bound) for row in found.rows):
        out.print("[dim]* not smaller than the largest possible regret: informative about rates, not about numbers[/]")
    out.print(
        "[dim]rate here: the rate at this size with constant 1 and without logarithms; compare it with rates only. "
        "bound: the paper's theorem with all its constants. Those of earlier works are in their papers.[/]"
    )


def _vacuous(bound: theory.Bound) -> bool:
    return bound.total >= bound.gap * bound.horizon


TEX = {"μ": r"\mu", "Γ": r"\Gamma", "Δ": r"\Delta", "κ": r"\kappa", "−": "-"}  # signs of a rate


def as_latex(found: theory.Table1) -> str:
    """The rows as a table in the style of booktabs, setting by setting."""
    rows, rules, last = list[list[str]](), list[int](), ""
    for row in found.rows:
        if row.setting != last:
            rules.append(len(rows))
            rows.append([escaped(row.setting)])
        formula = functools.reduce(lambda text, sign: text.replace(*sign), TEX.items(), row.rate)
        rate = f"$\\Omega\\,{formula}$" if row.kind == "lower" else f"${formula}$"
        bound = "--" if row.bound is None else _number(row.bound.total) + "$^*$" * _vacuous(row.bound)
        rows.append([escaped(row.algorithm), rate, _number(row.value), bound])
        last = row.setting
    size = ", ".join(f"{name} = {value:g}" for name, value in found.size.items())
    comment = f"Table 1 at {size}; rates have constant 1 and no logarithms; * not below the largest possible regret"
    return tabular(["algorithm", "rate", "rate here", "bound"], rows, comment=comment, rules=rules[1:])


def _number(value: float) -> str:
    """Three digits; large numbers as a power of ten."""
    if value < 1e4:
        return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"${mantissa}\\cdot 10^{{{int(exponent)}}}$"


#: Colour and line of each kind of row.
LOOKS = {
    "previous": ("#1f6feb", "--"),
    "paper": ("#c8553d", "-"),
    "adaptive": ("#2b8a5f", "-."),
    "lower": ("0.35", ":"),
    "bound": ("#c8553d", (0, (1, 1.5))),
}


def draw(size: dict[str, Any], path: pathlib.Path) -> None:
    """Against T, with P_T, Γ_T and Δ fixed: the rate of every row, and the theorem with its constants; one panel per setting."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidValue("--figure needs matplotlib: pip install 'driftbandits[command]'") from None
    import io

    kind = path.suffix.lstrip(".").lower() or "png"
    drawn = Figure(layout="constrained")
    known = drawn.canvas.get_supported_filetypes()
    if kind not in known:
        raise InvalidValue(
            f"--figure {path.name!r} is not allowed; its name must end in one of {', '.join(sorted(known))}"
        )
    curves: dict[str, dict[tuple[str, str], list[tuple[float, float]]]] = {}
    for T in HORIZONS:
        for row in theory.table1(T=round(T), **size).rows:
            panel = curves.setdefault(row.setting, {})
            panel.setdefault((row.algorithm, row.kind), []).append((T, row.value))
            if row.bound is not None:
                panel.setdefault((f"{row.algorithm}, with constants", "bound"), []).append((T, row.bound.total))
    columns = min(3, len(curves))
    lines = -(-len(curves) // columns)
    drawn.set_size_inches(4.2 * columns, 3.4 * lines)
    axes = drawn.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(curves) :]:
        ax.remove()
    for ax, (setting, found) in zip(axes.flat, curves.items(), strict=False):
        for (name, of), points in found.items():
            colour, line = LOOKS[of]
            ax.loglog(*zip(*points, strict=True), color=colour, ls=line, label="lower bound" if of == "lower" else name)
        ax.loglog(HORIZONS, HORIZONS, color="0.8", label="T")
        ax.set(title=setting, xlabel="T")
        ax.legend(fontsize=7)
    for row_of_axes in axes:
        row_of_axes[0].set_ylabel("regret: rate (constant 1) or bound", fontsize=8)
    data = io.BytesIO()
    drawn.savefig(data, format=kind, dpi=130)
    write_atomically(path, data.getvalue())
