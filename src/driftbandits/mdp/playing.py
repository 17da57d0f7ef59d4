"""The loops in which a learner, or a fixed policy, plays an environment: episode by episode, or step by step.

Nothing here makes an agent (`run` does), so that an agent can use these loops to evaluate its own policy.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShape, InvalidValue, integer
from .discretise import is_vector
from .env_facts import sizes
from .played import Continued, Ends, Played, state_in
from .vector_run import run_vector

Progress = Callable[[int, float], None]


class EpisodicLearner(Protocol):
    """What `run` asks of a learner: an `EpisodicAgent`, or one of `mdp.baselines`."""

    horizon: int
    states: int
    actions: int

    def begin_episode(self) -> Any:
        """Plan the next episode."""

    def act(self, h: int, s: int) -> int:
        """The action in stage h and state s."""

    def observe(
        self, h: int, s: int, a: int, reward: float, s_next: int, *, terminated: bool = False, truncated: bool = False
    ) -> None:
        """Learn from one step."""


class ContinuingLearner(Protocol):
    """What `run` asks of a learner of a task without episodes: a `ContinuingAgent`, or `mdp.baselines.UCRL2`."""

    states: int
    actions: int

    def act(self, s: int) -> int:
        """The action in state s."""

    def observe(self, s: int, a: int, reward: float, s_next: int) -> None:
        """Learn from one step."""


class PolicyPlayer:
    """A policy that does not learn: actions (H, S)."""

    def __init__(self, policy: NDArray[np.int64], actions: int) -> None:
        self.policy, self.actions = policy, actions
        self.horizon, self.states = policy.shape

    def begin_episode(self) -> None:
        """Nothing is planned."""

    def act(self, h: int, s: int) -> int:
        """As the policy says."""
        return int(self.policy[h, s])

    def observe(
        self, h: int, s: int, a: int, reward: float, s_next: int, *, terminated: bool = False, truncated: bool = False
    ) -> None:
        """Nothing is learned."""


def play_policy(policy: NDArray[np.int64], env: Any, episodes: int, *, actions: int, seed: int | None = None) -> Played:
    """Play a policy (H, S) in an environment."""
    K = integer("episodes", episodes, least=1, why="it is the number of episodes to play")
    check_environment(env)
    player = PolicyPlayer(policy, actions)
    found = states_of(env, player)
    return (run_vector if is_vector(env) else play_episodes)(player, env, K, found, seed, None)


class StationaryPlayer:
    """A policy that does not learn, of a task without episodes: actions (S,)."""

    def __init__(self, policy: NDArray[np.int64], actions: int) -> None:
        self.policy, self.actions, self.states = policy, actions, len(policy)

    def act(self, s: int) -> int:
        """As the policy says."""
        return int(self.policy[s])

    def observe(self, s: int, a: int, reward: float, s_next: int) -> None:
        """Nothing is learned."""


def play_steps(policy: NDArray[np.int64], env: Any, steps: int, *, actions: int, seed: int | None = None) -> Continued:
    """Play a policy (S,) in a task without episodes."""
    T = integer("steps", steps, least=1, why="it is the number of steps to play")
    check_environment(env)
    return continue_steps(StationaryPlayer(policy, actions), env, T, seed)


def play_episodes(
    agent: EpisodicLearner, env: Any, K: int, states: int, seed: int | None, progress: Progress | None
) -> Played:
    """One episode after another."""
    played = Played(np.zeros(K), np.zeros(K, np.int64), np.zeros(K, bool), agent)
    ends = Ends(states, agent.states, agent.horizon)
    for k in range(K):
        first, _ = _values("reset()", env.reset(seed=seed) if k == 0 and seed is not None else env.reset(), RESET)
        s = state_in(states, first)
        agent.begin_episode()
        for h in range(agent.horizon):
            a = agent.act(h, s)
            given, reward, terminated, truncated, _ = _values("step(action)", env.step(a), STEP)
            s_next = state_in(states, given)
            to, over = ends.after(h, s, s_next, terminated) if terminated in (True, False) else (s_next, terminated)
            agent.observe(h, s, a, reward, to, terminated=over, truncated=truncated)
            played.returns[k] += float(reward)
            played.lengths[k], played.terminated[k], s = h + 1, terminated, s_next
            if terminated or truncated:
                break
        if progress is not None:
            progress(k + 1, float(played.returns[k]))
    return played


def continue_steps(agent: ContinuingLearner, env: Any, T: int, seed: int | None) -> Continued:
    """Step after step; an environment that ends an episode all the same is reset, which the learner sees as a move."""
    if hasattr(agent, "begin_episode"):
        raise InvalidValue("this agent plays episodes: give episodes=…, or make a db.mdp.ContinuingAgent for steps=…")
    if is_vector(env):
        raise InvalidValue("steps=… plays one environment: a task without episodes is one stream")
    states, rewards = states_of(env, agent), np.zeros(T)
    first, _ = _values("reset()", env.reset(seed=seed) if seed is not None else env.reset(), RESET)
    s = state_in(states, first)
    for t in range(T):
        a = agent.act(s)
        given, reward, terminated, truncated, _ = _values("step(action)", env.step(a), STEP)
        if terminated or truncated:
            given, _ = _values("reset()", env.reset(), RESET)
        s_next = state_in(states, given)
        agent.observe(s, a, reward, s_next)
        rewards[t], s = float(reward), s_next
    return Continued(rewards, agent)


# ------------------------------------------------------------------------------------------------ what the environment is


RESET, STEP = ("state", "info"), ("state", "reward", "terminated", "truncated", "info")


def _values(call: str, given: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What an environment returned, as many values as Gymnasium's return."""
    if not isinstance(given, tuple) or len(given) != len(names):
        raise InvalidValue(f"env.{call} returned {given!r:.60}; it must return ({', '.join(names)}), as Gymnasium's do")
    return given


def check_environment(env: Any) -> None:
    """Refuse an object without the methods of an environment."""
    if not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
        hint = f": gymnasium.make({env!r}) makes one" if isinstance(env, str) else ""
        raise InvalidValue(f"env = {env!r:.60} is no environment; it must have the methods reset and step{hint}")


def states_of(env: Any, agent: Any) -> int:
    """The number of states of an environment, which must be that of the agent, or one less; the agent's if it has no spaces."""
    if not (is_vector(env) or hasattr(env, "observation_space") or hasattr(env, "action_space")):
        return int(agent.states)
    states, actions = sizes(env)
    if actions != agent.actions or agent.states - states not in (0, 1):
        raise InvalidShape(
            f"the environment has {states} states and {actions} actions, the agent {agent.states} and {agent.actions}; "
            f"make it with mdp.tabular({states}, {actions}), or one state more for the end of an episode"
        )
    return states
