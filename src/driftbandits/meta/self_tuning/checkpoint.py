r"""Checkpoints, after 1, 2, …, 8, 10, 12, 15, … (× 1.25) observations: new coordinates, a new prior, a new common part.

The prior Λ = diag(1, λ, …, λ), λ = .3d at first. With shared features λ and the origin are chosen from the eighth observation on by the
marginal
likelihood of the first bank's model in use,

    Σ_b [½log|Λ| − ½log|V_b + Λ|] − ½n·log Σ_b S_b,     S_b = Σwy² − bᵀ(V_b+Λ)⁻¹b          (σ̂ = 1 in generalized models: −½ΣS_b)

over λ ∈ .3d·10^{−1, −½, 0, ½, 1} with a log-normal prior, λ ← √(λλ̂), each with an intercept and without one ("through the origin": no
centring, the
intercept's precision so large that it is 0), unless zero is far from where the features are.

With items λ = d/8 and 1 for the intercept, which leaves room to find the few that are very good. The static bank has a prior of its own:
the same likelihood says how much items differ, in slopes (λ up to 100 times its start) and in intercepts. Where they differ little, it
forecasts and chooses as if there were nearly one model, and the duel finds out which of the two earns more.
"""

import math
from typing import Any

from ...core.kernel import kernel, solver
from ...core.linalg import Vector
from .coordinates import (
    adopt,
    candidate,
    has_an_origin,
    move_offset,
    transform_estimate,
    transform_moments,
    transform_offset,
)
from .family import centre, fit_score
from .models import fit, recompute, ridge
from .parts import (
    CHANGE,
    EXPONENTIAL,
    HALF,
    ITEM_RIDGE,
    LAM,
    LAM_INTERCEPT,
    MOMENT,
    NEXT,
    OFFSET,
    ORIGIN,
    PRODUCT,
    REWARD_MEAN,
    REWARDS,
    RIDGE,
    SEEN,
    SPREAD,
    SPREAD_INTERCEPT,
    SelfTuning,
    SelfTuningState,
)
from .pool import common_part

SPACING = 1.25
CHOOSE_FROM = 7.0  # observations before the prior is chosen from data
WALK_FROM = 64.0  # before this the random walks are copies of the static model
PINNED = 1e8  # precision of an intercept that is 0
STEPS = 2  # λ from 10^(−STEPS/2) to 10^(STEPS/2) of its start
FAR = 4  # … to 10^(FAR/2) where it says how much items differ: they may be all alike


@kernel
def checkpoint(strategy: SelfTuning, state: SelfTuningState) -> None:
    """Re-express everything, if the time has come."""
    if state.now[SEEN] >= state.now[NEXT]:
        _express_anew(strategy, state)


@solver
def _express_anew(strategy: SelfTuning, state: SelfTuningState) -> None:
    now = state.now
    now[NEXT] = max(now[NEXT] + 1.0, math.floor(now[NEXT] * SPACING))
    disjoint, before = strategy.disjoint == 1.0, now[ORIGIN]
    for origin in range(2):
        candidate(state, origin == 1, state.work.T[origin, 0], state.work.T[origin, 1])
    if now[SEEN] >= CHOOSE_FROM:
        if disjoint:
            _choose_spread(strategy.reward, state)
        else:
            _choose_prior(strategy, state)
    origin = int(now[ORIGIN])
    shift, stretch = state.work.T[origin, 0], state.work.T[origin, 1]
    adopt(state, origin == 1)
    _change_coordinates(state, shift, stretch)
    now[LAM_INTERCEPT] = 1.0
    if origin == 1:
        now[LAM_INTERCEPT] = PINNED * max(1.0, state.models.V[state.gamma.shape[0] - 1, 0, 0, 0])
    delta = state.work.vectors[CHANGE]
    for i in range(delta.shape[0]):
        delta[i] = -state.scale.offset[i]
    if origin == 0:
        delta[0] += centre(strategy.reward, now[REWARDS], now[REWARDS] * now[REWARD_MEAN])
    _change_offset(state, delta)
    if disjoint:
        common_part(state, delta)
        _change_offset(state, delta)
    _recompute_all(state, now[SEEN] < WALK_FROM or before != now[ORIGIN])


@kernel
def _change_coordinates(state: SelfTuningState, c: Vector, D: Vector) -> None:
    models, E = state.models, state.gamma.shape[0]
    for block in range(models.last.shape[0]):
        for m in range(models.n.shape[0]):
            if m < E:
                transform_moments(models.V[m, block], models.b[m, block], c, D, models.V[m, block], models.b[m, block])
            else:
                transform_estimate(models.theta[m, block], models.P[m, block], c, D)
    transform_offset(state.scale.offset, c, D)


@kernel
def _change_offset(state: SelfTuningState, delta: Vector) -> None:
    models, E = state.models, state.gamma.shape[0]
    for block in range(models.last.shape[0]):
        for m in range(models.n.shape[0]):
            if m < E:
                V, b = models.V[m, block], models.b[m, block]
                models.yy[m, block] += move_offset(V, b, delta, state.work.vectors[HALF])
            else:
                for i in range(delta.shape[0]):
                    models.theta[m, block, i] -= delta[i]
    for i in range(delta.shape[0]):
        state.scale.offset[i] += delta[i]


@kernel
def _recompute_all(state: SelfTuningState, copy_walks: bool) -> None:
    """Every P and θ from V and b in the new coordinates; young random walks copy the static model."""
    models, E = state.models, state.gamma.shape[0]
    p = models.theta.shape[2]
    for block in range(models.last.shape[0]):
        for m in range(E):
            recompute(state, m, block)
        if copy_walks:
            for m in range(E, models.n.shape[0]):
                for i in range(p):
                    models.theta[m, block, i] = models.theta[E - 1, block, i]
                    for j in range(p):
                        models.P[m, block, i, j] = models.P[E - 1, block, i, j]


# ----------------------------------------------------------------------------------------------------------------- the prior


@solver
def _choose_prior(strategy: SelfTuning, state: SelfTuningState) -> None:
    """λ, and whether there is an intercept."""
    now, d = state.now, state.scale.mu.shape[0]
    best, origin, chosen = -math.inf, 0, now[LAM]
    kept = now[LAM]
    for hypothesis in range(2 if has_an_origin(state) else 1):
        for step in range(-STEPS, STEPS + 1):
            now[LAM] = RIDGE * d * 10.0 ** (0.5 * step)
            likelihood = _marginal(strategy.reward, state, hypothesis) - _rarity(step)
            if likelihood > best:
                best, origin, chosen = likelihood, hypothesis, now[LAM]
    now[ORIGIN] = float(origin)
    now[LAM] = math.sqrt(kept * chosen)


@kernel
def _rarity(step: int) -> float:
    """Minus the log of a normal density of log λ, `step` half decades from where it starts."""
    away = 0.5 * math.log(10.0) * step
    return 0.5 * away * away


@solver
def _choose_spread(family: Any, state: SelfTuningState) -> None:
    """How much do items differ? λ of slopes, then λ of intercepts, for the static model, in the coordinates before the change."""
    now, d = state.now, state.scale.mu.shape[0]
    for intercept in range(2):
        place, start = (SPREAD_INTERCEPT, 1.0) if intercept == 1 else (SPREAD, ITEM_RIDGE * d)
        best, kept, chosen = -math.inf, now[place], now[place]
        for step in range(-STEPS, FAR + 1):
            now[place] = start * 10.0 ** (0.5 * step)
            likelihood = _marginal_of_items(family, state) - _rarity(step)
            if likelihood > best:
                best, chosen = likelihood, now[place]
        now[place] = math.sqrt(kept * chosen)


@kernel
def _marginal_of_items(family: Any, state: SelfTuningState) -> float:
    """The marginal log likelihood of all items around their common part."""
    now, models, m = state.now, state.models, state.gamma.shape[0] - 1
    prior = math.log(now[SPREAD_INTERCEPT]) + (models.b.shape[2] - 1.0) * math.log(now[SPREAD])
    total, residual, responses, n = 0.0, 0.0, 0.0, 0.0
    for block in range(models.last.shape[0]):
        if models.n[m, block] <= 0.0:
            continue
        ridge(state, models.V[m, block], now[SPREAD_INTERCEPT], now[SPREAD])
        log_determinant, explained = fit(state, models.b[m, block])
        total += 0.5 * (prior - log_determinant)
        residual += models.yy[m, block] - explained
        responses += models.yy[m, block]
        n += models.n[m, block]
    return total + fit_score(family, residual, responses, n)


@kernel
def _marginal(family: Any, state: SelfTuningState, origin: int) -> float:
    """The marginal log likelihood of all blocks in candidate coordinates, with the λ in `now`."""
    now, work, models = state.now, state.work, state.models
    m = state.evidence.current[EXPONENTIAL]
    p = models.b.shape[2]
    b, offset = work.vectors[MOMENT], work.vectors[OFFSET]
    shift, stretch = work.T[origin, 0], work.T[origin, 1]
    total, residual, responses, n = 0.0, 0.0, 0.0, 0.0
    for block in range(models.last.shape[0]):
        if models.n[m, block] <= 0.0:
            continue
        transform_moments(models.V[m, block], models.b[m, block], shift, stretch, work.A, b)
        for i in range(p):
            offset[i] = state.scale.offset[i]
        transform_offset(offset, shift, stretch)
        for i in range(p):
            offset[i] = -offset[i]
        first = PINNED * max(1.0, work.A[0, 0])
        if origin == 0:
            offset[0] += centre(family, now[REWARDS], now[REWARDS] * now[REWARD_MEAN])
            first = 1.0
        yy = models.yy[m, block] + move_offset(work.A, b, offset, work.vectors[PRODUCT])
        prior = math.log(first) + (p - 1.0) * math.log(now[LAM])
        work.A[0, 0] += first
        for i in range(1, p):
            work.A[i, i] += now[LAM]
        log_determinant, explained = fit(state, b)
        total += 0.5 * prior - 0.5 * log_determinant
        residual += yy - explained
        responses += yy
        n += models.n[m, block]
    return total + fit_score(family, residual, responses, n)
