"""What the learner tells of itself: its limits, its estimate, what it found out of the world."""

from typing import Any

import numpy as np

from ...core.linalg import Vector
from ...protocol import Limits, conditioning, describe, estimator, limits, magnitude, trace
from .evidence import calibration
from .family import support
from .parts import BANKS, EVENT, EVENTS, LAM, ORIGIN, SEEN, SPREAD, SPREAD_INTERCEPT, SelfTuning, SelfTuningState

BANK_NAMES = ("exponential", "static", "walk")


@limits.register(SelfTuning)
def _(strategy: SelfTuning) -> Limits:
    return Limits(np.inf, *support(strategy.reward))


@magnitude.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> float:
    """Of the block last observed, and of the noise; NaN anywhere shows in the sum."""
    total, models = 0.0, state.models
    block = 0
    for k in range(models.last.shape[0]):
        if models.last[k] > models.last[block]:
            block = k
    for bank in range(BANKS):
        theta = models.theta[state.evidence.current[bank], block]
        total += state.evidence.noise[bank]
        for i in range(theta.shape[0]):
            total += abs(theta[i])
    return total


@conditioning.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> tuple[float, float, float]:
    """In standardised units, of the static model: its diagonal is at most 16 per observation."""
    V, lam = state.models.V[len(state.gamma) - 1], float(state.now[LAM])
    largest_diagonal = float(np.max(np.einsum("bii->bi", V), initial=0.0))
    return float(np.max(np.einsum("bii->b", V))), min(lam, 1.0), 1.0 + largest_diagonal / lam


@estimator.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> Vector:
    """Slopes per unit of each feature, without the intercept; of all items' common part with `disjoint`."""
    bank = int(np.argmax(state.duel.rho))
    m = state.evidence.current[bank]
    theta = state.scale.offset + (0.0 if strategy.disjoint else state.models.theta[m, 0])
    return np.asarray(theta[1:] / state.scale.sd)


@trace.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> dict[str, Any]:
    """What changes over time:

    effective_memory
        observations that count in the model in use, per item that has any
    banks
        (3,) the probability that each bank decides: exponential, static, walk
    weights
        (M,) of all models, adding up to 1 in each bank
    noise
        σ̂ of the bank most likely to decide
    """
    bank = int(np.argmax(state.duel.rho))
    n = state.models.n[state.evidence.current[bank]]
    return {
        "effective_memory": float(n.sum()),
        "banks": state.duel.rho.copy(),
        "weights": state.evidence.weight.copy(),
        "noise": float(np.sqrt(state.evidence.noise[bank])),
    }


@describe.register(SelfTuning)
def _(strategy: SelfTuning, state: SelfTuningState) -> dict[str, Any]:
    """What `trace` tells, then:

    memories
        (M,) 1/(1−γ) of each model in rounds; 1/√rate of a random walk
    in_use
        name of the bank most likely to decide, and the memory of its model
    calibration
        shares of standardised forecast errors beyond 1 and 2 (a normal law: .32, .05)
    drift_events
        rounds in which the memory that forgets nothing was refuted, the latest 64
    ridge, intercept
        λ in units of standardised features; is there an intercept?
    spread
        with items: how much they differ, standard deviations of intercepts and of slopes in units of σ̂ (static bank)
    """
    bank = int(np.argmax(state.duel.rho))
    with np.errstate(divide="ignore"):
        memories = np.concatenate([1.0 / (1.0 - state.gamma), 1.0 / np.sqrt(state.rate)])
    count = int(state.now[EVENT])
    events = np.sort(state.evidence.events[: min(count, EVENTS)]).astype(np.int64)
    told = {
        "observations": int(state.now[SEEN]),
        **trace(strategy, state),
        "memories": memories,
        "in_use": (BANK_NAMES[bank], float(memories[state.evidence.current[bank]])),
        "calibration": calibration(state.now),
        "drift_events": events,
        "refuted": int(state.evidence.refuted.sum()),
        "ridge": float(state.now[LAM]),
        "intercept": bool(state.now[ORIGIN] == 0.0),
    }
    if strategy.disjoint:
        told["spread"] = (float(state.now[SPREAD_INTERCEPT] ** -0.5), float(state.now[SPREAD] ** -0.5))
    return told
