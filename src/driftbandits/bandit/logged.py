"""Decisions that are known only from a log: reading and validation of the dict that `Decision.to_dict` wrote."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import InvalidValue, integer, real, said
from .clock import moment
from .decision import FORMAT
from .learner import Learner, Offer
from .offers import as_name
from .vectors import as_row

LAST = 2**53  # the largest number of a decision that can be computed with


class Logged(NamedTuple):
    """A decision from a log, checked."""

    id: str
    tick: int
    at: float
    offer: Offer  # of the items shown, in their order
    rows: list[Any]
    context: Any

    def to_dict(self) -> dict[str, Any]:
        """The dict it was read from."""
        named = {"format": FORMAT, "id": self.id, "tick": self.tick, "at": self.at, "items": list(self.offer.names)}
        unnamed = {} if self.offer.named else {"named": False}
        return named | {"features": self.rows, "context": self.context} | unnamed


def read_logged(given: Mapping[str, Any], learner: Learner, *, clock: bool = True) -> Logged:
    """Check a dict from `to_dict`; changes nothing. `clock=False`: it was checked when it came, and the clock may have been set since."""
    missing = [key for key in ("format", "id", "tick", "at", "items", "features", "context") if key not in given]
    if missing:
        raise InvalidValue(f"the decision has no {missing[0]!r}; it must be the dict from Decision.to_dict, or its id")
    if given["format"] != FORMAT:
        raise InvalidValue(f"the decision has format {said(given['format'])}; this version reads format {FORMAT}")
    items, rows = given["items"], given["features"]
    if not isinstance(given["id"], str) or not isinstance(items, list) or not isinstance(rows, list) or not items:
        raise InvalidValue("the decision's id must be a string, its items and features lists; was the log changed?")
    try:
        given["id"].encode()
    except UnicodeEncodeError:
        raise InvalidValue(
            f"the decision's id {said(given['id'])} holds half of a character; was the log changed?"
        ) from None
    items = [as_name(name) for name in items]
    if len(rows) != len(items):
        raise InvalidValue(f"the decision shows {len(items)} items and features of {len(rows)}; was the log changed?")
    named = [as_row(row, f"features of item {said(name)}") for name, row in zip(items, rows, strict=True)]
    context = as_row(given["context"], "features of the context")
    tick = integer("tick", given["tick"], least=1, why="it is the number of the decision")
    if tick > LAST:
        raise InvalidValue(
            f"the decision's tick is {said(tick)}; no bandit has made so many decisions: was the log changed?"
        )
    offer = learner.read(items, named, context, named=given.get("named", True) is not False)
    return Logged(
        given["id"], tick, moment(real("at", given["at"])) if clock else real("at", given["at"]), offer, named, context
    )
