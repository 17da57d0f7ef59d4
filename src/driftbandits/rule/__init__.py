"""How do we choose? Optimism with one of two norms, over a set of parameters, or a randomised index."""

from .bonus import Bonus, RandomisedBonus, SandwichBonus, WideSandwich
from .parameter import ParameterBased
from .relaxed import RelaxedParameterBased
from .thompson import ThompsonSampling

__all__ = [
    "Bonus",
    "ParameterBased",
    "RandomisedBonus",
    "RelaxedParameterBased",
    "SandwichBonus",
    "ThompsonSampling",
    "WideSandwich",
]
