"""The service configuration of the retired protocol ↔ the settings of a loop.

`rewardWaitTime`, `defaultReward`, `explorationPercentage` and `learningMode` are settings of the loop. `rewardAggregation` is a rule of
this protocol. All other fields configured parts of the old service that do not exist here; they are stored and returned unchanged, because
clients send back the fields they received.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from ..problems import Problem
from ..settings import LoopSettings
from .durations import duration_of, now, seconds_of

NOTE = "personalizer"  # the note of a loop that keeps what its settings have no place for
MODES = {"Online": "online", "Apprentice": "apprentice", "LoggingOnly": "log_only"}
BACK = {ours: theirs for theirs, ours in MODES.items()}
FIRST = LoopSettings(
    on_repeat="replace",  # rewards of an event can be summed
    reward_wait=600,
    default_reward=0.0,
    explore=0.02,  # what the loop did can be evaluated sharply
)  # a loop that the first call of a client makes
FOR_EVER = 366 * 86400.0  # what a loop without reward_wait answers
SHORTEST, LONGEST = 5.0, 2 * 86400.0  # of rewardWaitTime, as the old service had them

Number = StrictInt | StrictFloat


class Configuration(BaseModel):
    """What a client may set; fields that it does not send stay as they are."""

    model_config = ConfigDict(extra="ignore")

    rewardWaitTime: StrictStr | None = None
    defaultReward: Number | None = Field(None, ge=-1.0, le=1.0)
    rewardAggregation: Literal["earliest", "sum"] | None = None
    explorationPercentage: Number | None = Field(None, ge=0.0, le=1.0)
    modelExportFrequency: StrictStr | None = None
    logRetentionDays: StrictInt | None = Field(None, ge=-1)
    modelRetrainDays: StrictInt | None = None
    learningMode: Literal["Online", "Apprentice", "LoggingOnly"] | None = None
    logMirrorEnabled: StrictBool | None = None
    logMirrorSasUri: StrictStr | None = None
    isAutoOptimizationEnabled: StrictBool | None = None
    autoOptimizationFrequency: StrictStr | None = None
    autoOptimizationStartDate: StrictStr | None = None


KEPT = ("rewardAggregation", "modelExportFrequency", "logRetentionDays", "modelRetrainDays", "logMirrorEnabled", "logMirrorSasUri",
        "isAutoOptimizationEnabled", "autoOptimizationFrequency", "autoOptimizationStartDate")  # fmt: skip
DEFAULTS: dict[str, Any] = {
    "rewardAggregation": "earliest",
    "modelExportFrequency": "PT1M",
    "logRetentionDays": -1,
    "modelRetrainDays": 0,
    "logMirrorEnabled": False,
    "isAutoOptimizationEnabled": False,
}


def changes(
    asked: Configuration, settings: LoopSettings, kept: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings to change, and the note to keep."""
    new: dict[str, Any] = {}
    if asked.rewardWaitTime is not None:
        seconds = seconds_of(asked.rewardWaitTime, "rewardWaitTime")
        if not SHORTEST <= seconds <= LONGEST and seconds != FOR_EVER:
            raise Problem(
                422,
                "invalid",
                f"rewardWaitTime = {asked.rewardWaitTime} is not allowed; it must be from 5 seconds to 2 days",
            )
        new["reward_wait"] = None if seconds == FOR_EVER else seconds
    if asked.defaultReward is not None:
        new["default_reward"] = float(asked.defaultReward)
    if asked.explorationPercentage is not None:
        new["explore"] = float(asked.explorationPercentage)
    if asked.learningMode is not None:
        new["mode"] = MODES[asked.learningMode]
    if asked.rewardAggregation == "sum" and settings.on_repeat != "replace":
        raise Problem(
            409,
            "cannot_change",
            f"rewardAggregation = 'sum' needs a loop made with on_repeat='replace', not {settings.on_repeat!r}",
        )
    for name in ("modelExportFrequency", "autoOptimizationFrequency"):
        if getattr(asked, name) is not None:
            seconds_of(getattr(asked, name), name)
    given = {name: getattr(asked, name) for name in KEPT if getattr(asked, name) is not None}
    return new, {**kept, **given, "lastConfigurationEditDate": now()}


def shown(settings: LoopSettings, kept: dict[str, Any]) -> dict[str, Any]:
    """The configuration as clients expect it."""
    wait = settings.wait_seconds()
    return {
        **DEFAULTS,
        **kept,
        "rewardWaitTime": duration_of(FOR_EVER if wait is None else wait),
        "defaultReward": float(settings.default_reward or 0.0),
        "explorationPercentage": float(settings.explore),
        "learningMode": BACK[settings.mode],
    }
