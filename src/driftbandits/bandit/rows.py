"""Decisions and rewards as rows of the log of a durable bandit."""

import json
import math
import time
from typing import Any

import numpy as np

from ..errors import said
from .core import RECENT, Answer, Request
from .decision import Decision, Features
from .explanation import Case
from .logged import Logged
from .pending import UnknownDecision
from .store import Row, Store


def request_data(request: Request) -> dict[str, Any]:
    """What was on offer."""
    return {"names": request.names, "rows": [*request.rows], "context": request.context, "given": request.given}


def decide_row(request: Request, decision: Decision) -> dict[str, Any]:
    """A decision as a row of the log."""
    data = request_data(request)
    data["shown"] = decision.items
    data["propensities"] = decision._p.tolist()
    if decision.would is not None:
        data["would"] = decision.would
    if decision.defer:
        data["defer"] = True
    if not decision.learn:
        data["learn"] = False
    return {
        "id": decision.id,
        "at": decision.at,
        "item": json.dumps(decision.item),
        "propensity": decision.propensity,
        "data": data,
    }


def decision_of(row: Row) -> Decision:
    """The decision that a row of the log is about; the scores it was made with are not in the log."""
    data = json.loads(row.data or "{}")
    names, shown = data["names"], data["shown"]
    features = Features([data["rows"][names.index(item)] for item in shown], data["context"])
    p, unknown = np.array(data["propensities"], np.float64), np.full(len(names), math.nan)
    decision = Decision(row.id or "", names, shown, row.propensity or 0.0, p, unknown, row.at or 0.0, 0, features)
    decision.defer, decision.learn, decision.would = "defer" in data, data.get("learn", True), data.get("would")
    return decision


def reward_row(given: Answer) -> dict[str, Any]:
    """A reward as a row of the log, at the time the user gave or now; a time that was given is in the data too."""
    known = [r for r in given.rewards if not math.isnan(r)]
    data: dict[str, Any] = {"rewards": [None if math.isnan(r) else r for r in given.rewards]}
    if isinstance(given.found, Logged):
        data["decision"] = given.found.to_dict()
    if given.came is not None:
        data["at"] = given.came
    return {
        "id": given.id,
        "at": time.time() if given.came is None else given.came,
        "reward": sum(known) / len(known) if known else None,
        "weight": given.weight,
        "data": data,
    }


def decided(store: Store, id_: str) -> Case:
    """A decision in the log, to be explained."""
    made = store.decision(id_)
    if made is None:
        raise UnknownDecision(f"no decision {said(id_)} is in {store.name}; give the id that decide returned")
    return _case(made)


def last_decided(store: Store) -> list[Case]:
    """The last decisions in the log, some rewards between them."""
    rows = store.rows(max(store.last() - 4 * RECENT, 0), 4 * RECENT)
    return [_case(row) for row in rows if row.kind == "decide"][-RECENT:]


def _case(row: Row) -> Case:
    data = json.loads(row.data or "{}")
    item = data["shown"][0]
    score = dict(zip(data["names"], data.get("scores", ()), strict=False)).get(item)
    return Case(data["names"], data["rows"], data["context"], item, row.propensity, score)
