"""Rewards as users give them, checked before anything is learned."""

from typing import Any

import numpy as np

from ..errors import InvalidValue, real, said
from .kinds import KINDS

HUGE = 1e100
HEAVY = 1e4  # a weight; sums of own effects lose digits with its square, and at 1e6 estimates became NaN


def as_reward(kind: str, reward: Any) -> float:
    """A reward of the kind a bandit learns."""
    if type(reward) is not float:
        if isinstance(reward, complex | np.complexfloating):
            raise InvalidValue(f"reward = {said(reward)} is complex; a reward is one real number")
        if isinstance(reward, str):
            raise InvalidValue(f"reward = {said(reward)} is a string; a reward is one number")
    r = real("reward", reward)
    if not -HUGE < r < HUGE:
        raise InvalidValue(
            f"reward = {said(reward)} is not allowed; it must be within ± {HUGE:g}: squares of it are summed"
        )
    known = KINDS[kind]
    if not known.accepts(r):
        raise InvalidValue(
            f"reward = {said(reward)} is not allowed; it must be {known.allowed}: reward={kind!r} (use 'value' for other numbers)"
        )
    return r


def as_weight(weight: Any) -> float:
    """How much a reward counts."""
    w = real("weight", weight)
    if not 0.0 <= w <= HEAVY:
        raise InvalidValue(
            f"weight = {said(weight)} is not allowed; it must be ≥ 0 and ≤ {HEAVY:g}: beside more, rounding swallows all else"
        )
    return w
