"""How sure are we? The radius β of each theorem."""

from .constant import Constant
from .piecewise import Piecewise
from .posterior import Posterior
from .self_concordant import ProjectionFree, SelfConcordant
from .self_normalised import SelfNormalised, SelfNormalisedDet

__all__ = [
    "Constant",
    "Piecewise",
    "Posterior",
    "ProjectionFree",
    "SelfConcordant",
    "SelfNormalised",
    "SelfNormalisedDet",
]
