"""The two one-pass models and their options, and their means at a linear predictor."""

from typing import Any

from ...core.parts import Model
from ...errors import InvalidValue, positive, require
from ...links import log_partition, mu
from ...protocol import Setting, blank_estimate, blank_sums, linearises, mean, merit, promise, report
from .sums import OnePassEstimate, OnePassSums, fresh_estimate, fresh_sums


class OnePass(Model):
    """One proximal step per observation, optimism in the norm H⁻¹: rewards of mean μ(xᵀθ), ‖θ‖ ≤ S, dispersion φ, ridge λ, step η.

    `prox`, `explicit`, `projected` are 0 or 1: the anchor θ̄ = θ_t; one linearisation at θ_t instead of the implicit step; the minimum over
    ‖θ‖ ≤ S instead of everywhere. `damped` = 0 takes a_t = μ′(z), which is right only if projected and η ≥ 1 + MLS.
    """

    link: Any
    lam: float
    S: float
    eta: float = 1.0
    phi: float = 1.0
    prox: float = 0.0
    explicit: float = 0.0
    projected: float = 0.0
    damped: float = 1.0
    robust: float = 0.0  # τ, in units of the reward; 0: no residual is cut
    caution: float = 0.0  # c; 0: no observation counts less

    def check(self) -> None:
        """H must be invertible, options must be 0 or 1, and the link must have a log-partition function."""
        positive("lam", self.lam, "H = λI must be invertible in round 1")
        positive("S", self.S, "it bounds the norm of θ")
        positive("eta", self.eta, "it is the size of a step")
        positive("phi", self.phi, "it is the dispersion of the rewards")
        for name in ("prox", "explicit", "projected", "damped"):
            require(getattr(self, name) in (0.0, 1.0), name, getattr(self, name), "0 or 1", "it is an option")
        require(self.robust >= 0.0, "robust", self.robust, "> 0, or left out", "residuals above it are cut")
        require(
            self.caution >= 0.0, "caution", self.caution, "> 0, or left out", "it limits the weight of an observation"
        )
        if self.robust and (self.explicit or self.projected):
            raise InvalidValue(
                "robust = … requires the implicit step without a projection, because a cut residual has no curvature"
            )
        if not log_partition.knows(type(self.link)):
            raise InvalidValue(
                f"{type(self.link).__name__} has no method for log_partition; a one-pass model needs b, b′ = μ, for its curvature"
            )


class OnePassMean(Model):
    """The θ of `step`, computed in one pass, with V = λI + Σ w x xᵀ kept beside it: a replacement of `Generalized` with constant memory."""

    lam: float
    step: OnePass

    def check(self) -> None:
        """V must be invertible."""
        positive("lam", self.lam, "V = λI must be invertible in round 1")

    @property
    def link(self) -> Any:
        """The link of the step."""
        return self.step.link


def in_one_pass(model: Any) -> OnePassMean:
    """The one-pass replacement of a `Generalized` model: the same link, λ, regulariser λc_μ and ball."""
    step = OnePass(link=model.link, lam=model.lam * model.c_mu, S=model.projection.S)
    return OnePassMean(lam=model.lam, step=step)


@blank_sums.register(OnePass)
def _(model: OnePass, setting: Setting, room: int, squares: bool) -> OnePassSums:
    return fresh_sums(setting.dim, squares, beside=False)


@blank_sums.register(OnePassMean)
def _(model: OnePassMean, setting: Setting, room: int, squares: bool) -> OnePassSums:
    return fresh_sums(setting.dim, squares, beside=True)


@blank_estimate.register(OnePass)
def _(model: OnePass, setting: Setting, squares: bool) -> OnePassEstimate:
    return fresh_estimate(setting.dim, squares, False, bool(model.projected))


@blank_estimate.register(OnePassMean)
def _(model: OnePassMean, setting: Setting, squares: bool) -> OnePassEstimate:
    return fresh_estimate(setting.dim, squares, True, bool(model.step.projected))


@linearises.register(OnePass, OnePassMean)
def _(model: Any) -> bool:
    return True


@report.register(OnePass)
def _(model: OnePass, est: OnePassEstimate) -> dict[str, Any]:
    return {"cut": int(est.cut[0])} if model.robust else {}


@mean.register(OnePass)
def _(model: OnePass, z: float) -> float:
    return mu(model.link, z)


@merit.register(OnePass)
def _(model: OnePass, z: float) -> float:
    return z  # μ is increasing, so the largest index belongs to the largest mean, and no constant of μ is needed


@promise.register(OnePass)
def _(model: OnePass, value: float) -> float:
    return mu(model.link, value)


@mean.register(OnePassMean)
def _(model: OnePassMean, z: float) -> float:
    return mu(model.step.link, z)
