r"""IGW-mix: discounted regressions with inverse-gap exploration (docs/spec/adaptive-theory.md, docs/igw.md). Not in the paper.

With s² = 2R², M = LS, κ₀ = d/2 + λS²/2s², H(m) = (d/2)log(1 + L²·min(m−1, T)/(λd)), Λ_m = λ + L²(m−1):

    Λ_B = log(KT) + min_m { H(m) + λS²/2s² + Tκ₀/(m−1) + Λ_m·min(mQ, 4SP)/2s² }                                                (0.7)
    Λ_A = log(KT) + min { N[2^{j₀} r̄ + Σ_{j=j₀}^J (c_j + log KT)] + Tκ₀/(m_J−1) + (T + NΣ(m_j−1))·L²ε²/2s² },   N = 1 + P/ε      (0.8)

bound the log loss of the mixture, E Σ e_t ≤ C_sq·Λ =: R_T the squared error, and

    T and P known:   (√(2κd) + 1)·√(T·R_T),   for A arms without structure √(2(A−1)T·R_T)                                        (0.9)
    nothing known:   3T^{2/3}/c + (κdc/4)T^{1/3}R_T + √(T·R_T),   η_t = c·t^{1/3}                                                  (0.10)

the expected regret, whatever the arm sets are and however they change. Against an oblivious adversary
with nothing known, Exp3.IX over a grid of η in M blocks (§7), N = M + P/ε in Λ_A:

    (5/4)√(2κdT·R°) + √(T·R°) + the price of Exp3.IX over M plays                                                              (d)

Clicks (§8.1; finite form), c = min μ′ on |z| ≤ LS, k = ¼: the same with s² = 1, d/2 → d/2c, L² → cL² in H and Λ_m,
L²ε²/2s² → kL²ε²/2, r̄ = 2kM², C_sq = ½.
"""

from math import ceil, exp, inf, log, log1p, log2, sqrt
from typing import Literal, NamedTuple

from ..errors import InvalidValue, integer, positive, require
from .bob import bob_meta_bound
from .checks import CHECKS, dimension, horizon, nonnegative

Tuning = Literal["known", "unknown", "oblivious"]
Reward = Literal["value", "click"]
C0 = 0.5  # c = C0/(max(R, M)·√(κd)) where nothing is known


class Constants(NamedTuple):
    """What differs between values and clicks."""

    s2: float  # s²
    dim: float  # d/2, or d/2c
    curvature: float  # a of V′ = V + a·xxᵀ
    drift: float  # 1/2s², or k/2
    first: float  # r̄
    square: float  # C_sq


class IgwBound(NamedTuple):
    """A bound on the expected regret and what it is made of.

    Examples
    --------
    >>> bound = igw_mix_regret_bound(d=2, T=6000, P=6.283185, Q=6.283185**2 / 6000)
    >>> round(bound.total), bound.theorem
    (6628, 'B')
    """

    total: float  # on E Reg
    log_loss: float  # Λ
    squared_error: float  # R_T = C_sq·Λ
    theorem: str  # "A" or "B", the smaller Λ


def squared_error_factor(M: float, R: float) -> float:
    """C_sq: squared error ≤ C_sq × excess log loss (0.6).

    Examples
    --------
    >>> round(squared_error_factor(1.0, 1.0), 4)
    8.0
    """
    z = M * M / (R * R)
    psi = exp(-z / 2.0) if z <= 1.0 else exp(-0.5) / sqrt(z)
    return min(8.0 * max(R, M) ** 2, 4.0 * M * M / (1.0 - psi))


def logistic_curvature(M: float) -> float:
    """The curvature of clicks: min μ′(z) on |z| ≤ M.

    Examples
    --------
    >>> logistic_curvature(0.0)
    0.25
    """
    return exp(-M) / (1.0 + exp(-M)) ** 2


def eta_grid(*, d: int, T: int, S: float, L: float, R: float, kappa: float) -> tuple[float, int]:
    """The smallest η of (d), and how many of ratio 2 there are.

    Examples
    --------
    >>> eta_grid(d=2, T=6000, S=1.0, L=1.0, R=1.0, kappa=1.0)
    (1.0, 7)
    """
    low = sqrt(8.0 / (kappa * d)) / (2.0 * L * S)
    high = sqrt(8.0 * T / (kappa * d * squared_error_factor(L * S, R)))
    return low, max(ceil(log2(max(high / low, 1.0))) + 1, 1)


def igw_mix_regret_bound(
    *,
    d: int,
    T: int,
    P: float,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    Q: float | None = None,
    lam: float | None = None,
    kappa: float = 1.0,
    A: int | None = None,
    tuning: Tuning = "known",
    c: float | None = None,
    K: int | None = None,
    reward: Reward = "value",
) -> IgwBound:
    """The explicit bound on the expected dynamic regret of `zoo.igw_mix`.

    Parameters
    ----------
    d, T, P
        Dimension, rounds, path length Σ‖θ_{t+1} − θ_t‖.
    S, L, R
        Bounds on ‖θ‖, ‖x‖ and the noise. Clicks need no R.
    Q
        Σ‖θ_{t+1} − θ_t‖², if known; (2π)²/T for one slow rotation. Without it any path of length P is allowed.
    lam
        λ; by default 2R²/(dS²), 1/(dS²) for clicks.
    kappa
        The largest certificate of the design, ≥ 1.
    A
        Number of arms, for the finite form.
    tuning
        "known": η from T and P; "unknown": η_t = c·t^{1/3}; "oblivious": Exp3.IX chooses η, block by block (d).
    K
        Number of memories 2, 4, …, 2^K; by default ⌈log₂T⌉. 1: one memory, the best real number in hindsight, and no mixture.
    reward
        "value", or "click" (finite form, "known" or "unknown").

    Examples
    --------
    >>> from math import pi
    >>> one_rotation = dict(d=2, T=6000, P=2 * pi)
    >>> round(igw_mix_regret_bound(**one_rotation, Q=(2 * pi) ** 2 / 6000).total)
    6628
    >>> round(igw_mix_regret_bound(**one_rotation).total)  # any path as long as a rotation
    14056
    """
    T, d = horizon("T", T), dimension("d", d)
    P = nonnegative("P", P, "it is a path length")
    S, L = CHECKS["S"]("S", S), CHECKS["L"]("L", L)
    R = positive("R", R, "it bounds the noise")
    memories = ceil(log2(max(T, 2))) if K is None else integer("K", K, least=1, why="it is the number of memories")
    require(kappa >= 1.0, "kappa", kappa, "≥ 1", "no design does better")
    _check(tuning, reward, A, memories)
    k = _constants(reward, d, S, L, R)
    ridge = k.s2 / (d * S * S) if lam is None else positive("lam", lam, "it is the regulariser λ")
    squares = inf if Q is None else nonnegative("Q", Q, "it is a sum of squared steps")
    blocks = ceil(sqrt(T)) if tuning == "oblivious" else 1
    slow = _log_loss_slow(d, T, P, squares, S, L, k, ridge, memories) if blocks == 1 else inf
    paths = _log_loss_path(d, T, P, S, L, k, ridge, memories, blocks) if memories > 1 else inf
    loss = min(slow, paths)
    squared = k.square * loss
    if tuning == "oblivious":
        total = 1.25 * sqrt(2.0 * kappa * d * T * squared) + sqrt(T * squared) + _price(d, T, S, L, R, kappa)
    elif tuning == "unknown":
        total = _unknown(d, T, A, squared, kappa, c, max(R, L * S), reward)
    elif A is None:
        total = (sqrt(2.0 * kappa * d) + 1.0) * sqrt(T * squared)
    else:
        total = sqrt(2.0 * (A - 1) * T * squared)
    return IgwBound(total, loss, squared, "B" if slow <= paths else "A")


def _check(tuning: str, reward: str, A: int | None, memories: int) -> None:
    if tuning not in ("known", "unknown", "oblivious"):
        raise InvalidValue(f"tuning = {tuning!r} is not allowed; it must be 'known', 'unknown' or 'oblivious'")
    if reward not in ("value", "click"):
        raise InvalidValue(f"reward = {reward!r} is not allowed; it must be 'value' or 'click'")
    if reward == "click" and (A is None or tuning == "oblivious"):
        raise InvalidValue("reward='click' needs A, the number of arms, and tuning 'known' or 'unknown' (§8.1)")
    if tuning == "oblivious" and (A is not None or memories == 1):
        raise InvalidValue("tuning='oblivious' is for the linear form and a mixture: leave out A, and K ≥ 2")


def _constants(reward: str, d: int, S: float, L: float, R: float) -> Constants:
    M = L * S
    if reward == "click":
        c = logistic_curvature(M)
        return Constants(1.0, d / (2.0 * c), c, 0.125, 0.5 * M * M, 0.5)
    s2 = 2.0 * R * R
    return Constants(s2, d / 2.0, 1.0, 1.0 / (2.0 * s2), 2.0 * M * M / s2, squared_error_factor(M, R))


def default_rate(*, d: int, A: int | None, R: float, M: float, kappa: float, reward: Reward = "value") -> float:
    """The c of η_t = c·t^{1/3} where nothing is known: C0·√(8/C_sq)/√(κd), or ·√(A−1) in the finite form, with C_sq ≤ 8·max(R, M)²."""
    scale = C0 * 4.0 if reward == "click" else C0 / max(R, M)
    return scale / sqrt(kappa * d) if A is None else scale * sqrt(A - 1.0)


def _unknown(
    d: int, T: int, A: int | None, squared: float, kappa: float, c: float | None, M: float, reward: Reward
) -> float:
    """Σ 2/η_t + (κdη_t/4)e_t + √(T·R_T) of (0.10), or of the finite form Σ 2(A−1)/g_t + (g_t/4)e_t (Lemma 1a)."""
    rate = (
        default_rate(d=d, A=A, R=M, M=M, kappa=kappa, reward=reward) if c is None else positive("c", c, "it scales η_t")
    )
    late: float = T ** (1 / 3)
    if A is None:
        return 3.0 * late**2 / rate + kappa * d * rate / 4.0 * late * squared + sqrt(T * squared)
    return 3.0 * (A - 1) * late**2 / rate + rate / 4.0 * late * squared


def _price(d: int, T: int, S: float, L: float, R: float, kappa: float) -> float:
    """What Exp3.IX costs over ⌈√T⌉ blocks, in expectation: with probability 1/T it loses at most 2MT."""
    blocks = ceil(sqrt(T))
    most = L * S * blocks + 2.0 * R * sqrt(blocks * max(log(T / sqrt(blocks)), 0.0))
    options = eta_grid(d=d, T=T, S=S, L=L, R=R, kappa=kappa)[1]
    return bob_meta_bound(N=options, M=blocks, reward_bound=most, delta=1.0 / max(T, 2)) + 2.0 * L * S


def _log_loss_slow(d: int, T: int, P: float, Q: float, S: float, L: float, k: Constants, lam: float, K: int) -> float:
    """Λ_B (0.7)."""
    kappa0 = k.dim + lam * S * S / (2.0 * k.s2)
    grid = [2.0**j for j in range(1, K + 1)] if K > 1 else [1.0 + 10.0 ** (i / 200) for i in range(2400)]
    L2 = k.curvature * L * L

    def loss(m: float) -> float:
        drift = (lam + L2 * (m - 1.0)) * min(m * Q if Q > 0.0 else 0.0, 4.0 * S * P) / (2.0 * k.s2)
        log_det = k.dim * log1p(L2 * min(m - 1.0, T) / (lam * d))
        return log_det + lam * S * S / (2.0 * k.s2) + T * kappa0 / (m - 1.0) + drift

    return min(map(loss, grid)) + (log(K * T) if K > 1 else 0.0)


def _log_loss_path(
    d: int, T: int, P: float, S: float, L: float, k: Constants, lam: float, K: int, blocks: int
) -> float:
    """Λ_A (0.8), minimised over ε on a grid, j₀ ≤ J and the memories; N = blocks + P/ε, each with a log KT of its own if there are many."""
    kappa0, switch, top = k.dim + lam * S * S / (2.0 * k.s2), log(K * T), int(log2(T))
    first = (0.5 * log1p(L * L / lam) if k.curvature == 1.0 else 0.0) + k.first
    memories = [2.0**j for j in range(1, K + 1)]
    L2 = k.curvature * L * L
    log_det = [k.dim * log1p(L2 * (m - 1.0) / (lam * d)) for m in memories]
    largest = [2.0 * S * S * (lam + L2 * (m - 1.0)) / k.s2 for m in memories]
    start = [
        [
            2.0 * h + kappa0 + exp(2.0**j * log1p(-1.0 / m)) * D
            for m, h, D in zip(memories, log_det, largest, strict=True)
        ]
        for j in range(top + 1)
    ]
    best = inf
    for i in range(-90, 13):
        eps = 2.0 * S * 2.0 ** (i / 6.0)
        N, e2 = blocks + P / eps, L * L * eps * eps * k.drift

        def cheapest(j: int, rounds: float, e2: float = e2) -> float:
            pairs = zip(start[j], memories, strict=True)
            return min(a + rounds * kappa0 / (m - 1.0) + (m - 1.0) * e2 for a, m in pairs) + switch

        middle = [cheapest(j, 2.0**j) for j in range(top + 1)]
        last = [cheapest(j, T / N) for j in range(top + 1)]
        for j0 in range(top + 1):
            spent = N * 2.0**j0 * first
            for J in range(j0, top + 1):
                best = min(best, blocks * switch + spent + N * last[J] + T * e2)
                spent += N * middle[J]
    return best
