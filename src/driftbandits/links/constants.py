"""Constants of a link on |z| ≤ LS: the slopes k_μ and c_μ, self-concordance, the largest regret of one round."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.linalg import Vector
from ..errors import InvalidValue, positive
from .functions import extreme_slopes, values
from .known import Identity, Logistic, Poisson, Probit, link_of


def evaluate(link: Any, z: ArrayLike) -> tuple[Vector, Vector, Vector]:
    """μ, μ′ and μ″ at z (n,), computed by the same code that learners run.

    Examples
    --------
    >>> evaluate("logistic", [0.0])
    (array([0.5]), array([0.25]), array([-0.]))
    """
    at = np.atleast_1d(np.asarray(z, np.float64))
    return values(link_of(link), at)


def slopes(link: Any, LS: float) -> tuple[float, float]:
    """(k_μ, c_μ): the largest and the smallest μ′ on {|z| ≤ LS}.

    Exact for the links above; for your own, the extremes over a fine grid, refined around the best point.

    Examples
    --------
    >>> k_mu, c_mu = slopes(Logistic(), 5.0)
    >>> k_mu, round(1 / c_mu, 2)
    (0.25, 150.42)
    """
    positive("L·S", LS, "it bounds |xᵀθ|")
    k, c = extreme_slopes(link_of(link), LS)
    if not 0.0 < c <= k < math.inf:
        raise InvalidValue(
            f"μ′ has the range [{c:g}, {k:g}] on |z| ≤ {LS:g}; it must be positive and finite: μ must be increasing"
        )
    return k, c


def concordant_up_to(link: Any, LS: float) -> float:
    """The largest z ≤ LS such that the link is self-concordant, |μ″| ≤ μ′, on [−z, z]; for your own links, found on a fine grid.

    Examples
    --------
    >>> concordant_up_to(Logistic(), 5.0), round(concordant_up_to(Probit(), 5.0), 2)
    (5.0, 1.0)
    """
    link = link_of(link)
    if isinstance(link, Identity | Logistic | Poisson):
        return LS
    if isinstance(link, Probit):
        return min(LS, 1.0)  # |μ″|/μ′ = |z|
    z = np.linspace(0.0, LS, 2001)
    fine = np.ones(len(z), bool)
    for side in (z, -z):
        _, slope, bend = evaluate(link, side)
        fine &= np.abs(bend) <= slope * (1.0 + 1e-9)
    return LS if fine.all() else float(z[max(int(np.argmin(fine)) - 1, 0)])


def concordance(link: Any, LS: float) -> float:
    """M: the largest |μ″|/μ′ on [−LS, LS]; exact for the links above, for your own found on a fine grid.

    Examples
    --------
    >>> concordance(Identity(), 2.0), concordance(Poisson(), 2.0), concordance(Probit(), 2.0)
    (0.0, 1.0, 2.0)
    """
    link = link_of(link)
    if isinstance(link, Identity):
        return 0.0
    if isinstance(link, Logistic | Poisson):
        return 1.0
    if isinstance(link, Probit):
        return LS
    _, slope, bend = evaluate(link, np.linspace(-LS, LS, 4001))
    return float(np.max(np.abs(bend) / slope))


def has_log_concave_slope(link: Any, reach: float) -> bool:
    """Whether log μ′ is concave on [−reach, reach], as it is for all links above. μ″/μ′ is then monotone, so its ends bound it.

    Examples
    --------
    >>> has_log_concave_slope(Logistic(), 30.0)
    True
    """
    link = link_of(link)
    if isinstance(link, Identity | Logistic | Probit | Poisson):
        return True
    _, slope, bend = evaluate(link, np.linspace(-reach, reach, 4001))
    ratio = bend / slope
    return bool((np.diff(ratio) <= 1e-9 * (1.0 + np.abs(ratio[1:]))).all())


def largest_gap(link: Any, LS: float) -> float:
    """μ(LS) − μ(−LS): the largest regret of one round, where |xᵀθ| ≤ LS.

    Examples
    --------
    >>> round(largest_gap("logistic", 5.0), 3), largest_gap("identity", 1.0)
    (0.987, 2.0)
    """
    positive("L·S", LS, "it bounds |xᵀθ|")
    low, high = evaluate(link, [-LS, LS])[0]
    return float(high - low)
