r"""Inverse links: the expected reward is μ(xᵀθ) (paper, Section 4).

===========  ==============  =======================  ===============  ==================
link         μ(z)            log-partition b, b′ = μ  rewards          |μ″| ≤ μ′
===========  ==============  =======================  ===============  ==================
`Identity`   z               z²/2                     Gaussian         yes (μ″ = 0)
`Logistic`   1/(1+e^{−z})    log(1+e^z)               Bernoulli        yes
`Probit`     Φ(z)            zΦ(z) + φ(z)             Bernoulli        only for |z| ≤ 1
`Poisson`    e^z             e^z                      Poisson          yes
===========  ==============  =======================  ===============  ==================

|μ″| ≤ μ′ is self-concordance, which the SCB algorithms need. Poisson noise is neither bounded nor sub-Gaussian: with this link every radius
is a heuristic.

A link of your own is a part with three methods, for μ (increasing), μ′ and μ″. A fourth, for b, lets the parameter-based algorithms use
it; a fifth, `law`, tells worlds and learners what its rewards are. `LINKS["cloglog"] = Cloglog()` gives it a name:

    @part
    class Cloglog(NamedTuple): ...

    @mu.register(Cloglog)
    def _(link, z): ...

All are safe for |z| up to 10³ and beyond: the logistic and Poisson links stop growing and fading at |z| = 700 and 300.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .errors import InvalidValue, positive
from .kernel import entry, generic, kernel, part
from .linalg import Vector

__all__ = [
    "Identity",
    "Logistic",
    "Poisson",
    "Probit",
    "concordant_up_to",
    "ddmu",
    "dmu",
    "evaluate",
    "extreme_slopes",
    "largest_gap",
    "law",
    "link_of",
    "log_partition",
    "mu",
    "slopes",
]

Law = Literal["bernoulli", "poisson", "gaussian"]

# ------------------------------------------------------------------------------------------------------------ open functions


@generic
def mu(link: Any, z: float) -> float:
    """μ(z), the expected reward; increasing."""


@generic
def dmu(link: Any, z: float) -> float:
    """μ′(z) > 0."""


@generic
def ddmu(link: Any, z: float) -> float:
    """μ″(z)."""


@generic
def log_partition(link: Any, z: float) -> float:
    """b(z) with b′ = μ; only the parameter-based rules need it."""


@generic
def extreme_slopes(link: Any, LS: float) -> tuple[float, float]:
    """(k_μ, c_μ), the largest and the smallest μ′ on [−LS, LS]. (Python only; by default found numerically.)"""
    return -_lowest(link, LS, -1.0), _lowest(link, LS, 1.0)


@generic
def law(link: Any) -> Law | None:
    """How rewards of mean μ(z) are distributed, where the link implies it. (Python only; by default it does not.)

    Bernoulli rewards lie in [0, 1] and are ½-sub-Gaussian: learners then need neither a range nor R.
    """
    return None


# ----------------------------------------------------------------------------------------------------------------- exponential

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROUND_AT = 6755399441055744.0  # 1.5·2⁵²: adding it leaves a whole number in the last bits
EXPONENT, BIAS = np.int64(52), np.int64(1023 << 52)
FADED = 700.0  # e^{−700} ≈ 10^{−304} is still a normal number


@kernel
def exp_minus(a: float) -> float:
    """e^{−a} for a ≥ 0 without branches or calls, so that loops over it vectorise: three times as fast as exp.

    2^k·e^r with |r| ≤ log(2)/2 and the Taylor polynomial of e^r; relative error below 2e-15 for a ≤ 40. NaN stays.
    """
    a = FADED if a > FADED else a
    k = np.floor(0.5 - a * LOG2_E)
    r = (-a - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    bits = np.float64(k + ROUND_AT).view(np.int64)
    value: float = p * np.int64((bits << EXPONENT) + BIAS).view(np.float64)
    return value


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
    """μ(z) = 1/(1+e^{−z}): clicks, conversions, any yes or no."""


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

LARGEST = 300.0  # e^300 ≈ 10^130: even the square of a sum of such terms is finite


@part
class Poisson(NamedTuple):
    """μ(z) = e^z: counts. No radius is guaranteed, since Poisson noise is not sub-Gaussian."""


@kernel
def exp_bounded(z: float) -> float:
    """e^z for |z| ≤ 300, continued by its value."""
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


# ---------------------------------------------------------------------------------------------------------------------- Python

LINKS: dict[str, Any] = {"identity": Identity(), "logistic": Logistic(), "probit": Probit(), "poisson": Poisson()}


def link_of(link: Any) -> Any:
    """A link from its name; a link of your own stays as it is.

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


@entry
def _evaluate(link: Any, z: Vector, m: Vector, dm: Vector, ddm: Vector) -> None:
    for a in range(z.shape[0]):
        m[a] = mu(link, z[a])
        dm[a] = dmu(link, z[a])
        ddm[a] = ddmu(link, z[a])


def evaluate(link: Any, z: ArrayLike) -> tuple[Vector, Vector, Vector]:
    """μ, μ′ and μ″ at z (n,), as the compiled code computes them.

    Examples
    --------
    >>> evaluate("logistic", [0.0])
    (array([0.5]), array([0.25]), array([-0.]))
    """
    at = np.atleast_1d(np.asarray(z, np.float64))
    m, dm, ddm = np.zeros_like(at), np.zeros_like(at), np.zeros_like(at)
    _evaluate(link_of(link), at, m, dm, ddm)
    return m, dm, ddm


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
    k, c = extreme_slopes(link, LS)
    if not 0.0 < c <= k < math.inf:
        raise InvalidValue(
            f"μ′ has the range [{c:g}, {k:g}] on |z| ≤ {LS:g}; it must be positive and finite: μ must be increasing"
        )
    return k, c


def concordant_up_to(link: Any, LS: float) -> float:
    """The largest z ≤ LS such that the link is self-concordant, |μ″| ≤ μ′, on [−z, z]; looked up on a fine grid.

    Examples
    --------
    >>> concordant_up_to(Logistic(), 5.0), round(concordant_up_to(Probit(), 5.0), 2)
    (5.0, 1.0)
    """
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
    """M: the largest |μ″|/μ′ on [−LS, LS]; exact for the links above, for your own looked up on a fine grid.

    Examples
    --------
    >>> concordance(Identity(), 2.0), concordance(Poisson(), 2.0), concordance(Probit(), 2.0)
    (0.0, 1.0, 2.0)
    """
    if isinstance(link, Identity):
        return 0.0
    if isinstance(link, Logistic | Poisson):
        return 1.0
    if isinstance(link, Probit):
        return LS
    _, slope, bend = evaluate(link, np.linspace(-LS, LS, 4001))
    return float(np.max(np.abs(bend) / slope))


def has_log_concave_slope(link: Any, reach: float) -> bool:
    """Is log μ′ concave on [−reach, reach], as it is for all links above? Then |μ″|/μ′ is known everywhere from its values.

    Examples
    --------
    >>> has_log_concave_slope(Logistic(), 30.0)
    True
    """
    if isinstance(link, Identity | Logistic | Probit | Poisson):
        return True
    _, slope, bend = evaluate(link, np.linspace(-reach, reach, 4001))
    ratio = bend / slope
    return bool((np.diff(ratio) <= 1e-9 * (1.0 + np.abs(ratio[1:]))).all())


def largest_gap(link: Any, LS: float) -> float:
    """μ(LS) − μ(−LS): the most that one round can cost, where |xᵀθ| ≤ LS.

    Examples
    --------
    >>> round(largest_gap("logistic", 5.0), 3), largest_gap("identity", 1.0)
    (0.987, 2.0)
    """
    positive("L·S", LS, "it bounds |xᵀθ|")
    low, high = evaluate(link, [-LS, LS])[0]
    return float(high - low)


def _lowest(link: Any, LS: float, sign: float) -> float:
    """min of sign·μ′ on [−LS, LS]: a grid, and finer grids around its best point."""
    low, high, best = -LS, LS, math.inf
    for _ in range(6):
        z = np.linspace(low, high, 2001)
        values = sign * evaluate(link, z)[1]
        i = int(np.argmin(values))
        low, high, best = float(z[max(i - 1, 0)]), float(z[min(i + 1, 2000)]), min(best, float(values[i]))
    return best
