r"""Episodic MDPs that drift from episode to episode, with all quantities that the theorems use.

In stage h of episode k, with known features φ and ψ and unknown parameters θ_h^k and w_h^k:

    r_h^k(s,a) = φ(s,a)ᵀθ_h^k ∈ [0,1],      P_h^k(s'|s,a) = ψ(s'|s,a)ᵀw_h^k          linear mixture (eq:LMDP-model)
                                            P_h^k(s'|s,a) ∝ exp(ψ(s'|s,a)ᵀw_h^k)     multinomial logit (eq:MNL-model)

φ and ψ may differ from stage to stage as well. `MDP` exposes φ, ψ, θ, w, P, the path lengths P^θ, P^w, Δ and the constants S_θ, S_w, L_φ,
L_ψ, κ exactly; `mixtures` makes it from what is given. Optimal values are computed once, by backward induction.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue, integer, require
from ..protocol import Integers
from ..util.notebook import card
from .checks import Parameters, check_stages, staged
from .curvature import kappa_of
from .features import Features
from .function_path import blocks
from .linear_dynamics import value_feature_bound
from .planning import values_of_starts
from .protocol import Cube, Task, transition_row
from .successors import Moves, moves_of

LARGEST = 1 << 26  # numbers of a table that is written out


@dataclass(frozen=True, eq=False, repr=False)
class MDP:
    """K episodes of H stages on S states and A actions; made by `linear_mixture` and `mnl_mixture`."""

    phi: Cube  # (S, A, d_θ), or (H, S, A, d_θ) where the stages differ
    psi: Cube  # (S, A, S, d_w), or (H, S, A, S, d_w)
    reachable: NDArray[np.bool_] | None  # (S, A, S) or (H, S, A, S), or None in a linear mixture
    theta: Parameters  # (K, H, d_θ), or (K, 1, d_θ) if the stages share it; a `FunctionPath` if a function was given
    w: Parameters  # (K, H, d_w), or (K, 1, d_w)
    horizon: int  # H
    start: Integers  # (K,) first states
    noise: float  # standard deviation of the reward noise the learner sees
    S_theta: float
    S_w: float
    dynamics: Any = field(repr=False)
    features: Features | None = field(
        default=None, repr=False
    )  # of a world that is stored by successor; psi is then empty

    def __repr__(self) -> str:
        kind = "multinomial logit" if self.multinomial else "linear mixture"
        size = f"states={self.states}, actions={self.actions}, horizon={self.horizon}, episodes={self.episodes}"
        return f"MDP({kind}, {size})"

    def _repr_html_(self) -> str:
        """Its sizes and how fast it drifts, for notebooks."""
        rows = {
            "kind": "multinomial logit" if self.multinomial else "linear mixture",
            "states × actions": f"{self.states} × {self.actions}",
            "stages × episodes": f"{self.horizon} × {self.episodes:,}",
            "path lengths of rewards, transitions": f"{self.P_theta:.4g}, {self.P_w:.4g}",
        }
        return card("MDP", rows)

    @property
    def states(self) -> int:
        """Number of states S."""
        return int(self.phi.shape[-3])

    @property
    def actions(self) -> int:
        """Number of actions A."""
        return int(self.phi.shape[-2])

    @property
    def episodes(self) -> int:
        """Number of episodes K."""
        return len(self.start)

    @property
    def multinomial(self) -> bool:
        """Are the transitions multinomial logit?"""
        return self.reachable is not None if self.features is None else self.features.multinomial

    @cached_property
    def L_phi(self) -> float:
        """max ‖φ(s,a)‖."""
        return float(np.linalg.norm(self.phi, axis=-1).max())

    @cached_property
    def L_psi(self) -> float:
        """max ‖ψ_V(s,a)‖ over V ∈ [0,1]^S; in a multinomial mixture max ‖ψ(s'|s,a)‖ over reachable s'."""
        if not self.multinomial:
            return value_feature_bound(self.moves)
        return float(np.linalg.norm(self.moves.psi, axis=-1).max())  # 0 where a place is not in use

    @cached_property
    def L_ref(self) -> float:
        """L′ = max ‖ψ(s'|s,a) − ψ(s_ref|s,a)‖ ≤ 2L_ψ, multinomial mixtures only."""
        return float(np.linalg.norm(self._table().psi, axis=-1).max())

    @cached_property
    def U(self) -> int:
        """Largest number of reachable successors."""
        return int(self.moves.used.max()) if self.multinomial else self.states

    @cached_property
    def kappa(self) -> float:
        """κ = inf over ‖w‖ ≤ S_w of the smallest product of two successors' probabilities; multinomial mixtures only."""
        self._table()
        return kappa_of(self.moves, self.S_w)

    @cached_property
    def moves(self) -> Moves:
        """Successors and their features, pair by pair."""
        if self.features is not None and self.features.moves is not None:
            return self.features.moves
        return moves_of(self.psi, self.reachable)

    @property
    def bounds(self) -> dict[str, Any]:
        """What the zoo's learners ask for: S_theta, S_w, L_phi, L_psi, and kappa in a multinomial mixture."""
        known = {"S_theta": self.S_theta, "S_w": self.S_w, "L_phi": self.L_phi, "L_psi": self.L_psi}
        return known | ({"kappa": self.kappa} if self.multinomial else {})

    @cached_property
    def P_theta(self) -> float:
        """P^θ = Σ_{k≥2} Σ_h ‖θ_h^k − θ_h^{k−1}‖."""
        return self._path(self.theta)

    @cached_property
    def P_w(self) -> float:
        """P^w = Σ_{k≥2} Σ_h ‖w_h^k − w_h^{k−1}‖."""
        return self._path(self.w)

    @property
    def Delta(self) -> float:
        """Δ = P^θ + P^w; parameters shared by all stages count H times (resolution D12)."""
        return self.P_theta + self.P_w

    @property
    def task(self) -> Task:
        """What a learner may know."""
        return Task(
            self.states, self.actions, self.phi, self.moves, self.multinomial, self.states, self.horizon, self.episodes
        )

    @cached_property
    def optimal(self) -> Vector:
        """V*_1 of each episode's first state, (K,)."""
        return self.first_values(uniform=False)

    def first_values(self, *, uniform: bool) -> Vector:
        """The value of each episode's first state, (K,), of the best policy, or of equally likely actions."""
        values, dynamics = np.zeros(self.episodes), self.private_dynamics()
        for first, theta in blocks(self.theta):
            part = slice(first, first + len(theta))
            paths = self.reward_rows, theta, self.w[part]
            values[part] = values_of_starts(dynamics, *paths, self.states, self.horizon, self.start[part], uniform)
        return values

    @cached_property
    def reward_rows(self) -> Cube:
        """phi as (1, S·A, d_θ), or (H, S·A, d_θ) where phi, psi or what can follow differs from stage to stage."""
        table = self.phi.reshape(-1, self.states * self.actions, self.phi.shape[-1])
        stages = staged(self.phi, 3)
        if self.features is None:
            stages = stages_of(self.horizon, self.phi, self.psi, self.reachable)
        return np.ascontiguousarray(np.broadcast_to(table, (stages, *table.shape[1:])))

    def private_dynamics(self) -> Any:
        """The dynamics with workspace of their own: threads may share an MDP."""
        own = {"p": np.zeros_like(self.dynamics.p)} if self.multinomial else {}
        return self.dynamics._replace(**own)

    def rewards(self, k: int) -> Cube:
        """r of episode k = 0..K−1, (H, S, A)."""
        theta = self.theta[self._episode(k)]
        return self._each_stage(np.einsum("hsai,hi->hsa", self.phi.reshape(-1, *self.phi.shape[-3:]), theta))

    def kernel(self, k: int) -> NDArray[np.float64]:
        """P of episode k = 0..K−1, (H, S, A, S)."""
        w = self.w[self._episode(k)]
        if self.features is not None:
            return self._sparse_kernel(w)
        logits = np.einsum("hsatd,hd->hsat", self.psi.reshape(-1, *self.psi.shape[-4:]), w)
        if self.reachable is None:
            return self._each_stage(logits)
        logits = np.where(self.reachable, logits, -np.inf)
        p = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return self._each_stage(p / p.sum(axis=-1, keepdims=True))

    def _sparse_kernel(self, w: Matrix) -> NDArray[np.float64]:
        """P (H, S, A, S) of a world that is stored by successor, if it is small enough to be written out."""
        S, A, H = self.states, self.actions, self.horizon
        require(H * S * A * S <= LARGEST, "states", S, f"so few that H·S·A·S ≤ {LARGEST}", "P is written out")
        P = np.zeros((H, S * A, S))
        dynamics = self.private_dynamics()
        for h, pair in np.ndindex(H, S * A):
            transition_row(dynamics, pair, w[h % len(w)], P[h, pair])
        return P.reshape(H, S, A, S)

    def _episode(self, k: int) -> int:
        number = integer("k", k, least=0, why="it is the number of an episode")
        require(number < self.episodes, "k", k, f"in 0..{self.episodes - 1}", "the parameters end there")
        return number

    def _each_stage(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """One table for each of the H stages."""
        return np.ascontiguousarray(np.broadcast_to(values, (self.horizon, *values.shape[1:])))

    def _path(self, parameters: Parameters) -> float:
        total, last = 0.0, parameters[:1]
        for _, part in blocks(parameters):
            steps = np.diff(np.concatenate([last, part]), axis=0)
            total, last = total + float(np.linalg.norm(steps, axis=-1).sum()), part[-1:]
        return total * (self.horizon if parameters.shape[1] == 1 else 1)

    def _table(self) -> Any:
        if not self.multinomial:
            raise InvalidValue("κ and L′ belong to multinomial-logit mixtures; this MDP is a linear mixture")
        return self.dynamics.choices


def stages_of(horizon: int, phi: Cube, psi: Cube, reachable: NDArray[np.bool_] | None) -> int:
    """H if something is given stage by stage, else 1."""
    H = integer("horizon", horizon, least=1, why="it is the number of stages H")
    counts = {"phi": staged(phi, 3), "psi": staged(psi, 4)}
    if reachable is not None:
        counts["reachable"] = staged(reachable, 3)
    return check_stages(H, counts)
