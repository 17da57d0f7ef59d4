r"""UCRL2 for tasks without episodes, and its forms for drifting ones: UCRL2-CW and SWUCRL2-CW.

    N(s,a), r̂, p̂      counts and means over the last W steps (all of them: W = ∞)
    |r̃ − r̂| ≤ √(7 log(2SAt/δ)/(2 max(1,N))),     ‖p̃ − p̂‖₁ ≤ √(14 S log(2At/δ)/max(1,N)) + η
    u_{i+1}(s) = max_a [ r̃(s,a) + max_{p̃} Σ p̃(s')u_i(s') ],   until max(u_{i+1} − u_i) − min(u_{i+1} − u_i) < 1/√t
    a new policy      when a pair was visited as often since the last one as it counted before; or, with a window, at multiples of W

Jaksch, Ortner, Auer (2010) for W = ∞ and η = 0; Cheung, Simchi-Levi, Zhu (2020) for the window W and the widening η of the transitions'
confidence sets, which keeps the diameter of the optimistic world small where transitions drift. `scale` multiplies both radii (1 in theory,
where play is close to random at ordinary sizes). The constants of the radii are UCRL2's.
"""

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue, integer, probability, require
from .protocol import Cube

SWEEPS = 10_000  # of extended value iteration, at most
TIE = 1e-9


class UCRL2:
    """A learner for `run(agent, env, steps=…)`: UCRL2; with `window` and `widening` SWUCRL2-CW, with `widening` alone UCRL2-CW.

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.mdp.baselines.UCRL2(states=2, actions=2, scale=0.1)
    >>> agent.act(0) in (0, 1)
    True
    """

    def __init__(
        self,
        *,
        states: int,
        actions: int,
        window: int | None = None,
        widening: float = 0.0,
        delta: float = 0.05,
        scale: float = 1.0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        seed: int = 0,
    ) -> None:
        self.states = integer("states", states, least=1, why="it is the number of states S")
        self.actions = integer("actions", actions, least=1, why="it is the number of actions A")
        self.window = (
            None if window is None else integer("window", window, least=1, why="it is the number of steps that count")
        )
        require(widening >= 0.0, "widening", widening, "≥ 0", "it is added to a radius")
        require(scale >= 0.0, "scale", scale, "≥ 0", "it multiplies a radius")
        self.widening, self.delta, self.scale = widening, probability("delta", delta), scale
        self.low, self.high = (float(end) for end in reward_range)
        require(
            self.low < self.high,
            "reward_range",
            reward_range,
            "(low, high) with low < high",
            "rewards are mapped to [0, 1]",
        )
        self.rng = np.random.default_rng(seed)
        self.N: Cube = np.zeros((self.states, self.actions, self.states))
        self.R: Matrix = np.zeros((self.states, self.actions))
        self.recent: list[tuple[int, int, float, int]] = []  # the steps of the window, oldest first from `oldest`
        self.oldest = 0
        self.t = 0  # steps observed
        self.since = np.zeros((self.states, self.actions))  # visits since the last policy
        self.limit = np.zeros((self.states, self.actions))  # visits at which there is a new one
        self.values: Vector = np.zeros(self.states)
        self.policy = np.zeros((self.states, self.actions))  # probabilities: equal ones for actions that tie
        self.due = True

    def act(self, s: int) -> int:
        """The optimistic action."""
        if self.due:
            self._replan()
        return int(self.rng.choice(self.actions, p=self.policy[s]))

    def observe(self, s: int, a: int, reward: float, s_next: int) -> None:
        """Count one step; forget one that leaves the window."""
        r = (float(reward) - self.low) / (self.high - self.low)
        if not -1e-6 <= r <= 1.0 + 1e-6:
            raise InvalidValue(f"reward = {reward!r} is not in reward_range = ({self.low:g}, {self.high:g})")
        self.N[s, a, s_next] += 1.0
        self.R[s, a] += r
        self.since[s, a] += 1.0
        self.t += 1
        if self.window is not None:
            self.recent.append((int(s), int(a), r, int(s_next)))
            if len(self.recent) - self.oldest > self.window:
                self._forget()
        new_window = self.window is not None and self.t % self.window == 0
        self.due = self.due or new_window or bool(self.since[s, a] >= self.limit[s, a])

    def _forget(self) -> None:
        """Take the oldest step back."""
        s, a, r, s_next = self.recent[self.oldest]
        self.N[s, a, s_next] -= 1.0
        self.R[s, a] -= r
        self.oldest += 1
        if self.oldest > len(self.recent) // 2:
            del self.recent[: self.oldest]
            self.oldest = 0

    def confidence(self) -> tuple[Matrix, Cube, Matrix]:
        """r̃ (S, A), p̂ (S, A, S), the same for all successors where nothing was seen, and the radius of p̂ (S, A)."""
        t, n = max(1, self.t), self.N.sum(axis=2)
        seen = np.maximum(n, 1.0)
        S, A = n.shape
        pay = self.R / seen + self.scale * np.sqrt(3.5 * np.log(2.0 * S * A * t / self.delta) / seen)
        p = np.where(n[..., None] > 0.0, self.N / seen[..., None], 1.0 / S)
        radius = self.scale * np.sqrt(14.0 * S * np.log(2.0 * A * t / self.delta) / seen) + self.widening
        return np.minimum(pay, 1.0), p, np.where(n > 0.0, radius, 2.0)

    def _replan(self) -> None:
        """A new policy from what the window holds."""
        pay, p, radius = self.confidence()
        self.values, Q = extended_value_iteration(pay, p, radius, 1.0 / np.sqrt(max(1, self.t)))
        best = Q.max(axis=1, keepdims=True) - TIE <= Q
        self.policy = best / best.sum(axis=1, keepdims=True)
        self.limit = np.maximum(self.N.sum(axis=2), 1.0)
        self.since[:] = 0.0
        self.due = False


def extended_value_iteration(pay: Matrix, p: Cube, radius: Matrix, precision: float) -> tuple[Vector, Matrix]:
    """u (S,) with least value 0 and Q (S, A) of the world in the L1 balls around p that pays most; Jaksch et al. 2010, Figure 2."""
    u = np.zeros(len(pay))
    for _ in range(SWEEPS):
        Q = pay + best_next(p, radius, u)
        new = Q.max(axis=1)
        step = new - u
        u = new - new.min()
        if step.max() - step.min() < precision:
            break
    return u, Q


def best_next(p: Cube, radius: Matrix, u: Vector) -> Matrix:
    """max Σ p̃(s')u(s') over ‖p̃ − p‖₁ ≤ radius: half the radius goes to the best state, and the worst ones pay for it."""
    order = np.argsort(-u, kind="stable")
    mass = p[..., order].copy()
    mass[..., 0] = np.minimum(1.0, mass[..., 0] + 0.5 * radius)
    kept = np.minimum(np.cumsum(mass, axis=-1), 1.0)  # what exceeds 1 is taken from the end
    return np.diff(kept, axis=-1, prepend=0.0) @ u[order]
