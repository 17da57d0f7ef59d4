r"""Rewards r = φ(s,a)ᵀθ_h^k, learned by weighted ridge regression, one for each stage (paper, Section 5).

    Λ_h = λ_θI + Σ_j w_j φ_jφ_jᵀ,      θ̂_h = Λ_h⁻¹ Σ_j w_j r_j φ_j                              eq:LMDP-estimate-r
    optimistic reward:  φᵀθ̂_h + c_r β_θ‖φ‖_{Λ_h⁻¹},      β_θ = √λ_θ S_θ                          lemma:LMDP-r-ucb

The closed form has λ_θ, so the objective must be λ‖θ‖² (resolution D1). The paper observes rewards without noise; with R-sub-Gaussian noise
R√(2 log(1/δ) + d log(1 + L_φ²n/(λ_θd))) joins the radius (resolution D7).
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.ball import divide_by, factor_of
from ..core.kernel import kernel, part, solver, sqrt
from ..core.linalg import CHUNK, Matrix, Vector, inner_products, inverse_norms
from ..core.state import filled, view_state
from ..errors import InvalidValue, positive, probability, require
from ..protocol import NO_SLOT, History, Moments, blank_history, remember
from .confidence import failure_now, log_failure
from .protocol import Cube, Task, lean, learn_reward, optimistic_reward, reward_state, told


@part
class RewardRidge(NamedTuple):
    """Linear rewards: ridge λ_θ, bounds S_θ and L_φ, noise R, failure probability δ, and the scale c_r of the bonus."""

    lam: float
    S: float
    L: float
    delta: float
    noise: float = 0.0
    scale: float = 1.0
    uniform: float = 0.0

    def check(self) -> None:
        """Refuse what is not a radius."""
        positive("lam_theta", self.lam, "Λ = λ_θI must be invertible in episode 1")
        positive("S_theta", self.S, "it bounds the norm of θ")
        positive("L_phi", self.L, "it bounds the norm of φ")
        probability("delta", self.delta)
        require(self.noise >= 0.0, "reward_noise", self.noise, "≥ 0", "it is the sub-Gaussian constant of the rewards")
        why = "it multiplies the width of an interval; theory is 1"
        require(self.scale >= 0.0, "reward_bonus_scale", self.scale, "≥ 0", why)


class RewardState(NamedTuple):
    """What is known of the rewards, for each group of stages."""

    phi: Cube  # (1, d, S·A), or (H, d, S·A) where the features of the stages differ
    history: History  # leading axis: groups
    sums: Moments  # leading axis: groups
    theta: Matrix  # (groups, d)
    expected: Matrix  # (rows, S·A) φᵀθ̂; one row if the stages share estimates and features, else H
    factor: Matrix  # (d, d) of Λ
    x: Vector  # (d,) features of one pair
    Z: Matrix  # (d, CHUNK)
    optimistic: Matrix  # (rows, S·A)
    square: Vector  # (CHUNK,)
    mean: Vector  # (S·A,)
    failure: Vector  # (1,) log(1/δ), with the union bound if there is one that stays
    radius: Vector  # (groups,) c_rβ_θ
    bonus: Vector  # (rows,) sum of the bonuses of all pairs
    noise: Vector  # (groups,) σ̂² where it is measured, else 0
    target: Vector  # (d,)
    leaning: Vector  # (d,) estimate that leans on another one


def blank_moments(d: int, groups: int) -> Moments:
    """Sums of nothing, for each group of stages."""
    return Moments(np.zeros((groups, 2)), np.zeros((groups, d, d)), np.zeros((groups, 0, 0)), np.zeros((groups, d)))


@reward_state.register(RewardRidge)
def _(reward: RewardRidge, task: Task, memory: Any, groups: int) -> RewardState:
    return blank_reward(task, memory, groups, log_failure(reward.delta, reward.uniform, task))


def blank_reward(task: Task, memory: Any, groups: int, failure: float) -> RewardState:
    """Nothing is known of linear rewards yet; `failure` is log(1/δ)."""
    if task.phi is None:
        raise InvalidValue("this learner needs features phi (S, A, d) of the rewards")
    d = task.phi.shape[-1]
    phi = np.ascontiguousarray(task.phi.reshape(-1, task.states * task.actions, d).transpose(0, 2, 1))
    rows, pairs = max(groups, len(phi)), phi.shape[2]
    return RewardState(
        phi=phi,
        history=filled(blank_history(memory, d), groups),
        sums=blank_moments(d, groups),
        theta=np.zeros((groups, d)),
        expected=np.zeros((rows, pairs)),
        factor=np.zeros((d, d)),
        x=np.zeros(d),
        Z=np.zeros((d, CHUNK)),
        optimistic=np.zeros((rows, pairs)),
        square=np.zeros(CHUNK),
        mean=np.zeros(pairs),
        failure=np.full(1, failure),
        radius=np.zeros(groups),
        bonus=np.zeros(rows),
        noise=np.zeros(groups),
        target=np.zeros(d),
        leaning=np.zeros(d),
    )


@solver
def ridge(A: Matrix, lam: float, b: Vector, factor: Matrix, theta: Vector) -> None:
    """Factor A + λI and solve it for b. Not inlined, as what follows: rewards and transitions share one copy."""
    factor_of(A, lam, factor)
    divide_by(factor, b, theta)


@solver
def fold(memory: Any, history: History, sums: Any, x: Vector, r: float, slot: int) -> None:
    """Remember one observation of one stage."""
    remember(memory, history, sums, x, r, slot)


@solver
def add_predictions(X: Matrix, theta: Vector, mean: Vector, out: Vector) -> None:
    """Add xᵀθ of every column x of X to `out`; `mean` is workspace."""
    inner_products(X, theta, mean)
    for a in range(out.shape[0]):
        out[a] += mean[a]


@solver
def add_bonuses(X: Matrix, factor: Matrix, beta: float, Z: Matrix, square: Vector, out: Vector) -> float:
    """Add β‖x‖_{V⁻¹} of every column x of X to `out`; returns their sum."""
    n = X.shape[1]
    total = 0.0
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        inverse_norms(X, first, m, factor, Z, square)
        for a in range(m):
            bonus = beta * sqrt(square[a])
            out[first + a] += bonus
            total += bonus
    return total


@optimistic_reward.register(RewardRidge)
def _(reward: RewardRidge, state: RewardState, h: int) -> None:
    g = h % state.theta.shape[0]
    n, d = state.sums.n[g, 0], state.theta.shape[1]
    beta = sqrt(reward.lam) * reward.S
    if reward.noise > 0.0:
        volume = d * np.log(1.0 + reward.L * reward.L * n / (reward.lam * d))
        failure = failure_now(reward.uniform, state.failure[0], state.history.clock[g])
        # The paper observes rewards without noise, where only the regulariser's bias √λ·S remains (resolution D7).
        beta += reward.noise * sqrt(volume + 2.0 * failure)
    write_rewards(state, h, reward.lam, reward.scale * beta)


@kernel
def write_rewards(state: RewardState, h: int, lam: float, radius: float) -> None:
    """The ridge estimate of stage h, and every pair's expected and optimistic reward."""
    g, phi = h % state.theta.shape[0], state.phi[h % state.phi.shape[0]]
    if h == g:  # else the factor is that of the stage before
        ridge(state.sums.A[g], lam, state.sums.b[g], state.factor, state.theta[g])
    out = state.optimistic[h]
    for n in range(out.shape[0]):
        out[n] = 0.0
    add_predictions(phi, state.theta[g], state.mean, out)
    for n in range(out.shape[0]):
        state.expected[h, n] = out[n]
    state.radius[g] = radius
    state.bonus[h] = add_bonuses(phi, state.factor, radius, state.Z, state.square, out)


@learn_reward.register(RewardRidge)
def _(reward: RewardRidge, memory: Any, state: RewardState, h: int, pair: int, r: float) -> None:
    remember_reward(memory, state, h, pair, r)


@kernel
def remember_reward(memory: Any, state: RewardState, h: int, pair: int, r: float) -> None:
    """Fold (φ, r) of a pair into the sums of stage h, its features into state.x; pair = −1: only time has passed."""
    g, phi = h % state.theta.shape[0], state.phi[h % state.phi.shape[0]]
    for i in range(state.x.shape[0]):
        state.x[i] = phi[i, pair] if pair >= 0 else 0.0
    fold(memory, view_state(state.history, g), view_state(state.sums, g), state.x, r if pair >= 0 else 0.0, NO_SLOT)


@lean.register(RewardRidge)
def _(reward: RewardRidge, state: RewardState, longer: RewardState, h: int, out: Vector) -> None:
    lean_on(state, longer, h, reward.lam, out)


@kernel
def lean_on(state: RewardState, longer: RewardState, h: int, lam: float, out: Vector) -> None:
    """Add φᵀ(Λ + λI)⁻¹(b + λθ̂′) of every pair to `out`: the ridge pulls to θ̂′ of a longer memory instead of 0."""
    g, phi = h % state.theta.shape[0], state.phi[h % state.phi.shape[0]]
    for i in range(state.target.shape[0]):
        # Ridge regression that shrinks towards the longer memory's θ̂ instead of 0.
        state.target[i] = state.sums.b[g, i] + lam * longer.theta[g, i]
    ridge(state.sums.A[g], lam, state.target, state.factor, state.leaning)
    add_predictions(phi, state.leaning, state.mean, out)


@told.register(RewardRidge)
def _(reward: RewardRidge, state: RewardState) -> dict[str, Any]:
    return {"theta": state.theta.copy(), "reward_radius": float(state.radius.max())}
