r"""IGW-mix: discounted regressions with inverse-gap exploration (docs/spec/adaptive-theory.md, docs/igw.md). Not in the paper.

With s² = 2R², M = LS, κ₀ = d/2 + λS²/2s², H(m) = (d/2)log(1 + L²·min(m−1, T)/(λd)), Λ_m = λ + L²(m−1):

    Λ_B = log(KT) + min_m { H(m) + λS²/2s² + Tκ₀/(m−1) + Λ_m·min(mQ, 4SP)/2s² }                                                (0.7)
    Λ_A = log(KT) + min { N[2^{j₀} r̄ + Σ_{j=j₀}^J (c_j + log KT)] + Tκ₀/(m_J−1) + (T + NΣ(m_j−1))·L²ε²/2s² },   N = 1 + P/ε      (0.8)

bound the log loss of the mixture, E Σ e_t ≤ C_sq·Λ =: R_T the squared error, and

    T and P known:   (√(2κd) + 1)·√(T·R_T),   for A arms without structure √(2(A−1)T·R_T)                                        (0.9)
    nothing known:   3T^{2/3}/c + (κdc/4)T^{1/3}R_T + √(T·R_T),   η_t = c·t^{1/3}                                                  (0.10)

the expected regret, whatever the arm sets are and however they change.
"""

from math import ceil, exp, inf, log, log1p, log2, sqrt
from typing import Literal, NamedTuple

from ..errors import InvalidValue, integer, positive, require
from .common import dimension, horizon, nonnegative, norms

Tuning = Literal["known", "unknown"]
C0 = 0.5  # c = C0/(max(R, M)·√(κd)) where nothing is known


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
) -> IgwBound:
    """The explicit bound on the expected dynamic regret of `zoo.igw_mix`.

    Parameters
    ----------
    d, T, P
        Dimension, rounds, path length Σ‖θ_{t+1} − θ_t‖.
    S, L, R
        Bounds on ‖θ‖, ‖x‖ and the noise.
    Q
        Σ‖θ_{t+1} − θ_t‖², if known; (2π)²/T for one slow rotation. Without it any path of length P is allowed.
    lam
        λ; by default 2R²/(dS²).
    kappa
        The largest certificate of the design, ≥ 1.
    A
        Number of arms, for the finite form.
    tuning
        "known": η from T and P; "unknown": η_t = c·t^{1/3}.
    K
        Number of memories 2, 4, …, 2^K; by default ⌈log₂T⌉. 1: one memory, the best real number in hindsight, and no mixture.

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
    S, L = norms(S, L)
    R = positive("R", R, "it bounds the noise")
    ridge = 2.0 * R * R / (d * S * S) if lam is None else positive("lam", lam, "it is the regulariser λ")
    memories = ceil(log2(max(T, 2))) if K is None else integer("K", K, least=1, why="it is the number of memories")
    require(kappa >= 1.0, "kappa", kappa, "≥ 1", "no design does better")
    if tuning not in ("known", "unknown"):
        raise InvalidValue(f"tuning = {tuning!r} is not allowed; it must be 'known' or 'unknown'")
    squares = inf if Q is None else nonnegative("Q", Q, "it is a sum of squared steps")
    slow = _log_loss_slow(d, T, P, squares, S, L, R, ridge, memories)
    paths = _log_loss_path(d, T, P, S, L, R, ridge, memories) if memories > 1 else inf
    loss = min(slow, paths)
    squared = squared_error_factor(L * S, R) * loss
    if tuning == "unknown":
        rate = C0 / (max(R, L * S) * sqrt(kappa * d)) if c is None else positive("c", c, "it scales η_t")
        total = 3.0 * T ** (2 / 3) / rate + kappa * d * rate / 4.0 * T ** (1 / 3) * squared + sqrt(T * squared)
    elif A is None:
        total = (sqrt(2.0 * kappa * d) + 1.0) * sqrt(T * squared)
    else:
        total = sqrt(2.0 * (A - 1) * T * squared)
    return IgwBound(total, loss, squared, "B" if slow <= paths else "A")


def _log_loss_slow(d: int, T: int, P: float, Q: float, S: float, L: float, R: float, lam: float, K: int) -> float:
    """Λ_B (0.7)."""
    s2 = 2.0 * R * R
    kappa0 = d / 2.0 + lam * S * S / (2.0 * s2)
    grid = [2.0**k for k in range(1, K + 1)] if K > 1 else [1.0 + 10.0 ** (i / 200) for i in range(2400)]

    def loss(m: float) -> float:
        drift = (lam + L * L * (m - 1.0)) * min(m * Q if Q > 0.0 else 0.0, 4.0 * S * P) / (2.0 * s2)
        log_det = d / 2.0 * log1p(L * L * min(m - 1.0, T) / (lam * d))
        return log_det + lam * S * S / (2.0 * s2) + T * kappa0 / (m - 1.0) + drift

    return min(map(loss, grid)) + (log(K * T) if K > 1 else 0.0)


def _log_loss_path(d: int, T: int, P: float, S: float, L: float, R: float, lam: float, K: int) -> float:
    """Λ_A (0.8), minimised over ε on a grid, j₀ ≤ J and the memories."""
    s2 = 2.0 * R * R
    M, kappa0, switch, top = L * S, d / 2.0 + lam * S * S / (2.0 * s2), log(K * T), int(log2(T))
    first = 0.5 * log1p(L * L / lam) + 2.0 * M * M / s2
    memories = [2.0**k for k in range(1, K + 1)]
    log_det = [d / 2.0 * log1p(L * L * (m - 1.0) / (lam * d)) for m in memories]
    largest = [2.0 * S * S * (lam + L * L * (m - 1.0)) / s2 for m in memories]
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
        N, e2 = 1.0 + P / eps, L * L * eps * eps / (2.0 * s2)

        def cheapest(j: int, rounds: float, e2: float = e2) -> float:
            pairs = zip(start[j], memories, strict=True)
            return min(a + rounds * kappa0 / (m - 1.0) + (m - 1.0) * e2 for a, m in pairs) + switch

        middle = [cheapest(j, 2.0**j) for j in range(top + 1)]
        last = [cheapest(j, T / N) for j in range(top + 1)]
        for j0 in range(top + 1):
            spent = N * 2.0**j0 * first
            for J in range(j0, top + 1):
                best = min(best, switch + spent + N * last[J] + T * e2)
                spent += N * middle[J]
    return best
