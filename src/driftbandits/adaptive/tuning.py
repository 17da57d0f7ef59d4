r"""Prior precisions: where they start, and how those of the static voice are learned.

Four numbers describe a prior: precisions λ₀ of the shared intercept, λ of shared slopes, κ₀ of an item's own intercept, κ of own slopes, in
units of the noise and for standardised columns. With n = E‖φ̃‖², n_ψ = E‖ψ̃‖² (both without the constant) they start at

    items with features                              λ₀ = 1,   λ = .3n·max(1, n/5),  κ₀ = 20, κ = 20n_ψ
    items that only their own effects tell apart     λ₀ = 4.6, λ = .58n,             κ₀ = 1,  κ = .126n_ψ

The static voice moves them at checkpoints, in steps of half a decade, uphill in log marginal likelihood

    ½log|Λ| − ½log|A| − ½Σ_i log|K⁻¹(M_i+K)| − ½(Σw+5)·log σ̂²

(the sum of its prequential log scores, free of order) with a log-normal hyperprior of one decade. The likelihood is that of normal noise;
with excess kurtosis it knows variances too well, so it is divided by T = max(1, (kurtosis − 1)/2) of the residuals: without that rare
clicks stick to poor items. The adaptive voice takes over only the precisions of own effects of items with
features: memories that forget lose more by a learned λ than they gain.
"""

import math

from ..core.kernel import kernel, solver
from ..core.lanes import LANES
from ..core.linalg import Vector, inverse
from ..core.linalg import cholesky as factor
from .columns import own_prior, shared_prior, size_of_columns
from .engine import Engine
from .explained import UNKNOWN
from .regression import OWN, log_det, noise, renew, renew_own, variance_of_rewards, weight_of
from .sums import ADAPTIVE, CAL_N, COUNT, FOURTH, NEVER, SECOND, SEPARATE, STATIC, State

LAM_0, LAM, KAP_0, KAP = range(4)  # places of log₁₀ precisions
STEP = 0.5  # decades
FURTHEST = 4.0  # decades from the start
SWEEPS = 2
UNTRIED = 2.0 * FURTHEST  # in place of κ₀: no own effects were computed yet
ENOUGH = 32.0  # rewards before anything is learned of items with features …
PER_ITEM = 2.0  # … and rewards per item before, where there is nothing but items
WIDE = 200  # columns above which nothing is tuned: a step costs p³


@kernel
def start_of(engine: Engine, place: int) -> float:
    """log₁₀ of the precision that a prior starts with."""
    shared, own = size_of_columns(engine.layout, engine.items, engine.context)
    shared, own = max(1.0, shared), max(1.0, own)
    separate = engine.state.numbers[SEPARATE] == 1.0
    if place == LAM_0:
        return math.log10(4.6 if separate else 1.0)
    if place == LAM:
        return math.log10(0.58 * shared if separate else 0.3 * shared * max(1.0, shared / 5.0))
    if place == KAP_0:
        return 0.0 if separate else math.log10(20.0)
    return math.log10((0.126 if separate else 20.0) * own)


@solver
def set_prior(engine: Engine, voice: int) -> tuple[float, float]:
    """Λ, K and K⁻¹ of a voice from its precisions; returns log|Λ| and log|K|."""
    state, layout, work = engine.state, engine.layout, engine.work
    lam0 = 10.0 ** (start_of(engine, LAM_0) + state.offset[voice, LAM_0])
    lam = 10.0 ** (start_of(engine, LAM) + state.offset[voice, LAM])
    kap0 = 10.0 ** (start_of(engine, KAP_0) + state.offset[voice, KAP_0])
    kap = 10.0 ** (start_of(engine, KAP) + state.offset[voice, KAP])
    shared = shared_prior(layout, engine.items, engine.context, lam0, lam, state.Lam[voice])
    own = own_prior(layout, engine.context, kap0, kap, state.Kap[voice])
    work.kind[0] = UNKNOWN
    k = work.psi.shape[0]
    if k == 1:
        state.Kinv[voice, 0, 0] = 1.0 / state.Kap[voice, 0, 0]
    elif k > 1:
        factor(state.Kap[voice], 0.0, work.plain[0])
        inverse(work.plain[0], work.plain[1], state.Kinv[voice])
    return shared, own


@solver
def marginal_likelihood(engine: Engine, m: int, own: Vector) -> float:
    """Log marginal likelihood of memory m under the static voice's precisions, which its estimates then rest on.

    Own effects of items cost most, and depend on κ₀ and κ alone: `own` (4,) holds κ₀ and κ (in decades) for which they were computed last,
    and what they gave, Σ log|M_i + K| and the number of items.
    """
    state, work = engine.state, engine.work
    shared, log_K = set_prior(engine, STATIC)
    g, offset = m // LANES, state.offset[STATIC]
    # Moving λ₀ or λ leaves the items' inverses as they are, so the expensive part is reused for half of the coordinates.
    if own[0] != offset[KAP_0] or own[1] != offset[KAP]:
        own[2], own[3] = renew_own(state, g, m, work)
        own[0], own[1] = offset[KAP_0], offset[KAP]
    renew(state, g, work)
    n = max(weight_of(state, m), 0.0)
    fit = (n + 5.0) * math.log(max(noise(state, m), 1e-300))
    return float(0.5 * (shared - log_det(state.U[g], m % LANES) - own[2] + own[3] * log_K - fit))


@kernel
def temper(state: State) -> float:
    """T: how many times too well a normal likelihood knows variances, by the kurtosis of standardised residuals."""
    n = state.numbers
    if n[CAL_N] <= 0.0 or n[SECOND] <= 0.0:
        return 1.0
    # Kurtosis 3 (normal) gives T = 1. The variance of a variance estimate is (κ − 1)/n, hence the factor (κ − 1)/2.
    return max(1.0, 0.5 * float(n[FOURTH] * n[CAL_N] / (n[SECOND] * n[SECOND]) - 1.0))


@solver
def tune(engine: Engine) -> None:
    """Move the static voice's precisions uphill; tell the adaptive voice those of own effects."""
    state, work = engine.state, engine.work
    m = state.rate.shape[0] - 1
    if m < 1 or work.phi.shape[0] > WIDE or not _enough(state):
        return
    offset, T, k, own = state.offset[STATIC], temper(state), work.psi.shape[0], work.few[OWN]
    own[0] = UNTRIED
    best = marginal_likelihood(engine, m, own) / T - _rarity(state)
    # Coordinate ascent in steps of half a decade, two sweeps at a checkpoint: the optimum moves slowly and the next checkpoint goes on
    # from here.
    for _ in range(SWEEPS):
        moved = False
        for place in range(4):
            if (
                (place == LAM_0 and state.numbers[SEPARATE] == 0.0)
                or (place >= KAP_0 and k == 0)
                or (place == KAP and k < 2)
            ):
                continue
            if place == LAM and work.phi.shape[0] < 2:
                continue
            for sign in range(2):
                before = offset[place]
                offset[place] = before + (STEP if sign == 0 else -STEP)
                value = -math.inf
                if abs(offset[place]) <= FURTHEST:
                    value = marginal_likelihood(engine, m, own) / T - _rarity(state)
                if value > best:
                    best, moved = value, True
                else:
                    offset[place] = before
        if not moved:
            break
    if state.numbers[SEPARATE] == 0.0:
        state.offset[ADAPTIVE, KAP_0], state.offset[ADAPTIVE, KAP] = offset[KAP_0], offset[KAP]


@kernel
def _enough(state: State) -> bool:
    """Have enough rewards come, of a variance, that precisions can be told?"""
    if variance_of_rewards(state) <= 0.0:
        return False
    if state.numbers[SEPARATE] == 0.0:
        return bool(state.numbers[COUNT] >= ENOUGH)
    many = 0.0
    for i in range(state.last.shape[0]):
        many += 1.0 if state.last[i] > NEVER else 0.0
    return bool(state.numbers[COUNT] >= max(8.0, PER_ITEM * many))


@kernel
def _rarity(state: State) -> float:
    """Minus the log hyperprior."""
    total = 0.0
    for place in range(4):
        total += 0.5 * state.offset[STATIC, place] ** 2
    return total
