"""The state of one loop as the page draws it, as JSON: numbers from its log, the bandit's own statistics, and sentences."""

import math
import threading
import time
from functools import partial
from typing import Any

from ...bandit.events import DriftEvent
from ...errors import DriftBanditsError
from ...util.words import counted
from ..loop import Loop
from ..loops import Loops
from .window import Window

EXPLAINED = 5  # decisions
NAMES = 200  # items in the table
AGAIN = 1.5  # seconds: pages that look at the same time get the same answer
COUNTS = ("decisions", "rewards", "pending", "late", "dropped", "expired", "refused")
AGAINST = {"random": "random play", "first": "the first item on offer"}


class States:
    """A cache of the states of the loops that are being viewed."""

    def __init__(self, loops: Loops) -> None:
        self.loops = loops
        self._windows: dict[str, tuple[Window, float, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def of(self, name: str) -> dict[str, Any]:
        """The state of a loop, at most `AGAIN` seconds old."""
        with self._lock:
            window, at, told = self._windows.get(name, (Window(), -math.inf, {}))
            if time.monotonic() - at > AGAIN:
                told = self.loops.use(name, lambda loop: state(loop, window))
                self._windows[name] = window, time.monotonic(), told
            return told


def state(loop: Loop, window: Window) -> dict[str, Any]:
    """Everything that the page draws."""
    loop.call(lambda bandit: window.follow(bandit.store))
    info = loop.info()
    events = loop.call(lambda bandit: bandit.drift_events())
    rows = sorted(window.items(), key=lambda row: -row["shown"])
    return {
        "loop": loop.name,
        "mode": loop.settings.mode,
        "counts": {name: int(info.get(name, 0)) for name in COUNTS if name in info},
        "health": _health(loop, info),
        "window": {"decisions": len(window.decisions)},
        "series": window.series(),
        "share": window.share(),
        "events": [_event(event) for event in events],
        "memories": _memories(info),
        "value": _value(loop),
        "items": {"rows": rows[:NAMES], "note": _items_note(len(rows), len(window.decisions))},
        "why": _why(loop, window),
        "explore": _explore(float(loop.settings.explore), rows),
    }


def _items_note(many: int, decisions: int) -> str:
    note = f"Of the newest {counted(decisions, 'decision')}."
    return note if many <= NAMES else f"{note} The {NAMES} of {many:,} items that were shown most."


def _health(loop: Loop, info: dict[str, Any]) -> dict[str, Any]:
    told = loop.call(lambda bandit: bandit.health())
    todo = [*told.actions]
    if loop.settings.mode == "apprentice" and info.get("guided"):
        share, events = info["agreed"] / info["guided"], info["guided"]
        todo.append(f"Apprentice: the loop would have shown the same in {share:.0%} of {events:,} events.")
    return {"sentence": told.sentence, "todo": todo}


def _event(event: DriftEvent) -> dict[str, Any]:
    return {"at": event.at, "sentence": str(event)}


def _memories(info: dict[str, Any]) -> dict[str, Any]:
    """How much each memory counts in estimates now; a memory is named by how many decisions it looks back, None: all."""
    found = info.get("memories")
    if not isinstance(found, list) or not found:
        return {"note": "This learner has one memory.", "rows": []}
    leader = max(found, key=lambda pair: pair[1])[0]
    rows = [
        {"name": "all" if memory is None else f"last {memory:g}", "weight": float(weight), "leads": memory == leader}
        for memory, weight in found
    ]
    return {"note": "How much each memory counts in estimates now, by the decisions that it looks back.", "rows": rows}


def _value(loop: Loop) -> dict[str, Any]:
    found = []
    for against, words in AGAINST.items():
        try:
            value = loop.call(partial(_valued, against=against))
        except DriftBanditsError:
            continue
        sides = {side: _bound(getattr(value, side)) for side in ("own", "other", "lift")}
        if all(part is not None for part in sides.values()):
            found.append({"name": words, **sides})
    note = "Bounds hold at all times: look as often as you like." if found else "Known once rewards have come."
    return {"note": note, "against": found}


def _valued(bandit: Any, against: str) -> Any:
    return bandit.value(against=against)


def _explained(bandit: Any, id_: str) -> Any:
    return bandit.explain(id_)


def _bound(bound: Any) -> dict[str, Any] | None:
    told = {name: float(getattr(bound, name)) for name in ("mean", "lower", "upper")}
    if not all(map(math.isfinite, told.values())):
        return None
    return told | {"n": int(bound.n)}


def _why(loop: Loop, window: Window) -> list[dict[str, Any]]:
    told = []
    for id_, shown in window.newest(EXPLAINED):
        try:
            found = loop.call(partial(_explained, id_=id_))
        except DriftBanditsError:
            continue
        told.append({"id": id_, "at": shown.at, "item": shown.item, "sentence": found.sentence})
    return told


def _explore(share: float, rows: list[dict[str, Any]]) -> str:
    """What the floor costs: its share of decisions, each of which loses the gap between the best item and the mean of all."""
    means = [row["reward"] for row in rows if row["reward"] is not None]
    words = f"At least {share:.1%} of decisions are spread evenly over all items, so that the log can be evaluated."
    if len(means) < 2:
        return words
    cost = share * (max(means) - sum(means) / len(means))
    return f"{words} That costs about {cost:.2g} per decision, where the best item earns {max(means):.2g}."
