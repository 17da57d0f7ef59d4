"""The experts: their weights are updated by the likelihood of their forecasts; then each makes a Bayes update, discounts and projects."""

import math

from ...core.ball import divide_by, factor_of, quadratic_on_ball
from ...core.kernel import kernel, solver
from ...core.linalg import Vector, dot, norm, solve_lower
from .families import log_density, pull
from .parts import IgwMix, IgwState


@kernel
def reweigh(strategy: IgwMix, state: IgwState, x: Vector, r: float) -> None:
    """w ∝ w·g(r), g the predictive density of each expert, computed with logarithms."""
    best, total, u = -math.inf, 0.0, state.work.u
    for k in range(state.weight.shape[0]):
        solve_lower(state.U[k], x, u)
        score = log_density(strategy.family, dot(state.theta[k], x), dot(u, u), r)
        state.log[k] = math.log(state.weight[k]) + score
        best = max(best, state.log[k])
    for k in range(state.weight.shape[0]):
        state.weight[k] = math.exp(state.log[k] - best)
    # A separate loop: one that both writes and sums is vectorised depending on the addresses of its arrays, and the last digit of the sum
    # with it.
    for k in range(state.weight.shape[0]):
        total += state.weight[k]
    for k in range(state.weight.shape[0]):
        state.weight[k] /= total


@solver
def update_expert(strategy: IgwMix, state: IgwState, k: int, x: Vector, r: float) -> None:
    """Bayes update, discounting and projection of expert k, equations (0.2) and (0.3)."""
    V, theta, d = state.V[k], state.theta[k], x.shape[0]
    # Memories 2, 4, 8, …: 1/(1−γ_k) = 2^{k+1}.
    gamma = 1.0 - 0.5 ** (k + 1)
    b, y, z = state.work.b, state.work.y, state.work.z
    a, rho = pull(strategy.family, dot(theta, x), r)
    for i in range(d):
        # Vθ̂ from the projected θ̂, not from a running sum: the projection is kept as the state (0.3).
        b[i] = gamma * (dot(V[i], theta) + rho * x[i])
    for i in range(d):
        for j in range(d):
            V[i, j] = gamma * (V[i, j] + a * x[i] * x[j])
        # λI is restored after discounting; otherwise V would become singular in directions that are not played.
        V[i, i] += (1.0 - gamma) * strategy.lam
    state.n[k] = gamma * (state.n[k] + 1.0)
    factor_of(V, 0.0, state.U[k])
    divide_by(state.U[k], b, theta)
    # ½‖θ − θ̂‖²_V = ½θᵀVθ − bᵀθ + const: the quadratic that V and b already define, minimised over the ball.
    if norm(theta) > strategy.S:
        quadratic_on_ball(V, b, strategy.S, state.work.U, y, z)
        for i in range(d):
            theta[i] = y[i]
