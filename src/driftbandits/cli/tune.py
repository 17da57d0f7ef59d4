"""`driftbandits tune`: every theorem's parameters and bound for a problem of a given size."""

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.table import Table

from .. import theory
from ..errors import InvalidValue
from ..experiment.spec.scopes import link_slopes
from ..links import largest_gap, law, link_of
from ..zoo.record import parameters, records
from .app import ALGORITHMS, command
from .console import out
from .options import Json
from .tune_mdp import episodic_theorems, show_episodic


@command(ALGORITHMS)
def tune(
    horizon: Annotated[int, typer.Option(min=1, help="Rounds T; with --mdp the stages H of an episode.")],
    dim: Annotated[int, typer.Option(min=1, help="Features d.")],
    path_length: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Path length P_T = Σ‖θ_t − θ_{t−1}‖; with --mdp, the variation Δ of θ and w over all stages.",
        ),
    ] = None,
    changes: Annotated[int | None, typer.Option(min=0, help="Number of abrupt changes Γ_T.")] = None,
    half_life: Annotated[
        float | None,
        typer.Option(
            help="Rounds (--mdp: episodes) after which the weight of an observation is halved; prints γ and the bounds for it."
        ),
    ] = None,
    S: Annotated[float, typer.Option("-S", "--S", help="Bound of ‖θ‖, with --mdp of ‖w‖ too.")] = 1.0,
    L: Annotated[float, typer.Option("-L", "--L", help="Bound of ‖x‖, with --mdp of ‖φ‖ and ‖ψ_V‖.")] = 1.0,
    R: Annotated[
        float | None,
        typer.Option(
            "-R", "--R", help="Sub-Gaussian constant of the rewards; by default 1, and ½ for rewards of 0 or 1."
        ),
    ] = None,
    link: Annotated[str, typer.Option(help="Link of the generalized theorems.")] = "logistic",
    variant: Annotated[
        str,
        typer.Option(
            help="printed: as in the paper; corrected: with its errors corrected; repaired: Theorem 3 with its rate kept; "
            "sharp: also without the superfluous √d of the bias, γ and W balanced for that."
        ),
    ] = "printed",
    mdp: Annotated[
        bool, typer.Option("--mdp", help="For episodic MDPs: Theorem 5, and with --kappa Theorem 6.")
    ] = False,
    episodes: Annotated[int | None, typer.Option(min=2, help="Episodes K, with --mdp.")] = None,
    kappa: Annotated[
        float | None, typer.Option(help="κ of a multinomial-logit MDP (db.mdp.kappa computes it), with --mdp.")
    ] = None,
    successors: Annotated[
        int | None, typer.Option(min=2, help="Largest number U of successors of a pair, with --kappa.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the parameters that each theorem prescribes (γ, half-life, λ, W, H) and its regret bound.

    [b]driftbandits tune --horizon 6000 --dim 2 --path-length 6.28[/]

    [b]driftbandits tune --mdp --episodes 3000 --horizon 10 --dim 2 --path-length 20[/]
    """
    if mdp:
        if episodes is None or path_length is None:
            raise InvalidValue("--mdp needs --episodes, the number K, and --path-length, the variation Δ of θ and w")
        if not (changes is None and R is None and link == "logistic"):
            raise InvalidValue("--changes, --R and --link apply to bandits only: omit them with --mdp")
        if successors is not None and kappa is None:
            raise InvalidValue("--successors applies to multinomial-logit MDPs only: give --kappa too")
        learners = episodic_theorems(
            K=episodes, H=horizon, d=dim, Delta=path_length, S=S, L=L, kappa=kappa, successors=successors,
            half_life=half_life, variant=variant,
        )  # fmt: skip
        if as_json:
            typer.echo(json.dumps(learners, ensure_ascii=False, indent=1))
        else:
            show_episodic(learners)
        return
    if horizon < 2:
        raise InvalidValue(f"--horizon {horizon} is not allowed; it must be ≥ 2: it is the number of rounds")
    if not (episodes is None and kappa is None and successors is None):
        raise InvalidValue("--episodes, --kappa and --successors apply to episodic MDPs only: give --mdp too")
    rows = theorems(
        T=horizon,
        d=dim,
        P_T=path_length,
        changes=changes,
        half_life=half_life,
        S=S,
        L=L,
        R=R,
        link=link,
        variant=variant,
    )
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        show_theorems(rows)


def theorems(
    *,
    T: int,
    d: int,
    P_T: float | None,
    changes: int | None,
    half_life: float | None,
    S: float,
    L: float,
    R: float | None,
    link: str,
    variant: str,
) -> list[dict[str, Any]]:
    """One row per algorithm with an explicit bound: what its theorem sets, and the bound."""
    if P_T is None and changes is None:
        raise InvalidValue(
            "give --path-length, the total movement of θ, or --changes, the number of its jumps, or both"
        )
    k_mu, c_mu = link_slopes(link, L * S)
    known: dict[str, Any] = {"T": T, "d": d, "S": S, "L": L, "variant": variant, "k_mu": k_mu, "c_mu": c_mu}
    known["gap"] = largest_gap(link_of(link), L * S)
    known |= {name: value for name, value in (("P_T", P_T), ("changes", changes)) if value is not None}
    fixed = {} if half_life is None else {"gamma": theory.gamma_from_half_life(half_life)}
    rows = []
    for record in records():
        if record.bound and fixed.keys() <= parameters(record.make):
            binary = record.world != "linear" and law(link_of(link)) == "bernoulli"
            noise = {"R": R if R is not None else 0.5 if binary else 1.0}
            bound = _bound(getattr(theory, record.bound), known | noise | fixed)
            rows += [_row(record.name, bound)] if bound else []
    return rows


def _bound(theorem: Callable[..., theory.Bound], known: dict[str, Any]) -> theory.Bound | None:
    """The theorem's bound, or None if it needs more than is known."""
    takes = inspect.signature(theorem).parameters
    if any(p.default is p.empty and name not in known for name, p in takes.items()):
        return None
    return theorem(**{name: value for name, value in known.items() if name in takes})


def _row(name: str, bound: theory.Bound) -> dict[str, Any]:
    return {
        "strategy": name,
        "theorem": bound.theorem,
        "variant": bound.variant,
        "gamma": bound.gamma,
        "half_life": None if bound.gamma is None else theory.half_life(bound.gamma),
        "lambda": bound.lam,
        "delta": bound.delta,
        "radius": bound.radius,
        **{key: value for key, value in bound.details.items() if key in ("W", "H", "D")},
        "bound": bound.total,
        "trivial": bound.gap * bound.horizon,
        "probability": bound.probability,
    }


def show_theorems(rows: list[dict[str, Any]]) -> None:
    """Print a table, and an explanation of it."""
    table = Table(box=None, pad_edge=False)
    for name in ("strategy", "γ", "half-life", "λ", "W or H", "δ", "radius β", "regret bound", "theorem"):
        table.add_column(name, justify="left" if name in ("strategy", "theorem") else "right")
    for row in rows:
        memory = row.get("W", row.get("H"))
        table.add_row(
            row["strategy"],
            "—" if row["gamma"] is None else f"{row['gamma']:.6f}",
            "—" if row["half_life"] is None else f"{row['half_life']:.1f}",
            f"{row['lambda']:.4g}",
            "—" if memory is None else str(memory),
            f"{row['delta']:.3g}",
            f"{row['radius']:.4g}",
            f"{row['bound']:.4g}" + ("" if row["bound"] < row["trivial"] else "*"),
            row["theorem"].partition(" (")[0],
        )
    out.print(table)
    if any(row["bound"] >= row["trivial"] for row in rows):
        worst = max(row["trivial"] for row in rows)
        out.print(
            f"[dim]* not smaller than the largest possible regret ({worst:.4g} or less): "
            "at this horizon the theorem is informative about rates, not about numbers[/]"
        )
