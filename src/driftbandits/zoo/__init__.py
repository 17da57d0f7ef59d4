"""Every algorithm under its paper's name: one short composition each, with its record.

The names are those of the records; `make tables` writes them into the docs, within a family in the order of these imports.
"""
# ruff: noqa: F403, I001

from .linear import *
from .variance import *
from .kernels import *
from .bayes import *
from .generalized_linear import *
from .one_pass import *
from .self_concordant import *
from .confidence_sets import *
from .tuning_free import *
from .adaptive_weights import *
from .igw import *
from .detection import *
from .pool import *
from .meta import *
from .mdp import *
from .linear_mdp import *
from .episodic_master import *
from .episodic_detection import *
from .record import RECORDS as RECORDS

__all__ = sorted(RECORDS)
