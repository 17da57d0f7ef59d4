"""What an environment says of itself: the sizes of its spaces, its time limit, and its table if it shows one."""

from typing import Any

from ..errors import InvalidValue
from .discretise import is_vector, parts_of


def table_of(env: Any) -> dict[Any, Any] | list[Any] | None:
    """The table of an environment that shows it, P[s][a] = [(p, s', reward, terminated), …], as Gymnasium's toy-text ones do."""
    one = env.envs[0] if hasattr(env, "envs") else env  # of a vector
    table = getattr(getattr(one, "unwrapped", one), "P", None)
    return table if isinstance(table, dict | list) else None


def range_of(env: Any) -> tuple[float, float] | None:
    """The least and largest reward of an environment that shows its table, P[s][a] = [(p, s', reward, terminated), …]."""
    table = table_of(env)
    if table is None:
        return None
    rows = table.values() if isinstance(table, dict) else table
    rewards = [
        float(move[2]) for row in rows for moves in (row.values() if isinstance(row, dict) else row) for move in moves
    ]
    low, high = min(rewards), max(rewards)
    return (low, high) if low < high else (low, low + 1.0)


def time_limit(env: Any) -> int | None:
    """After how many steps the environment ends an episode, by its specification or by the outermost `TimeLimit` around it."""
    stated = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    while stated is None and env is not None:
        stated = getattr(env, "_max_episode_steps", None)
        env = env.envs[0] if hasattr(env, "envs") else getattr(env, "env", None)
    return None if stated is None else int(stated)


def sizes(env: Any) -> tuple[int, int]:
    """How many states and actions an environment has."""
    single = "single_" if is_vector(env) else ""
    if not any(hasattr(env, single + name) for name in ("observation_space", "action_space")):
        raise InvalidValue(
            f"env = {env!r:.60} does not say how many states and actions there are; say it: features=db.mdp.tabular(states, actions)"
        )
    states, actions = (_size(name, getattr(env, single + name, None)) for name in ("observation_space", "action_space"))
    return states, actions


def _size(name: str, space: Any) -> int:
    count = getattr(space, "n", None)
    if count is None or getattr(space, "start", 0) != 0 or getattr(space, "shape", ()) not in ((), None):
        bins = ("action_bins" if name == "action_space" else "bins") + "=10"
        call = f"db.mdp.discretise(env, {bins})" if _has_box(space) else "db.mdp.discretise(env)"
        raise InvalidValue(
            f"{name} is {space!r:.80}; it must be Discrete(n), numbered from 0. Number it, env = {call}, or give features: "
            "db.mdp.discretise(env, features=f, states=n)"
        )
    return int(count)


def _has_box(space: Any) -> bool:
    """Is this a Box, or a Tuple or Dict with one in it? How its coordinates are cut must be said."""
    return hasattr(space, "low") or any(_has_box(part) for part in parts_of(space).values())
