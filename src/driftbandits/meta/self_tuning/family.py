r"""What a reward is: a number of any size, a click, or a count.

Every model is linear in a predictor η = zᵀ(m̄ + θ); m̄ is what all items have in common, frozen between checkpoints. An observation
enters a model
as a weighted least-squares observation (w, y) of f = zᵀθ:

    value   w = 1,                   y = r − zᵀm̄                  (r = η + noise)
    click   w = μ(1−μ), μ = σ(η),    y = f + (r − μ)/w            (one Newton step at the model's own forecast)
    count   w = μ,      μ = e^η,     y = f + (r − μ)/w

and is judged by the log score of the forecast made before it was seen.
"""

import math
from typing import Any, NamedTuple

from ...adaptive.evidence import robust_score
from ...core.kernel import generic, part

FLAT = 1e-3  # the least weight: a forecast near certainty must still be able to learn
STEEP = 15.0  # |η| beyond this is as good as certain


@part
class Value(NamedTuple):
    """Any real number; noise of unknown size and tails."""


@part
class Click(NamedTuple):
    """0 or 1."""


@part
class Count(NamedTuple):
    """0, 1, 2, …"""


@generic
def response(family: Any, f: float, base: float, r: float) -> tuple[float, float]:
    """(w, y) of an observation r whose forecast is η = base + f."""


@generic
def log_score(family: Any, f: float, q: float, base: float, r: float, noise: float, gaussian: bool) -> float:
    """Log-likelihood of r under a forecast η = base + f of variance q·noise, up to a constant."""


@generic
def centre(family: Any, n: float, total: float) -> float:
    """The predictor of the mean reward total/n."""


@generic
def dispersion(family: Any, noise: float) -> float:
    """The noise σ̂² that widths are multiplied by, given the residuals' variance."""


@generic
def fit_score(family: Any, residual: float, responses: float, n: float) -> float:
    """The part of the marginal likelihood that the residual sum of squares makes, of n observations with Σwy² = responses."""


@generic
def support(family: Any) -> tuple[float, float]:
    """The least and the largest reward. (Python only.)"""


# ---------------------------------------------------------------------------------------------------------------- value


@response.register(Value)
def _(family: Value, f: float, base: float, r: float) -> tuple[float, float]:
    return 1.0, r - base


@log_score.register(Value)
def _(family: Value, f: float, q: float, base: float, r: float, noise: float, gaussian: bool) -> float:
    if noise <= 0.0:
        return 0.0
    e = r - base - f
    square = e * e / ((1.0 + q) * noise)
    return robust_score(square, q, gaussian)


@centre.register(Value)
def _(family: Value, n: float, total: float) -> float:
    return total / n


@dispersion.register(Value)
def _(family: Value, noise: float) -> float:
    return noise


@fit_score.register(Value)
def _(family: Value, residual: float, responses: float, n: float) -> float:
    return -0.5 * n * math.log(max(residual, 1e-12 * responses + 1e-300))


@support.register(Value)
def _(family: Value) -> tuple[float, float]:
    return -math.inf, math.inf


# ---------------------------------------------------------------------------------------------------------------- click


@response.register(Click)
def _(family: Click, f: float, base: float, r: float) -> tuple[float, float]:
    mu = 1.0 / (1.0 + math.exp(-min(max(base + f, -STEEP), STEEP)))
    w = max(mu * (1.0 - mu), FLAT)
    return w, f + (r - mu) / w


@log_score.register(Click)
def _(family: Click, f: float, q: float, base: float, r: float, noise: float, gaussian: bool) -> float:
    mu = 1.0 / (1.0 + math.exp(-(base + f) / math.sqrt(1.0 + math.pi / 8.0 * q)))  # the mean of σ(η) over η's posterior
    mu = min(max(mu, 1e-6), 1.0 - 1e-6)
    return math.log(mu) if r > 0.5 else math.log(1.0 - mu)


@centre.register(Click)
def _(family: Click, n: float, total: float) -> float:
    return math.log((total + 0.5) / (n - total + 0.5))


@fit_score.register(Click, Count)
def _(family: Any, residual: float, responses: float, n: float) -> float:
    return -0.5 * residual


@dispersion.register(Click)
def _(family: Click, noise: float) -> float:
    return 1.0


@support.register(Click)
def _(family: Click) -> tuple[float, float]:
    return 0.0, 1.0


# ---------------------------------------------------------------------------------------------------------------- count


@response.register(Count)
def _(family: Count, f: float, base: float, r: float) -> tuple[float, float]:
    mu = math.exp(min(max(base + f, -STEEP), STEEP))
    w = max(mu, FLAT)
    return w, f + (r - mu) / w


@log_score.register(Count)
def _(family: Count, f: float, q: float, base: float, r: float, noise: float, gaussian: bool) -> float:
    # The rate e^η with η ~ N(·, q) is nearly gamma with shape 1/q, and a Poisson of a gamma rate is negative binomial.
    shape = 1.0 / max(q, 1e-6)
    mu = math.exp(min(max(base + f, -STEEP), STEEP))
    return (
        math.lgamma(r + shape)
        - math.lgamma(shape)
        + shape * math.log(shape / (shape + mu))
        + r * math.log(mu / (shape + mu))
    )


@centre.register(Count)
def _(family: Count, n: float, total: float) -> float:
    return math.log((total + 0.5) / (n + 0.5))


@dispersion.register(Count)
def _(family: Count, noise: float) -> float:
    return 1.0


@support.register(Count)
def _(family: Count) -> tuple[float, float]:
    return 0.0, math.inf
