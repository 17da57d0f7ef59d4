"""Decisions and rewards as rows of the log of a durable bandit."""

import json
import math
import time
from typing import Any

from ..errors import said
from .core import RECENT, Answer, Request
from .decision import Decision
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
    return {
        "id": decision.id,
        "at": decision.at,
        "item": json.dumps(decision.item),
        "propensity": decision.propensity,
        "data": data,
    }


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
    return _case(store.rows(made[0] - 1, 1)[0])


def last_decided(store: Store) -> list[Case]:
    """The last decisions in the log, some rewards between them."""
    rows = store.rows(max(store.last() - 4 * RECENT, 0), 4 * RECENT)
    return [_case(row) for row in rows if row.kind == "decide"][-RECENT:]


def _case(row: Row) -> Case:
    data = json.loads(row.data or "{}")
    item = data["shown"][0]
    score = dict(zip(data["names"], data.get("scores", ()), strict=False)).get(item)
    return Case(data["names"], data["rows"], data["context"], item, row.propensity, score)
