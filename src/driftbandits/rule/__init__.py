"""How do we choose? Optimism with one of two norms, or a randomised index."""

from .bonus import Bonus, SandwichBonus
from .randomised import RandomisedBonus, ThompsonSampling

__all__ = ["Bonus", "RandomisedBonus", "SandwichBonus", "ThompsonSampling"]
