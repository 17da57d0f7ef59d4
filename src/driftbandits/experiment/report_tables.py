"""The tables of the report."""

import html
import math
from typing import Any

from .outcome import Panel
from .stats import describe, holm, p_differ


def _table(head: list[str], rows: list[list[str]], kind: str) -> str:
    top = "".join(f"<th>{h}</th>" for h in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table class='{kind}'><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def claim_table(panel: Panel) -> str:
    """Each claim and its verdict."""
    rows = [
        [
            "<span class='yes'>✓ holds</span>" if v.holds else "<span class='no'>✗ does not hold</span>",
            html.escape(v.claim) + (f"<br><small>{html.escape(v.source)}</small>" if v.source else ""),
            html.escape(v.detail),
            f"{v.margin:+.1%}",
            p_text(v.p),
        ]
        for v in panel.claims
    ]
    return _table(["", "claim", "the numbers", "margin", "p"], rows, "claims")


def final_table(panel: Panel, environment: str) -> str:
    """Final regret with confidence intervals, compared with the best by a paired test; and the cost of a round."""
    curves = sorted(panel.shown(environment), key=lambda c: float(c.final.mean()))
    best = curves[0]
    p_values = holm([p_differ(c.final, best.final) for c in curves[1:]]) if len(curves) > 1 else []
    rows = []
    for c, p in zip(curves, [math.nan, *p_values], strict=True):
        s = describe(c.final)
        against = "—" if c is best else f"{s.mean / best.final.mean() - 1:+.1%}"
        rows.append(
            [
                html.escape(c.strategy),
                f"{s.mean:.1f}",
                f"{s.std:.1f}",
                f"[{s.low:.1f}, {s.high:.1f}]",
                against,
                "—" if c is best else p_text(p),
                f"{float(c.microseconds.mean()):.2f}",
                f"<code>{html.escape(parameters_text(c.parameters))}</code>",
            ]
        )
    head = [
        "strategy",
        "final regret",
        "std",
        "95 % interval of the mean",
        "against the best",
        "p (paired, Holm)",
        f"µs per {html.escape(panel.unit)}",
        "parameters",
    ]
    return _table(head, rows, "finals")


def parameters_text(parameters: dict[str, Any]) -> str:
    """A resolved strategy as one would write it in Python."""

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return parameters_text(value)
        return f"{value:.6g}" if isinstance(value, float) else repr(value)

    return f"{parameters['use']}({', '.join(f'{k}={text(v)}' for k, v in parameters.items() if k != 'use')})"


def bound_table(panel: Panel, environment: str) -> str:
    """Theory's bounds next to what was measured."""
    rows = []
    for b in (b for b in panel.bounds if b.environment == environment):
        measured = next(
            float(c.final.mean()) for c in panel.curves if c.strategy == b.strategy and c.environment == environment
        )
        says = "informative" if b.values[-1] < b.trivial else f"larger than the trivial {b.trivial:.0f}"
        rows.append(
            [
                html.escape(b.theorem),
                html.escape(b.strategy),
                f"{b.values[-1]:.0f}",
                f"{measured:.1f}",
                f"{b.probability:.4g}",
                says,
            ]
        )
    head = ["theorem", "strategy", "bound", "measured", "with probability ≥", "at this horizon"]
    return _table(head, rows, "bounds") if rows else ""


def exponent_table(panel: Panel) -> str:
    """Fitted exponents next to the theorems'."""
    rows = [
        [
            html.escape(f.label),
            html.escape(f.strategy),
            f"{f.exponent:.3f} ± {f.exponent_std:.3f}",
            "—" if f.theorem is None else f"{f.theorem:.3f}",
        ]
        for f in panel.fits
    ]
    return _table(
        ["against", "strategy", "fitted exponent (± std over trials)", "theorem (upper bound)"], rows, "exponents"
    )


def settings_table(settings: dict[str, Any]) -> str:
    """How this was made."""
    rows = [["command", f"<code>{html.escape(settings['command'])}</code>"]] if settings["command"] else []
    size = f"{settings['trials']} trials of {settings['horizon']}, seed {', '.join(map(str, settings['seeds']))}"
    rows += [
        ["size", size],
        ["driftbandits", html.escape(settings["library"])],
        ["Python", html.escape(settings["python"])],
    ]
    rows += [[html.escape(name), html.escape(version)] for name, version in settings["versions"].items()]
    rows += [["machine", html.escape(f"{settings['platform']}, {settings['cores']} cores")]]
    specs = "".join(
        f"<details><summary>{html.escape(s['file'])}</summary><pre>{html.escape(s['text'])}</pre></details>"
        for s in settings["specifications"]
    )
    return _table(["", ""], rows, "settings") + specs


def p_text(p: float) -> str:
    """A p-value one can read."""
    if math.isnan(p):
        return "—"
    return "&lt; 0.0001" if p < 1e-4 else f"{p:.4f}"
