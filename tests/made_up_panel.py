"""Outcomes nobody had to compute, with any names: for what draws and tells them."""

from typing import Any

import numpy as np

from driftbandits.experiment.analyse.panel_results import AxisFit, BoundCurve, Curve, Panel, Verdict


def panel(names: list[str], *, place: str = "world", text: str = "text", figure: str = "regret") -> Panel:
    """One strategy per name, in one environment, with memory, reward, arms played, a claim, a bound and fits."""
    return Panel(
        name=names[0],
        title=text,
        text=text,
        figure=figure,
        unit="round",
        trials=3,
        horizon=120,
        seeds=[0],
        environments=[place],
        curves=[_curve(place, name, i) for i, name in enumerate(names)],
        claims=[Verdict(text, True, 0.1, 0.01, text, text), Verdict(text, False, -0.1, 0.9, text)],
        bounds=[BoundCurve(place, names[0], text, [1, 60, 120], [1.0, 2.0, 3.0], 240.0, 0.9)],
        fits=[
            AxisFit(text, n, [10.0, 11.0, 1000.0], [3.0, 20.0, 800.0], [0.1, 1.0, 9.0], 0.6, 0.1, 0.5) for n in names
        ],
    )


def _curve(place: str, name: str, i: int) -> Curve:
    rng = np.random.default_rng(i)
    rounds = np.arange(10, 121, 10)
    time = rounds.tolist()
    mean = np.exp(rng.normal(size=12) + 3)
    reward = {"round": time, "mean": mean, "low": mean / 2, "high": mean * 2, "best": mean * 3}
    return Curve(
        environment=place,
        strategy=name,
        rounds=rounds,
        regret=rng.random((3, 12)).cumsum(axis=1) * (i + 1),
        seconds=[0.01, 0.02, 0.03],
        horizon=120,
        parameters={"use": "oful", "lam": 2.0},
        memory={k: v if k == "round" else v.tolist() for k, v in reward.items() if k != "best"},
        reward={k: v if k == "round" else v.tolist() for k, v in reward.items()},
        plays={"round": time, "shares": rng.dirichlet(np.ones(4), size=12).tolist(), "trials": 1},
    )


def settings(text: str = "text") -> dict[str, Any]:
    """Settings whose texts are all the same."""
    return {
        "name": text,
        "title": text,
        "trials": 3,
        "horizon": 120,
        "seeds": [0],
        "command": text,
        "library": text,
        "python": text,
        "platform": text,
        "cores": 2,
        "versions": {text: text},
        "platforms": [[{"cpu": text}, 3]],
        "specifications": [{"name": text, "file": text, "text": text, "constants": {}}],
    }
