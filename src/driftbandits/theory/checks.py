"""One check for each name: `T` is a number of rounds and `lam` a regulariser in every theorem.

`@checked` coerces the arguments of a theorem by their names, or raises one readable line, before anything is computed. None means that an
argument was left out and passes, as do arguments whose names are not listed.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast, get_args

from ..errors import integer, positive, probability, real, require

F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[str, Any], Any]
Variant = Literal["printed", "corrected", "repaired", "sharp"]
"""Each contains the corrections of the one before it.

`printed`: the inequality the paper's proof ends with. `corrected`: the same with its slips repaired, Theorem 3 at the price of √(k_μ/c_μ).
`repaired`: Theorem 3 with its rate kept (`good_rounds`); of the other theorems the corrected bound. `sharp`: also without the
superfluous √d of the bias lemma, and with γ balanced for that; of Theorem 4, which has no such bias, the corrected bound.
"""


def horizon(name: str, value: int) -> int:
    """A number of rounds T (or episodes K) ≥ 2."""
    return integer(name, value, least=2, why="γ is kept in [1/T, 1 − 1/T], which is empty for fewer than two rounds")


def dimension(name: str, value: int) -> int:
    """A dimension ≥ 1."""
    return integer(name, value, least=1, why="parameters live in a space of at least one dimension")


def nonnegative(name: str, value: float, why: str) -> float:
    """A finite float ≥ 0."""
    number = real(name, value)
    require(number >= 0.0, name, value, "≥ 0", why)
    return number


def drift(name: str, value: float) -> float:
    """A path length ≥ 0."""
    return nonnegative(name, value, "it is the length of the path of the parameters")


def discount(value: float) -> float:
    """A γ in the open interval (0, 1): the bounds contain 1/(1−γ) and log(1/γ)."""
    number = real("gamma", value)
    require(0.0 < number < 1.0, "gamma", value, "in (0, 1)", "the bound contains 1/(1 − γ) and log(1/γ)")
    return number


def regulariser(value: float, name: str = "lam") -> float:
    """A λ > 0."""
    return positive(name, value, "the regulariser λI keeps V invertible")


def slopes(k_mu: float, c_mu: float) -> tuple[float, float]:
    """The largest and smallest slope of the link: 0 < c_μ ≤ k_μ."""
    k, c = CHECKS["k_mu"]("k_mu", k_mu), CHECKS["c_mu"]("c_mu", c_mu)
    require(c <= k, "c_mu", c_mu, f"≤ k_mu = {k!r}", "the smallest slope cannot exceed the largest")
    return k, c


def check_variant(variant: str) -> Variant:
    """One of the four variants."""
    require(
        variant in get_args(Variant),
        "variant",
        variant,
        "'printed', 'corrected', 'repaired' or 'sharp'",
        "the paper's inequality, the same with its slips repaired, with Theorem 3's rate kept, or without the superfluous √d too",
    )
    return cast(Variant, variant)


def _kappa(name: str, value: float) -> float:
    number = positive(name, value, "it is a smallest product of two probabilities")
    require(number <= 0.25, name, value, "≤ 1/4", "p(s')p(s'') ≤ 1/4 for two different states")
    return number


def _positive(why: str) -> Check:
    return lambda name, value: positive(name, value, why)


def _nonnegative(why: str) -> Check:
    return lambda name, value: nonnegative(name, value, why)


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("T", "K"), horizon),
    **dict.fromkeys(("d", "d_theta", "d_w"), dimension),
    "H": lambda name, value: integer(name, value, least=1, why="it counts the stages of an episode, or rounds"),
    **dict.fromkeys(("P_T", "P_theta", "P_w"), drift),
    "S": _positive("it bounds the norm of the parameters"),
    "L": _positive("it bounds the norm of the arms"),
    "R": _nonnegative("it scales the noise"),
    "n": _nonnegative("it is a sum of weights"),
    "m": _positive("it bounds the rewards"),
    "S_theta": _positive("it bounds the norm of the reward parameters"),
    "S_w": _positive("it bounds ‖w‖"),
    **dict.fromkeys(("L_phi", "L_psi"), _positive("it bounds the features")),
    "L_ref": _positive("it bounds the subtracted features"),
    "U": lambda name, value: integer(
        name, value, least=2, why="with a single reachable state there is nothing to learn"
    ),
    "kappa": _kappa,
    "k_mu": _positive("it is the largest slope of an increasing link"),
    "c_mu": _positive("it is the smallest slope of an increasing link on [−LS, LS]"),
    **dict.fromkeys(("lam", "lam_theta", "lam_w"), lambda name, value: regulariser(value, name)),
    "gamma": lambda _, value: discount(value),
    "delta": probability,
    "gap": _positive("it is the largest one-round regret"),
    "width": _nonnegative("it is a norm"),
    "variant": lambda _, value: check_variant(value),
}


def checked(theorem: F) -> F:
    """Check the keyword arguments of a theorem by their names.

    Examples
    --------
    >>> @checked
    ... def ridge(*, lam):
    ...     return lam
    >>> ridge(lam=0)
    Traceback (most recent call last):
    ...
    driftbandits.errors.InvalidValue: lam = 0 is not allowed; it must be > 0: the regulariser λI keeps V invertible
    """
    takes = inspect.signature(theorem).parameters
    checks = {name: check for name, check in CHECKS.items() if name in takes}

    @functools.wraps(theorem)
    def careful(*args: Any, **given: Any) -> Any:
        if given.get("k_mu") is not None and given.get("c_mu") is not None:
            slopes(given["k_mu"], given["c_mu"])
        for name, value in given.items():
            if value is not None and name in checks:
                given[name] = checks[name](name, value)
        return theorem(*args, **given)

    return cast(F, careful)
