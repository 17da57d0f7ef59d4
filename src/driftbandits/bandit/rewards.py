"""Rewards as users give them, checked before anything is learned."""

import math
from typing import Any

import numpy as np

from ..errors import InvalidValue, real, said

REWARDS = ("value", "click", "count")
HUGE = 1e100
HEAVY = 1e9  # a weight; 16 digits hold no more beside observations of weight 1
RANGE = {"value": (-math.inf, math.inf), "click": (0.0, 1.0), "count": (0.0, math.inf)}


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
    if kind == "click" and r not in (0.0, 1.0):
        raise InvalidValue(
            f"reward = {said(reward)} is not allowed; it must be 0 or 1: reward='click' (use 'value' for other numbers)"
        )
    if kind == "count" and (r < 0.0 or r != math.floor(r)):
        raise InvalidValue(
            f"reward = {said(reward)} is not allowed; it must be 0, 1, 2, …: reward='count' (use 'value' for other numbers)"
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
