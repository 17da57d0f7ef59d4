"""The behaviour of a strategy over time: the reward earned and the arms played, window by window."""

from typing import Any

import numpy as np

from ..run.cells import Cell, Result, window_ends


def rewards(runs: list[Result]) -> dict[str, list[float]]:
    """Mean expected reward per round in each window, ± 1 std over trials, beside that of the best arms; and of all rounds.

    Regret is what the best arms would have given in excess, so both together give theirs.
    """
    if not all(r.reward for r in runs):
        return {}
    ends = window_ends(runs[0].rounds)
    lengths = np.diff(runs[0].rounds[ends], prepend=0)
    earned = np.array([r.reward for r in runs])
    missed = np.array([np.diff(r.regret[ends], prepend=0.0) / lengths for r in runs])
    mean = earned.mean(axis=0)
    std = earned.std(axis=0, ddof=1) if len(runs) > 1 else np.zeros(len(ends))
    series = {"mean": mean, "low": mean - std, "high": mean + std, "best": (earned + missed).mean(axis=0)}
    middle = runs[0].rounds[ends] - (lengths - 1) / 2
    overall = float(mean @ lengths / lengths.sum())
    return {"round": middle.tolist(), **{n: values.tolist() for n, values in series.items()}, "overall": [overall]}


def plays(cells: list[Cell], runs: list[Result]) -> dict[str, Any]:
    """The share of each arm in each window: over all trials if they have the same arms, else in the first trial."""
    if not all(r.plays.size for r in runs):
        return {}
    alike = all(c.spec["environment"].get("arms") == cells[0].spec["environment"].get("arms") for c in cells)
    shown = runs if alike else runs[:1]
    counts = np.sum([r.plays for r in shown], axis=0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    rounds = runs[0].rounds[window_ends(runs[0].rounds)]
    return {"round": rounds.tolist(), "shares": shares.round(3), "trials": len(shown)}
