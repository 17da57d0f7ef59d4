"""Requests and answers of the own protocol."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from .settings import LoopSettings

Name = StrictStr | StrictInt
Number = StrictInt | StrictFloat
Features = Annotated[
    Any,
    Field(
        description="A dict of numbers, booleans and strings, or a vector, or null.",
        examples=[{"price": 3.0, "kind": "new"}],
    ),
]


class Decide(BaseModel):
    """A decision that is asked for."""

    model_config = ConfigDict(extra="forbid")

    items: dict[str, Features] | list[Name] = Field(
        description="What is on offer: from names to features, or a list of names.",
        examples=[{"a": {"price": 3.0}, "b": {"price": 2.5}}],
    )
    context: Features = Field(
        default=None, description="Features of who asks.", examples=[{"age": 31, "country": "se"}]
    )
    k: StrictInt = Field(default=1, ge=1, description="Length of the ranking.")
    exclude: list[Name] = Field(default_factory=list, description="Items that must not be chosen this time.")
    id: StrictStr | None = Field(
        default=None, description="An id of your own: a second call with it gets the first one's answer."
    )
    defer: StrictBool = Field(default=False, description="No reward is expected before `activate`.")


class Decided(BaseModel):
    """A decision."""

    id: str = Field(description="Hand it to `reward`.")
    item: Name
    items: list[Name] = Field(description="The ranking; its first is `item`.")
    propensity: float = Field(description="The probability of this choice: of the item, or of the whole ranking.")
    propensities: dict[str, float] = Field(description="Of every item on offer.")


class Activate(BaseModel):
    """A deferred decision that was shown."""

    model_config = ConfigDict(extra="forbid")

    id: StrictStr


class Activated(BaseModel):
    """Its reward is expected from now on."""

    active: bool = True


class Reward(BaseModel):
    """The reward of a decision."""

    model_config = ConfigDict(extra="forbid")

    id: StrictStr
    reward: Number | dict[str, Number] = Field(description="A number; of a ranking also one for each item shown.")
    at: Number | None = Field(default=None, description="When it came, in seconds since 1970.")
    weight: Number = 1.0


class Rewarded(BaseModel):
    """Whether a reward was learned: false if it was a repetition to be ignored, or its decision is for the log alone."""

    learned: bool


class Fault(BaseModel):
    """The reason of a refusal."""

    code: str
    message: str


class Refused(BaseModel):
    """The body of every answer that reports an error."""

    error: Fault


class RewardResult(BaseModel):
    """The result of one reward of a batch."""

    id: str
    learned: bool
    error: Fault | None = None


class LoopShown(BaseModel):
    """A loop."""

    name: str
    settings: LoopSettings
    info: dict[str, Any] = Field(description="What there is to watch; docs/production.md says what each means.")


class Loops(BaseModel):
    """The loops of this service."""

    loops: list[str]


class Deleted(BaseModel):
    """Where a deleted loop is kept."""

    moved_to: str


class Drift(BaseModel):
    """A change of the world that was noticed."""

    at: float
    kind: str
    decision: int
    since: int
    evidence: float
    item: str | int | None
    feature: str | None
    before: float | None
    after: float | None
    time: str
    sentence: str


class Drifts(BaseModel):
    """Drift events, oldest first."""

    events: list[Drift]


class LoopHealth(BaseModel):
    """Whether a loop works, and what to do."""

    ok: bool
    sentence: str
    actions: list[str]


class Estimate(BaseModel):
    """Items whose rewards are to be estimated."""

    model_config = ConfigDict(extra="forbid")

    items: dict[str, Features] | list[Name]
    context: Features = None


class Estimated(BaseModel):
    """The reward that an item is expected to have."""

    item: Name
    mean: float
    sd: float | None


class Health(BaseModel):
    """Alive, or ready."""

    status: str
