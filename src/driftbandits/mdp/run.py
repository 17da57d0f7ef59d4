"""Let an agent learn and play in a Gymnasium environment, as it is: FrozenLake, Taxi, CliffWalking, or one's own.

Nothing here imports Gymnasium: an environment is anything with its `reset() -> (state, info)` and `step(action) -> (state, reward,
terminated, truncated, info)`. Spaces are compared with the agent's sizes if it has them; `discretise` numbers states and actions that are
not numbers. A vector environment plays several episodes at once (`vector_run`); a task without episodes is played for so many steps.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShape, InvalidValue, integer
from .agent_for import agent_for, sizes
from .discretise import is_vector
from .features import Features
from .played import Continued, Ends, Played, state_in
from .protocol import open_book, settle_in
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


def run(
    agent: Any,
    env: Any,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    horizon: int | None = None,
    reward_range: tuple[float, float] | None = None,
    features: Features | None = None,
) -> Any:
    """Let an agent learn and play in a Gymnasium environment; returns `Played`, or `Continued` for `steps=`.

    An episode ends when the environment says so, or after the agent's H stages. If the agent has one state more than the environment, the
    last one is the end, whichever state an episode ends in; else a state in which an episode terminates before stage H must always be an
    end.

    Parameters
    ----------
    agent
        An `EpisodicAgent` or one of `mdp.baselines`; or a strategy of the zoo, `weight_ucrl()`, for which an agent is made that knows
        nothing but the number of states and actions: `run(…).agent`.
    env
        With states 0..S−1 and actions 0..A−1, else see `discretise`; or a vector environment of such.
    episodes
        How many episodes to play.
    steps
        In place of episodes, for a task without them: how many steps to play, by a `ContinuingAgent`.
    seed
        Of the environment, given to its first `reset`, and of the agent that is made of a strategy.
    progress
        Called with the number of episodes played and the return of the last one, e.g. `print`.
    horizon, reward_range, features
        Of the agent that is made of a strategy: by default the environment's time limit, and the rewards of its table `P`, where it has
        them, as Gymnasium's toy-text environments do; and `tabular`, with a state for the end of an episode where there is no such table.

    Examples
    --------
    >>> import gymnasium, driftbandits as db
    >>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> db.run(db.zoo.weight_ucrl(), env, episodes=10, horizon=20, seed=0).returns.shape
    (10,)
    """
    if progress is not None and not callable(progress):
        raise InvalidValue(
            f"progress = {progress!r:.60} is not allowed; it must be a function of (episodes, return): print"
        )
    _check_environment(env)
    if (episodes is None) == (steps is None):
        raise InvalidValue(
            "say either how many episodes to play, episodes=1000, or of a task without them how many steps, steps=10000"
        )
    made = {"horizon": horizon, "reward_range": reward_range, "features": features}
    if _is_strategy(agent):
        if steps is not None:
            raise InvalidValue(
                "a strategy plays episodes; for steps=… make an agent: db.mdp.ContinuingAgent(db.zoo.weight_ucrl(), …)"
            )
        agent = agent_for(agent, env, horizon=horizon, reward_range=reward_range, features=features, seed=seed or 0)
    elif unused := [name for name, value in made.items() if value is not None]:
        raise InvalidValue(f"{unused[0]} belongs to the agent, which has its own: give it where the agent is made")
    if steps is not None:
        return _continue(agent, env, integer("steps", steps, least=1, why="it is the number of steps to play"), seed)
    if not callable(getattr(agent, "begin_episode", None)):
        raise InvalidValue(f"agent = {agent!r:.60} plays no episodes; give steps=… instead, or an EpisodicAgent")
    K = integer("episodes", episodes, least=1, why="it is the number of episodes to play")
    states = _states_of(env, agent)
    if is_vector(env):
        return run_vector(agent, env, K, states, seed, progress)
    return _play(agent, env, K, states, seed, progress)


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
    _check_environment(env)
    player = PolicyPlayer(policy, actions)
    found = _states_of(env, player)
    return (run_vector if is_vector(env) else _play)(player, env, K, found, seed, None)


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
    _check_environment(env)
    return _continue(StationaryPlayer(policy, actions), env, T, seed)


def _play(agent: EpisodicLearner, env: Any, K: int, states: int, seed: int | None, progress: Progress | None) -> Played:
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


def _continue(agent: ContinuingLearner, env: Any, T: int, seed: int | None) -> Continued:
    """Step after step; an environment that ends an episode all the same is reset, which the learner sees as a move."""
    if hasattr(agent, "begin_episode"):
        raise InvalidValue("this agent plays episodes: give episodes=…, or make a db.mdp.ContinuingAgent for steps=…")
    if is_vector(env):
        raise InvalidValue("steps=… plays one environment: a task without episodes is one stream")
    states, rewards = _states_of(env, agent), np.zeros(T)
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


def _is_strategy(given: Any) -> bool:
    """Is this a strategy of the zoo rather than an agent?"""
    known = settle_in.knows(type(given)) or open_book.knows(type(given))
    return known or (callable(given) and not hasattr(given, "observe"))


def _values(call: str, given: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What an environment returned, as many values as Gymnasium's return."""
    if not isinstance(given, tuple) or len(given) != len(names):
        raise InvalidValue(f"env.{call} returned {given!r:.60}; it must return ({', '.join(names)}), as Gymnasium's do")
    return given


def _check_environment(env: Any) -> None:
    if not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
        hint = f": gymnasium.make({env!r}) makes one" if isinstance(env, str) else ""
        raise InvalidValue(f"env = {env!r:.60} is no environment; it must have the methods reset and step{hint}")


def _states_of(env: Any, agent: Any) -> int:
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
