"""Adaptive weights: γ follows the data (ours, beyond the paper). All arguments are keyword-only."""

from typing import Any, NamedTuple, Unpack

from ..links import link_of
from ..meta import Adaptive
from ..protocol import settle
from .generalized_linear import SMALL_GLB, glb_weight_ucb
from .linear import SMALL, lb_weight_ucb
from .options import Estimator, GLMBounds, PlainRidge, glm_bonus, noise_of, ridge_ucb, slopes_of
from .record import algorithm, algorithms_of
from .tuning import GLB, LB

OWN_CHOICE = "what the γ in use plays"


@algorithm(
    family="adaptive",
    remembers="γ^age, 12 memories side by side, the data choose",
    plays=OWN_CHOICE,
    regret="no theorem is claimed",
    tuned_by=LB,
    example=SMALL,
    world="linear",
    defaults_of=ridge_ucb,
)
def adaptive_weight_ucb(*, robust: float | None = None, **options: Unpack[PlainRidge]) -> Adaptive:
    """Adaptive weights for linear bandits: no γ, no path length, no horizon (ours, beyond the paper).

        12 models with memories 4, 8, 16, …, 4096, ∞ rounds learn from every observation; play with the longest whose
        forecasts are as good as the best's; a longer one refuted by 7 nats starts anew from the best one's past

    Like LB-WeightUCB with a γ that follows the data, jumps included. `info()` and `run.trace` show the effective memory and
    every candidate's weight: how fast *your* world changes. **No regret theorem is claimed**; docs/adaptive.md has the
    measurements, where it wins and where it does not. See `driftbandits.meta.adaptive` for the equations. `robust` cuts residuals as in
    `lb_weight_ucb`.

    Examples
    --------
    >>> import driftbandits as db
    >>> strategy = db.zoo.adaptive_weight_ucb(lam=2, S=1, L=1, R=1, delta=0.001)
    >>> world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.static(500))
    >>> round(db.simulate(strategy, world, seed=0).info["effective_memory"])
    500
    """
    return Adaptive(base=lb_weight_ucb(gamma=1.0, robust=robust, **options), noise=options["R"])


@algorithm(
    family="adaptive",
    remembers="γ^age, 12 memories side by side, the data choose",
    plays=OWN_CHOICE,
    regret="no theorem is claimed",
    tuned_by=GLB,
    example=SMALL_GLB,
    world="logistic",
    defaults_of=glm_bonus,
)
def adaptive_weight_glm_ucb(
    *,
    lam: float | None = None,
    delta: float,
    estimator: Estimator | None = None,
    **options: Unpack[GLMBounds],
) -> "Adaptive | AdaptiveGLM":
    """Adaptive weights for generalized linear bandits: GLB-WeightUCB with a γ that follows the data (ours).

    The same evidence as `adaptive_weight_ucb`, with μ(xᵀθ̃) as the forecast, calibrated over 500 rounds because the ridge
    shrinks it, and without the charge for β, whose factor 2k_μ/c_μ only the proof needs. λ is by default d/c_μ², the
    theorem's. `estimator` is that of `glb_weight_ucb`; one memory is infinite, so that the exact one keeps every observation where arms
    change. **No regret theorem is claimed.**

    Examples
    --------
    >>> import driftbandits as db
    >>> agent = db.Agent(db.zoo.adaptive_weight_glm_ucb(S=1, L=1, delta=0.001), dim=2)
    >>> k = agent.select([[1.0, 0.0], [0.0, 1.0]])
    >>> agent.update(1.0)
    >>> agent.info()["effective_memory"]
    1.0
    """
    whole = AdaptiveGLM(delta=delta, estimator=estimator, **options)
    checked = whole.with_ridge(1.0 if lam is None else lam)
    return whole if lam is None else checked


class AdaptiveGLM(NamedTuple):
    """`adaptive_weight_glm_ucb` before it is known how many dimensions there are."""

    S: float
    L: float
    delta: float
    estimator: Estimator | None
    link: Any = "logistic"
    R: float | None = None
    bonus_scale: float = 1.0

    def with_ridge(self, lam: float) -> Adaptive:
        """The strategy."""
        base = glb_weight_ucb(gamma=1.0, lam=lam, **self._asdict())
        return Adaptive(base=base, noise=noise_of(link_of(self.link), self.R), thrift=0.0, calibration=500.0)


@settle.register(AdaptiveGLM)
def _(strategy: AdaptiveGLM, dim: int) -> Adaptive:
    return strategy.with_ridge(dim / slopes_of(strategy.link, strategy.S, strategy.L).c ** 2)


__all__ = algorithms_of(__name__)
