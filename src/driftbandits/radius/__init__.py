"""The confidence radius β of each theorem."""

from .constant import Constant
from .mix_loss import MixLoss, PublishedMixLoss
from .piecewise import Piecewise
from .posterior import Posterior
from .self_concordant import ProjectionFree, SelfConcordant
from .self_normalised import SelfNormalised, SelfNormalisedDet

__all__ = [
    "Constant",
    "MixLoss",
    "Piecewise",
    "Posterior",
    "ProjectionFree",
    "PublishedMixLoss",
    "SelfConcordant",
    "SelfNormalised",
    "SelfNormalisedDet",
]
