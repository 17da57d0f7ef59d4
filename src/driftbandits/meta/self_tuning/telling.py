"""Inspection of the learner: its limits, its estimate, and its statistics."""

from typing import Any

import numpy as np

from ...adaptive import sums
from ...adaptive.regression import mean_reward, noise
from ...core.lanes import lane
from ...core.linalg import Vector
from ...protocol import Limits, conditioning, describe, estimator, indices_valid, limits, magnitude, trace
from .parts import CLOCK, EVENT, EVENTS, RANGES, SelfTuning, SelfTuningState, sides


@limits.register(SelfTuning)
def _(strategy: SelfTuning) -> Limits:
    return Limits(np.inf, *RANGES[int(strategy.reward)])


@indices_valid.register(SelfTuningState)
def _(state: SelfTuningState) -> bool:
    """The layout is what the sizes say, the memories in use exist, and clocks are counts."""
    layout, numbers = sides(len(state.x), len(state.row) == 1)[2], state.engine.numbers
    same = all(np.array_equal(mine, known) for mine, known in zip(state.layout, layout, strict=True))
    places = all(0 <= numbers[at] < len(state.engine.rate) for at in (sums.FIRST, sums.USE, sums.SHORTEST))
    clocks = state.now[[CLOCK, EVENT]]
    return bool(same and places and ((clocks >= 0.0) & (clocks < 2.0**53)).all())


@magnitude.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> float:
    """Of every memory's shared estimate; NaN anywhere shows in the sum."""
    theta, total = state.engine.theta, 0.0
    for g in range(theta.shape[0]):
        for i in range(theta.shape[2]):
            for place in range(theta.shape[3]):
                total += abs(theta[g, 0, i, place]) + abs(theta[g, 1, i, place])
    return total


@conditioning.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> tuple[float, float, float]:
    """Of the static memory's V + Λ − E, in standardised units."""
    static = len(state.engine.rate) - 1
    diagonal = np.diag(lane(state.engine.U, static)) ** -2.0
    return float(np.trace(lane(state.engine.V, static))), 1.0, float(diagonal.max() / diagonal.min())


@estimator.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> Vector:
    """Slopes of the longest credible memory, without the intercept; those that all items have in common with `disjoint`."""
    theta = lane(state.engine.theta, int(state.engine.numbers[sums.USE]))
    return np.asarray(theta[0, 1:] - mean_reward(state.engine) * theta[1, 1:])


@trace.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> dict[str, Any]:
    """What changes over time:

    effective_memory
        observations that count in the longest credible memory
    weights
        (M,) of the memories' forecasts in the average, adding up to 1
    static
        the probability that the static voice decides
    noise
        σ̂ of the longest credible memory
    """
    engine = state.engine
    use = int(engine.numbers[sums.USE])
    weights = (engine.trust @ engine.mix)[:-1]
    return {
        "effective_memory": float(lane(engine.n, use)),
        "weights": weights / weights.sum(),
        "static": float(engine.numbers[sums.RHO]),
        "noise": float(np.sqrt(max(noise(engine, use), 0.0))),
    }


@describe.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> dict[str, Any]:
    """What `trace` tells, then:

    memories
        (M,) 1/(1−γ) of each memory, in rounds
    memory
        that of the longest credible memory
    calibration
        shares of standardised forecast errors beyond 1 and 2 (a normal law: .32, .05)
    drift_events
        rounds in which the memory that forgets nothing was refuted, the latest 64
    """
    numbers = state.engine.numbers
    with np.errstate(divide="ignore"):
        memories = -1.0 / np.expm1(-state.engine.rate[:-1])
    n, many = numbers[sums.CAL_N], int(state.now[EVENT])
    beyond = (numbers[sums.CAL_1] / n, numbers[sums.CAL_2] / n) if n > 0.0 else (np.nan, np.nan)
    return {
        "observations": int(numbers[sums.LEARNED]),
        **trace(strategy, state),
        "memories": memories,
        "memory": float(memories[int(numbers[sums.USE])]),
        "calibration": (float(beyond[0]), float(beyond[1])),
        "drift_events": np.sort(state.events[: min(many, EVENTS)]).astype(np.int64),
    }
