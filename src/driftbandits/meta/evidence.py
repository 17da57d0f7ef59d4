"""The evidence for each of K models that all learn from every observation; see `adaptive` for the equations.

A model is judged by its one-step-ahead forecasts, and charged for the exploration that it would ask for.
"""

from typing import Any, NamedTuple

import numpy as np

from ..adaptive.evidence import contest, reweigh, robust_score
from ..core.kernel import kernel
from ..core.linalg import Vector

FIRST = 5.0  # R² counts as that many squared errors in σ̂²
LEAST = 12.0  # nats: the floor from which a model can recover
SURE = 300.0  # nats between Gauss and Student: after a long time without heavy tails a large error counts as a change
FIRST_SLOPE = 4.0  # a slope of 1 counts as forecasts with that many σ̂² of squares


class Evidence(NamedTuple):
    """Everything known of the K models."""

    log_weight: Vector  # (K,) ℓ_k
    score: Vector  # (K,) scratch
    merit: Vector  # (K,) log scores of the forecasts alone, without charges: 0 for the best, at least −LEAST
    error: Vector  # (K,) discounted sum of (r − μ)²/(1+q)
    sacrifice: Vector  # (K,) s̄_k, discounted mean
    product: Vector  # (K,) discounted sum of r·μ, both counted from μ(0)
    square: Vector  # (K,) discounted sum of μ²
    n: Vector  # (1,) discounted number of observations
    noise: Vector  # (1,) σ̂²
    gauss: Vector  # (1,) lead of Gauss over Student in nats


def blank_evidence(K: int, R: float) -> Evidence:
    """All models are equally good; the noise is R until there are data."""
    return Evidence(
        log_weight=np.full(K, -np.log(K)),
        score=np.zeros(K),
        merit=np.zeros(K),
        error=np.zeros(K),
        sacrifice=np.zeros(K),
        product=np.zeros(K),
        square=np.zeros(K),
        n=np.zeros(1),
        noise=np.full(1, max(R * R, 1e-12)),
        gauss=np.full(1, -10.0),
    )


@kernel
def calibrated(ev: Evidence, k: int, forecast: float, reward: float, rounds: float) -> float:
    """a·forecast with the slope a ≥ 0 of past rewards on past forecasts, over about that many rounds; both counted from μ(0)."""
    prior = FIRST_SLOPE * ev.noise[0]
    # Ridge regression of rewards on forecasts, shrunk towards slope 1; a negative slope would turn the order of the arms round.
    slope = max((ev.product[k] + prior) / (ev.square[k] + prior), 0.0)
    # The slope in use is from before this reward; the sums take it in afterwards.
    keep = 1.0 - 1.0 / rounds
    ev.product[k] = keep * ev.product[k] + reward * forecast
    ev.square[k] = keep * ev.square[k] + forecast * forecast
    return float(slope * forecast)


@kernel
def record_forecast(
    adaptive: Any, ev: Evidence, k: int, q: float, miss: float, width: float, price: float, d: int
) -> None:
    """Record the forecast of model k, whose error was `miss`, and its charges."""
    # Var(r − forecast) = σ²(1 + q): dividing by 1 + q makes errors of certain and uncertain forecasts comparable.
    error = miss * miss / (1.0 + q)
    # The part of the bonus β²q that the noise does not explain: exploration this model would ask for and the forecasts do not pay for.
    idle = max(2.0 * adaptive.thrift * width * width / d - ev.noise[0], 0.0) * q
    ev.error[k] = (1.0 - 1.0 / adaptive.noise_memory) * ev.error[k] + error
    charges = (0.5 * idle + price * ev.sacrifice[k]) / ev.noise[0]
    score = robust_score(error / ev.noise[0], q, ev.gauss[0] > 0.0)
    ev.merit[k] += score
    ev.score[k] = score - charges


@kernel
def update_weights(adaptive: Any, ev: Evidence, used: int, square: float) -> int:
    """New weights from the recorded forecasts; σ̂² and the tails from the model in use, whose standardised squared error was `square`.

    Returns the leader.
    """
    K, best = ev.merit.shape[0], -np.inf
    for k in range(K):
        best = max(best, ev.merit[k])
    for k in range(K):
        # The floor lets a model that was bad for long recover within LEAST nats, as `share` does for the weights.
        ev.merit[k] = max(ev.merit[k] - best, -LEAST)
    lead = reweigh(ev.log_weight, ev.score, 0, K, adaptive.share)
    ev.n[0] = (1.0 - 1.0 / adaptive.noise_memory) * ev.n[0] + 1.0
    ev.noise[0] = variance(ev.error[used], ev.n[0], adaptive.noise)
    ev.gauss[0] = min(max(ev.gauss[0] + contest(0.0, square, 1.0), -SURE), SURE)
    return lead


@kernel
def variance(total: float, n: float, R: float) -> float:
    """σ̂² from the sum of n squared errors, with R² as a few more of them; never 0."""
    # R is only an upper bound of the noise; it counts as FIRST observations, so the data soon outweigh it.
    return max((total + FIRST * R * R) / (n + FIRST), 1e-12)


@kernel
def inherit(ev: Evidence, k: int, lead: int) -> None:
    """Model k takes over the leader's statistics, except its weight."""
    ev.error[k] = ev.error[lead]
    ev.sacrifice[k] = ev.sacrifice[lead]
    ev.product[k] = ev.product[lead]
    ev.square[k] = ev.square[lead]
