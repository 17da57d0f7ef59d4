"""What an agent runs in the place of a strategy: an online learner must never grow.

The exact estimator of generalized linear models keeps, where arms change, every observation that counts. To an agent other arms may come
with every call, so that it estimates in one pass instead, wherever the strategy was made without saying which: `estimator="exact"` in the
zoo, or `model.Generalized` by hand, stays exact.
"""

from typing import Any

from ..links import log_partition
from ..model import FixedMetric, Generalized, LocalMetric
from ..model.one_pass import in_one_pass
from ..protocol import takes_back
from ..rule import Bonus
from ..strategy import Optimistic


def online(strategy: Any) -> Any:
    """The strategy with one-pass models where it leaves the choice.

    Examples
    --------
    >>> import driftbandits as db
    >>> logistic = db.zoo.glb_weight_ucb(gamma=0.99, lam=2, S=1, L=1, delta=0.05)
    >>> type(online(logistic).model).__name__
    'OnePassMean'
    """
    base = getattr(strategy, "base", None)
    if base is not None:
        found = online(base)
        return strategy if found is base else strategy._replace(base=found)
    if not isinstance(strategy, Optimistic) or not _replaceable(strategy):
        return strategy
    return strategy._replace(model=in_one_pass(strategy.model))


def _replaceable(strategy: Optimistic) -> bool:
    """May the model be replaced, and do the other parts work with the one-pass model?"""
    model = strategy.model
    if not isinstance(model, Generalized) or not model.online:
        return False
    plain = isinstance(model.projection, FixedMetric | LocalMetric) and isinstance(strategy.rule, Bonus)
    return plain and not takes_back(strategy.memory) and log_partition.knows(type(model.link))
