"""An episodic agent as JSON and arrays, and back, bit for bit: its strategy with all constants, its features, its state."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.part_json import decode, encode
from ..core.state import nodes, pack
from ..errors import CannotRead, integer, require
from ..protocol import indices_valid
from ..protocol.restoring import restore
from .adaptive import Evidence
from .bob import BlockwiseState
from .checks import check_rewards
from .features import Features
from .protocol import Book, Task
from .softmax_table import Choices
from .successors import Moves, moves_from

STATE = "state."  # before the names of the strategy's arrays
MOVES = "moves."  # before those of its features


def pack_agent(agent: Any, task: Task) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """All of it; the caller holds the lock."""
    about = {
        "strategy": encode(agent.strategy),
        "states": task.states,
        "actions": task.actions,
        "successors": task.successors,
        "multinomial": task.multinomial,
        "horizon": task.horizon,
        "episodes": agent.episodes,
        "reward_range": list(agent.reward_range),
        "stage": agent._stage,
        "over": agent._over,
        "replan": agent.replan,
        "rng": agent._rng.bit_generator.state,
    }
    known = {"phi": task.phi, "rewards": agent.features.rewards, "outcomes": _counted(agent) if agent.replan else None}
    arrays = {name: np.asarray(array) for name, array in known.items() if array is not None}
    if task.moves is not None:
        arrays |= {MOVES + name: array for name, array in pack(task.moves).items()}
    return about, arrays | {STATE + name: array for name, array in pack(agent._state).items()}


def unpack_agent(
    make: Callable[..., Any], about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **options: Any
) -> Any:
    """The agent that was packed; `Saveable.unpack` reports inconsistent content."""
    H = integer("horizon", about["horizon"], least=1, why="it is the number of stages H")
    features = _features(about, arrays, H)
    low, high = about["reward_range"]
    options |= {"horizon": H, "reward_range": (low, high), "episodes": about["episodes"]}
    options["replan"] = about.get("replan", False)  # agents of earlier versions planned once per episode
    agent = make(decode(about["strategy"]), features, **options)
    given = {name.removeprefix(STATE): array for name, array in arrays.items() if name.startswith(STATE)}
    restore(agent._state, given)
    for _, node in nodes(agent._state):
        if hasattr(node, "successor") and not _within(node.successor, 0, agent.states):
            raise CannotRead("its places and counts point outside its arrays")
    agent._stage = integer("stage", about["stage"], least=-1, why="it is the stage to observe, or −1")
    require(agent._stage <= H, "stage", agent._stage, f"≤ {H}", "it is the stage to observe")
    agent._over = bool(about["over"])
    if agent.replan:
        agent._seen = _read_counts(arrays, agent)
    agent._rng.bit_generator.state = about["rng"]
    return agent


def _features(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], H: int) -> Features:
    """What the agent knew of its problem, checked as if it were given anew."""
    S, A, U = (integer(n, about[n], least=1, why="it is a size") for n in ("states", "actions", "successors"))
    held = sum(array.size for array in arrays.values())
    require(held >= H * S * A, "states", S, "as many as its arrays have room for", "Q has H·S·A numbers")
    phi = None if "phi" not in arrays else check_rewards(arrays["phi"], S, A)
    rewards = None if "rewards" not in arrays else check_rewards(arrays["rewards"][..., None], S, A, "rewards")[..., 0]
    if MOVES + "psi" not in arrays:
        require(U <= S and held >= S * A * U, "successors", U, "as many as its arrays have room for", "each is counted")
        return Features(S, A, phi, successors=U, rewards=rewards)
    successor, used, psi = (np.asarray(arrays[MOVES + name]) for name in Moves._fields)
    outside = np.arange(successor.shape[-1]) >= used[:, None]
    axes = (S, A) if len(used) == S * A else (H, S, A)
    given = np.where(outside, -1, successor).reshape(*axes, -1)
    _, _, moves = moves_from(given, psi.reshape(*given.shape, -1))
    return Features(S, A, phi, moves, bool(about["multinomial"]), U, rewards)


def _counted(agent: Any) -> NDArray[np.int64]:
    """(n, 2): an outcome, pair·S + s', and how often it was seen."""
    return np.array(list(agent._seen.items()), np.int64).reshape(-1, 2)


def _read_counts(arrays: Mapping[str, NDArray[Any]], agent: Any) -> dict[int, int]:
    """What `_counted` wrote; agents of earlier versions counted visits, so that every outcome is news to them once."""
    if "outcomes" not in arrays:
        return {}
    found = np.asarray(arrays["outcomes"])
    whole = found.ndim == 2 and found.shape[1:] == (2,) and found.dtype.kind == "i"
    if not whole or not _within(found[:, 0], 0, agent.states**2 * agent.actions) or not (found[:, 1] >= 1).all():
        raise CannotRead("its counts of outcomes are not those of its states and actions")
    return {int(outcome): int(count) for outcome, count in found}


def _within(array: NDArray[np.int64], low: int, high: int) -> bool:
    """Is every number one of low..high−1?"""
    return bool(((array >= low) & (array < high)).all())


@indices_valid.register(Book)
def _(book: Book) -> bool:
    return _within(book.policy, 0, book.Q.shape[1] // book.V.shape[1]) and _within(book.ended, 0, 2)


@indices_valid.register(Choices)
def _(table: Choices) -> bool:
    U = table.successor.shape[-1]
    return _within(table.kind, 0, table.used.shape[-1]) and _within(table.used, 0, U + 1)


@indices_valid.register(Evidence)
def _(evidence: Evidence) -> bool:
    return _within(evidence.leader, 0, len(evidence.total))


@indices_valid.register(BlockwiseState)
def _(state: BlockwiseState) -> bool:
    return _within(state.bandit.option, 0, len(state.gamma)) and bool(state.episodes[0] >= -1)
