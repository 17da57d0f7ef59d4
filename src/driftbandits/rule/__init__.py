"""Rules that choose an arm: a bonus in one of two norms, optimism over a set of parameters, or a randomised index."""

from .bonus import Bonus, RandomisedBonus, SandwichBonus, WideSandwich
from .local_bonus import LocalBonus
from .parameter import ParameterBased
from .relaxed import RelaxedParameterBased
from .thompson import ThompsonSampling

__all__ = [
    "Bonus",
    "LocalBonus",
    "ParameterBased",
    "RandomisedBonus",
    "RelaxedParameterBased",
    "SandwichBonus",
    "ThompsonSampling",
    "WideSandwich",
]
