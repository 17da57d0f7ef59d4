r"""Which memory forecasts best? Inside a bank, models are judged by the log scores of their forecasts.

    e² = (y − zᵀθ)²/(1+q),  q = zᵀPz;       ℓ += −½log(1+q) − ½e²/σ̂²     or, robustly,  −½log(1+q) − 5/2·log(1 + e²/4σ̂²)

Gaussian only once its cumulative log score leads that of Student's t₄ (from −10, clipped to [−100, 30]): among rare clicks or heavy
tails every
success would refute everything. σ̂² is the 500-round mean of e² of the bank's model *in use*, with five pseudo-observations of Var(r).

Weights ∝ e^ℓ, a share of 1e-4 dealt out anew in every round. A memory longer than the leader's that falls 7 nats behind is refuted: it
takes over the
leader's past and re-enters 4 nats behind. The bank plays with the longest memory within d/2 nats of the leader.
"""

import math
from typing import Any

import numpy as np

from ...adaptive.evidence import REENTER, REFUTE, SHARE, contest
from ...core.kernel import kernel, solver
from ...core.linalg import Vector, dot, symmetric_product
from .family import dispersion, log_score
from .models import prior_width, widened
from .parts import (
    BANKS,
    BEYOND_1,
    BEYOND_2,
    CLOCK,
    ERRORS,
    EVENT,
    EVENTS,
    EXPONENTIAL,
    GAUSSIAN,
    REWARD_SQUARES,
    REWARDS,
    SelfTuning,
    SelfTuningState,
)

SPAN = 500.0  # rounds over which errors are averaged
PSEUDO = 5.0


@solver
def judge(
    strategy: SelfTuning, state: SelfTuningState, block: int, z: Vector, r: float, gap: float, weight: float
) -> None:
    """Weigh every model by how well it foresaw r; refute; choose the models to play with."""
    _forecast(strategy, state, block, z, r, gap, weight)
    for bank in range(BANKS):
        _reweigh(state, bank)


@kernel
def _forecast(
    strategy: SelfTuning, state: SelfTuningState, block: int, z: Vector, r: float, gap: float, weight: float
) -> None:
    models, ev, now = state.models, state.evidence, state.now
    base, prior = dot(state.scale.offset, z), prior_width(state, z)
    keep = 1.0 - weight / SPAN
    gaussian = now[GAUSSIAN] > 0.0
    now[ERRORS] = keep * now[ERRORS] + weight
    variance = now[REWARD_SQUARES] / now[REWARDS]
    for m in range(models.n.shape[0]):
        f = dot(models.theta[m, block], z)
        Pz = state.work.Pz[m]  # `absorb` needs it too
        symmetric_product(models.P[m, block], z, Pz)
        q = widened(state, m, dot(z, Pz), prior, gap)
        noise = ev.noise[state.bank[m]]
        score = log_score(strategy.reward, f, q, base, r, noise, gaussian)
        ev.score[m] = weight * score
        e = r - base - f
        ev.forecast[m], ev.q[m] = f, q
        ev.error[m] = keep * ev.error[m] + weight * e * e / (1.0 + q)
    leader = ev.current[EXPONENTIAL]
    if ev.noise[EXPONENTIAL] > 0.0:
        _calibrate(now, (r - base - ev.forecast[leader]) ** 2 / (1.0 + ev.q[leader]) / ev.noise[EXPONENTIAL], weight)
    for bank in range(BANKS):
        noise = (ev.error[ev.current[bank]] + PSEUDO * variance) / (now[ERRORS] + PSEUDO)
        ev.noise[bank] = dispersion(strategy.reward, noise)


@kernel
def _calibrate(now: Vector, square: float, weight: float) -> None:
    """The contest of Gauss and Student, and how often residuals exceed one and two standard deviations."""
    keep = 1.0 - weight / SPAN
    now[GAUSSIAN] = contest(now[GAUSSIAN], square, weight)
    now[BEYOND_1] = keep * now[BEYOND_1] + (weight if square > 1.0 else 0.0)
    now[BEYOND_2] = keep * now[BEYOND_2] + (weight if square > 4.0 else 0.0)


@kernel
def _reweigh(state: SelfTuningState, bank: int) -> None:
    """New weights; the refuted start anew; the longest credible memory plays."""
    ev = state.evidence
    first, last = _members(state, bank)
    best, total, lead = -math.inf, 0.0, first
    for m in range(first, last):
        best = max(best, ev.score[m])
    for m in range(first, last):
        ev.weight[m] *= math.exp(ev.score[m] - best)  # no weight is below the share: their sum is not 0
        total += ev.weight[m]
    for m in range(first, last):
        ev.weight[m] = (1.0 - SHARE) * ev.weight[m] / total + SHARE / (last - first)
        if ev.weight[m] > ev.weight[lead]:
            lead = m
    top, d = ev.weight[lead], state.scale.mu.shape[0]
    current = lead
    for m in range(lead + 1, last):
        if ev.weight[m] < top * math.exp(-REFUTE):
            _start_anew(state, m, lead)
            ev.weight[m] = top * math.exp(-REENTER)
            if bank == EXPONENTIAL and m == last - 1:
                state.evidence.events[int(state.now[EVENT]) % EVENTS] = state.now[CLOCK]
                state.now[EVENT] += 1.0
        if ev.weight[m] >= top * math.exp(-0.5 * d):
            current = m
    ev.current[bank] = current


@kernel
def _members(state: SelfTuningState, bank: int) -> tuple[int, int]:
    """Models first..last−1 are the bank's."""
    first = 0
    while state.bank[first] != bank:
        first += 1
    last = first
    while last < state.bank.shape[0] and state.bank[last] == bank:
        last += 1
    return first, last


@solver
def _start_anew(state: SelfTuningState, m: int, lead: int) -> None:
    """Model m takes over the leader's past in every block."""
    models, ev = state.models, state.evidence
    if m < state.gamma.shape[0]:
        _copy(models.V[m], models.V[lead])
        _copy(models.b[m], models.b[lead])
        _copy(models.yy[m], models.yy[lead])
        _copy(models.since[m], models.since[lead])
    _copy(models.P[m], models.P[lead])
    _copy(models.theta[m], models.theta[lead])
    _copy(models.n[m], models.n[lead])
    _copy(state.work.Pz[m], state.work.Pz[lead])
    ev.error[m], ev.forecast[m], ev.q[m] = ev.error[lead], ev.forecast[lead], ev.q[lead]
    ev.refuted[m] += 1.0


@kernel
def _copy(to: Any, source: Any) -> None:
    a, b = to.reshape(to.size), source.reshape(to.size)
    for j in range(to.size):
        a[j] = b[j]


def calibration(now: Vector) -> tuple[float, float]:
    """Shares of standardised residuals beyond 1 and 2; a normal law has .32 and .05. NaN before the first."""
    n = now[ERRORS]
    return (float(now[BEYOND_1] / n), float(now[BEYOND_2] / n)) if n > 0.0 else (np.nan, np.nan)
