"""`tune`: every theorem's parameters and bound for a problem of a given size."""

from typing import Any

from rich.table import Table

from .. import theory
from ..errors import InvalidValue
from .console import out
from .scopes import link_slopes


def advice(
    *,
    T: int,
    d: int,
    P_T: float | None,
    changes: int | None,
    half_life: float | None,
    S: float,
    L: float,
    R: float,
    link: str,
    variant: str,
) -> list[dict[str, Any]]:
    """One row a theorem: its parameters and its bound."""
    if P_T is None and changes is None:
        raise InvalidValue("give --path-length, the way θ goes in all, or --changes, the number of its jumps, or both")
    fixed = None if half_life is None else theory.gamma_from_half_life(half_life)
    k_mu, c_mu = link_slopes(link, L * S)
    rows = []
    common: dict[str, Any] = {"T": T, "d": d, "S": S, "L": L, "variant": variant}
    slopes: dict[str, Any] = {"k_mu": k_mu, "c_mu": c_mu}
    if P_T is not None:
        lb = {**common, "P_T": P_T, "R": R}
        glb = {**common, **slopes, "P_T": P_T}
        rows.append(_row("lb_weight_ucb", theory.lb_regret_bound(**lb, gamma=fixed)))
        if fixed is None:
            rows.append(_row("sw_ucb", theory.window_regret_bound(**lb)))
            rows.append(_row("restart_ucb", theory.restart_regret_bound(**lb)))
            rows.append(_row("bob", theory.bob_regret_bound(**lb)))
        rows.append(_row("glb_weight_ucb", theory.glb_regret_bound(**glb, gamma=fixed)))
        rows.append(_row("scb_weight_ucb", theory.scb_regret_bound(**glb, gamma=fixed)))
    if changes is not None:
        rows.append(
            _row("scb_pw_weight_ucb", theory.scb_pw_regret_bound(**common, **slopes, changes=changes, gamma=fixed))
        )
    return rows


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


def show_advice(rows: list[dict[str, Any]]) -> None:
    """A table, and what to make of it."""
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
            "at this horizon the theorem tells rates, not numbers[/]"
        )
