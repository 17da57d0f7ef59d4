"""Let an agent learn and play in a Gymnasium environment, as it is: FrozenLake, Taxi, CliffWalking, or one of your own.

Nothing here imports Gymnasium: an environment is anything with its `reset() -> (state, info)` and `step(action) -> (state, reward,
terminated, truncated, info)`. Spaces are compared with the agent's sizes if it has them; `discretise` numbers states and actions that are
not numbers. A vector environment plays several episodes at once (`vector_run`); a task without episodes is played for so many steps.
"""

from typing import Any

from ..errors import InvalidValue, integer
from .agent_for import agent_for
from .discretise import is_vector
from .features import Features
from .playing import Progress, check_environment, continue_steps, play_episodes, states_of
from .protocol import open_book, settle_in
from .vector_run import run_vector


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
    check_environment(env)
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
        return continue_steps(
            agent, env, integer("steps", steps, least=1, why="it is the number of steps to play"), seed
        )
    if not callable(getattr(agent, "begin_episode", None)):
        raise InvalidValue(f"agent = {agent!r:.60} plays no episodes; give steps=… instead, or an EpisodicAgent")
    K = integer("episodes", episodes, least=1, why="it is the number of episodes to play")
    states = states_of(env, agent)
    if is_vector(env):
        return run_vector(agent, env, K, states, seed, progress)
    return play_episodes(agent, env, K, states, seed, progress)


def _is_strategy(given: Any) -> bool:
    """Is this a strategy of the zoo rather than an agent?"""
    known = settle_in.knows(type(given)) or open_book.knows(type(given))
    return known or (callable(given) and not hasattr(given, "observe"))
