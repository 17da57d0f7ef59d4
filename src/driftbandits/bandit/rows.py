"""Decisions and rewards as rows of the log of a durable bandit."""

import json
import math
import time
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import said
from .changes import Answer, Request
from .decision import Decision, Features
from .explanation import Case, is_highest
from .ledger import Law
from .logged import Logged
from .pending import UnknownDecision
from .state import RECENT
from .store import Row, Store

name_text = lru_cache(1024, typed=True)(json.dumps)  # of an item


def request_data(request: Request) -> dict[str, Any]:
    """What was on offer."""
    data = {"names": request.names, "rows": [*request.rows], "context": request.context, "given": request.given}
    return data if request.offer.named else data | {"named": False}


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
    data["scores"] = decision._score.tolist()
    data["first"] = request.first
    return {
        "id": decision.id,
        "at": decision.at,
        "item": name_text(decision.item),
        "propensity": decision.propensity,
        "data": data,
    }


def decision_of(row: Row) -> Decision:
    """The decision that a row of the log is about."""
    data = json.loads(row.data or "{}")
    names, shown = data["names"], data["shown"]
    drawn, named = [names.index(item) for item in shown], data.get("named", True) is not False
    features = Features(data["rows"], drawn, data["context"], named)
    p, scores = np.array(data["propensities"], np.float64), np.array(data.get("scores") or [math.nan] * len(names))
    decision = Decision(row.id or "", names, shown, row.propensity or 0.0, p, scores, row.at or 0.0, 0, features)
    decision.defer, decision.learn, decision.would = "defer" in data, data.get("learn", True), data.get("would")
    return decision


def law_of(request: Request, data: dict[str, Any]) -> Law | None:
    """Probabilities and forecasts of a decision in the log; earlier versions wrote fewer of them."""
    names = request.names
    p, scores = (np.array(data.get(key) or [0.0] * len(names), np.float64) for key in ("propensities", "scores"))
    chosen = names.index(data["shown"][0])
    if len(p) != len(names) or len(scores) != len(names) or not (p[chosen] > 0.0 and (p >= 0.0).all()):
        return None
    if not np.isfinite(scores).all():
        return None
    return Law(names, p, scores, chosen, 0 if request.first is None else names.index(request.first))


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
    scores = dict(zip(data["names"], data.get("scores", ()), strict=False))
    named, guided = data.get("named", True) is not False, "would" in data
    likely = dict(zip(data["names"], data.get("propensities") or (), strict=False)).get(item)
    known = likely, scores.get(item), named, is_highest(scores, item), guided, data["shown"]
    return Case(data["names"], data["rows"], data["context"], item, *known)
