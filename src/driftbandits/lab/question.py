"""Validation of a request: JSON from the page becomes a `Question`, or a one-line error that says what is allowed."""

import math
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import Field, PlainValidator, ValidationError, model_validator

from ..errors import InvalidValue
from ..experiment.spec.schema import TomlTable, is_number
from .learners import DEFAULTS, LEARNERS, Learner, Place

MOST_POINTS = 64
MOST_WORK = 2e7  # rounds × trials × learners
SPEEDS = {"rotating": 1.0, "jumps": 5.0, "walk": 0.01, "seasonal": 1.0, "drawn": 1.0}  # unless it is given


def _whole(least: int, most: int, default: int) -> Any:
    return Field(default, ge=least, le=most, description=f"a whole number in {least}..{most}")


def _real(least: float, most: float, default: float) -> Any:
    return Field(default, ge=least, le=most, allow_inf_nan=False, description=f"a number in [{least:g}, {most:g}]")


def _maybe(above: float, most: float) -> Any:
    return Field(
        None,
        gt=above,
        le=most,
        allow_inf_nan=False,
        description=f"a number in ({above:g}, {most:g}], or null for the theorem's",
    )


def _points(value: Any) -> tuple[tuple[float, float], ...]:
    """Points of the unit disc."""
    if not isinstance(value, list | tuple) or len(value) not in (0, *range(2, MOST_POINTS + 1)):
        raise ValueError
    for point in value:
        if not (isinstance(point, list | tuple) and len(point) == 2 and all(map(is_number, point))):
            raise ValueError
        if math.hypot(*point) > 1.0 + 1e-9:
            raise ValueError
    return tuple((float(x), float(y)) for x, y in value)


class Question(TomlTable):
    """A world, learners, and the numbers of the sliders."""

    world: Literal["bandit", "river"] = "bandit"
    path: Literal["rotating", "jumps", "walk", "seasonal", "drawn"] = "rotating"
    speed: float | None = Field(
        None, ge=0.0, le=200.0, allow_inf_nan=False, description="a number in [0, 200], or null for the path's own"
    )
    points: Annotated[
        tuple[tuple[float, float], ...],
        PlainValidator(_points),
        Field(description=f"2 to {MOST_POINTS} points [x, y] of the unit disc"),
    ] = ()
    d: int = _whole(2, 20, 2)
    n: int = _whole(2, 200, 50)
    noise: float = _real(0.0, 5.0, 1.0)
    S: float = _real(0.1, 10.0, 1.0)
    link: Literal["identity", "logistic", "probit"] = "identity"
    arms: Literal["fixed", "changing"] = "fixed"
    drift: Literal["gradual", "abrupt", "static"] = "abrupt"
    form: Literal["mirror", "current"] = "mirror"
    states: int = _whole(3, 12, 6)
    stages: int = _whole(2, 30, 10)
    T: int = _whole(2, 60_000, 6000)
    trials: int = _whole(1, 100, 20)
    seed: int = _whole(0, 2**31 - 1, 0)
    gamma: float | None = _maybe(0.0, 1.0)
    lam: float | None = _maybe(0.0, 1e6)
    bonus: float = _real(0.0, 10.0, 1.0)
    learners: tuple[str, ...] = Field(DEFAULTS["linear"], description="a list of names")

    @model_validator(mode="after")
    def _fits(self) -> "Question":
        known = [learner.key for learner in LEARNERS[self.place]]
        for key in self.learners:
            if key not in known:
                raise ValueError(f"learners: there is no '{key}' in a {self.place} world; there is {', '.join(known)}")
        if len(set(self.learners)) < len(self.learners):
            raise ValueError("learners: every name may occur once")
        if self.path == "drawn" and self.world == "bandit" and not self.points:
            raise ValueError("points: a drawn path needs 2 to 64 points")
        if self.T * self.trials * max(1, len(self.learners)) > MOST_WORK:
            raise ValueError(
                f"T × trials × learners is more than {MOST_WORK:.0e}, which is too slow for an interactive page"
            )
        return self

    @property
    def place(self) -> Place:
        """Which learners fit."""
        return "river" if self.world == "river" else "linear" if self.link == "identity" else "generalized"

    @property
    def chosen(self) -> tuple[Learner, ...]:
        """The learners, in the order of the table."""
        return tuple(
            learner
            for learner in LEARNERS[self.place]
            if learner.key in self.learners and not (learner.fixed_arms and self.arms == "changing")
        )

    @property
    def pace(self) -> float:
        """The speed of the drift, in the unit of the path."""
        return SPEEDS[self.path] if self.speed is None else self.speed


# What a choice may be, by name: the page checks links with it.
CHOICES = {
    name: get_args(field.annotation)
    for name, field in Question.model_fields.items()
    if get_origin(field.annotation) is Literal
}


def read(data: Any) -> Question:
    """A question from JSON; `InvalidValue` in one line if it is none.

    Examples
    --------
    >>> read({"T": 1})
    Traceback (most recent call last):
    ...
    driftbandits.errors.InvalidValue: T = 1 is not allowed; it must be a whole number in 2..60000
    """
    if not isinstance(data, dict):
        raise InvalidValue(f"a question must be a JSON object, not {type(data).__name__}")
    if isinstance(data.get("learners"), list):
        data = {**data, "learners": tuple(data["learners"])}
    try:
        return Question.model_validate(data)
    except ValidationError as problem:
        raise InvalidValue(_line(problem, data)) from None


def _line(problem: ValidationError, data: dict[str, Any]) -> str:
    first = problem.errors(include_url=False)[0]
    said = first.get("ctx", {}).get("error")
    if said is not None and str(said):
        return str(said)
    key = str(first["loc"][0])
    if key not in Question.model_fields:
        return f"unknown key '{key[:40]}'; known: {', '.join(Question.model_fields)}"
    field = Question.model_fields[key]
    allowed = field.description or first["msg"].removeprefix("Input should be ").lower()
    return f"{key} = {data[key]!r:.60} is not allowed; it must be {allowed}"
