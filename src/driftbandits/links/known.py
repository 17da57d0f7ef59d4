"""The built-in links, by name: identity, logistic, probit and Poisson."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..errors import InvalidValue
from .exponential import FADED, exp_minus
from .functions import Law, ddmu, dmu, extreme_slopes, law, log_partition, mu

# -------------------------------------------------------------------------------------------------------------------- identity


@part
class Identity(NamedTuple):
    """μ(z) = z: the linear bandit."""


@mu.register(Identity)
def _(link: Identity, z: float) -> float:
    return z


@dmu.register(Identity)
def _(link: Identity, z: float) -> float:
    return 1.0


@ddmu.register(Identity)
def _(link: Identity, z: float) -> float:
    return 0.0


@log_partition.register(Identity)
def _(link: Identity, z: float) -> float:
    return 0.5 * z * z


@law.register(Identity)
def _(link: Identity) -> Law:
    return "gaussian"


@extreme_slopes.register(Identity)
def _(link: Identity, LS: float) -> tuple[float, float]:
    return 1.0, 1.0


# -------------------------------------------------------------------------------------------------------------------- logistic


@part
class Logistic(NamedTuple):
    """μ(z) = 1/(1+e^{−z}), for binary rewards such as clicks and conversions."""


# All three derivatives are written in e^{−|z|} ≤ 1, which cannot overflow; μ(−z) = 1 − μ(z) gives the other sign.


@mu.register(Logistic)
def _(link: Logistic, z: float) -> float:
    e = exp_minus(abs(z))
    p = 1.0 / (1.0 + e)
    return e * p if z < 0.0 else p


@dmu.register(Logistic)
def _(link: Logistic, z: float) -> float:
    e = exp_minus(abs(z))
    p = 1.0 / (1.0 + e)
    return e * p * p


@ddmu.register(Logistic)
def _(link: Logistic, z: float) -> float:
    e = exp_minus(abs(z))
    p = 1.0 / (1.0 + e)
    steep = e * p * p * (1.0 - e) * p  # μ′·tanh(|z|/2)
    return steep if z < 0.0 else -steep


@log_partition.register(Logistic)
def _(link: Logistic, z: float) -> float:
    return max(z, 0.0) + np.log1p(exp_minus(abs(z)))  # type: ignore[no-any-return]


@law.register(Logistic)
def _(link: Logistic) -> Law:
    return "bernoulli"


@extreme_slopes.register(Logistic)
def _(link: Logistic, LS: float) -> tuple[float, float]:
    e = math.exp(-LS)
    return 0.25, e / (1.0 + e) ** 2


# ---------------------------------------------------------------------------------------------------------------------- probit

ROOT_2, ROOT_2_PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)


@part
class Probit(NamedTuple):
    """μ(z) = Φ(z), the normal distribution function."""


@mu.register(Probit)
def _(link: Probit, z: float) -> float:
    return 0.5 * math.erfc(-z / ROOT_2)


@dmu.register(Probit)
def _(link: Probit, z: float) -> float:
    return exp_minus(0.5 * z * z) / ROOT_2_PI


@ddmu.register(Probit)
def _(link: Probit, z: float) -> float:
    return -z * exp_minus(0.5 * z * z) / ROOT_2_PI


@log_partition.register(Probit)
def _(link: Probit, z: float) -> float:
    return z * 0.5 * math.erfc(-z / ROOT_2) + exp_minus(0.5 * z * z) / ROOT_2_PI


@law.register(Probit)
def _(link: Probit) -> Law:
    return "bernoulli"


@extreme_slopes.register(Probit)
def _(link: Probit, LS: float) -> tuple[float, float]:
    return 1.0 / ROOT_2_PI, math.exp(-LS * LS / 2.0) / ROOT_2_PI


# --------------------------------------------------------------------------------------------------------------------- Poisson

LARGEST = 300.0  # e^300 ≈ 10^130, so that even the square of a sum of such terms is finite


@part
class Poisson(NamedTuple):
    """μ(z) = e^z, for counts. No radius has a guarantee, because Poisson noise is not sub-Gaussian."""


@kernel
def exp_bounded(z: float) -> float:
    """e^z, with z clipped to [−300, 300]."""
    return float(np.exp(min(max(z, -LARGEST), LARGEST)))


@mu.register(Poisson)
@dmu.register(Poisson)
@ddmu.register(Poisson)
@log_partition.register(Poisson)
def _(link: Poisson, z: float) -> float:
    return exp_bounded(z)


@law.register(Poisson)
def _(link: Poisson) -> Law:
    return "poisson"


@extreme_slopes.register(Poisson)
def _(link: Poisson, LS: float) -> tuple[float, float]:
    return math.exp(LS) if LS < FADED else math.inf, math.exp(-LS)


# ----------------------------------------------------------------------------------------------------------------------- names

LINKS: dict[str, Any] = {"identity": Identity(), "logistic": Logistic(), "probit": Probit(), "poisson": Poisson()}


def link_of(link: Any) -> Any:
    """The link of this name; a link of your own is returned as it is.

    Examples
    --------
    >>> link_of("logistic")
    Logistic()
    """
    if isinstance(link, str):
        if link in LINKS:
            return LINKS[link]
    elif all(needed.knows(type(link)) for needed in (mu, dmu, ddmu)):
        return link
    names = ", ".join(map(repr, LINKS))
    raise InvalidValue(
        f"link = {link!r} is not allowed; it must be one of {names}, or a part with methods for mu, dmu and ddmu"
    )
