r"""Sliding windows and periodic restarts, measured with the same lemmas as the weights (linear bandits).

A window keeps the last W observations, a restart learner those since its last restart, at most H. The argument of
Lemma 1 with these 0/1 weights, and the potential lemma on ⌈T/W⌉ blocks, give for both

    D-Reg_T ≤ 2L²√(d/λ) W^{3/2} P_T + 2β(W) √(T · 2 max{1,L²/λ} d ⌈T/W⌉ log(1 + L²W/(λd)))

with β(W) the radius at n = W. (Derived for this library, to compare the three kinds of forgetting on equal terms.) The √d of the bias
is superfluous here too: AᵀV⁻¹A ⪯ I needs only that V contains the observations of A. Without it the balance is W = √(d^{3/2}T/P_T), the
rate Õ(d^{5/8}P_T^{1/4}T^{3/4}).
"""

from math import ceil, floor, inf, log1p, sqrt

from ..errors import integer, require
from .checks import Variant, checked
from .common import Bound, bias_factor, default_delta, union
from .linear import lb_lambda, lb_radius


@checked
def window(
    *, T: int, d: int, P_T: float, balanced: bool = False, sharp_bias: bool = False, variant: Variant = "printed"
) -> int:
    """The window length W of the paper's experiment, ⌊d^{1/4} √(T/(1+P_T))⌋, kept in [1, T].

    Parameters
    ----------
    T, d, P_T : rounds, dimension, path length.
    balanced : use ⌊√(dT/P_T)⌋, the balance for λ = d (rate Õ(d^{3/4})). The paper's value balances λ = O(1)
        (rate Õ(d^{7/8})) although its λ is d.
    sharp_bias : balance the bias without its superfluous √d: ⌊√(d^{3/2}T/P_T)⌋, rate Õ(d^{5/8}).
    variant : that of the bound it is for; `sharp` implies `sharp_bias`.

    Examples
    --------
    >>> window(T=6000, d=2, P_T=6.283185), window(T=6000, d=2, P_T=6.283185, balanced=True)
    (34, 43)
    >>> window(T=6000, d=2, P_T=6.283185, sharp_bias=True)
    51
    """
    sharp_bias = sharp_bias or variant == "sharp"
    length = sqrt(sqrt(d)) * sqrt(T / (1.0 + P_T))
    if balanced or sharp_bias:
        length = sqrt((d**1.5 if sharp_bias else d) * T / P_T) if P_T > 0.0 else inf
    return max(1, floor(min(length, float(T))))


def restart_period(
    *, T: int, d: int, P_T: float, balanced: bool = False, sharp_bias: bool = False, variant: Variant = "printed"
) -> int:
    """The restart period H of the paper's experiment: the same number as `window`.

    Examples
    --------
    >>> restart_period(T=6000, d=2, P_T=6.283185)
    34
    """
    return window(T=T, d=d, P_T=P_T, balanced=balanced, sharp_bias=sharp_bias, variant=variant)


@checked
def window_regret_bound(
    *,
    T: int,
    d: int,
    P_T: float,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    W: int | None = None,
    lam: float | None = None,
    delta: float | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
) -> Bound:
    """The dynamic regret of sliding-window UCB, by the paper's own lemmas.

    Parameters
    ----------
    T, d, P_T, S, L, R : as in `lb_regret_bound`.
    W : window length in 1..T; `window(...)` if omitted.
    lam, delta : λ = d and `default_delta("lb", ...)` if omitted.
    variant : δ = 1/(2T) with claimed probability 1 − 2δ, or (`corrected`, `repaired`) δ = 1/T² with 1 − Tδ, as for Theorem 1. `sharp` also
        drops the superfluous √d and, unless W is given, balances it for that.
    sharp_bias : drop the superfluous √d of the bias.

    Examples
    --------
    >>> bound = window_regret_bound(T=6000, d=2, P_T=6.283185019988713)
    >>> bound.details["W"], round(bound.bias, 3), round(bound.variance, 3)
    (34, 2491.313, 38594.064)
    """
    W = window(T=T, d=d, P_T=P_T, sharp_bias=variant == "sharp") if W is None else W
    return _bound("Sliding window", "W", W, T, d, P_T, S, L, R, lam, delta, variant, sharp_bias)


@checked
def restart_regret_bound(
    *,
    T: int,
    d: int,
    P_T: float,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    H: int | None = None,
    lam: float | None = None,
    delta: float | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
) -> Bound:
    """The dynamic regret of a UCB learner restarted every H rounds, by the paper's own lemmas.

    Parameters are those of `window_regret_bound`, with the period H in 1..T in place of W.

    Examples
    --------
    >>> bound = restart_regret_bound(T=6000, d=2, P_T=6.283185019988713)
    >>> bound.details["H"], round(bound.total, 3)
    (34, 41085.377)
    """
    H = restart_period(T=T, d=d, P_T=P_T, sharp_bias=variant == "sharp") if H is None else H
    return _bound("Periodic restart", "H", H, T, d, P_T, S, L, R, lam, delta, variant, sharp_bias)


def _bound(
    theorem: str,
    name: str,
    memory: int,
    T: int,
    d: int,
    P_T: float,
    S: float,
    L: float,
    R: float,
    lam: float | None,
    delta: float | None,
    variant: Variant,
    sharp_bias: bool,
) -> Bound:
    W = integer(name, memory, least=1, why="the learner remembers at least one round")
    require(W <= T, name, memory, f"≤ T = {T}", "there are no more rounds to remember")
    lam = lb_lambda(d=d) if lam is None else lam
    delta = default_delta("lb", T=T, variant=variant) if delta is None else delta
    radius = lb_radius(n=W, d=d, lam=lam, delta=delta, S=S, L=L, R=R)
    # each step Δ_p is seen by at most W rounds, each of which holds at most W older observations
    bias = 2.0 * L * L * bias_factor(d, lam, sharp_bias or variant == "sharp") * W**1.5 * P_T
    blocks = ceil(T / W)
    energy = 2.0 * max(1.0, L * L / lam) * d * blocks * log1p(L * L * W / (lam * d))
    return Bound(
        theorem=theorem,
        variant=variant,
        terms={"bias": bias, "variance": 2.0 * radius * sqrt(T * energy)},
        radius=radius,
        gamma=None,
        lam=lam,
        delta=delta,
        probability=union(2.0 if variant == "printed" else T, delta),
        gap=2.0 * L * S,
        horizon=T,
        details={name: W},
    )
