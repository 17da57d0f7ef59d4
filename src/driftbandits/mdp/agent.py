"""The online front for episodic problems: plan an episode, act, observe."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidState, InvalidValue, integer, real
from ..kernel import entry
from ..linalg import Matrix
from ..protocol import Integers
from .checks import check_features
from .choices import check_reachable
from .protocol import Cube, Task, experience, miss, open_book, plan, report

PLAN, EXPERIENCE, MISS = 0, 1, 2


class EpisodicAgent:
    """Control any environment with S states and A actions, one episode after another.

    Parameters
    ----------
    strategy
        From `zoo`, e.g. `weight_ucrl` or `mnl_weight_ucrl`.
    phi, psi
        Features of rewards (S, A, d_θ) and of transitions (S, A, S, d_w).
    reachable
        (S, A, S) of bool: the possible successors; multinomial-logit strategies only.
    horizon
        Number of stages H of an episode.
    episodes
        Number of episodes, if known; only strategies with a union bound over time need it.
    seed
        Of tie-breaks.

    Examples
    --------
    >>> import driftbandits as db
    >>> world = db.mdp.riverswim(episodes=10, horizon=4)
    >>> strategy = db.zoo.weight_ucrl(gamma=0.9, lam_theta=2, lam_w=32, delta=0.01, **world.bounds)
    >>> agent = db.EpisodicAgent(strategy, phi=world.phi, psi=world.psi, horizon=4, seed=0)
    >>> agent.begin_episode().shape
    (4, 6, 2)
    >>> a = agent.act(0, 0)
    >>> agent.observe(0, 0, a, reward=0.1, s_next=0)
    """

    def __init__(
        self,
        strategy: Any,
        *,
        phi: ArrayLike,
        psi: ArrayLike,
        horizon: int,
        reachable: ArrayLike | None = None,
        episodes: int | None = None,
        seed: int | np.random.SeedSequence = 0,
    ) -> None:
        self.strategy = strategy
        rewards, moves = check_features(phi, psi)
        mask = None if reachable is None else check_reachable(reachable, moves)
        self.horizon = integer("horizon", horizon, least=1, why="it is the number of stages H")
        K = 0 if episodes is None else integer("episodes", episodes, least=1, why="it is the number of episodes")
        self.states, self.actions = rewards.shape[:2]
        self._reachable = mask
        self._rng = np.random.default_rng(seed)
        self._state = open_book(strategy, Task(rewards, moves, mask, self.horizon, K))
        self._stage = -1  # the next stage to observe; −1 before the first episode
        self._direct = _turn.direct(strategy, self._state, PLAN, 0, 0, 0.0, 0, self._rng)

    def begin_episode(self) -> Cube:
        """Plan the next episode from all past ones; returns the optimistic values Q (H, S, A).

        An episode may end early: for the stages it did not reach only time passes.
        """
        if self._stage > 0:
            for h in range(self._stage, self.horizon):
                self._turn(MISS, h)
        self._turn(PLAN)
        self._stage = 0
        Q: Cube = self._state.book.Q.reshape(self.horizon, self.states, self.actions)
        return Q.copy()

    def act(self, h: int, s: int) -> int:
        """The greedy action in stage h = 0..H−1 and state s."""
        self._running()
        return int(self._state.book.policy[self._at("h", h, self.horizon), self._at("s", s, self.states)])

    def observe(self, h: int, s: int, a: int, reward: float, s_next: int) -> None:
        """Learn that action a in state s of stage h paid `reward` and led to `s_next`; a may be any action."""
        self._running()
        stage = self._at("h", h, self.horizon)
        if stage != self._stage:
            due = "begin_episode" if self._stage == self.horizon else f"stage {self._stage}"
            raise InvalidState(
                f"observe in stage {stage}, but {due} is due: an episode is observed stage by stage, once"
            )
        state, action = self._at("s", s, self.states), self._at("a", a, self.actions)
        successor, r = self._at("s_next", s_next, self.states), real("reward", reward)
        if self._reachable is not None and not self._reachable[state, action, successor]:
            raise InvalidValue(f"s_next = {s_next} is not reachable from state {s} with action {a}: see reachable")
        self._turn(EXPERIENCE, stage, state * self.actions + action, r, successor)
        self._stage += 1

    @property
    def policy(self) -> NDArray[np.int64]:
        """The greedy actions of the current episode, (H, S)."""
        self._running()
        policy: Integers = self._state.book.policy
        return policy.copy()

    @property
    def values(self) -> NDArray[np.float64]:
        """The optimistic values V (H+1, S) of the current episode."""
        self._running()
        V: Matrix = self._state.book.V
        return V.copy()

    def info(self) -> dict[str, Any]:
        """What the strategy tells about its state: estimates, effective memory, saturation, …"""
        return report(self.strategy, self._state)

    def _turn(self, move: int, h: int = 0, pair: int = 0, r: float = 0.0, successor: int = 0) -> None:
        self._direct(self.strategy, self._state, move, h, pair, r, successor, self._rng)

    def _running(self) -> None:
        if self._stage < 0:
            raise InvalidState("no episode is running: call begin_episode first")

    @staticmethod
    def _at(name: str, value: int, size: int) -> int:
        number = integer(name, value, least=0, why="it is an index")
        if number >= size:
            raise InvalidValue(f"{name} = {value} is not allowed; it must be in 0..{size - 1}")
        return number


@entry
def _turn(
    strategy: Any, state: Any, move: int, h: int, pair: int, r: float, successor: int, rng: np.random.Generator
) -> None:
    """Plan an episode, experience a stage of it, or miss one."""
    if move == PLAN:
        plan(strategy, state, rng)
    elif move == EXPERIENCE:
        experience(strategy, state, h, pair, r, successor)
    else:
        miss(strategy, state, h)
