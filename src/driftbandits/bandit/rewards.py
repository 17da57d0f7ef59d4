"""Rewards as users give them, checked before anything is learned."""

import math
from typing import Any

import numpy as np

from ..errors import InvalidValue, real, said
from .kinds import KINDS

HUGE = 1e100
FAR, FEW = 1e9, 30  # `allowed_size`
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


def allowed_size(r0: float, squares: float, count: float) -> float:
    """The largest reward that may follow `count` others with Σ(r − r₀)² = `squares`: 10⁹ times the largest that can be among them.

    Sums of squares have 16 digits. Before 30 rewards there is no estimate of what is large.
    """
    largest = abs(r0) + math.sqrt(squares)
    return FAR * largest if count >= FEW and largest > 0.0 else math.inf


def check_size(reward: float, largest: float) -> None:
    """Refuse a reward beside which nothing would be left of the others."""
    if abs(reward) > largest:
        raise InvalidValue(
            f"reward = {said(reward)} is not allowed; beyond ± {largest:.3g} it would leave no digits of the rewards so far, even if it "
            "were taken back: check its unit"
        )


def as_weight(weight: Any) -> float:
    """How much a reward counts."""
    w = real("weight", weight)
    if not 0.0 <= w <= HEAVY:
        raise InvalidValue(
            f"weight = {said(weight)} is not allowed; it must be ≥ 0 and ≤ {HEAVY:g}: beside more, rounding swallows all else"
        )
    return w
