"""For a world that stands still between changes: any stationary learner, restarted when a detector says so."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..core.frozen_array import Frozen
from ..errors import InvalidValue, NoMethod, integer, positive, require
from ..links import Identity, law
from ..meta import ChiSquare, Dal, LikelihoodRatio, Linked
from ..meta.detectors import BERNOULLI, GAUSSIAN, POISSON
from ..protocol import noise_size
from .bases import bandit_base
from .linear import SMALL, oful
from .record import algorithm, algorithms_of

Detector = Literal["chi2", "glr", "gsr"]
LAWS = {"gaussian": GAUSSIAN, "bernoulli": BERNOULLI, "poisson": POISSON}


@algorithm(
    family="adaptive",
    remembers="everything since the last alarm of a detector",
    plays="what its base plays; with glr and gsr now and then a covering arm",
    regret="(Γ_T T)^{1/2} with glr and gsr, T known, if θ stands still between changes far enough apart to be detected; none with chi2",
    papers=("gerogiannis2025dal", "besson2022efficient"),
    example={"base": oful(**SMALL)},
    world="linear",
)
def dal(
    base: Any,
    *,
    detector: Detector = "chi2",
    horizon: int | None = None,
    delta: float = 0.05,
    noise: float | None = None,
    forced: float | None = None,
    cover: ArrayLike | None = None,
    thresholds: Literal["practice", "published"] = "practice",
) -> Dal:
    """DAL: a stationary learner, restarted when a change detector fires (Gerogiannis, Huang, Bose, Veeravalli 2025).

    `info["restarts"]` has the round of every restart. For jumps: under steady drift it restarts again and again, and no theorem is claimed.

    Parameters
    ----------
    base
        A strategy for a world that stands still: `oful`, `glm_ucb`, `log_ucb1`, `glb_omd`, …
    detector
        "chi2" (ours): compares the parameter in recent blocks with that of the epoch; no forced exploration, any arms. The χ² law is exact
        only for arms fixed in advance: a heuristic. "glr", "gsr": published; compare the rewards of covering arms, which are played by
        force, so the arms must be the same in every round.
    horizon
        T of the published rate of exploration; by default what simulation or agent know.
    delta
        False alarms, per epoch (chi2) or per covering arm.
    noise
        The *size* of the noise: R of the base's radius unless given. A bound twice too large detects changes only twice as large.
        Bernoulli and Poisson rewards have it from their mean.
    forced
        Fraction α of rounds that play a covering arm, times √k in epoch k. By default 0 for "chi2", √(N log T/T) for the others.
    cover
        (N, d) features of the covering arms; by default at most d of the fixed arms, chosen to span as much as possible.
    thresholds
        "practice" or "published", for "glr" and "gsr". The published ones detect late: docs/successors.md.

    Examples
    --------
    >>> import driftbandits as db
    >>> path = db.env.piecewise(3000, values=[[1, 0], [-1, 0]], changes=1)  # θ changes in round 1501
    >>> world = db.env.linear(db.env.unit_arms(20, dim=2, seed=0), path, noise=0.3)
    >>> strategy = db.zoo.dal(db.zoo.oful(lam=1, S=1, L=1, R=0.3, delta=0.01))
    >>> db.simulate(strategy, world, seed=0).info["restarts"].tolist()  # the round, and the length of the block that told
    [[1504, 16]]
    """
    bandit_base(base, "dal")
    T = 0 if horizon is None else integer("horizon", horizon, least=1, why="it is the number of rounds T")
    if forced is not None:
        require(0.0 <= forced <= 1.0, "forced", forced, "in [0, 1]", "it is the fraction of rounds that explore")
    link = getattr(getattr(base, "model", base), "link", Identity())
    covers = Frozen("cover", [] if cover is None else np.asarray(cover, float))
    if detector == "chi2":
        size = _noise(base, link, noise)
        linear = isinstance(link, Identity)
        chi2 = ChiSquare(noise=size, delta=delta) if linear else Linked(link=link, noise=size, delta=delta)
        return Dal(base=base, detector=chi2, forced=forced or 0.0, horizon=T, cover=covers)
    if detector not in ("glr", "gsr"):
        raise InvalidValue(
            f"detector = {detector!r} is not allowed; it must be 'chi2' (ours), 'glr' or 'gsr' (published)"
        )
    if thresholds not in ("practice", "published"):
        raise InvalidValue(f"thresholds = {thresholds!r} is not allowed; it must be 'practice' or 'published'")
    ratio = LikelihoodRatio(
        noise=_noise(base, link, noise),
        law=LAWS[law(link) or "gaussian"],
        delta=delta,
        summed=detector == "gsr",
        published=thresholds == "published",
    )
    rate = -1.0 if forced is None else forced
    return Dal(base=base, detector=ratio, forced=rate, horizon=T, cover=covers)


def _noise(base: Any, link: Any, given: float | None) -> float:
    """The size of the noise: as given, 1 where the mean implies it, else the R of the base."""
    if given is not None:
        return positive("noise", given, "it is the size of the noise, by which a change is told from chance")
    if law(link) in ("bernoulli", "poisson"):
        return 1.0
    try:
        R = noise_size(base)
    except NoMethod:
        raise InvalidValue(f"noise must be given: {type(base).__name__} does not say how large the noise is") from None
    return positive("R", R, "it is taken for the size of the noise; give noise=… if R is only a bound")


__all__ = algorithms_of(__name__)
