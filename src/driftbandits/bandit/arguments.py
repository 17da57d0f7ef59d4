"""The types of the arguments of `Bandit`, so that an editor completes the allowed words and a type checker refuses others."""

import datetime
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from .transformers import Transformer

RewardKind: TypeAlias = Literal["value", "click", "count", "amount"]
FeatureMode: TypeAlias = Literal["item", "interact", "disjoint", "hybrid", "linear"]
OnRepeat: TypeAlias = Literal["error", "ignore", "replace"]
Function: TypeAlias = Callable[[Any, Any], Any]
FeatureMap: TypeAlias = Function | Transformer

Name: TypeAlias = str | int | np.integer[Any]
Features: TypeAlias = Mapping[str, Any] | Sequence[float] | NDArray[Any] | None
Items: TypeAlias = Mapping[Any, Any] | Iterable[Name] | NDArray[Any]
Mask: TypeAlias = Mapping[Any, bool] | Iterable[bool] | NDArray[Any] | None
Moment: TypeAlias = datetime.datetime | float | None
Duration: TypeAlias = str | float | datetime.timedelta
Path: TypeAlias = str | os.PathLike[str]


class Settings(TypedDict, total=False):
    """What `Bandit` is made with; all have defaults."""

    reward: RewardKind
    features: FeatureMode | FeatureMap
    half_life: Duration | None
    explore: float
    seed: int
    strategy: Any
    on_repeat: OnRepeat
    on_drift: Callable[[Any], Any] | None
    buckets: int
    max_items: int
    max_pending: int


class Durability(Settings, total=False):
    """What `Bandit.open` is called with: also how a file is kept."""

    sync: Literal["normal", "full"]
    damaged: Literal["refuse", "set aside"]
    start: Any


class Code(TypedDict, total=False):
    """What a file does not hold: code has to be given again."""

    features: FeatureMap | None
    strategy: Any
    on_drift: Callable[[Any], Any] | None
