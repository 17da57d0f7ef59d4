"""Rank, reward and activate.

An event with several slots is a sequence of decisions with the ids `EVENT:0`, `EVENT:1`, …, in the order of its slots. An action that one
slot shows is not on offer in the next. The name of the slot is a feature of the context, so the loop learns what suits which slot, and the
log knows which decision belongs to which slot.
"""

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from ...bandit.decision import Decision
from ...bandit.pending import AlreadyRewarded, NotActive, UnknownDecision, new_id
from ...bandit.stored import StoredBandit
from ..config import Config
from ..limits import check_offer
from ..loop import Loop
from ..models import Decide
from ..problems import Problem
from . import wire
from .features import flat

SLOT = "slot"  # the feature of the context that names the slot


def rank(loop: Loop, asked: wire.Rank, limits: Config) -> dict[str, Any]:
    """Every action with its probability, the most probable first; excluded ones come last, with probability 0."""
    items, context = _items(asked.actions, limits), flat(asked.contextFeatures) or None
    check_offer(items, context, limits)
    one = Decide(
        items=items,
        context=context,
        exclude=[*dict.fromkeys(asked.excludedActions or ())],
        id=asked.eventId,
        defer=bool(asked.deferActivation),
    )
    (decision,) = loop.decide([one])
    ranked = sorted(decision.propensities.items(), key=lambda pair: -pair[1])
    zero = [(name, 0.0) for name in items if name not in decision.propensities]
    return {
        "ranking": [{"id": name, "probability": p} for name, p in [*ranked, *zero]],
        "eventId": decision.id,
        "rewardActionId": decision.item,
    }


def rank_slots(loop: Loop, asked: wire.MultiSlotRank, limits: Config) -> dict[str, Any]:
    """Fill the slots in order; each action is shown once."""
    items, event = _items(asked.actions, limits), asked.eventId or new_id()
    _check_slots(asked, items)
    context = flat(asked.contextFeatures)
    wanted = [
        Decide(
            items={slot.baselineAction: items[slot.baselineAction], **items},  # first: what apprentice mode shows
            context={**context, **flat(slot.features), SLOT: slot.id},
            exclude=list(dict.fromkeys(slot.excludedActions or ())),
            id=f"{event}:{place}",
            defer=bool(asked.deferActivation),
        )
        for place, slot in enumerate(asked.slots)
    ]
    for one in wanted:
        check_offer(one.items, one.context, limits)
    made = loop.decide_in_turn(wanted)
    filled = [{"id": slot.id, "rewardActionId": d.item} for slot, d in zip(asked.slots, made, strict=True)]
    return {"eventId": event, "slots": filled}


def _items(actions: Sequence[wire.Action], limits: Config) -> dict[str, Any]:
    if len(actions) > limits.max_items:
        raise Problem(
            422, "too_many_items", f"{len(actions)} actions are given; at most {limits.max_items} are allowed"
        )
    items = {action.id: flat(action.features) or None for action in actions}
    if len(items) < len(actions):
        raise Problem(422, "invalid", "two actions have the same id; ids of actions must differ")
    return items


def _check_slots(asked: wire.MultiSlotRank, items: dict[str, Any]) -> None:
    names, baselines = {slot.id for slot in asked.slots}, {slot.baselineAction for slot in asked.slots}
    if len(names) < len(asked.slots):
        raise Problem(422, "invalid", "two slots have the same id; ids of slots must differ")
    if len(baselines) < len(asked.slots):
        raise Problem(422, "invalid", "two slots have the same baselineAction; each slot needs one of its own")
    strange = next((name for name in baselines if name not in items), None)
    if strange is not None:
        raise Problem(422, "invalid", f"baselineAction {strange!r} is not among the actions")


# ----------------------------------------------------------------------------------------------------------------- rewards


def reward(loop: Loop, event: str, value: float, aggregation: str) -> None:
    """Learn the reward of an event: the first one, or the sum of those that come in time.

    As in the old service, a reward that comes too late, or again, or before the event was activated, is accepted and ignored.
    """
    loop.call(lambda bandit: _reward(loop, bandit, event, value, aggregation))


def reward_slots(loop: Loop, event: str, given: wire.MultiSlotReward, aggregation: str) -> None:
    """Learn the rewards of some slots of an event."""
    slots = loop.call(lambda bandit: _slots(bandit, event))
    for one in given.reward:
        if one.slotId not in slots:
            raise Problem(
                404, "unknown_decision", f"event {event!r} has no slot {one.slotId!r}; it has {', '.join(slots)}"
            )
    for one in given.reward:
        reward(loop, slots[one.slotId], one.value, aggregation)


def _reward(loop: Loop, bandit: StoredBandit, event: str, value: float, aggregation: str) -> None:
    with bandit.transaction():
        made = bandit.made(event)
        if made is None:
            raise UnknownDecision(f"no event {event!r} was ranked here; give the eventId that rank returned")
        before = bandit.store.rewarded(event)
        wait = loop.settings.wait_seconds()
        late = wait is not None and not made.defer and made.at < time.time() - wait
        if before is not None and (aggregation != "sum" or late):
            return
        total = value if before is None else before + value
        with contextlib.suppress(AlreadyRewarded, NotActive):
            bandit.take(bandit.checked(event, total))


# -------------------------------------------------------------------------------------------------------------- activation


def activate(loop: Loop, event: str) -> None:
    """Expect the reward of a deferred event."""
    with contextlib.suppress(AlreadyRewarded):  # an event that has had its reward needs no activation
        loop.call(lambda bandit: bandit.activate(event))


def activate_slots(loop: Loop, event: str) -> None:
    """Expect the rewards of all slots of a deferred event."""
    for id_ in loop.call(lambda bandit: _slots(bandit, event)).values():
        activate(loop, id_)


def _slots(bandit: StoredBandit, event: str) -> dict[str, str]:
    """From the slots of an event to the ids of their decisions."""
    found: dict[str, str] = {}
    for place in range(wire.MOST_SLOTS):
        made: Decision | None = bandit.made(f"{event}:{place}")
        if made is None:
            break
        found[str(dict(made._features.context or {}).get(SLOT))] = made.id
    if not found:
        raise UnknownDecision(f"no event {event!r} was ranked here; give the eventId that rank returned")
    return found
