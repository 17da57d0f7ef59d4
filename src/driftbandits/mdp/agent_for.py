"""Creation of an agent from the facts that an environment states about itself (`env_facts`)."""

from typing import Any

from ..errors import InvalidValue
from .agent import EpisodicAgent
from .discretise import is_vector
from .env_facts import range_of, sizes, table_of, time_limit
from .features import Features, tabular


def agent_for(
    strategy: Any,
    env: Any,
    *,
    horizon: int | None,
    reward_range: tuple[float, float] | None,
    features: Features | None,
    seed: int,
) -> EpisodicAgent:
    """An agent for an environment, made from its spaces, its time limit and, where it has a table, the range of its rewards."""
    if features is None:
        # In worlds with a table, terminal states are among the states. An additional one would never be entered, and an unvisited state
        # looks as good as the best one.
        states, actions = sizes(env)
        features = tabular(states + (0 if table_of(env) else 1), actions)
    if horizon is None:
        horizon = time_limit(env)
    if horizon is None:
        raise InvalidValue(
            "the environment has no time limit; say how many steps an episode is planned for: horizon=100"
        )
    low_high = range_of(env) if reward_range is None else reward_range
    if low_high is None:
        raise InvalidValue("which rewards can there be? Say the least and the largest: reward_range=(-1, 0)")
    return EpisodicAgent(
        strategy, features, horizon=horizon, reward_range=low_high, replan=not is_vector(env), seed=seed
    )
