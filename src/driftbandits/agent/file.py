"""Conversion of an agent to JSON and arrays, and back, bit for bit."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.checks import Check, as_offer
from ..core.linalg import Matrix
from ..core.part_json import decode, encode
from ..core.registry import part_name
from ..errors import CannotRead, integer, require
from .pending import Pending

STATE = "state."  # before the names of the strategy's arrays
MOST_ARMS = 10**7


class Contents(NamedTuple):
    """All that an agent is made of."""

    strategy: Any
    dim: int
    horizon: int | None
    check: Check
    items: int  # 0: the arms are given with every call
    room: int  # the largest number of arms offered so far
    rng: Mapping[str, Any]  # the state of its generator
    pending: Pending
    first_offer: Matrix | None
    state: Mapping[str, NDArray[Any]]  # arrays of the strategy's state, by name


def to_file(agent: Contents) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The agent as JSON and arrays."""
    pending = agent.pending
    about = {
        "strategy": encode(agent.strategy),
        "dim": agent.dim,
        "horizon": agent.horizon,
        "check": agent.check,
        "items": agent.items,
        "room": agent.room,
        "rng": agent.rng,
        "open": [pending.chosen, pending.older, pending.behind, pending.item],
    }
    state = {STATE + name: array for name, array in agent.state.items()}
    kept = {} if agent.first_offer is None else {"first_offer": agent.first_offer.copy()}
    return about, {**state, **kept, "x": pending.x.copy()}


def from_file(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Contents:
    """The agent that was written. `Saveable.unpack` reports inconsistent content in one line."""
    strategy, d = decode(about["strategy"]), integer("dim", about["dim"], least=1, why="it is a size")
    held = sum(array.size for array in arrays.values())
    require(d * d <= held, "dim", d, "consistent with the size of its arrays", "V has d² numbers")
    room = integer("room", about["room"], least=0, why="it is a number of arms")
    require(room <= MOST_ARMS, "room", room, f"≤ {MOST_ARMS}", "it is a number of arms")
    items = integer("items", about["items"], least=0, why="it is a number of items, or 0")
    pending = _pending(about["open"], arrays["x"])
    if pending.x.shape != (d,):
        raise CannotRead("its last features have another dimension than the agent")
    require(pending.item < max(items, 1), "item", pending.item, f"< {items}", "it is one of the items")
    first = as_offer(arrays["first_offer"].T, d) if "first_offer" in arrays else None
    state = {name.removeprefix(STATE): array for name, array in arrays.items() if name.startswith(STATE)}
    return Contents(strategy, d, about["horizon"], about["check"], items, room, about["rng"], pending, first, state)


def _pending(given: Any, x: NDArray[Any]) -> Pending:
    chosen, older, behind, item = given
    return Pending(
        np.array(x, np.float64),
        integer("item", item, least=-1, why="it is an item, or −1"),
        bool(chosen),
        integer("older", older, least=0, why="it is a number of selections"),
        bool(behind),
    )


def outline(strategy: Any) -> str:
    """The names of the parts of a strategy, for `repr`."""
    inner = [outline(field) for field in strategy if isinstance(field, tuple)]
    return part_name(type(strategy)) + (f"({', '.join(inner)})" if inner else "")
