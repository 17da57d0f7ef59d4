"""Every algorithm under its paper's name: one short composition each, with its record.

The names are those of the records; `make tables` writes them into README and docs.
"""

from .bayes import *  # noqa: F403
from .default import *  # noqa: F403
from .detection import *  # noqa: F403
from .generalized_linear import *  # noqa: F403
from .igw import *  # noqa: F403
from .linear import *  # noqa: F403
from .mdp import *  # noqa: F403
from .meta import *  # noqa: F403
from .one_pass import *  # noqa: F403
from .over_sets import *  # noqa: F403
from .record import RECORDS as RECORDS
from .self_concordant import *  # noqa: F403
from .weights import *  # noqa: F403

__all__ = sorted(RECORDS)
