"""`driftbandits tune --mdp`: the parameters that Theorems 5 and 6 prescribe for K episodes of H stages."""

from typing import Any

from rich.table import Table

from .. import theory
from .console import out


def episodic_theorems(
    *,
    K: int,
    H: int,
    d: int,
    Delta: float,
    S: float,
    L: float,
    kappa: float | None,
    successors: int | None,
    half_life: float | None,
    variant: str,
) -> list[dict[str, Any]]:
    """One row per learner: its memory in episodes, λ, δ, and the bound where there is a theorem.

    Half of the variation Δ is attributed to the rewards, half to the transitions.
    """
    gamma = None if half_life is None else theory.gamma_from_half_life(half_life)
    common: dict[str, Any] = {"K": K, "H": H, "d_theta": d, "P_theta": 0.5 * Delta, "P_w": 0.5 * Delta, "S_theta": S}
    common |= {"S_w": S, "L_phi": L, "L_psi": L, "gamma": gamma, "variant": variant}
    window = theory.mdp_window(K=K, H=H, Delta=Delta, d=d, L_psi=L, sharp_bias=variant == "sharp")
    rows = _family(theory.linear_mixture_regret_bound(**common), ("weight_ucrl", "sw_ucrl", "restart_ucrl"), window)
    if kappa is not None:
        mnl = theory.mnl_regret_bound(**common, kappa=kappa, U=successors or 2)
        rows += _family(mnl, ("mnl_weight_ucrl", "mnl_sw_ucrl", "mnl_restart_ucrl"), window)
    return rows


def _family(bound: theory.Bound, names: tuple[str, str, str], window: int) -> list[dict[str, Any]]:
    """The discounted learner with its theorem, and the windowed and restarted ones with the memory that balances the same terms."""
    shared = {"lam_theta": bound.details["lam_theta"], "lam_w": bound.lam, "delta": bound.delta}
    discounted = {
        "strategy": names[0],
        "theorem": bound.theorem,
        "gamma": bound.gamma,
        "half_life": None if bound.gamma is None else theory.half_life(bound.gamma),
        **shared,
        "bound": bound.total,
        "trivial": bound.gap * bound.horizon,
        "probability": bound.probability,
    }
    others = ({"strategy": name, "theorem": None, "W": window, **shared, "bound": None} for name in names[1:])
    return [discounted, *others]


def show_episodic(rows: list[dict[str, Any]]) -> None:
    """Print a table, and an explanation of it."""
    table = Table(box=None, pad_edge=False)
    for name in ("strategy", "γ", "half-life", "W or period", "λ_θ", "λ_w", "δ", "regret bound", "theorem"):
        table.add_column(name, justify="left" if name in ("strategy", "theorem") else "right")
    for row in rows:
        vacuous = row["bound"] is not None and row["bound"] >= row["trivial"]
        table.add_row(
            row["strategy"],
            f"{row['gamma']:.6f}" if row.get("gamma") else "—",
            f"{row['half_life']:.1f}" if row.get("half_life") else "—",
            str(row.get("W", "—")),
            f"{row['lam_theta']:.4g}",
            f"{row['lam_w']:.4g}",
            f"{row['delta']:.3g}",
            "none stated" if row["bound"] is None else f"{row['bound']:.4g}" + ("*" if vacuous else ""),
            (row["theorem"] or "").partition(" (")[0],
        )
    out.print(table)
    out.print("[dim]memories are in episodes[/]")
    if any(row["bound"] is not None and row["bound"] >= row["trivial"] for row in rows):
        out.print(
            "[dim]* not smaller than H·K, the largest possible regret: at this size the theorem is informative about rates only; "
            "weight_ucrl() without constants has practical ones[/]"
        )
