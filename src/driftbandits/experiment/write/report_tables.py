"""The tables of the report."""

import math
from typing import Any

from ...plots.page import Cell, PageTable
from ..analyse.panel_results import FAILS, HOLDS, MARKS, UNDECIDED, Panel, UnderReading, readings_of
from ..analyse.statistics import describe, holm, p_differ

STYLES = {HOLDS: "yes", FAILS: "no", UNDECIDED: ""}
ADDED = "added: not in the source's figure"


def claim_table(panel: Panel) -> PageTable:
    """Each claim and its verdict."""
    rows = [
        [
            Cell(f"{MARKS[v.verdict]} {v.verdict}", STYLES[v.verdict]),
            Cell(v.claim, note=v.source),
            Cell(v.detail),
            Cell(f"{v.margin:+.1%}", "number"),
            Cell(p_text(v.p), "number"),
        ]
        for v in panel.claims
    ]
    return PageTable("claims", ["", "claim", "the numbers", "margin", "p"], rows)


def robust_table(panels: list[Panel]) -> PageTable | None:
    """Every claim under every reading: margin and corrected p of the claim, or of its contrary where it fails; None without any."""
    readings = readings_of(panels)
    if not readings:
        return None
    rows = []
    for v in (v for p in panels for v in p.claims if v.readings):
        found = {r.reading: r for r in v.readings}
        cells = [_under(found[r]) if r in found else Cell("") for r in readings]
        style = STYLES.get(v.robust, "")
        rows.append([Cell(v.robust, style), Cell(v.claim), Cell(v.readings[0].times, "number"), *cells])
    return PageTable("robust", ["over seeds and readings", "claim", "replications", *readings], rows)


def _under(r: UnderReading) -> Cell:
    p = r.contrary if r.verdict == FAILS else r.p
    return Cell(f"{r.mark} {r.margin:+.0%}", STYLES[r.verdict], note=f"p {p_text(p)}")


def final_table(panel: Panel, environment: str) -> PageTable:
    """Final regret with confidence intervals, compared with the best by a paired test; the reward and the cost of a round."""
    curves = sorted(panel.shown(environment), key=lambda c: float(c.final.mean()))
    best = curves[0]
    p_values = holm([p_differ(c.final, best.final) for c in curves[1:]]) if len(curves) > 1 else []
    rows = []
    for c, p in zip(curves, [math.nan, *p_values], strict=True):
        s = describe(c.final)
        numbers = [
            f"{s.mean:.1f}",
            f"{s.std:.1f}",
            f"[{s.low:.1f}, {s.high:.1f}]",
            "—" if c is best else f"{s.mean / best.final.mean() - 1:+.1%}",
            "—" if c is best else p_text(p),
            "—" if c.reward_per_round is None else f"{c.reward_per_round:.4g}",
            f"{float(c.microseconds.mean()):.2f}",
        ]
        rows.append(
            [
                Cell(c.strategy, note=ADDED if c.added else ""),
                *(Cell(n, "number") for n in numbers),
                Cell(parameters_text(c.parameters), "code"),
            ]
        )
    head = [
        "strategy",
        "final regret",
        "std",
        "95 % interval of the mean",
        "against the best",
        "p (paired, Holm)",
        f"reward per {panel.unit}",
        f"µs per {panel.unit}",
        "parameters",
    ]
    return PageTable("finals", head, rows)


def parameters_text(parameters: dict[str, Any]) -> str:
    """A resolved strategy as one would write it in Python."""

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return parameters_text(value)
        return f"{value:.6g}" if isinstance(value, float) else repr(value)

    return f"{parameters.get('use', '')}({', '.join(f'{k}={text(v)}' for k, v in parameters.items() if k != 'use')})"


def bound_table(panel: Panel, environment: str) -> PageTable | None:
    """Theory's bounds next to what was measured."""
    final = {c.strategy: float(c.final.mean()) for c in panel.curves if c.environment == environment}
    rows = [
        [
            Cell(b.theorem),
            Cell(b.strategy),
            Cell(f"{b.values[-1]:.0f}"),
            Cell(f"{final[b.strategy]:.1f}"),
            Cell(f"{b.probability:.4g}"),
            Cell("informative" if b.values[-1] < b.trivial else f"larger than the trivial {b.trivial:.0f}"),
        ]
        for b in panel.bounds
        if b.environment == environment
    ]
    head = ["theorem", "strategy", "bound", "measured", "with probability ≥", "at this horizon"]
    return PageTable("bounds", head, rows) if rows else None


def exponent_table(panel: Panel) -> PageTable:
    """Fitted exponents next to the theorems'."""
    rows = [
        [
            Cell(f.label),
            Cell(f.strategy),
            Cell(f"{f.exponent:.3f} ± {f.exponent_std:.3f}"),
            Cell("—" if f.theorem is None else f"{f.theorem:.3f}"),
        ]
        for f in panel.fits
    ]
    head = ["against", "strategy", "fitted exponent (± std over trials)", "theorem (upper bound)"]
    return PageTable("exponents", head, rows)


def settings_table(settings: dict[str, Any]) -> PageTable:
    """How this was made."""
    rows = [[Cell("command"), Cell(settings["command"], "code")]] if settings["command"] else []
    size = f"{settings['trials']} trials of {settings['horizon']}, seed {', '.join(map(str, settings['seeds']))}"
    facts = {
        "size": size,
        "driftbandits": settings["library"],
        "Python": settings["python"],
        **settings["versions"],
        "written on": f"{settings['platform']}, {settings['cores']} cores",
    }
    rows += [[Cell(name), Cell(value)] for name, value in facts.items()]
    for platform, cells in settings.get("platforms", []):
        rows.append(
            [Cell("computed on"), Cell(", ".join(f"{k} {v}" for k, v in platform.items()), note=f"{cells} cells")]
        )
    return PageTable("settings", [], rows)


def p_text(p: float) -> str:
    """A p-value one can read."""
    if math.isnan(p):
        return "—"
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"
