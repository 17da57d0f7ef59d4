r"""IGW-mix: a mixture of discounted regressions, explored by inverse gaps, with a theorem (docs/igw.md, docs/spec/adaptive-theory.md).

Expert of memory m, γ = 1 − 1/m, s² = 2R², from V = λI, θ̂ = 0:

    predict   N(xᵀθ̂, s²(1+q)),  q = xᵀV⁻¹x                                                                          (0.1)
    Bayes     V′ = V + xxᵀ,  V′θ̂′ = Vθ̂ + xr;     fade   V ← γV′ + (1−γ)λI,  Vθ̂ = γV′θ̂′                                  (0.2)
    project   θ̂ ← argmin_{‖θ‖≤S} ‖θ − θ̂‖_V, kept as the state                                                          (0.3)

Mixture: w ∝ w·g(r), then w ← (1−α)w + α/K, α = 1/(t+1). A constant α would cost a multiple of T. ŷ(x) = xᵀΣw_kθ̂_k.

Clicks (§8.1, finite form only), c = min μ′ on |z| ≤ LS: in place of Bayes an online Newton step, V′ = V + c·xxᵀ,
θ̂′ = θ̂ − (μ(xᵀθ̂) − r)V′⁻¹x. Both are

    V′ = V + a·xxᵀ,  V′θ̂′ = Vθ̂ + ρ·x,      (a, ρ) = (1, r) for values, (c, c·xᵀθ̂ + r − μ(xᵀθ̂)) for clicks;

an expert's density is μ(xᵀθ̂) of a click, and ŷ(x) = Σw_kμ(xᵀθ̂_k).

Exploration, b = argmax ŷ, gap = ŷ(b) − ŷ:

    finite    p(x) = 1/(A + g·gap(x)), x ≠ b, the rest on b                                                                   (0.4)
    linear    z = x/√(1+η·gap),  q a design on {z},  p(x) = q(x)/(1+η·gap(x)), x ≠ b, the rest on b                           (0.5)

The design is the average of k ≥ log₂(n/d) steps q ← q·lev/d from the uniform one, whose certificate κ = max_x zᵀM_q⁻¹z/d is at most 2
(Lemma 1c). κ is
computed for the q in use. η is found as in Theorem 1 (a), (b), (c) or (d); in (d) Exp3.IX chooses
it for each block of ⌈√T⌉ rounds, and the experts run on (§7).

Arms that do not span ℝ^d get a jitter of 1e-12 tr M_q/d, whose price is 4S²·1e-12 in the squared error.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..ball import divide_by, factor_of, quadratic_on_ball
from ..errors import positive, require
from ..kernel import generic, kernel, part, solver
from ..linalg import CHUNK, Matrix, Vector, dot, inner_products, inverse_norms, largest, norm, position, solve_lower
from ..protocol import (
    Limits,
    Setting,
    act,
    describe,
    estimator,
    learn,
    limits,
    make_room,
    optimism,
    propensities,
    ready,
    scores,
    start,
    trace,
)
from ..state import scratch
from .exp3ix import Exp3IX, Exp3State, blank_exp3, block_loss, play, suffer
from .self_tuning.envelope import pick

KNOWN, UNKNOWN, NOISE_KNOWN, BLOCKS = 0.0, 1.0, 2.0, 3.0  # how η is found: Theorem 1 (a), (b), (c), (d)
JITTER = 1e-12


@part
class GaussianForecasts(NamedTuple):
    """Values with R-sub-Gaussian noise: predictive densities N(xᵀθ̂, s²(1+q)), s² = 2R²."""

    R: float

    def check(self) -> None:
        """R bounds the noise."""
        positive("R", self.R, "it bounds the noise")


@part
class LogisticForecasts(NamedTuple):
    """Clicks; `curvature` is c = min μ′ on the forecasts possible."""

    curvature: float

    def check(self) -> None:
        """C is that of the logistic link."""
        require(0.0 < self.curvature <= 0.25, "curvature", self.curvature, "in (0, ¼]", "μ′ is")


@generic
def pull(family: Any, z: float, r: float) -> tuple[float, float]:
    """(a, ρ) of an observation r whose forecast was z = xᵀθ̂: V′ = V + a·xxᵀ, V′θ̂′ = Vθ̂ + ρ·x."""


@generic
def log_density(family: Any, z: float, q: float, r: float) -> float:
    """Of r under a forecast z of width q, up to a constant."""


@generic
def predict(family: Any, state: Any, arms: Matrix, out: Vector) -> None:
    """ŷ (n,) of the arms (d, n)."""


@generic
def noise(family: Any) -> float:
    """R."""


@generic
def rewards(family: Any) -> tuple[float, float]:
    """The least and the largest reward. (Python only.)"""


@pull.register(GaussianForecasts)
def _(family: GaussianForecasts, z: float, r: float) -> tuple[float, float]:
    return 1.0, r


@log_density.register(GaussianForecasts)
def _(family: GaussianForecasts, z: float, q: float, r: float) -> float:
    v = 2.0 * family.R**2 * (1.0 + q)
    return -0.5 * math.log(v) - 0.5 * (r - z) ** 2 / v


@predict.register(GaussianForecasts)
def _(family: GaussianForecasts, state: Any, arms: Matrix, out: Vector) -> None:
    inner_products(arms, state.mixed, out)


@noise.register(GaussianForecasts)
def _(family: GaussianForecasts) -> float:
    return family.R


@rewards.register(GaussianForecasts)
def _(family: GaussianForecasts) -> tuple[float, float]:
    return -np.inf, np.inf


@kernel
def _mean(z: float) -> float:
    """μ(z)."""
    return 1.0 / (1.0 + math.exp(-z))


@pull.register(LogisticForecasts)
def _(family: LogisticForecasts, z: float, r: float) -> tuple[float, float]:
    return family.curvature, family.curvature * z + r - _mean(z)


@log_density.register(LogisticForecasts)
def _(family: LogisticForecasts, z: float, q: float, r: float) -> float:
    return math.log(_mean(z)) if r > 0.5 else math.log(_mean(-z))


@predict.register(LogisticForecasts)
def _(family: LogisticForecasts, state: Any, arms: Matrix, out: Vector) -> None:
    score = state.work.q[0, : out.shape[0]]
    for a in range(out.shape[0]):
        out[a] = 0.0
    for k in range(state.weight.shape[0]):
        inner_products(arms, state.theta[k], score)
        for a in range(out.shape[0]):
            out[a] += state.weight[k] * _mean(score[a])


@noise.register(LogisticForecasts)
def _(family: LogisticForecasts) -> float:
    return 0.5  # whatever lies in [0, 1]


@rewards.register(LogisticForecasts)
def _(family: LogisticForecasts) -> tuple[float, float]:
    return 0.0, 1.0


@part
class IgwMix(NamedTuple):
    """What the theorem needs; `rate` is η (or g), the c of η_t = c·t^{1/3}, or the smallest of the grid that `exp3` chooses from."""

    family: Any
    exp3: Exp3IX
    memories: float
    lam: float
    S: float
    L: float
    finite: float
    tuning: float
    rate: float
    kappa: float
    variance: float
    horizon: float

    def check(self) -> None:
        """Bounds are positive."""
        for name in ("memories", "lam", "S", "L", "rate"):
            positive(name, getattr(self, name), "the theorem needs it")
        require(self.kappa >= 1.0, "kappa", self.kappa, "≥ 1", "no design has a smaller certificate")
        linear = isinstance(self.family, GaussianForecasts)
        require(linear or self.finite == 1.0, "finite", self.finite, "1 for clicks", "their ŷ is not linear (§8.1)")


@scratch
class IgwWork(NamedTuple):
    """Room for n arms."""

    Z: Vector  # (d·n,)
    mean: Vector  # (n,)
    q: Matrix  # (3, n) the design, its average, leverages
    p: Vector  # (n,)
    key: Vector  # (n,)
    chunk: Matrix  # (d, CHUNK)
    A: Matrix  # (d, d)
    U: Matrix  # (d, d)
    vectors: Matrix  # (3, d)


class IgwState(NamedTuple):
    """Everything that changes."""

    V: Matrix  # (K, d, d)
    U: Matrix  # (K, d, d) factors of V
    theta: Matrix  # (K, d)
    weight: Vector  # (K,)
    log: Vector  # (K,)
    n: Vector  # (K,) Σw of each expert
    bandit: Exp3State  # chooses η, in (d)
    mixed: Vector  # (d,) Σ w_k θ̂_k
    now: Vector  # (9,) observations, largest κ, η, u, is u drawn, Σ(ŷ−r)²; of the block its rounds, those left, its reward
    value: Vector  # (1,)
    work: IgwWork


SEEN, KAPPA, ETA, U, DRAWN, SQUARES, LENGTH, LEFT, REWARD = range(9)


def _room(d: int, n: int) -> IgwWork:
    return IgwWork(
        Z=np.zeros(d * n),
        mean=np.zeros(n),
        q=np.zeros((3, n)),
        p=np.zeros(n),
        key=np.zeros(n),
        chunk=np.zeros((d, CHUNK)),
        A=np.zeros((d, d)),
        U=np.zeros((d, d)),
        vectors=np.zeros((3, d)),
    )


@start.register(IgwMix)
def _(strategy: IgwMix, setting: Setting, rng: np.random.Generator) -> IgwState:
    K, d = int(strategy.memories), setting.dim
    factor = np.zeros((d, d))
    factor_of(strategy.lam * np.eye(d), 0.0, factor)
    now = np.zeros(9)
    now[KAPPA] = 1.0
    return IgwState(
        V=np.broadcast_to(strategy.lam * np.eye(d), (K, d, d)).copy(),
        U=np.broadcast_to(factor, (K, d, d)).copy(),
        theta=np.zeros((K, d)),
        weight=np.full(K, 1.0 / K),
        log=np.zeros(K),
        n=np.zeros(K),
        bandit=blank_exp3(strategy.exp3),
        mixed=np.zeros(d),
        now=now,
        value=np.zeros(1),
        work=_room(d, max(1, setting.arms.shape[1])),
    )


@make_room.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, n: int) -> IgwState:
    return state if len(state.work.p) >= n else state._replace(work=_room(len(state.mixed), n))


# --------------------------------------------------------------------------------------------------------------- exploration


@kernel
def _rate(strategy: IgwMix, state: IgwState) -> float:
    """η_t, or g_t in the finite form, of the coming round t."""
    t, d = state.now[SEEN] + 1.0, state.mixed.shape[0]
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
    budget = 2.0 * max(state.now[SQUARES] - strategy.variance * s, 0.0) + 2.0 * slack + 4.0 * M * M
    return float(math.sqrt(8.0 * t / (strategy.kappa * d * budget)))


@solver
def _distribution(strategy: IgwMix, state: IgwState, arms: Matrix, p: Vector) -> None:
    """p_t of the arms (d, n)."""
    work, now, n = state.work, state.now, arms.shape[1]
    mean = work.mean[:n]
    predict(strategy.family, state, arms, mean)
    top = position(mean, largest(mean))
    eta = _rate(strategy, state)
    now[ETA] = eta
    if strategy.finite == 1.0:
        for a in range(n):
            p[a] = 1.0 / (n + eta * (mean[top] - mean[a]))
    else:
        Z = work.Z[: arms.shape[0] * n].reshape((arms.shape[0], n))
        for i in range(arms.shape[0]):
            for a in range(n):
                Z[i, a] = arms[i, a] / math.sqrt(1.0 + eta * (mean[top] - mean[a]))
        now[KAPPA] = max(now[KAPPA], _design(state, Z, n))
        for a in range(n):
            p[a] = work.q[1, a] / (1.0 + eta * (mean[top] - mean[a]))
    rest = 1.0
    for a in range(n):
        if a != top:
            rest -= p[a]
        work.key[a] = 0.0
        for i in range(arms.shape[0]):
            work.key[a] += arms[i, a]
    p[top] = rest


@kernel
def _design(state: IgwState, Z: Matrix, n: int) -> float:
    """work.q[1] = the average of k steps of q ← q·lev/d; returns its certificate κ (Lemma 1c)."""
    work, d = state.work, Z.shape[0]
    q, average, leverage = work.q[0, :n], work.q[1, :n], work.q[2, :n]
    steps = math.ceil(math.log2(max(n / d, 1.0))) + 1
    for a in range(n):
        q[a], average[a] = 1.0 / n, 0.0
    for _ in range(steps):
        _leverages(state, Z, q, leverage)
        for a in range(n):
            average[a] += q[a] / steps
            q[a] *= leverage[a] / d
    _leverages(state, Z, average, leverage)
    return float(largest(leverage) / d)


@solver
def _leverages(state: IgwState, Z: Matrix, q: Vector, out: Vector) -> None:
    """zᵀM_q⁻¹z of every column z."""
    A, d, n, total = state.work.A, Z.shape[0], Z.shape[1], 0.0
    for i in range(d):
        for j in range(i + 1):
            s = 0.0
            for a in range(n):
                s += q[a] * Z[i, a] * Z[j, a]
            A[i, j] = A[j, i] = s
        total += A[i, i]
    factor_of(A, JITTER * total / d + 1e-300, state.work.U)
    for first in range(0, n, CHUNK):
        many = min(CHUNK, n - first)
        inverse_norms(Z, first, many, state.work.U, state.work.chunk, out[first : first + many])


# ------------------------------------------------------------------------------------------------------------------- strategy


@ready.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, rng: np.random.Generator) -> None:
    now = state.now
    if strategy.tuning == BLOCKS and now[LEFT] == 0.0:
        left = strategy.horizon - now[SEEN]  # the last block before T may be short
        block = math.ceil(math.sqrt(strategy.horizon))
        now[LENGTH] = min(block, left) if left > 0.0 else block
        now[LEFT], now[REWARD] = now[LENGTH], 0.0
        play(strategy.exp3, state.bandit, rng)
    if state.now[DRAWN] == 0.0:
        state.now[U] = rng.random()
        state.now[DRAWN] = 1.0


@scores.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, arms: Matrix, score: Vector) -> None:
    """ŷ, and above all of them the arm that was drawn."""
    n = arms.shape[1]
    _distribution(strategy, state, arms, state.work.p[:n])
    chosen = pick(state.work.p[:n], state.work.key[:n], state.now[U])
    top = largest(state.work.mean[:n])
    for a in range(n):
        score[a] = state.work.mean[a]
    score[chosen] = top + 1.0


@act.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    ready(strategy, state, rng)
    scores(strategy, state, arms, score)
    state.now[DRAWN] = 0.0
    k = position(score, largest(score))
    state.value[0] = state.work.mean[k]
    return k


@propensities.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, arms: Matrix, p: Vector) -> None:
    _distribution(strategy, state, arms, p)


@optimism.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> float:
    return state.value[0]  # type: ignore[no-any-return]


@learn.register(IgwMix)
def _(strategy: IgwMix, state: IgwState, x: Vector, r: float, slot: int) -> None:
    error = dot(state.mixed, x) - r
    state.now[SQUARES] += error * error
    _reweigh(strategy, state, x, r)
    for k in range(state.weight.shape[0]):
        _expert(strategy, state, k, x, r)
    state.now[SEEN] += 1.0
    if state.now[LEFT] > 0.0:
        _close_block(strategy, state, r)
    share = 1.0 / (state.now[SEEN] + 1.0)
    for i in range(x.shape[0]):
        state.mixed[i] = 0.0
    for k in range(state.weight.shape[0]):
        state.weight[k] = (1.0 - share) * state.weight[k] + share / state.weight.shape[0]
        for i in range(x.shape[0]):
            state.mixed[i] += state.weight[k] * state.theta[k, i]


@kernel
def _close_block(strategy: IgwMix, state: IgwState, r: float) -> None:
    """Count the reward; after the last round of a block Exp3.IX suffers."""
    now = state.now
    now[REWARD] += r
    now[LEFT] -= 1.0
    if now[LEFT] == 0.0:
        reach, R = strategy.L * strategy.S, noise(strategy.family)
        suffer(strategy.exp3, state.bandit, block_loss(now[REWARD], now[LENGTH], reach, R, strategy.horizon, 0.0))


@kernel
def _reweigh(strategy: IgwMix, state: IgwState, x: Vector, r: float) -> None:
    """w ∝ w·g(r)."""
    best, total, u = -math.inf, 0.0, state.work.vectors[0]
    for k in range(state.weight.shape[0]):
        solve_lower(state.U[k], x, u)
        score = log_density(strategy.family, dot(state.theta[k], x), dot(u, u), r)
        state.log[k] = math.log(state.weight[k]) + score
        best = max(best, state.log[k])
    for k in range(state.weight.shape[0]):
        state.weight[k] = math.exp(state.log[k] - best)
        total += state.weight[k]
    for k in range(state.weight.shape[0]):
        state.weight[k] /= total


@solver
def _expert(strategy: IgwMix, state: IgwState, k: int, x: Vector, r: float) -> None:
    """Bayes, fade, project."""
    V, theta, d = state.V[k], state.theta[k], x.shape[0]
    gamma = 1.0 - 0.5 ** (k + 1)
    b, y, z = state.work.vectors[0], state.work.vectors[1], state.work.vectors[2]
    a, rho = pull(strategy.family, dot(theta, x), r)
    for i in range(d):
        b[i] = gamma * (dot(V[i], theta) + rho * x[i])
    for i in range(d):
        for j in range(d):
            V[i, j] = gamma * (V[i, j] + a * x[i] * x[j])
        V[i, i] += (1.0 - gamma) * strategy.lam
    state.n[k] = gamma * (state.n[k] + 1.0)
    factor_of(V, 0.0, state.U[k])
    divide_by(state.U[k], b, theta)
    if norm(theta) > strategy.S:
        quadratic_on_ball(V, b, strategy.S, state.work.U, y, z)
        for i in range(d):
            theta[i] = y[i]


# ----------------------------------------------------------------------------------------------------------------- looking in


@limits.register(IgwMix)
def _(strategy: IgwMix) -> Limits:
    return Limits(strategy.L, *rewards(strategy.family))


@estimator.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> Vector:
    return state.mixed


@trace.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> dict[str, Any]:
    """The mixture over time:

    effective_memory
        Σ_k w_k·n_k, n_k = Σ γ_k^age
    weights
        (K,) of the memories 2, 4, …, 2^K
    eta
        η_t (g_t in the finite form) of the last decision
    """
    return {
        "effective_memory": float(state.weight @ state.n),
        "weights": state.weight.copy(),
        "eta": float(state.now[ETA]),
    }


@describe.register(IgwMix)
def _(strategy: IgwMix, state: IgwState) -> dict[str, Any]:
    """What `trace` tells, then `kappa`, the largest certificate of a design so far: the theorem's κ̄ must be at least that."""
    return {
        "observations": int(state.now[SEEN]),
        **trace(strategy, state),
        "memories": 2.0 ** np.arange(1, len(state.weight) + 1),
        "kappa": float(state.now[KAPPA]),
    }
