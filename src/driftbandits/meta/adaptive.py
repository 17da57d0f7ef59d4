"""Adaptive weights: no γ, no P_T, no horizon; the data say how fast the world changes. No regret theorem is claimed.

K discounted models with memories 1/(1−γ_k) = 4, 8, 16, …, 4096, ∞ rounds all learn from every observation. In round t:

evidence   ℓ_k ← ℓ_k − ½log(1+q_k) − ½(r − a_k·μ_k)²/(σ̂²(1+q_k)),         μ_k = μ(xᵀθ̂_k),  q_k = ‖x‖²_{V_k⁻¹}
charge     ℓ_k ← ℓ_k − ½(2κβ_k²/d − σ̂²)₊·q_k/σ̂² − η(d−2)₊‖θ̂‖·s̄_k/σ̂²
share      e^{ℓ_k} ← (1−α)·e^{ℓ_k}/Σ_j e^{ℓ_j} + α/K
refute     a memory longer than the leader's whose ℓ lies τ nats below takes over the leader's past, h nats below it
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
σ̂² is the smallest discounted mean of (r − a·μ)²/(1+q) among the models: R bounds the noise, the evidence needs its size.
a_k is 1, or the slope of past rewards on past forecasts (`calibration`): the strong ridge of generalized models shrinks
every forecast, the short memories' most, and changes no choice. Rewards and forecasts then count from μ(0).
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import integer, positive, probability, require
from ..kernel import kernel, part, solver
from ..likelihood import Atoms, full
from ..linalg import Matrix, Vector, dot, inner_products, largest, norm, position, solve_lower
from ..protocol import (
    Integers,
    Limits,
    Setting,
    absorb,
    act,
    anytime,
    beta,
    blank_estimate,
    blank_sums,
    blank_work,
    capacity,
    choose,
    conditioning,
    describe,
    ellipsoid,
    estimate,
    estimator,
    fade,
    grow,
    index,
    learn,
    limits,
    linearises,
    mean,
    optimism,
    prepare,
    ready,
    renew,
    report,
    scores,
    size,
    sound,
    start,
    trace,
    wants_squares,
    widen,
)
from ..state import copy_state, counters, filled, joined, view_state
from ..strategy import bonus_ellipsoid
from .evidence import Evidence, blank_evidence, book, calibrated, conclude, inherit

EVERY = 2  # rounds from one model's turn to be asked to the next one's
LOOK = 1.0 / 8.0  # weight of the latest sacrifice in their mean


@part
class Adaptive(NamedTuple):
    """Adaptive weights for the model, radius and rule of `base`, an `Optimistic` strategy; see `zoo.adaptive_weight_ucb`."""

    base: Any
    noise: float  # R: what σ̂ is before there are data
    candidates: float = 12.0  # K
    shortest: float = 4.0  # rounds; each memory is twice the one before, the last remembers everything
    share: float = 1e-4  # α
    credible: float = 1.0  # c, in means d/2 of ½χ²_d
    thrift: float = 0.05  # κ
    price: float = 0.01  # η
    calibration: float = 0.0  # rounds over which the slopes a_k are found; 0: a = 1
    refute: float = 7.0  # τ, in nats
    handicap: float = 4.0  # h, in nats
    noise_memory: float = 500.0  # rounds over which σ̂² is averaged
    lag: float = 1.0 / 32.0  # an idle model is estimated anew when this fraction of its memory is new

    def check(self) -> None:
        """The grid, the mixture and the thresholds must make sense."""
        integer("candidates", self.candidates, least=2, why="there must be something to choose")
        require(self.shortest > 1.0, "shortest", self.shortest, "> 1", "it is the shortest memory in rounds")
        probability("share", self.share)
        require(self.noise >= 0.0, "R", self.noise, "≥ 0", "it is the sub-Gaussian constant of the noise")
        require(self.credible >= 0.0, "credible", self.credible, "≥ 0", "it is a difference of evidence")
        require(self.thrift >= 0.0, "thrift", self.thrift, "≥ 0", "it charges for a bonus")
        require(self.price >= 0.0, "price", self.price, "≥ 0", "it charges for exploration")
        rounds = "0, or > 1"
        require(
            self.calibration == 0.0 or self.calibration > 1.0, "calibration", self.calibration, rounds, "it is a memory"
        )
        positive("handicap", self.handicap, "a model that starts anew must earn its lead")
        positive("noise_memory", self.noise_memory, "it is a number of rounds")
        why = "a model is refuted only if it would start anew above that"
        require(self.refute > self.handicap, "refute", self.refute, f"> handicap = {self.handicap}", why)
        require(0.0 <= self.lag < 1.0, "lag", self.lag, "in [0, 1)", "it is a fraction of the memory")


class Clock(NamedTuple):
    """What has happened so far, each (1,)."""

    seen: Integers  # observations
    current: Integers  # the model in use
    refuted: Integers  # models so far
    made: Integers  # 1 once there are estimates
    drawn: Integers  # 1 while the randomness of the coming decision is drawn


class AdaptiveState(NamedTuple):
    """K models, and what the data say about them."""

    sums: Any  # place k: the weighted past of model k
    est: Any  # place k: its estimate
    work: Any  # of the rule, for the model in use
    gamma: Vector  # (K,)
    beta: Vector  # (K,) of each model
    stale: Vector  # (K,) observations that the estimate does not know
    evidence: Evidence
    u: Vector  # (d,)
    clock: Clock
    horizon: Integers  # (1,) T, or 0


MANY = 16  # features


def _candidates(adaptive: Adaptive, d: int) -> Vector:
    """γ of every candidate. Memories shorter than d cannot tell d numbers apart and take no part where there are MANY features.

    They overstate their uncertainty, which made σ̂ too small and refuted what was right: at d = 60, standing still, 170 times in one run.
    """
    gamma: Vector = 1.0 - np.exp2(-np.arange(adaptive.candidates)) / adaptive.shortest
    gamma[-1] = 1.0
    if d < MANY:
        return gamma
    long_enough = gamma >= 1.0 - 1.0 / d
    long_enough[-2:] = True
    return np.asarray(gamma[long_enough])


@start.register(Adaptive)
def _(adaptive: Adaptive, setting: Setting, rng: np.random.Generator) -> AdaptiveState:
    model, memory, radius, rule = adaptive.base
    squares = wants_squares(rule) or wants_squares(radius)
    gamma = _candidates(adaptive, setting.dim)
    K = len(gamma)
    clock = counters(Clock)
    clock.current[0] = K - 1
    return AdaptiveState(
        sums=filled(blank_sums(model, setting, capacity(memory, setting.horizon), squares), K),
        est=filled(blank_estimate(model, setting, squares), K),
        work=blank_work(rule, setting._replace(arms=np.zeros((setting.dim, 0)))),
        gamma=gamma,
        beta=np.zeros(K),
        stale=np.zeros(K),
        evidence=blank_evidence(K, adaptive.noise),
        u=np.zeros(setting.dim),
        clock=clock,
        horizon=np.full(1, setting.horizon, np.int64),
    )


# ------------------------------------------------------------------------------------------------------------- evidence


@kernel
def _forecast(adaptive: Adaptive, state: AdaptiveState, x: Vector, r: float) -> None:
    """Weigh every model by how well it foresaw r."""
    model, ev, d = adaptive.base.model, state.evidence, x.shape[0]
    price = adaptive.price * max(d - 2.0, 0.0) * norm(state.est.theta[state.clock.current[0]])
    zero = mean(model, 0.0)
    least = np.inf
    for k in range(state.gamma.shape[0]):
        est = view_state(state.est, k)
        solve_lower(est.factor, x, state.u)
        q = dot(state.u, state.u)
        forecast = mean(model, dot(x, est.theta)) - zero
        if adaptive.calibration > 0.0:
            forecast = calibrated(ev, k, forecast, r - zero, adaptive.calibration)
        least = min(least, book(adaptive, ev, k, q, r - zero - forecast, state.beta[k], price, d))
    conclude(adaptive, ev, least)


@kernel
def _look(adaptive: Adaptive, state: AdaptiveState, arms: Matrix, score: Vector) -> None:
    """Ask one model, each in its turn, what its choice would give up."""
    rule, model, k = adaptive.base.rule, adaptive.base.model, state.clock.seen[0] // EVERY % state.gamma.shape[0]
    sums, est = view_state(state.sums, k), view_state(state.est, k)
    prepare(rule, model, sums, est, state.work, 0.0)
    index(rule, model, sums, est, state.beta[k], state.work, arms, score)
    choice = position(score, largest(score))
    inner_products(arms, est.theta, score)
    given_up = mean(model, largest(score)) - mean(model, score[choice])
    state.evidence.sacrifice[k] += LOOK * (given_up - state.evidence.sacrifice[k])


@kernel
def _weigh(adaptive: Adaptive, state: AdaptiveState) -> None:
    """Let refuted long memories start anew from the leader's past; choose the model to play with."""
    weight = state.evidence.weight
    lead = position(weight, largest(weight))
    top = weight[lead]
    refuted, credible = top * np.exp(-adaptive.refute), top * np.exp(-0.5 * adaptive.credible * state.u.shape[0])
    current = lead
    for k in range(lead + 1, weight.shape[0]):
        if weight[k] < refuted:
            _start_anew(state, k, lead)
            weight[k] = top * np.exp(-adaptive.handicap)
        if weight[k] >= credible:
            current = k
    state.clock.current[0] = current


@solver
def _start_anew(state: AdaptiveState, k: int, lead: int) -> None:
    """Model k takes over the leader's past."""
    copy_state(view_state(state.sums, k), view_state(state.sums, lead))
    copy_state(view_state(state.est, k), view_state(state.est, lead))
    state.beta[k] = state.beta[lead]
    state.stale[k] = state.stale[lead]
    inherit(state.evidence, k, lead)
    state.clock.refuted[0] += 1


@kernel
def _refresh(adaptive: Adaptive, state: AdaptiveState, everything: bool) -> None:
    """New estimates for the model in use and for those that have much to learn."""
    for k in range(state.gamma.shape[0]):
        sums = view_state(state.sums, k)
        due = (
            state.stale[k] > adaptive.lag * sums.n[0] or k == state.clock.current[0] or linearises(adaptive.base.model)
        )
        if everything or (due and state.stale[k] > 0.0):
            est = view_state(state.est, k)
            estimate(adaptive.base.model, sums, est)
            rounds = state.clock.seen[0] + 1 if anytime(adaptive.base.radius) else state.horizon[0]
            state.beta[k] = beta(adaptive.base.radius, sums.n, est, rounds)
            state.stale[k] = 0.0
    _prepare(adaptive, state)


@kernel
def _prepare(adaptive: Adaptive, state: AdaptiveState) -> None:
    """The rule's digest of the model in use."""
    current = state.clock.current[0]
    sums, est = view_state(state.sums, current), view_state(state.est, current)
    prepare(adaptive.base.rule, adaptive.base.model, sums, est, state.work, 0.0)


# -------------------------------------------------------------------------------------------------------------- strategy


@ready.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState, rng: np.random.Generator) -> None:
    if not state.clock.made[0]:
        _refresh(adaptive, state, True)
        state.clock.made[0] = 1
    if not state.clock.drawn[0]:
        current = state.clock.current[0]
        renew(adaptive.base.rule, view_state(state.est, current), state.beta[current], state.work, rng)
        state.clock.drawn[0] = 1


@act.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(adaptive, state, rng)
    state.clock.drawn[0] = 0
    if adaptive.price > 0.0 and arms.shape[0] > 2 and state.clock.seen[0] % EVERY == 0:
        _look(adaptive, state, arms, score)
        _prepare(adaptive, state)
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
        _forecast(adaptive, state, x, r)
        _weigh(adaptive, state)
    for k in range(state.gamma.shape[0]):
        sums = view_state(state.sums, k)
        fade(sums, state.gamma[k])
        absorb(sums, x, r, slot, 1.0)
        state.stale[k] += 1.0
    state.clock.seen[0] += 1
    _refresh(adaptive, state, not made)
    state.clock.made[0] = 1


@size.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> float:
    total = 0.0
    for k in range(state.gamma.shape[0]):
        total += abs(state.beta[k]) + abs(state.evidence.weight[k])
        for i in range(state.est.theta.shape[1]):
            total += abs(state.est.theta[k, i])
    return total


@conditioning.register(Adaptive)
def _(adaptive: Adaptive, state: AdaptiveState) -> tuple[float, float, float]:
    K, model = len(state.gamma) - 1, adaptive.base.model
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
        "weights": state.evidence.weight / state.evidence.weight.sum(),
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
        "noise": float(np.sqrt(state.evidence.noise[1])),
    }
    if report.knows(type(adaptive.base.model)):
        told |= report(adaptive.base.model, view_state(state.est, current))
    return told


def memories(gamma: Vector) -> Vector:
    """1/(1−γ) in rounds; infinite for γ = 1."""
    rounds = np.full(len(gamma), np.inf)
    np.divide(1.0, 1.0 - gamma, out=rounds, where=gamma < 1.0)
    return rounds


@sound.register(AdaptiveState)
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
