"""One-pass models for agents, so that the memory of an online learner stays constant.

If the arms change, the exact estimator of generalized linear models keeps every observation of noticeable weight. An agent may be offered
other arms in every call, so it estimates in one pass instead, unless the strategy was built with an explicit choice: `estimator="exact"` in
the zoo, or `model.Generalized` by hand, stays exact.
"""

from typing import Any

from ..links import log_partition
from ..model import FixedMetric, Generalized, LocalMetric
from ..model.one_pass import in_one_pass
from ..protocol import takes_back
from ..rule import Bonus
from ..strategy import Optimistic


def one_pass_for_agents(strategy: Any) -> Any:
    """The strategy with its generalized model replaced by a one-pass model, where the strategy leaves the choice.

    Examples
    --------
    >>> import driftbandits as db
    >>> logistic = db.zoo.glb_weight_ucb(gamma=0.99, lam=2, S=1, L=1, delta=0.05)
    >>> type(one_pass_for_agents(logistic).model).__name__
    'OnePassMean'
    """
    base = getattr(strategy, "base", None)
    if base is not None:
        found = one_pass_for_agents(base)
        return strategy if found is base else strategy._replace(base=found)
    if not isinstance(strategy, Optimistic) or not _replaceable(strategy):
        return strategy
    return strategy._replace(model=in_one_pass(strategy.model))


def _replaceable(strategy: Optimistic) -> bool:
    """Whether the model may be replaced and the other parts work with the one-pass model."""
    model = strategy.model
    if not isinstance(model, Generalized) or not model.online:
        return False
    plain = isinstance(model.projection, FixedMetric | LocalMetric) and isinstance(strategy.rule, Bonus)
    return plain and not takes_back(strategy.memory) and log_partition.knows(type(model.link))
