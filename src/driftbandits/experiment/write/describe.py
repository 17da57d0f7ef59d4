"""From the outcome of an experiment to its plots: regret, reward, arms played, memory, running time, scaling."""

import numpy as np

from ...plots.plot import Axis, Bar, Heat, Plot, Series, log_ticks, thinned
from ...plots.style import MARKERS, colour_of
from ..analyse.panel_results import BoundCurve, Curve, Panel

GREY = "#888888"


def _coloured(panel: Panel, environment: str) -> list[tuple[str, Curve]]:
    """The curves to draw with their colours, worst first: what ends lowest is drawn last, above the others."""
    curves = [(colour_of(c.colour, i), c) for i, c in enumerate(panel.shown(environment))]
    return sorted(curves, key=lambda pair: -float(pair[1].final.mean()))


def _time(panel: Panel, environment: str) -> Axis:
    return Axis(panel.unit, low=0.0, high=max(c.horizon for c in panel.shown(environment)))


def with_added(panel: Panel, environment: str) -> Plot | None:
    """The main plot with the curves that the source does not show, if there are any."""
    if not any(c.added for c in panel.shown(environment)):
        return None
    return (running_time if panel.figure == "time" else regret)(panel, environment, added=True)


def regret(panel: Panel, environment: str, added: bool = False) -> Plot:
    """Mean ± 1 std of every strategy that the source shows, or of all; theory's bounds, hidden."""
    series = []
    for colour, c in _coloured(panel, environment):
        if c.added and not added:
            continue
        mean = c.regret.mean(axis=0)
        std = c.regret.std(axis=0, ddof=1) if len(c.regret) > 1 else np.zeros(len(c.rounds))
        series.append(Series(c.strategy, colour, c.rounds, mean, c.line, low=mean - std, high=mean + std))
    bounds = [_bound(panel, b) for b in panel.bounds if b.environment == environment]
    y = Axis("cumulative regret", low=0.0)
    return Plot(panel.title, _time(panel, environment), y, (*series, *bounds))


def _bound(panel: Panel, bound: BoundCurve) -> Series:
    curves = _coloured(panel, bound.environment)
    colour = next((colour for colour, c in curves if c.strategy == bound.strategy), GREY)
    name = f"{bound.theorem.partition(' (')[0]}, bound for {bound.strategy}"
    return Series(name, colour, bound.rounds, bound.values, "longdash", thin=True, hidden=True)


def reward(panel: Panel, environment: str) -> Plot | None:
    """Reward per round, window by window, below that of the best arms."""
    found = [(colour, c) for colour, c in _coloured(panel, environment) if c.reward]
    if not found:
        return None
    series = [
        Series(
            c.strategy, colour, c.reward["round"], c.reward["mean"], c.line, low=c.reward["low"], high=c.reward["high"]
        )
        for colour, c in found
    ]
    best = found[0][1].reward
    series.insert(0, Series("best arm", GREY, best["round"], best["best"], "dotted", thin=True))
    return Plot(panel.title, _time(panel, environment), Axis(f"reward per {panel.unit}"), tuple(series), legend=False)


def arms(panel: Panel, environment: str) -> list[Plot]:
    """Which arms each strategy played when, best strategy first; arms are numbered as they came into use."""
    found = [c for _, c in reversed(_coloured(panel, environment)) if c.plays]
    if not found:
        return []
    shares = [np.asarray(c.plays["shares"]) for c in found]
    order = np.argsort(_mean_time(np.sum(shares, axis=0)), kind="stable")
    horizontal = _time(panel, environment)
    return [
        Plot(c.strategy, horizontal, Axis("arm"), heat=Heat(c.plays["round"], s.T[order]), legend=False)
        for c, s in zip(found, shares, strict=True)
    ]


def _mean_time(shares: np.ndarray) -> np.ndarray:
    """When each arm was played, on average; those never played come last."""
    total = shares.sum(axis=0)
    return np.where(total > 0, np.arange(len(shares)) @ shares / np.maximum(total, 1e-12), np.inf)


def memory(panel: Panel, environment: str) -> Plot | None:
    """Effective memory of every strategy that adapts it: geometric mean, and a factor of one std."""
    series = tuple(
        Series(
            c.strategy, colour, c.memory["round"], c.memory["mean"], c.line, low=c.memory["low"], high=c.memory["high"]
        )
        for colour, c in _coloured(panel, environment)
        if c.memory
    )
    if not series:
        return None
    low = min(min(s.low) for s in series if s.low is not None)
    high = max(max(s.high) for s in series if s.high is not None)
    y = Axis(
        f"effective memory ({panel.unit}s)",
        log=True,
        ticks=log_ticks(low / 1.2, high * 1.2),
        low=low / 1.2,
        high=high * 1.2,
    )
    return Plot(panel.title, _time(panel, environment), y, series)


def running_time(panel: Panel, environment: str, added: bool = False) -> Plot:
    """Milliseconds per run of every strategy that the source shows, or of all; the error bar is 1 std over trials."""
    colours = {c.strategy: colour_of(c.colour, i) for i, c in enumerate(panel.shown(environment))}
    curves = sorted(panel.shown(environment), key=lambda c: float(c.microseconds.mean()), reverse=True)
    bars = []
    for c in (c for c in curves if added or not c.added):
        milliseconds = np.asarray(c.seconds) * 1e3
        bars.append(Bar(c.strategy, colours[c.strategy], float(milliseconds.mean()), float(milliseconds.std())))
    x = Axis(f"ms per run of {curves[0].horizon} {panel.unit}s", low=0.0)
    return Plot(panel.title, x, Axis(""), bars=tuple(bars), legend=False)


def scaling(panel: Panel, label: str) -> Plot:
    """Final regret on log axes against one quantity, with fitted exponents and the theorem's slope."""
    fits = [fit for fit in panel.fits if fit.label == label]
    names = list(dict.fromkeys(c.strategy for c in panel.curves if c.shown))
    styles = {c.strategy: (colour_of(c.colour, names.index(c.strategy)), c.line) for c in panel.curves if c.shown}
    series = [
        Series(
            f"{fit.strategy}: {fit.exponent:.2f} ± {fit.exponent_std:.2f}",
            styles[fit.strategy][0],
            fit.x,
            fit.mean,
            styles[fit.strategy][1],
            error=fit.std,
            marker=MARKERS[names.index(fit.strategy) % len(MARKERS)],
        )
        for fit in fits
    ]
    top = 1.35 * max(max(fit.mean) for fit in fits)
    slope = fits[0].theorem
    if slope is not None:
        x = np.array([min(fits[0].x), max(fits[0].x)])
        series.append(Series(f"theorem: {slope:.2f}", GREY, x, top * (x / x[-1]) ** slope, "dotted", thin=True))
    low = 0.8 * min(min(s.y) for s in series)
    y = Axis("final regret", log=True, ticks=log_ticks(low, top * 1.1), low=low, high=top * 1.1)
    return Plot("", Axis(label, log=True, ticks=thinned(fits[0].x)), y, tuple(series), legend_title="fitted exponent")
