r"""Tasks without episodes: a queue, a warehouse, a server farm. What counts is the mean reward per step or, with a discount ρ, Σ ρ^i r_i.

    memory    a step of age i counts γ^i: weights are over steps, and several memories, from 4 steps to 26 244 and all, are tried at once
    plan      Q_h = optimistic reward + ρ·optimistic E[V_{h+1}(s')],  h = L−1, …, 0,  V_L = 0;   the action is argmax_a Q_0(s, a)

A plan that looks L steps ahead and is made anew before it ends (a rolling horizon) loses what lies beyond L; its loss per step shrinks
geometrically in L where the policy mixes, so that L should be a few times the number of steps after which a decision no longer matters.
With a discount what lies beyond L is worth at most ρ^L/(1−ρ); by default L is such that ρ^L ≤ 1 %.
Everything else is what the episodic learners have: tables, mixtures of known models and multinomial-logit moves, measured bonuses, memory
found out. No theorem is claimed.
"""

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.background_compile import CompileMode
from ..errors import CannotRead, DriftBanditsError, InvalidValue, integer, real, require
from ..io.saving import read, write
from ..memory import Restart, Window
from .adaptive import AdaptivePlanner, Candidates
from .agent import EpisodicAgent
from .defaults import Unsettled
from .features import Features
from .planner import OptimisticPlanner
from .played import Continued
from .playing import play_steps
from .posterior_table import MeasuredTransitionTable
from .protocol import settle_in, settled

MEMORIES = 10.0  # 4·3^i steps, i = 0..8, and all
LOOKAHEAD = 50  # steps, without a discount
BEYOND = 0.01  # the largest ρ^L of what is left out


class PerStep:
    """A strategy of the zoo, settled for a task whose memories count steps and whose rewards are discounted by `discount`."""

    def __init__(self, strategy: Any, discount: float = 1.0) -> None:
        self.strategy, self.discount = strategy, discount


@settle_in.register(PerStep)
def _(given: PerStep, task: Any) -> tuple[Any, Any]:
    strategy, task = settled(given.strategy, task)
    base = strategy.base if isinstance(strategy, AdaptivePlanner) else strategy
    if isinstance(getattr(base, "memory", None), Window | Restart):
        raise InvalidValue(
            "a task without episodes needs weights: give half_life= in steps, or nothing, instead of a window or restart"
        )
    if not isinstance(base, OptimisticPlanner):
        raise InvalidValue(
            f"{type(base).__name__} cuts time into episodes; a task without them needs weight_ucrl() or its relatives"
        )
    if not base.rule.pooled:
        raise InvalidValue(
            "a task without episodes has no stages: say share_stages=True, and leave out constants='theory'"
        )
    if (task.phi is not None and task.phi.ndim > 3) or (
        task.moves is not None and len(task.moves.used) > task.states * task.actions
    ):
        raise InvalidValue(
            "a task without episodes has no stages: give features of states and actions, without an axis for stages"
        )
    if isinstance(strategy, AdaptivePlanner) and isinstance(given.strategy, Unsettled):
        strategy = strategy._replace(candidates=Candidates(size=MEMORIES))
    base = base._replace(rule=base.rule._replace(discount=given.discount))
    if isinstance(base.transition, MeasuredTransitionTable):  # no episode ends, so nothing is lost by waiting
        base = base._replace(transition=base.transition._replace(haste=0.0))
    return strategy._replace(base=base) if isinstance(strategy, AdaptivePlanner) else base, task


class ContinuingAgent:
    """Control a task without episodes, step after step.

    Parameters
    ----------
    strategy
        From `zoo`: `weight_ucrl()` finds out how fast to forget; `weight_ucrl(half_life=500)`, in steps.
    features
        What is known, as for `EpisodicAgent`: `tabular(S, A)`, `mixture_of(models)`, `logit(f)`.
    discount
        None, if the mean reward per step is what counts; or ρ in (0, 1), if a reward i steps ahead counts ρ^i.
    lookahead
        How many steps ahead it plans; by default 50, or with a discount so many that what follows counts at most 1 %.
    replan
        It plans again after so many steps.
    reward_range
        The least and the largest reward there can be.

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.mdp.ContinuingAgent(db.zoo.weight_ucrl(), db.mdp.tabular(6, 2), lookahead=20, seed=0)
    >>> a = agent.act(0)
    >>> agent.observe(0, a, reward=0.1, s_next=1)
    """

    def __init__(
        self,
        strategy: Any,
        features: Features,
        *,
        discount: float | None = None,
        lookahead: int | None = None,
        replan: int = 10,
        reward_range: tuple[float, float] = (0.0, 1.0),
        seed: int | np.random.SeedSequence = 0,
        compile: CompileMode = "background",  # noqa: A002 - as in `Agent`
    ) -> None:
        rho = 1.0 if discount is None else real("discount", discount)
        if discount is not None:
            require(
                0.0 < rho < 1.0, "discount", discount, "in (0, 1)", "without one, leave it out: mean reward per step"
            )
        if lookahead is None:
            lookahead = LOOKAHEAD if discount is None else max(1, math.ceil(math.log(BEYOND) / math.log(rho)))
        self.lookahead = integer("lookahead", lookahead, least=1, why="it is the number of steps of a plan")
        self.replan = integer("replan", replan, least=1, why="it is the number of steps between two plans")
        self._agent = EpisodicAgent(
            PerStep(strategy, rho),
            features,
            horizon=self.lookahead,
            reward_range=reward_range,
            seed=seed,
            compile=compile,
        )
        self.states, self.actions = self._agent.states, self._agent.actions
        self._since = self.replan  # steps since the last plan

    def act(self, s: int) -> int:
        """The action in state s; plans anew if it is time to."""
        if self._since >= self.replan:
            self._agent.begin_episode()
            self._since = 0
        return self._agent.act(0, s)

    def observe(self, s: int, a: int, reward: float, s_next: int) -> None:
        """Learn that action a in state s paid `reward` and led to `s_next`; a may be any action."""
        if self._agent._stage < 0:
            self._agent.begin_episode()
            self._since = 0
        self._agent._experience_step(s, a, reward, s_next)
        self._since += 1

    def evaluate(self, env: Any, steps: int, *, seed: int | None = None) -> Continued:
        """Play without learning: the actions of a plan made now, from all that was learned so far, for so many steps.

        The agent stays as it is, to the bit. The plan is optimistic: what is unknown is still tried.
        """
        return play_steps(self._agent._coming_policy()[0], env, steps, actions=self.actions, seed=seed)

    @property
    def policy(self) -> NDArray[np.int64]:
        """The actions of the plan in use, (S,)."""
        actions: NDArray[np.int64] = self._agent.policy[0]
        return actions

    def info(self) -> dict[str, Any]:
        """As `EpisodicAgent.info`, in steps instead of episodes; `gain`, the reward per step that the plan expects, optimistically.

        Without a discount it is what the earlier half of the plan adds, (V_0 − V_{L/2})/(L/2), a mean over the states: the end of the plan
        takes what can be had at once. With a discount it is the weighted mean reward per step, Σ ρ^i r_i / Σ ρ^i.
        """
        V, (low, high) = self._agent._state.book.V.mean(axis=1), self._agent.reward_range
        if self.discount is None:
            half = (self.lookahead + 1) // 2
            gain = (V[0] - V[half]) / half
        else:
            gain = V[0] * (1.0 - self.discount) / (1.0 - self.discount**self.lookahead)
        return self._agent.info() | {"gain": low + (high - low) * float(gain)}

    @property
    def discount(self) -> float | None:
        """ρ, or None if the mean reward per step is what counts."""
        strategy = self._agent.strategy
        rule = (strategy.base if isinstance(strategy, AdaptivePlanner) else strategy).rule
        return float(rule.discount) if rule.discount < 1.0 else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the agent to one file, atomically; needs the extra `state`."""
        about, arrays = self._agent.pack()
        write(path, "ContinuingAgent", about | {"every": self.replan, "since": self._since}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, compile: CompileMode = "background") -> "ContinuingAgent":  # noqa: A002
        """The agent that was saved."""
        about, arrays = read(path, "ContinuingAgent")
        try:
            return cls._unpack(about, arrays, compile)
        except DriftBanditsError as problem:
            raise CannotRead(f"{os.fspath(path)} cannot be loaded: {problem}") from None

    @classmethod
    def _unpack(
        cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], how: CompileMode
    ) -> "ContinuingAgent":
        agent = cls.__new__(cls)
        agent._agent = EpisodicAgent.unpack(about, arrays, compile=how)
        agent.lookahead, agent.states, agent.actions = agent._agent.horizon, agent._agent.states, agent._agent.actions
        agent.replan = integer("replan", about.get("every"), least=1, why="it is the number of steps between two plans")
        agent._since = integer("since", about.get("since"), least=0, why="it counts steps")
        return agent

    def __repr__(self) -> str:
        kind = type(self._agent.strategy).__name__
        return f"ContinuingAgent({kind}, states={self.states}, actions={self.actions}, lookahead={self.lookahead})"
