"""Adaptive weights: no γ, no P_T, no horizon; the data say how fast the world changes. No regret theorem is claimed.

K discounted models with memories 1/(1−γ_k) = 4, 8, 16, …, 4096, ∞ rounds all learn from every observation. In round t:

evidence   ℓ_k ← ℓ_k − ½log(1+q_k) − ½e_k²/σ̂²,      e_k² = (r − a_k·μ_k)²/(1+q_k),  μ_k = μ(xᵀθ̂_k),  q_k = ‖x‖²_{V_k⁻¹}
           or, robustly,  − ½log(1+q_k) − 5/2·log(1 + e_k²/4σ̂²):  Gauss once it has led Student's t₄ (`self_tuning.evidence`)
charge     ℓ_k ← ℓ_k − ½(2κβ_k²/d − σ̂²)₊·q_k/σ̂² − η(d−2)₊‖θ̂‖·s̄_k/σ̂²
share      e^{ℓ_k} ← (1−α)·e^{ℓ_k}/Σ_j e^{ℓ_j} + α/K
refute     a memory longer than the leader's whose ℓ lies τ nats below takes over the leader's past, h nats below it,
           if the leader remembers d observations: with fewer nobody can tell d numbers apart. From d = 16 on 3d of them, and
           it must be τ nats ahead without the charges too: these say what a memory costs, not that it is wrong
play       with the longest memory whose ℓ is within c·d/2 of the leader's:  argmax μ(xᵀθ̂) + β‖x‖_{V⁻¹}

The evidence is the log-likelihood of a one-step-ahead forecast. Alone it chooses memories that are too short where bonuses
are wide: a long memory errs more, but explores less. On the circle, drift v per round costs ½(v·m)² + 0.4β/√m of regret at
memory m, and forecasts err least where the noise variance is about β²/4 of what it is: the first charge is for the part of a
model's bonus that the noise does not explain. In more dimensions what a bonus costs depends on the arms, and is measured:
s̄_k is the mean of max_a μ(x_aᵀθ̂_k) − μ(x_jᵀθ̂_k), what model k's own choice x_j gives up by its own estimate. One model in
two rounds is asked; times ‖θ̂‖, a regret is a loss of forecasts.

Refuting makes the weights more than a choice of γ. After a jump the long memories are wrong for as long as they remember;
here they forget at once what the leader has forgotten, and then grow again. The weights of the past stay what the paper's radius
needs: w_{t,s} ∈ [0, 1], known before round t; β uses their sum.

d/2 nats is the mean of ½χ²_d, the log-likelihood ratio of two models that are equally good.
σ̂² is the discounted mean of e² of the model in use: R bounds the noise, the evidence needs its size.
a_k is 1, or the slope of past rewards on past forecasts (`calibration`): the strong ridge of generalized models shrinks
every forecast, the short memories' most, and changes no choice. Rewards and forecasts then count from μ(0).
"""

from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..core.state import joined, view_state
from ..protocol import (
    Limits,
    absorb,
    act,
    choose,
    conditioning,
    describe,
    ellipsoid,
    estimator,
    fade,
    grow,
    index,
    indices_valid,
    learn,
    limits,
    magnitude,
    optimism,
    ready,
    renew,
    report,
    scores,
    trace,
    widen,
)
from ..strategy import bonus_ellipsoid
from ..sums.likelihood import Atoms, full
from .candidates import EVERY, Adaptive, AdaptiveState, digest, forecast_all, probe_exploration_cost, refresh, weigh

__all__ = ["Adaptive"]


@ready.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState, rng: np.random.Generator) -> None:
    if not state.clock.made[0]:
        refresh(adaptive, state, True)
        state.clock.made[0] = 1
    if not state.clock.drawn[0]:
        current = state.clock.current[0]
        renew(adaptive.base.rule, view_state(state.est, current), state.beta[current], state.work, rng)
        state.clock.drawn[0] = 1


@act.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(adaptive, state, rng)
    state.clock.drawn[0] = 0
    # In two dimensions exploration is not charged for: `forecast_all` multiplies the price by d − 2.
    if adaptive.price > 0.0 and arms.shape[0] > 2 and state.clock.seen[0] % EVERY == 0:
        probe_exploration_cost(adaptive, state, arms, score)
        digest(adaptive, state)
    current = state.clock.current[0]
    sums, est = view_state(state.sums, current), view_state(state.est, current)
    rule, model = adaptive.base.rule, adaptive.base.model
    return choose(rule, model, sums, est, state.beta[current], state.work, arms, score, rng)


@scores.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState, arms: Matrix, score: Vector) -> None:
    current = state.clock.current[0]
    sums, est = view_state(state.sums, current), view_state(state.est, current)
    index(adaptive.base.rule, adaptive.base.model, sums, est, state.beta[current], state.work, arms, score)


@optimism.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> float:
    return state.work.value[0]  # type: ignore[no-any-return]


@learn.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState, x: Vector, r: float, slot: int) -> None:
    made = state.clock.made[0] == 1
    if made:  # an observation before the first decision has no forecast
        # The forecasts are scored before any model learns r: a score on data that the model has seen favours the shortest memory.
        weigh(adaptive, state, forecast_all(adaptive, state, x, r))
    for k in range(state.gamma.shape[0]):
        sums = view_state(state.sums, k)
        fade(sums, state.gamma[k])
        absorb(sums, x, r, slot, 1.0)
        # Adding to the sums is cheap and done for all models; solving for θ̂ is not, and waits until `refresh`.
        state.stale[k] += 1.0
    state.clock.seen[0] += 1
    refresh(adaptive, state, not made)
    state.clock.made[0] = 1


@magnitude.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> float:
    total = 0.0
    for k in range(state.gamma.shape[0]):
        total += abs(state.beta[k]) + abs(state.evidence.log_weight[k])
        for i in range(state.est.theta.shape[1]):
            total += abs(state.est.theta[k, i])
    return total


@conditioning.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> tuple[float, float, float]:
    # The last candidate forgets nothing, so its sums have the largest trace.
    K, model = len(state.gamma) - 1, adaptive.base.model
    # The factor's diagonal holds reciprocals; the ratio of the extreme ones is the same, and its square bounds the condition number.
    pivots = np.abs(np.diagonal(state.est.factor[state.clock.current[0]]))
    ratio = float(pivots.max() / pivots.min()) if pivots.min() > 0.0 else 1.0
    return float(np.trace(state.sums.A[K])), model.lam * getattr(model, "c_mu", 1.0), ratio**2


@limits.register(Adaptive)
def _(adaptive: Adaptive) -> Limits:
    return limits(adaptive.base)


@estimator.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> Vector:
    return state.est.theta[state.clock.current[0]]  # type: ignore[no-any-return]


@ellipsoid.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> tuple[Vector, Matrix]:
    current = state.clock.current[0]
    return bonus_ellipsoid(adaptive.base, view_state(state.est, current), state.beta[current])


@trace.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> dict[str, Any]:
    """How fast the world changes, as the data have it:

    effective_memory
        Σ_s w_{t,s} of the model in use: as many rounds count
    weights
        (K,) of the candidates, adding up to 1
    memory
        1/(1−γ) of the model in use, infinite if that is 1
    """
    current = state.clock.current[0]
    return {
        "effective_memory": float(state.sums.n[current, 0]),
        "weights": np.exp(state.evidence.log_weight) / np.exp(state.evidence.log_weight).sum(),
        "memory": float(memories(state.gamma)[current]),
    }


@describe.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> dict[str, Any]:
    """What `trace` tells, then:

    memories
        (K,) 1/(1−γ_k) of the candidates
    effective_memories
        (K,) Σ_s w_{t,s} of each; less than its memory since it was refuted
    refuted
        how often a candidate had to start anew
    noise
        σ̂, the noise's standard deviation as the evidence sees it
    """
    current = int(state.clock.current[0])
    told: dict[str, Any] = {
        "observations": int(state.clock.seen[0]),
        **trace(adaptive, state),
        "radius": float(state.beta[current]),
        "memories": memories(state.gamma),
        "effective_memories": state.sums.n[:, 0].copy(),
        "refuted": int(state.clock.refuted[0]),
        "noise": float(np.sqrt(state.evidence.noise[0])),
    }
    if report.knows(type(adaptive.base.model)):
        told |= report(adaptive.base.model, view_state(state.est, current))
    return told


def memories(gamma: Vector) -> Vector:
    """1/(1−γ) in rounds; infinite for γ = 1."""
    rounds = np.full(len(gamma), np.inf)
    np.divide(1.0, 1.0 - gamma, out=rounds, where=gamma < 1.0)
    return rounds


@indices_valid.register(AdaptiveState)
def _(state: AdaptiveState) -> bool:
    return bool(all(count[0] >= 0 for count in state.clock) and state.clock.current[0] < len(state.gamma))


@grow.register(AdaptiveState)
def _(state: AdaptiveState) -> AdaptiveState:
    """All models keep the same observations, so all of them need room at once: when one of them does."""
    return widen(state) if isinstance(state.sums, Atoms) and full(state.sums) else state


@widen.register(AdaptiveState)
def _(state: AdaptiveState) -> AdaptiveState:
    if not isinstance(state.sums, Atoms):
        return state
    return state._replace(sums=joined([widen(view_state(state.sums, k)) for k in range(len(state.gamma))]))
