"""One HTML file that tells what an experiment found: interactive, self-contained, and silent towards the network."""

import html
import json
import pathlib
from typing import Any

import numpy as np

from ..citations import cite
from .outcome import Curve, Panel, load
from .report_tables import bound_table, claim_table, exponent_table, final_table, settings_table
from .store import write_text
from .style import PLOTLY_DASHES, colour_of

TEMPLATE = pathlib.Path(__file__).with_name("report.html")


def write_report(root: pathlib.Path) -> pathlib.Path:
    """Write OUT/report.html from what is in OUT."""
    from plotly.offline import get_plotlyjs

    panels, settings = load(root)
    figures: dict[str, Any] = {}
    sections = "\n".join(_section(panel, figures) for panel in panels)
    links = "".join(f'<a href="#{html.escape(p.name)}">{html.escape(p.title)}</a>' for p in panels)
    used = [name for p in panels for c in p.curves for name in _names(c.parameters)]
    page = TEMPLATE.read_text(encoding="utf-8")
    parts = {
        "title": html.escape(settings["title"]),
        "verdict": _verdict(panels),
        "links": links,
        "sections": sections,
        "settings": settings_table(settings),
        "cite": html.escape(cite(*dict.fromkeys(used))),
        "figures": _script_safe(json.dumps(figures, separators=(",", ":"))),
        "plotly": get_plotlyjs().replace("</script", "<\\/script"),
    }
    for key, text in parts.items():
        page = page.replace(f"<!--{key}-->", text)
    path = root / "report.html"
    write_text(path, page)
    return path


def _script_safe(text: str) -> str:
    return text.replace("</", "<\\/")


def _names(parameters: dict[str, Any]) -> list[str]:
    """Zoo names used by a strategy and its bases."""
    inner = [name for value in parameters.values() if isinstance(value, dict) for name in _names(value)]
    return [parameters["use"], *inner]


def _verdict(panels: list[Panel]) -> str:
    claims = [v for p in panels for v in p.claims]
    if not claims:
        return ""
    held = sum(v.holds for v in claims)
    return f"<p class='verdict'><b>{held} of {len(claims)}</b> claims hold on these trials.</p>"


def _section(panel: Panel, figures: dict[str, Any]) -> str:
    parts = [
        f"<section id='{html.escape(panel.name)}'><h2>{html.escape(panel.title)}</h2><p>{html.escape(panel.text)}</p>"
    ]
    if panel.claims:
        parts.append(claim_table(panel))
    if panel.figure == "scaling":
        labels = dict.fromkeys(fit.label for fit in panel.fits)
        parts += [_figure(f"{panel.name}-{label}", _scaling(panel, label), figures) for label in labels]
        parts.append(exponent_table(panel))
    for environment in panel.environments if panel.figure in ("regret", "time") else []:
        if len(panel.environments) > 1:
            parts.append(f"<h3>{html.escape(environment)}</h3>")
        make = _bars if panel.figure == "time" else _curves
        parts.append(_figure(f"{panel.name}-{environment}", make(panel, environment), figures))
        if any(c.memory for c in panel.shown(environment)) and panel.figure == "regret":
            parts.append(_figure(f"{panel.name}-{environment}-memory", _memory(panel, environment), figures))
        parts.append(final_table(panel, environment))
        parts.append(bound_table(panel, environment))
    return "\n".join([*parts, "</section>"])


def _figure(name: str, figure: dict[str, Any], figures: dict[str, Any]) -> str:
    figures[name] = figure
    return f"<div class='plot' data-figure='{html.escape(name)}' id='plot-{html.escape(name)}'></div>"


def _curves(panel: Panel, environment: str) -> dict[str, Any]:
    """Mean curves with bands of ± 1 std; a legend entry switches a curve and its band together."""
    data: list[dict[str, Any]] = []
    curves = panel.shown(environment)
    for position, curve in sorted(enumerate(curves), key=lambda pair: -float(pair[1].final.mean())):
        colour = colour_of(curve.colour, position)
        mean, std = _mean_std(curve)
        x = curve.rounds.tolist()
        band = {
            "legendgroup": curve.strategy,
            "showlegend": False,
            "hoverinfo": "skip",
            "mode": "lines",
            "line": {"width": 0},
        }
        data.append(
            {
                **band,
                "x": x + x[::-1],
                "y": _short([*(mean + std), *(mean - std)[::-1]]),
                "fill": "toself",
                "fillcolor": _faint(colour),
            }
        )
        data.append(
            {
                "legendgroup": curve.strategy,
                "name": curve.strategy,
                "x": x,
                "y": _short(mean),
                "mode": "lines",
                "line": {"color": colour, "dash": PLOTLY_DASHES[curve.line], "width": 2},
                "hovertemplate": f"{html.escape(curve.strategy)}: %{{y:.1f}} after %{{x}}<extra></extra>",
            }
        )
    for bound in (b for b in panel.bounds if b.environment == environment):
        colour = next((colour_of(c.colour, i) for i, c in enumerate(curves) if c.strategy == bound.strategy), "#888888")
        data.append(
            {
                "name": f"{bound.theorem.partition(' (')[0]}, bound for {bound.strategy}",
                "x": bound.rounds,
                "y": _short(bound.values),
                "mode": "lines",
                "visible": "legendonly",
                "line": {"color": colour, "dash": "longdash", "width": 1.5},
            }
        )
    return {"data": data, "layout": _layout(panel.unit, "cumulative regret")}


def _mean_std(curve: Curve) -> tuple[Any, Any]:
    spread = curve.regret.std(axis=0, ddof=1) if len(curve.regret) > 1 else np.zeros(len(curve.rounds))
    return curve.regret.mean(axis=0), spread


def _memory(panel: Panel, environment: str) -> dict[str, Any]:
    data = []
    for position, curve in enumerate(panel.shown(environment)):
        if curve.memory:
            colour = colour_of(curve.colour, position)
            data.append(
                {
                    "name": curve.strategy,
                    "x": curve.memory["round"],
                    "y": _short(curve.memory["mean"]),
                    "mode": "lines",
                    "line": {"color": colour},
                }
            )
    layout = _layout(panel.unit, f"effective memory ({panel.unit}s)")
    layout["yaxis"]["type"] = "log"
    return {"data": data, "layout": layout | {"height": 260, "showlegend": True}}


def _bars(panel: Panel, environment: str) -> dict[str, Any]:
    curves = sorted(enumerate(panel.shown(environment)), key=lambda pair: -float(pair[1].microseconds.mean()))
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": curve.strategy,
            "y": [curve.strategy],
            "x": [float(np.mean(curve.seconds)) * 1e3],
            "error_x": {"type": "data", "array": [float(np.std(curve.seconds)) * 1e3]},
            "marker": {"color": colour_of(curve.colour, position)},
        }
        for position, curve in curves
    ]
    layout = _layout(f"milliseconds a run of {curves[0][1].horizon} {panel.unit}s", "")
    layout["yaxis"]["automargin"] = True
    return {"data": data, "layout": layout | {"showlegend": True}}


def _scaling(panel: Panel, label: str) -> dict[str, Any]:
    fits = [fit for fit in panel.fits if fit.label == label]
    colours = {c.strategy: colour_of(c.colour, i) for i, c in enumerate(panel.shown(panel.environments[0]))}
    data: list[dict[str, Any]] = [
        {
            "name": f"{fit.strategy}: exponent {fit.exponent:.2f}",
            "x": fit.x,
            "y": fit.mean,
            "error_y": {"type": "data", "array": fit.std},
            "mode": "lines+markers",
            "line": {"color": colours.get(fit.strategy, "#888888")},
        }
        for fit in fits
    ]
    if fits[0].theorem is not None:
        x = np.array([min(fits[0].x), max(fits[0].x)])
        y = 1.35 * max(max(f.mean) for f in fits) * (x / x[-1]) ** fits[0].theorem
        data.append(
            {
                "name": f"theorem: {fits[0].theorem:.2f}",
                "x": x.tolist(),
                "y": y.tolist(),
                "mode": "lines",
                "line": {"color": "#888888", "dash": "dot"},
            }
        )
    layout = _layout(label, "final regret")
    layout["xaxis"]["type"] = layout["yaxis"]["type"] = "log"
    return {"data": data, "layout": layout}


def _layout(x: str, y: str) -> dict[str, Any]:
    axis = {"gridcolor": "#e6e6e6", "zerolinecolor": "#cccccc", "automargin": True}
    return {
        "xaxis": {**axis, "title": {"text": x}},
        "yaxis": {**axis, "title": {"text": y}, "rangemode": "tozero"},
        "legend": {"orientation": "v", "x": 1.02, "y": 1, "groupclick": "togglegroup"},
        "margin": {"l": 70, "r": 20, "t": 20, "b": 50},
        "height": 420,
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#222222"},
    }


def _faint(colour: str) -> str:
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},0.16)"


def _short(values: Any) -> list[float]:
    return [float(f"{v:.6g}") for v in values]
