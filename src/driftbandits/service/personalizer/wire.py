"""Requests of the retired protocol, with the field names of its public clients. Unknown fields are ignored, as in the old service."""

import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

Features = list[dict[str, Any]] | None
EventId = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Number = StrictInt | StrictFloat
MOST_SLOTS = 50
YEARS = (1900, 2900)  # of which evaluations can be asked for


def _with_zone(moment: datetime.datetime) -> datetime.datetime:
    """A time without a zone is in UTC."""
    if not YEARS[0] < moment.year < YEARS[1]:
        raise ValueError(f"the year must be between {YEARS[0]} and {YEARS[1]}")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)


Moment = Annotated[datetime.datetime, AfterValidator(_with_zone)]


class Wire(BaseModel):
    """Whatever else a client sends is ignored: clients of both generations send fields of their own."""

    model_config = ConfigDict(extra="ignore")


class Action(Wire):
    """One thing to show."""

    id: StrictStr
    features: Features = None


class Rank(Wire):
    """Which action to show."""

    actions: Annotated[list[Action], Field(min_length=1)]
    contextFeatures: Features = None
    excludedActions: list[StrictStr] | None = None
    eventId: EventId | None = None
    deferActivation: StrictBool | None = False


class Slot(Wire):
    """A place to be filled."""

    id: StrictStr
    baselineAction: StrictStr
    features: Features = None
    excludedActions: list[StrictStr] | None = None


class MultiSlotRank(Wire):
    """Which action to show in each slot."""

    actions: Annotated[list[Action], Field(min_length=1)]
    slots: Annotated[list[Slot], Field(min_length=1, max_length=MOST_SLOTS)]
    contextFeatures: Features = None
    eventId: EventId | None = None
    deferActivation: StrictBool | None = False


class Reward(Wire):
    """The reward of an event."""

    value: Number = Field(ge=-1.0, le=1.0)


class SlotReward(Wire):
    """The reward of a slot."""

    slotId: StrictStr
    value: Number = Field(ge=-1.0, le=1.0)


class MultiSlotReward(Wire):
    """The rewards of an event with slots."""

    reward: Annotated[list[SlotReward], Field(min_length=1, max_length=MOST_SLOTS)]


class Job(Wire):
    """An evaluation, or feature importances, over a stretch of time."""

    name: StrictStr
    startTime: Moment
    endTime: Moment
    enablePolicyOptimization: StrictBool | None = None
