r"""How a bank chooses, and with what probabilities. Mean zᵀθ and sd σ̂√(zᵀPz) of every arm are the model's in use.

RandUCB   argmax mean + ½(1+|ξ|)·sd,  one ξ ~ N(0, 1) for all arms
checks    with probability .01, an arm ∝ v/(v + gap²),  v = sd² + sd_top², gap = mean_top − mean

RandUCB is argmax_k c_k + |ξ|·s_k with c = mean + ½sd, s = ½sd, whose probabilities `envelope` has exactly. With ε = `explore`:

    p = (1−ε) Σ_e ρ_e p_e + ε/n
"""

import math

import numpy as np

from ...adaptive.choice import CHECKS, OPTIMISM, weights_of_checks
from ...adaptive.envelope import add_law, mass_of, pick
from ...core.kernel import kernel, solver, sqrt
from ...core.linalg import CHUNK, Matrix, Vector, dot, inner_products, largest, quadratic_forms
from .models import elapsed, precision, prior_width, quadratic, renewal, widened
from .parts import ARM, BANK, BANKS, CHECK, EXPLORE, LOW, OF_CHECK, PICK, STEP, SelfTuning, SelfTuningState


@kernel
def means(strategy: SelfTuning, state: SelfTuningState, Z: Matrix, bank: int, out: Vector) -> None:
    """Zᵀθ of the bank's model in use, without what all arms have in common; −∞ for dropped items."""
    models, m = state.models, state.evidence.current[bank]
    if strategy.disjoint == 0.0:
        inner_products(Z, models.theta[m, 0], out)
        return
    z = Z[:, 0]
    for k in range(out.shape[0]):
        out[k] = dot(models.theta[m, k], z) if models.alive[k] == 1.0 else -np.inf


@solver
def deviations(strategy: SelfTuning, state: SelfTuningState, Z: Matrix, bank: int, out: Vector) -> None:
    """σ̂√(zᵀPz) of the bank's model in use."""
    models, m = state.models, state.evidence.current[bank]
    noise = state.evidence.noise[bank]
    if strategy.disjoint == 1.0:
        z = state.work.vectors[ARM]
        for i in range(z.shape[0]):
            z[i] = Z[i, 0]
        prior = prior_width(state, z)
        for k in range(out.shape[0]):
            q = widened(state, m, quadratic(models.P[m, k], z), prior, elapsed(state, k))
            out[k] = math.sqrt(max(noise * q, 0.0))
        return
    n = out.shape[0]
    covariance(state, m)
    for first in range(0, n, CHUNK):
        many = min(CHUNK, n - first)
        quadratic_forms(Z, first, many, state.work.A, state.work.chunk, out[first : first + many])
    for a in range(n):
        out[a] = sqrt(max(noise * out[a], 0.0))


@kernel
def covariance(state: SelfTuningState, m: int) -> None:
    """work.A = P of the coming round with shared features: a random walk's has the next step in it."""
    P, A, kappa, growth, gap = state.models.P[m, 0], state.work.A, 0.0, 1.0, elapsed(state, 0)
    if m >= state.gamma.shape[0]:
        kappa = renewal(state, m, gap)
    elif gap > 1.0:  # rewards are out: less and less is known
        growth = math.exp(min(20.0, -math.log(state.gamma[m]) * (gap - 1.0)))
    for i in range(P.shape[0]):
        for j in range(P.shape[0]):
            A[i, j] = (1.0 - kappa) * growth * P[i, j]
        A[i, i] += kappa / precision(state, i)


# ------------------------------------------------------------------------------------------------------------------- to choose


@kernel
def score_arms(strategy: SelfTuning, state: SelfTuningState, Z: Matrix, score: Vector) -> None:
    """The scores whose largest is chosen, given the randomness drawn. work.mean has the means of all banks."""
    draw, work, n = state.draw, state.work, score.shape[0]
    bank = _drawn_bank(state)
    mean, noise = work.mean[bank, :n], state.evidence.noise[bank]
    checks = draw.u[CHECK] < CHECKS or noise <= 0.0
    if draw.u[EXPLORE] < strategy.explore or checks:
        if noise > 0.0:
            deviations(strategy, state, Z, bank, work.sd[:n])
        weights_of_checks(mean, work.sd[:n], draw.u[EXPLORE] < strategy.explore or noise <= 0.0, work.p[OF_CHECK, :n])
        chosen = pick(work.p[OF_CHECK, :n], work.key[:n], draw.u[PICK])
        top = largest(mean)
        for a in range(n):
            score[a] = mean[a]
        score[chosen] = top + max(abs(top), 1.0)
    else:
        deviations(strategy, state, Z, bank, work.sd[:n])
        for a in range(n):
            score[a] = mean[a] + OPTIMISM * (1.0 + abs(draw.xi[0])) * work.sd[a]


@kernel
def _drawn_bank(state: SelfTuningState) -> int:
    passed = 0.0
    for bank in range(BANKS):
        passed += state.duel.rho[bank]
        if state.draw.u[BANK] < passed:
            return bank
    return 0


# ------------------------------------------------------------------------------------------------------------- and how likely


@solver
def probabilities(strategy: SelfTuning, state: SelfTuningState, Z: Matrix, only: int, p: Vector) -> None:
    """P(chosen) of every arm, or of `only` one if that is ≥ 0. work.mean has the means of all banks."""
    work, n = state.work, p.shape[0]
    alive = 0.0
    for a in range(n):
        p[a] = 0.0
        alive += work.mean[0, a] > -np.inf
    for bank in range(BANKS):
        if state.duel.rho[bank] > 0.0:
            _add_bank(strategy, state, Z, bank, (1.0 - strategy.explore) * state.duel.rho[bank], only, p)
    for a in range(n):
        if work.mean[0, a] > -np.inf:
            p[a] += strategy.explore / alive


@kernel
def _add_bank(
    strategy: SelfTuning, state: SelfTuningState, Z: Matrix, bank: int, weight: float, only: int, p: Vector
) -> None:
    work, n = state.work, p.shape[0]
    mean, sd, low, step = work.mean[bank, :n], work.sd[:n], work.line[LOW, :n], work.line[STEP, :n]
    noise, checks = state.evidence.noise[bank], work.p[OF_CHECK, :n]
    if noise > 0.0:
        deviations(strategy, state, Z, bank, sd)
    floor = CHECKS if noise > 0.0 else 1.0
    weights_of_checks(mean, sd, noise <= 0.0, checks)
    total = 0.0
    for a in range(n):
        total += checks[a]
    for a in range(n):
        p[a] += weight * floor * checks[a] / total
    if noise <= 0.0:
        return
    for a in range(n):
        low[a], step[a] = mean[a] + OPTIMISM * sd[a], OPTIMISM * sd[a]
    if only < 0:
        add_law(low, step, weight * (1.0 - floor), p)
    else:
        p[only] += weight * (1.0 - floor) * mass_of(low, step, only)
