r"""The lemmas behind all theorems: potential, determinant, self-concordance.

With V_t = λI + Σ_{s≤t} γ^{t−s} X_sX_sᵀ and ‖X_s‖₂ ≤ L:

    Σ_{s≤p} w_{t−1,s} ‖X_s‖²_{V⁻¹_{t−1}}  ≤  d                                                lemma:d
    det V_t  ≤  (λ + L² n_t / d)^d                                                        lemma:det-inequality
    Σ_{t≤T} ‖X_t‖²_{V⁻¹_{t−1}}  ≤  2 max{1, L²/λ} · d · Pot(T, L²/(λd))                   lemma:potential-lemma
    Pot(T, a)  =  T log(1/γ) + log(1 + a/(1−γ))

For a self-concordant link (|μ″| ≤ μ′, e.g. logistic), with D = max_s |X_sᵀ(θ₁−θ₂)| and H = ∇g:

    ∫₀¹ H(θ₂ + v(θ₁−θ₂)) dv  ⪰  H(θ₁)/(1+D)                                               lemma:SCB-G-H
    ∫₀¹ (1−v) H(θ₁ + v(θ₂−θ₁)) dv  ⪰  h(D) H(θ₁)  ⪰  H(θ₁)/(2+D),     h(D) = (e^{−D} + D − 1)/D²
    F(θ) − F(θ̂)  ≤  ‖g(θ) − g(θ̂)‖²_{H⁻¹(θ)} / (4 h(D))
    D  ≤  D̄(b) = (b² + b√(b²+4))/2     when  b = L ‖g(θ) − g(θ̂)‖_{H⁻¹(θ)} / √(λc_μ)
"""

from math import exp, log, log1p, sqrt

from ..errors import integer, positive, require
from .checks import dimension, discount, horizon, nonnegative, regulariser
from .common import effective_rounds


def log_gamma_constant(*, T: int) -> float:
    """C_T = log T/(1 − 1/T), for which log(1/γ) ≤ C_T (1−γ) whenever γ ≥ 1/T.

    It turns the T log(1/γ) of the potential into the T(1−γ) of the stated rates. For γ ≥ 1/2 the constant 2 log 2 does.

    Examples
    --------
    >>> round(log_gamma_constant(T=6000), 6)
    8.700965
    """
    T = horizon("T", T)
    return log(T) / (1.0 - 1.0 / T)


def potential(*, T: int, gamma: float, a: float) -> float:
    """Pot(T, a) = T log(1/γ) + log(1 + a/(1−γ)), the bracket of the potential lemma.

    Parameters
    ----------
    T : number of rounds.
    gamma : in (0, 1).
    a : L²/(λd) for vectors of norm at most L.

    Examples
    --------
    >>> round(potential(T=6000, gamma=0.97711772, a=0.25), 4)
    141.3675
    """
    T, gamma = integer("T", T, least=1, why="it counts rounds"), discount(gamma)
    return -T * log(gamma) + log1p(nonnegative("a", a, "it is a squared norm over λd") / (1.0 - gamma))


def potential_bound(
    *, T: int, d: int, gamma: float, lam: float, L: float = 1.0, truncated: bool = False, exact: bool = False
) -> float:
    """Bound of Σ_{t≤T} ‖X_t‖²_{V⁻¹_{t−1}} for discounted V (lemma:potential-lemma).

    Parameters
    ----------
    T, d, gamma, lam : rounds, dimension, discount in (0, 1), regulariser.
    L : bound of ‖X_t‖₂. If each round adds several vectors (MNL: at most U), pass L√U and `truncated=True`.
    truncated : bound Σ min{1, ‖X_t‖²} instead; the factor max{1, L²/λ} is then not needed.
    exact : use n_T in place of 1/(1−γ), which is a little sharper.

    Examples
    --------
    >>> round(potential_bound(T=6000, d=2, gamma=0.97711772, lam=2.0), 3)
    565.47
    """
    d, lam, L = dimension("d", d), regulariser(lam), positive("L", L, "it bounds the norm of the vectors")
    a = L * L / (lam * d)
    if exact:
        gamma = discount(gamma)
        bracket = -T * log(gamma) + log1p(a * effective_rounds(gamma=gamma, t=T))
    else:
        bracket = potential(T=T, gamma=gamma, a=a)
    return 2.0 * (1.0 if truncated else max(1.0, L * L / lam)) * d * bracket


def log_det_bound(*, n: float, d: int, lam: float, L: float = 1.0) -> float:
    """d log(λ + L² n/d) ≥ log det V_t, with n = n_t (lemma:det-inequality).

    Examples
    --------
    >>> round(log_det_bound(n=2.0, d=2, lam=1.0), 6)  # log((1 + 1)²)
    1.386294
    """
    n, d, lam = nonnegative("n", n, "it is a sum of weights"), dimension("d", d), regulariser(lam)
    return d * log(lam + L * L * n / d)


def curvature_share(D: float) -> float:
    """h(D) = (e^{−D} + D − 1)/D², with h(0) = 1/2: the curvature left at distance D of a self-concordant function.

    Below D = 0.01 the series 1/2 − D/6 + D²/24 − D³/120 + D⁴/720 replaces the quotient, whose numerator cancels.

    Examples
    --------
    >>> curvature_share(0.0), round(curvature_share(2.0), 6)
    (0.5, 0.283834)
    """
    D = nonnegative("D", D, "it is a distance")
    if D < 1e-2:
        return 0.5 - D / 6.0 + D**2 / 24.0 - D**3 / 120.0 + D**4 / 720.0
    return (exp(-D) + D - 1.0) / D**2


def prediction_distance(b: float) -> float:
    """D̄(b) = (b² + b√(b²+4))/2, the largest D with D ≤ b√(1+D).

    It bounds max_s |X_sᵀ(θ−θ̂)| by the confidence radius alone (b = Lβ̃/√(λc_μ)), even for a θ̂ outside the ball Θ.

    Examples
    --------
    >>> prediction_distance(1.5)  # 3 = 1.5 · √(1 + 3)
    3.0
    """
    b = nonnegative("b", b, "it is a radius")
    return (b * b + b * sqrt(b * b + 4.0)) / 2.0


def prediction_distance_bound(
    *, radius: float, lam: float, c_mu: float, S: float, L: float, theta_norm: float | None
) -> float:
    """D̂ = min{D̄(L·radius/√(λc_μ)), L(S + ‖θ̂‖)}; the second member only when ‖θ̂‖ is given."""
    require(radius >= 0.0, "radius", radius, "≥ 0", "it is a confidence radius")
    distance = prediction_distance(L * radius / sqrt(regulariser(lam) * positive("c_mu", c_mu, "it is a slope")))
    if theta_norm is None:
        return distance
    return min(distance, L * (S + nonnegative("theta_norm", theta_norm, "it is a norm")))
