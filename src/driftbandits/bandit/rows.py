"""Decisions and rewards as rows of the log of a durable bandit."""

import json
import math
import time
from typing import Any

from .core import Answer, Request
from .decision import Decision
from .logged import Logged


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
