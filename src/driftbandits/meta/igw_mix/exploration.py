"""Inverse-gap weighting: the learning rate η, and the probability of each arm."""

import math

from ...core.ball import factor_of
from ...core.kernel import kernel, solver
from ...core.linalg import CHUNK, Matrix, Vector, inverse_norms, largest, position
from .families import noise, predict
from .parts import BLOCKS, KNOWN, UNKNOWN, IgwMix, IgwState

JITTER = 1e-12


@kernel
def rate_now(strategy: IgwMix, state: IgwState) -> float:
    """η_t, or g_t in the finite form, of the next round t."""
    t, d = state.seen[0] + 1.0, state.mixed.shape[0]
    if strategy.tuning == KNOWN:
        return strategy.rate
    if strategy.tuning == UNKNOWN:
        return float(strategy.rate * t ** (1.0 / 3.0))
    if strategy.tuning == BLOCKS:
        return float(strategy.rate * 2.0 ** state.bandit.option[0])
    # (c): R̂_{t−1} = 2[Σ(ŷ−r)² − σ²(t−1)]₊ + 2u + 4M²
    s, M = t - 1.0, strategy.L * strategy.S
    iota = math.log(4.0 * strategy.horizon * strategy.horizon)
    R2 = noise(strategy.family) ** 2
    slack = 8.0 * R2 * math.sqrt(s * iota) + 12.0 * R2 * iota
    budget = 2.0 * max(state.squares[0] - strategy.variance * s, 0.0) + 2.0 * slack + 4.0 * M * M
    return float(math.sqrt(8.0 * t / (strategy.kappa * d * budget)))


@solver
def distribution(strategy: IgwMix, state: IgwState, arms: Matrix, p: Vector) -> None:
    """Write the probabilities p_t of the arms (d, n), equations (0.4) and (0.5)."""
    work, n = state.work, arms.shape[1]
    mean = work.mean[:n]
    predict(strategy.family, state, arms, mean)
    top = position(mean, largest(mean))
    eta = rate_now(strategy, state)
    state.eta[0] = eta
    if strategy.finite == 1.0:
        for a in range(n):
            p[a] = 1.0 / (n + eta * (mean[top] - mean[a]))
    else:
        Z = work.Z[: arms.shape[0] * n].reshape((arms.shape[0], n))
        for i in range(arms.shape[0]):
            for a in range(n):
                Z[i, a] = arms[i, a] / math.sqrt(1.0 + eta * (mean[top] - mean[a]))
        state.kappa[0] = max(state.kappa[0], design(state, Z, n))
        for a in range(n):
            p[a] = work.average[a] / (1.0 + eta * (mean[top] - mean[a]))
    rest = 1.0
    for a in range(n):
        if a != top:
            rest -= p[a]
        # The key orders arms by their features for the draw, so that the result does not depend on the order in which they are listed.
        work.key[a] = 0.0
        for i in range(arms.shape[0]):
            work.key[a] += arms[i, a]
    # The greedy arm takes what the others leave, so the probabilities sum to 1 by construction.
    p[top] = rest


@kernel
def design(state: IgwState, Z: Matrix, n: int) -> float:
    """work.average = the average of k steps of q ← q·lev/d; returns its certificate κ (Lemma 1c)."""
    work, d = state.work, Z.shape[0]
    q, average, leverage = work.q[:n], work.average[:n], work.leverage[:n]
    steps = math.ceil(math.log2(max(n / d, 1.0))) + 1
    for a in range(n):
        q[a], average[a] = 1.0 / n, 0.0
    for _ in range(steps):
        leverages(state, Z, q, leverage)
        for a in range(n):
            average[a] += q[a] / steps
            # Multiplicative update: Σ q·lev = d keeps q a distribution, and directions with high leverage gain weight.
            q[a] *= leverage[a] / d
    # The certificate is computed for the design in use, so an arm set on which few steps are too few is noticed.
    leverages(state, Z, average, leverage)
    return float(largest(leverage) / d)


@solver
def leverages(state: IgwState, Z: Matrix, q: Vector, out: Vector) -> None:
    """zᵀM_q⁻¹z of every column z."""
    A, d, n, total = state.work.A, Z.shape[0], Z.shape[1], 0.0
    for i in range(d):
        for j in range(i + 1):
            s = 0.0
            for a in range(n):
                s += q[a] * Z[i, a] * Z[j, a]
            A[i, j] = A[j, i] = s
        total += A[i, i]
    # Arms that do not span the space give a singular matrix; see the module docstring for what the jitter costs.
    factor_of(A, JITTER * total / d + 1e-300, state.work.U)
    for first in range(0, n, CHUNK):
        many = min(CHUNK, n - first)
        inverse_norms(Z, first, many, state.work.U, state.work.chunk, out[first : first + many])
