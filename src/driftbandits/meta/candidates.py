"""The K models of adaptive weights: settings, state, scoring and re-estimation; see `adaptive` for the equations."""

from typing import Any, NamedTuple

import numpy as np

from ..adaptive.evidence import is_refuted, longest_credible
from ..core.kernel import kernel, part, solver
from ..core.linalg import Matrix, Vector, dot, inner_products, largest, norm, position, solve_lower
from ..core.state import copy_state, counters, filled, view_state
from ..errors import integer, positive, probability, require
from ..protocol import (
    Integers,
    Setting,
    anytime,
    beta,
    blank_estimate,
    blank_sums,
    blank_work,
    capacity,
    estimate,
    index,
    linearises,
    mean,
    prepare,
    start,
    wants_squares,
)
from .evidence import Evidence, blank_evidence, calibrated, inherit, record_forecast, update_weights

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


class CandidatesClock(NamedTuple):
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
    clock: CandidatesClock
    horizon: Integers  # (1,) T, or 0


MANY = 16  # features
KNOWS = 3.0  # a leader that remembers fewer observations per feature refutes nobody; 1 where there are few


def _candidates(adaptive: Adaptive, d: int) -> Vector:
    """γ of every candidate. Memories shorter than d cannot tell d numbers apart and take no part where there are MANY features.

    They overstate their uncertainty, which made σ̂ too small and refuted what was right: at d = 60, standing still, 170 times in one run.
    """
    # Memories are shortest·2^k rounds; the last one is replaced by γ = 1, which forgets nothing.
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
    clock = counters(CandidatesClock)
    # Before there is evidence the static model plays: it is right unless the world changes.
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


# --------------------------------------------------------------------------------------------------------- judged and refreshed


@kernel
def forecast_all(adaptive: Adaptive, state: AdaptiveState, x: Vector, r: float) -> int:
    """Score every model by its forecast of r; returns the leader."""
    model, ev, d = adaptive.base.model, state.evidence, x.shape[0]
    # All forecasts are relative to the mean reward at xᵀθ = 0, because the calibration below scales them about it.
    price = adaptive.price * max(d - 2.0, 0.0) * norm(state.est.theta[state.clock.current[0]])
    zero = mean(model, 0.0)
    square, used = 0.0, state.clock.current[0]
    for k in range(state.gamma.shape[0]):
        est = view_state(state.est, k)
        # q = ‖x‖²_{V⁻¹} = ‖U⁻ᵀx‖²: one triangular solve, without V⁻¹.
        solve_lower(est.factor, x, state.u)
        q = dot(state.u, state.u)
        forecast = mean(model, dot(x, est.theta)) - zero
        if adaptive.calibration > 0.0:
            forecast = calibrated(ev, k, forecast, r - zero, adaptive.calibration)
        miss = r - zero - forecast
        record_forecast(adaptive, ev, k, q, miss, state.beta[k], price, d)
        if k == used:
            # Only the model in use says whether tails are heavy: the errors of short memories are large for other reasons.
            square = miss * miss / ((1.0 + q) * ev.noise[0])
    return update_weights(adaptive, ev, used, square)


@kernel
def probe_exploration_cost(adaptive: Adaptive, state: AdaptiveState, arms: Matrix, score: Vector) -> None:
    """Ask one model, in turn, how much expected reward its choice would give up by its own estimate."""
    rule, model, k = adaptive.base.rule, adaptive.base.model, state.clock.seen[0] // EVERY % state.gamma.shape[0]
    sums, est = view_state(state.sums, k), view_state(state.est, k)
    # The workspace is that of the model in use; `digest` restores it after this look.
    prepare(rule, model, sums, est, state.work, 0.0)
    index(rule, model, sums, est, state.beta[k], state.work, arms, score)
    choice = position(score, largest(score))
    inner_products(arms, est.theta, score)
    given_up = mean(model, largest(score)) - mean(model, score[choice])
    state.evidence.sacrifice[k] += LOOK * (given_up - state.evidence.sacrifice[k])


@kernel
def weigh(adaptive: Adaptive, state: AdaptiveState, lead: int) -> None:
    """Let refuted long memories start anew from the leader's past; choose the model to play with."""
    weight, merit, d = state.evidence.log_weight, state.evidence.merit, state.u.shape[0]
    K, many = weight.shape[0], d >= MANY
    # With fewer observations than features the leader's estimate is mostly prior, and its lead may be chance.
    knows = state.sums.n[lead, 0] >= (KNOWS * d if many else d)
    # Only memories longer than the leader's can be outdated. With many features both scores must agree: the log-weight, which includes the
    # charges for exploration, and the merit, which has forecasts alone.
    for k in range(lead + 1, K):
        by_charges_too = is_refuted(weight, k, lead, adaptive.refute)
        if knows and by_charges_too and (not many or is_refuted(merit, k, lead, adaptive.refute)):
            _start_anew(state, k, lead)
            # It re-enters close behind the leader: it now has the leader's data, but must first earn the choice.
            weight[k] = weight[lead] - adaptive.handicap
            merit[k] = merit[lead] - adaptive.handicap
    state.clock.current[0] = longest_credible(weight, lead, K, 0.5 * adaptive.credible * d)


@solver
def _start_anew(state: AdaptiveState, k: int, lead: int) -> None:
    """Model k takes over the leader's past."""
    copy_state(view_state(state.sums, k), view_state(state.sums, lead))
    copy_state(view_state(state.est, k), view_state(state.est, lead))
    # Its estimate is a copy, so the radius, the statistics and what the estimate lacks are copies too.
    state.beta[k] = state.beta[lead]
    state.stale[k] = state.stale[lead]
    inherit(state.evidence, k, lead)
    state.clock.refuted[0] += 1


@kernel
def refresh(adaptive: Adaptive, state: AdaptiveState, everything: bool) -> None:
    """New estimates for the model in use, and for those with many observations since their last one."""
    for k in range(state.gamma.shape[0]):
        # Solving for θ̂ costs O(d³) per model, so a model that is not in use waits until a share `lag` of its memory is new.
        behind = state.stale[k] > adaptive.lag * state.sums.n[k, 0]
        due = behind or k == state.clock.current[0] or linearises(adaptive.base.model)
        if everything or (due and state.stale[k] > 0.0):
            sums, est = view_state(state.sums, k), view_state(state.est, k)
            estimate(adaptive.base.model, sums, est)
            # An anytime radius needs the round t, the others the horizon T (or nothing).
            rounds = state.clock.seen[0] + 1 if anytime(adaptive.base.radius) else state.horizon[0]
            state.beta[k] = beta(adaptive.base.radius, sums.n, est, rounds)
            state.stale[k] = 0.0
    digest(adaptive, state)


@kernel
def digest(adaptive: Adaptive, state: AdaptiveState) -> None:
    """The rule's digest of the model in use."""
    current = state.clock.current[0]
    sums, est = view_state(state.sums, current), view_state(state.est, current)
    prepare(adaptive.base.rule, adaptive.base.model, sums, est, state.work, 0.0)
