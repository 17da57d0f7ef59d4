"""The settings of a loop: those of `Bandit`, and three that only a service needs."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt

from ..bandit.arguments import FeatureMode, OnRepeat, RewardKind
from ..bandit.bandit import Bandit
from ..bandit.clock import duration
from ..bandit.kinds import KINDS
from ..bandit.rewards import as_reward
from ..bandit.saving import from_bytes
from ..errors import CannotRead
from .problems import Problem

# What a loop may be made with: each is memory that a loop takes, or may take. With 2²⁰ buckets a learner of more than 500 columns has
# 160 MiB; a decision that waits has about 2 KiB, and an item of its own at least 0.5.
LARGEST = {"buckets": 1 << 20, "max_items": 100_000, "max_pending": 1_000_000}
Mode = Literal["online", "apprentice", "log_only"]
CHANGEABLE = ("explore", "reward_wait", "default_reward", "mode")  # the log means the same under any of them


class LoopSettings(BaseModel):
    """What a loop is made with. Only `explore`, `reward_wait`, `default_reward` and `mode` can be changed later."""

    model_config = ConfigDict(extra="forbid")

    reward: RewardKind = Field(
        default="value", description="; ".join(f"{name}: {kind.allowed}" for name, kind in KINDS.items())
    )
    features: FeatureMode = Field(default="interact", description="Which models: see the guide on features.")
    half_life: StrictInt | StrictFloat | str | None = Field(
        default=None,
        description="null: found out. A number of decisions, or a duration like '3d', after which an observation counts half.",
    )
    explore: StrictInt | StrictFloat = Field(
        default=0.002, description="Every item on offer is chosen with probability ≥ explore / number of items."
    )
    seed: StrictInt = Field(default=0, description="Of the loop's own chance.")
    on_repeat: OnRepeat = Field(default="error", description="What a second reward for one decision does.")
    buckets: StrictInt = Field(default=131072, description="Of hashed categories.")
    max_items: StrictInt = Field(default=4096, description="Items with a model of their own.")
    max_pending: StrictInt = Field(default=100_000, description="Decisions that wait for a reward.")
    reward_wait: StrictInt | StrictFloat | str | None = Field(
        default=None, description="How long a reward is waited for: '10min', seconds; null: for ever."
    )
    default_reward: StrictInt | StrictFloat | None = Field(
        default=None, description="What is learned when no reward came in time; null: nothing."
    )
    mode: Mode = Field(
        default="online",
        description="'online' decides and learns; 'apprentice' answers the first item on offer, learns, and counts how often it "
        "would have agreed; 'log_only' answers the first item and learns nothing.",
    )

    def checked(self) -> "LoopSettings":
        """Itself, if a bandit can be made of it; else the library's own line."""
        for name, largest in LARGEST.items():
            if getattr(self, name) > largest:
                raise Problem(
                    422,
                    "too_large",
                    f"{name} = {getattr(self, name)} is not allowed; it must be ≤ {largest} in a service, whose loops share its memory",
                )
        Bandit(**self.for_bandit())
        self.wait_seconds()
        if self.default_reward is not None:
            as_reward(self.reward, self.default_reward)
        return self

    def for_bandit(self) -> dict[str, Any]:
        """The settings that `Bandit` has."""
        return self.model_dump(exclude={"reward_wait", "default_reward", "mode"})

    @classmethod
    def of_saved(cls, data: bytes) -> dict[str, Any]:
        """The settings that a saved bandit was made with, which a loop that begins with it must have."""
        try:
            config: dict[str, Any] = from_bytes(data, "the model")._config
        except CannotRead as problem:  # what a client sent; the store is well
            raise Problem(422, "invalid", str(problem)) from None
        if config["features"] == "function":
            raise Problem(422, "invalid", "the model was made with a function of features, which a service cannot hold")
        found = {
            name: config[name]
            for name in ("reward", "features", "seed", "on_repeat", "buckets", "max_items", "max_pending")
        }
        half_life = f"{config['half_life']!r}s" if config["clocked"] else config["half_life"]
        return {**found, "half_life": half_life}

    def wait_seconds(self) -> float | None:
        """`reward_wait` in seconds."""
        return None if self.reward_wait is None else duration(self.reward_wait, name="reward_wait")

    def changed(self, asked: "LoopSettings") -> "LoopSettings":
        """These settings with what is asked for; 409 if that cannot change."""
        given = {name: getattr(asked, name) for name in asked.model_fields_set}
        for name, value in given.items():
            if name not in CHANGEABLE and value != getattr(self, name):
                raise Problem(
                    409,
                    "cannot_change",
                    f"{name} is {getattr(self, name)!r} and cannot become {value!r}: what was learned depends on it; make another loop "
                    f"(these can change: {', '.join(CHANGEABLE)})",
                )
        return self.model_copy(update=given).checked()


LoopName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
