"""`features=` of linear learners: the arms are replaced by features whose inner products are a kernel's.

    lb_weight_ucb(…, L=1, features={"kernel": "rbf", "lengthscale": 0.5, "points": arms})

kernel, lengthscale
    "rbf" (the default), "matern32", "matern52" or "linear", with distances in units of `lengthscale` (1 by default).
points
    (m, d) landmarks: on them the features are exact. With all arms as points the learner is the kernel learner itself; D ≤ m features.
frequencies
    In place of points: m random frequencies, drawn with `feature_seed`; 2m features, for arms that are not known in advance; an error of
    order m^{−1/2}.

S then bounds the norm of the reward function in the kernel's space, and L = 1 is right for every kernel but the linear one.
"""

from collections.abc import Mapping
from typing import Any, TypedDict, get_args

from numpy.typing import ArrayLike

from ..errors import InvalidValue
from ..meta import OnFeatures
from ..meta.feature_map import KernelName, kernel_features
from ..protocol import limits
from ..util.spelling import did_you_mean
from .bases import bandit_base


class Features(TypedDict, total=False):
    """What a kernel's features are made of."""

    kernel: KernelName
    lengthscale: float
    points: ArrayLike | None
    frequencies: int | None
    feature_seed: int


def on_kernel_features(base: Any, features: Mapping[str, Any]) -> OnFeatures:
    """`base` on the features of a kernel. Refused if its L is too small for them: its bonus would be none."""
    if not isinstance(features, Mapping):
        raise InvalidValue(
            f"features = {features!r:.60} is not allowed; it must be a dictionary such as "
            "{'kernel': 'rbf', 'lengthscale': 0.5, 'points': arms}, or with 'frequencies' in place of 'points'"
        )
    known = list(Features.__annotations__)
    for key in features:
        if key not in known:
            hint = did_you_mean(str(key), known) or f"; it has {', '.join(known)}"
            raise InvalidValue(f"features has no {key!r}{hint}")
    made = kernel_features(**features)
    kernel, bound = features.get("kernel", get_args(KernelName)[1]), limits(bandit_base(base, "on_features")).L
    if kernel != "linear" and bound < 1.0:
        raise InvalidValue(
            f"L = {bound:g} is not allowed with features of the kernel '{kernel}'; it must be ≥ 1, "
            "as the features of every arm have norm 1"
        )
    return OnFeatures(base=base, features=made)
