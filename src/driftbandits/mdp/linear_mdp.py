r"""Linear MDPs: rewards and transitions linear in features φ(s, a); weighted least-squares value iteration (Touati, Vincent 2020).

In episode k, from the episodes j < k with weights η^{k−1−j}, backwards over the stages h = H, …, 1:

    Σ_h = λI + Σ_j η^{k−1−j} φ_jφ_jᵀ,    Σ̃_h = λI + Σ_j η^{2(k−1−j)} φ_jφ_jᵀ,    φ_j = φ(s_h^j, a_h^j)
    w_h = Σ_h⁻¹ Σ_j η^{k−1−j} φ_j (r_h^j + V_{h+1}(s_{h+1}^j))                       with the V_{h+1} of *this* plan
    Q_h = min{φᵀw_h + β‖φ‖_{Σ_h⁻¹Σ̃_hΣ_h⁻¹}, H},    V_h = max_a Q_h

The targets change with every plan, and yet no transition is kept: w_h is linear in V_{h+1}, so that

    b_h = Σ_j η^{k−1−j} r_j φ_j  (d,),     B_h = Σ_j η^{k−1−j} φ_j e_{s'_j}ᵀ  (d, S),     w_h = Σ_h⁻¹(b_h + B_hV_{h+1})

hold all that is needed, whatever k is. η = 1 is LSVI-UCB (Jin et al. 2020), H = 1 is D-LinUCB. Without features every pair has its
own.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.frozen_array import Frozen
from ..core.kernel import kernel, part, sqrt
from ..core.linalg import Matrix, Vector, cholesky, dot, solve
from ..core.ties import best_arm
from ..errors import InvalidShape, positive, require
from ..protocol import Integers
from .planner import blank_book
from .protocol import Book, Cube, Task, experience, miss, open_book, plan, report


@part
class WeightedLSVI(NamedTuple):
    """Weighted least-squares value iteration; see `zoo.opt_wlsvi`."""

    eta: float
    lam: float
    beta: float
    features: Frozen = Frozen("features", [])  # (S, A, d), or empty: one for each pair

    def check(self) -> None:
        """A discount, a ridge and a width."""
        require(0.0 < self.eta <= 1.0, "gamma", self.eta, "in (0, 1]", "weights of the past must not grow")
        positive("lam", self.lam, "Σ = λI must be invertible in the first episode")
        require(self.beta >= 0.0, "beta", self.beta, "≥ 0", "it is the width of an interval")


class LinearSums(NamedTuple):
    """The weighted past of every stage."""

    A: Cube  # (H, d, d) Σ_h − λI
    A2: Cube  # (H, d, d) Σ̃_h − λI
    b: Matrix  # (H, d)
    B: Cube  # (H, d, S)
    n: Vector  # (1,) Σ w over episodes


class LSVIState(NamedTuple):
    """Everything that changes while it learns."""

    book: Book
    sums: LinearSums
    phi: Matrix  # (S·A, d)
    w: Matrix  # (H, d)
    factor: Matrix  # (d, d)
    target: Vector  # (d,)
    u: Vector  # (d,)
    bonus: Vector  # (2,) sum of the bonuses of the last plan, and of Q
    seen: Integers  # (1,) observations


@open_book.register(WeightedLSVI)
def _(strategy: WeightedLSVI, task: Task) -> LSVIState:
    S, A, H = task.states, task.actions, task.horizon
    given = strategy.features.array
    if given.size and given.shape[:-1] != (S, A):
        raise InvalidShape(
            f"features has shape {given.shape}; it must be ({S}, {A}, d): one vector for each state and action"
        )
    phi = np.array(given.reshape(S * A, -1)) if given.size else np.eye(S * A)
    d = phi.shape[1]
    return LSVIState(
        book=blank_book(task),
        sums=LinearSums(np.zeros((H, d, d)), np.zeros((H, d, d)), np.zeros((H, d)), np.zeros((H, d, S)), np.zeros(1)),
        phi=phi,
        w=np.zeros((H, d)),
        factor=np.zeros((d, d)),
        target=np.zeros(d),
        u=np.zeros(d),
        bonus=np.zeros(2),
        seen=np.zeros(1, np.int64),
    )


@plan.register(WeightedLSVI)
def _(strategy: WeightedLSVI, state: LSVIState, rng: np.random.Generator) -> None:
    state.bonus[0] = 0.0
    state.bonus[1] = 0.0
    for h in range(state.book.Q.shape[0] - 1, -1, -1):
        _regress(strategy, state, h)
        _values(strategy, state, h)
        _greedy(state.book, h, rng)


@kernel
def _regress(strategy: WeightedLSVI, state: LSVIState, h: int) -> None:
    """w_h = Σ_h⁻¹(b_h + B_hV_{h+1})."""
    sums, V = state.sums, state.book.V[h + 1]
    cholesky(sums.A[h], strategy.lam, state.factor)
    for i in range(state.target.shape[0]):
        total = sums.b[h, i]
        for s in range(V.shape[0]):
            # The targets r + V_{h+1} change with every plan; B holds which states followed, so they are formed anew without the history.
            total += sums.B[h, i, s] * V[s]
        state.target[i] = total
    solve(state.factor, state.target, state.w[h])


@kernel
def _values(strategy: WeightedLSVI, state: LSVIState, h: int) -> None:
    """Q_h before it is clipped: φᵀw + β√(λ‖u‖² + uᵀ(Σ̃−λI)u), u = Σ⁻¹φ."""
    d, A2, u = state.phi.shape[1], state.sums.A2[h], state.u
    for n in range(state.phi.shape[0]):
        solve(state.factor, state.phi[n], u)
        # ‖φ‖²_{Σ⁻¹Σ̃Σ⁻¹} = uᵀΣ̃u with u = Σ⁻¹φ and Σ̃ = λI + Ã.
        square = strategy.lam * dot(u, u)
        for i in range(d):
            for j in range(d):
                square += u[i] * A2[i, j] * u[j]
        bonus = strategy.beta * sqrt(max(square, 0.0))
        state.book.Q[h, n] = dot(state.phi[n], state.w[h]) + bonus
        state.bonus[0] += bonus
        state.bonus[1] += state.book.Q[h, n]


@kernel
def _greedy(book: Book, h: int, rng: np.random.Generator) -> None:
    """Clip Q_h to [0, H]; V_h is its maximum, the policy the action that attains it; an ended episode earns nothing more."""
    H, S = book.Q.shape[0], book.V.shape[1]
    A = book.Q.shape[1] // S
    for s in range(S):
        row = book.Q[h, s * A : (s + 1) * A]
        for a in range(A):
            row[a] = book.idle[0] * (H - h) if book.ended[s] else min(max(row[a], 0.0), float(H))
        book.policy[h, s] = best_arm(row, rng)
        best = row[0]
        for a in range(1, A):
            best = max(best, row[a])
        book.V[h, s] = best


@kernel
def _fade(sums: LinearSums, h: int, eta: float) -> None:
    """An episode has passed for stage h."""
    d, S = sums.A.shape[1], sums.B.shape[2]
    for i in range(d):
        sums.b[h, i] *= eta
        for j in range(d):
            sums.A[h, i, j] *= eta
            # Squared weights fade with η².
            sums.A2[h, i, j] *= eta * eta
        for s in range(S):
            sums.B[h, i, s] *= eta


@experience.register(WeightedLSVI)
def _(strategy: WeightedLSVI, state: LSVIState, h: int, pair: int, r: float, successor: int) -> None:
    sums, phi = state.sums, state.phi[pair]
    _fade(sums, h, strategy.eta)
    for i in range(phi.shape[0]):
        sums.b[h, i] += r * phi[i]
        sums.B[h, i, successor] += phi[i]
        for j in range(phi.shape[0]):
            sums.A[h, i, j] += phi[i] * phi[j]
            sums.A2[h, i, j] += phi[i] * phi[j]
    if h == 0:
        sums.n[0] = strategy.eta * sums.n[0] + 1.0
    state.seen[0] += 1


@miss.register(WeightedLSVI)
def _(strategy: WeightedLSVI, state: LSVIState, h: int) -> None:
    _fade(state.sums, h, strategy.eta)


@report.register(WeightedLSVI)
def _(strategy: WeightedLSVI, state: LSVIState) -> dict[str, Any]:
    return {
        "observations": int(state.seen[0]),
        "effective_memory": float(state.sums.n[0]),
        "saturation": float(np.mean(len(state.book.Q) - state.book.Q < 1e-9)),
        "bonus_share": float(state.bonus[0] / state.bonus[1]) if state.bonus[1] > 0.0 else 0.0,
        "ended": np.flatnonzero(state.book.ended),
        "w": state.w.copy(),
    }
