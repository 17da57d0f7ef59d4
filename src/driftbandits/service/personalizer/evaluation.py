"""An evaluation: what the loop earned between two moments, and what two other policies would have earned.

The log of the loop is replayed (`driftbandits.replay`) for the policy that the application had before (`Baseline`: it shows the first
action) and for chance (`Random`); what the loop did is `Online`. Each value has a 95 % interval.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...bandit.store import Row
from ...errors import InvalidValue
from ..dashboard.window import CHUNK
from .durations import moment_of
from .wire import Job

Read = Callable[[int, int], list[Row]]  # rows after a row, at most so many
INTERVALS = (5, 60, 360, 720, 1440)  # minutes


class Event(NamedTuple):
    """A decision with its reward."""

    at: float
    item: str
    reward: float
    propensity: float
    offered: list[str]
    first: str  # what the application listed first


def events(read: Read, start: float, end: float) -> list[Event]:
    """The decisions between two moments that have a reward, in order of time; a reward that was replaced counts as what it became."""
    made: dict[str, tuple[Row, list[str], str]] = {}
    rewards: dict[str, float] = {}
    seq = 0
    while rows := read(seq, CHUNK):
        for row in rows:
            if row.id is None:
                continue
            if row.kind == "decide" and row.at is not None and start <= row.at <= end:
                data = json.loads(row.data or "{}")
                if len(data["shown"]) == 1:
                    names = [str(name) for name in data["names"]]
                    made[row.id] = row, names, names[0] if data.get("first") is None else str(data["first"])
            elif row.kind in ("reward", "replace") and row.reward is not None:
                rewards[row.id] = row.reward
        seq = rows[-1].seq
    found = [
        Event(row.at or 0.0, str(json.loads(row.item or '""')), rewards[id_], row.propensity or 0.0, names, first)
        for id_, (row, names, first) in made.items()
        if id_ in rewards
    ]
    return sorted(found, key=lambda event: event.at)


def evaluate(found: list[Event], asked: Job, minutes: int) -> dict[str, Any]:
    """The policies over the whole stretch, and in windows of some minutes."""
    from ...replay import Log, replay

    if len(found) < 2:
        raise InvalidValue(
            f"there are {len(found)} events with a reward in this stretch of time; an evaluation needs 2"
        )
    table = _frame({name: [getattr(event, name) for event in found] for name in Event._fields})
    log = Log.read(
        table, item="item", reward="reward", propensity="propensity", time="at", offered="offered", context=["first"]
    )
    rows, refused = [_online(found, minutes)], ""
    try:
        result = replay({"Baseline": _first, "Random": _uniform}, log, estimators=("snips",), by=f"{minutes}min")
        rows += [
            _policy(name, result.estimate(name), [(at, e) for _, at, e in result.windows(name)])
            for name in result.policies
        ]
        refused = " ".join(result.refused.values())
    except InvalidValue as problem:  # what the loop did is known, even where other policies cannot be estimated
        refused = str(problem)
    known = [row for row in rows if row["summary"]["expectedReward"] is not None]
    content = {
        "startTime": asked.startTime.isoformat(),
        "endTime": asked.endTime.isoformat(),
        "intervalInMinutes": minutes,
        "value": known,
    }
    best = max(known, key=lambda row: row["summary"]["expectedReward"])["name"]
    return {
        "evaluationType": "Manual",
        "optimalPolicy": best,
        "content": content,
        "description": refused,
    }


def _frame(columns: dict[str, list[Any]]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def _first(items: Any, context: Any, at: Any) -> Any:
    return context["first"]


def _uniform(items: Any, context: Any, at: Any) -> dict[Any, float]:
    return dict.fromkeys(items, 1.0 / len(items))


def _online(found: list[Event], minutes: int) -> dict[str, Any]:
    at, rewards = np.array([e.at for e in found]), np.array([e.reward for e in found])
    place = np.floor(at / (60.0 * minutes))
    windows = [(float(k) * 60.0 * minutes, _mean(rewards[place == k])) for k in np.unique(place)]
    return _policy("Online", _mean(rewards), windows)


class _Mean(NamedTuple):
    value: float
    low: float
    high: float


def _mean(rewards: Any) -> _Mean:
    mean = float(np.mean(rewards))
    half = 1.96 * float(np.std(rewards, ddof=1)) / math.sqrt(len(rewards)) if len(rewards) > 1 else math.nan
    return _Mean(mean, mean - half, mean + half)


def _policy(name: str, whole: Any, windows: list[tuple[float, Any]]) -> dict[str, Any]:
    data = [{"timeStamp": moment_of(at), **_measured(estimate)} for at, estimate in windows]
    return {
        "name": name,
        "arguments": "",
        "policySource": name,
        "summary": _measured(whole),
        "timeseries": {"data": data},
    }


def _measured(estimate: Any) -> dict[str, Any]:
    low, high = (None if math.isnan(v) else v for v in (estimate.low, estimate.high))
    value = None if math.isnan(estimate.value) else float(estimate.value)
    return {"expectedReward": value, "confidenceInterval": [low, high]}
