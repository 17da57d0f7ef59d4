"""Conversion of an agent to JSON and arrays, and back, bit for bit."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.checks import as_offer
from ..core.part_json import decode, encode
from ..core.registry import part_name
from ..core.state import pack
from ..errors import CannotRead, integer, require
from ..protocol import make_room
from ..protocol.restoring import restored
from ..protocol.shapes import Shapes, growing
from .pending import Pending

STATE = "state."  # before the names of the strategy's arrays
MOST_ARMS = 10**7


def pack_agent(agent: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The whole agent; the caller holds the lock."""
    pending = agent._pending
    about = {
        "strategy": encode(agent._strategy),
        "dim": agent._dim,
        "horizon": agent.horizon,
        "check": agent._check,
        "items": agent._items,
        "room": agent._room,
        "rng": agent._rng.bit_generator.state,
        "open": [pending.chosen, pending.older, pending.behind, pending.item],
    }
    state = {STATE + name: array for name, array in pack(agent._state).items()}
    kept = {} if agent._first_offer is None else {"first_offer": agent._first_offer.copy()}
    return about, {**state, **kept, "x": pending.x.copy()}


def unpack_agent(
    make: Callable[..., Any], about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **options: Any
) -> Any:
    """The agent that was packed; `Saveable.unpack` reports inconsistent content."""
    strategy, d = decode(about["strategy"]), integer("dim", about["dim"], least=1, why="it is a size")
    held = sum(array.size for array in arrays.values())
    require(d * d <= held, "dim", d, "consistent with the size of its arrays", "V has d² numbers")
    options |= {"horizon": about["horizon"], "check": about["check"], "items": about["items"] or None}
    agent = make(strategy, dim=d, **options)
    _restore(agent, about, arrays)
    return agent


def _restore(agent: Any, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    agent._room = integer("room", about["room"], least=0, why="it is a number of arms")
    require(agent._room <= MOST_ARMS, "room", agent._room, f"≤ {MOST_ARMS}", "it is a number of arms")
    like = make_room(agent._strategy, agent._state, agent._room) if agent._room else agent._state
    given = {name.removeprefix(STATE): array for name, array in arrays.items() if name.startswith(STATE)}
    state = restored(like, given, longer=growing(like))
    if arrays["x"].shape != (agent._dim,):
        raise CannotRead("its last features have another dimension than the agent")
    agent.__dict__.update(_state=state, _shapes=Shapes(like))
    agent._rng.bit_generator.state = about["rng"]
    if "first_offer" in arrays:
        agent._first_offer = as_offer(arrays["first_offer"].T, agent._dim)
    chosen, older, behind, item = about["open"]
    agent._pending = Pending(
        np.array(arrays["x"], np.float64),
        integer("item", item, least=-1, why="it is an item, or −1"),
        bool(chosen),
        integer("older", older, least=0, why="it is a number of selections"),
        bool(behind),
    )
    require(agent._pending.item < max(agent._items, 1), "item", item, f"< {agent._items}", "it is one of the items")


def outline(strategy: Any) -> str:
    """The names of the parts of a strategy, for `repr`."""
    inner = [outline(field) for field in strategy if isinstance(field, tuple)]
    return part_name(type(strategy)) + (f"({', '.join(inner)})" if inner else "")
