r"""Bandits-over-Bandits (appendix on BOB): LB-WeightUCB when P_T is unknown.

The T rounds are cut into M = ⌈T/Δ_b⌉ blocks of Δ_b = ⌈d√T⌉. In each block a fresh LB-WeightUCB runs with a discount
factor that Exp3.IX picks from N = ⌈log₂(T/√d)⌉ + 1 candidates

    γ_i = 1 − d^{−1/2} 2^{1−i},   i = 1, …, N

so that some γ̃ among them has 1−γ̃ ≤ 1−γ* ≤ 2(1−γ̃) for γ* = `lb_gamma` (if P_T ≤ T). The regret is base + meta:

    L_max = L S Δ_b + 2R√(Δ_b ln(T/√Δ_b))     bounds |Σ_{block} r| in all blocks, prob. 1 − 2/T     lemma:bounded-noise
    base ≤ 4L²√(d/λ) P_T/(1−γ̃)^{3/2} + M · 2β √(Δ_b · 2 max{1,L²/λ} d · Pot(Δ_b, L²/(λd))),   β at n = n_{Δ_b}
    meta ≤ 2L_max [2√(2NM log N) + (√(2NM/log N) + 1) log(2/δ')]             Exp3.IX, with probability 1 − δ'

The Exp3.IX bound (Neu 2015, Theorem 1) was re-derived: η = 2ϱ = √(2 log N/(NM)) gives 2√(2NM log N) + (1/η + 1)
log(2/δ'), and 1/η = √(NM/(2 log N)) is half of the coefficient quoted above, which is therefore safe.

Where the paper slips: it prints 1/2^{3/2} where 2^{3/2} is meant ((1−γ̃)^{−3/2} ≤ 2^{3/2}(1−γ*)^{−3/2}); it takes a
union over the N candidates, though γ̃ is one fixed number; it equates realised with expected rewards, which costs
2R√(2T log(2/δ'')); and it omits the second term of the rate, Õ(d^{3/4}P_T^{1/4}T^{3/4} + d^{1/2}T^{3/4}), which
dominates when P_T < 1/d.

What it needs and does not say: the path θ_1, …, θ_T must be fixed in advance. Exp3.IX compares with "γ̃ in every block", a run that was
not played. Its rewards are those of a fresh learner in the same block, so the comparison is one of numbers that do not depend on
earlier choices only if θ_t does not. (Theorems 1 to 3 allow a θ_t that reacts to the past.)
"""

from math import ceil, log, log2, sqrt

from ..errors import positive, require
from .checks import Variant, checked, dimension
from .common import Bound, bias_factor, effective_rounds
from .lemmas import potential_bound
from .linear import lb_gamma, lb_lambda, lb_radius
from .paths import bias_sum_bound


@checked
def bob_block(*, T: int, d: int) -> int:
    """The block length Δ_b = ⌈d√T⌉, at most T.

    Examples
    --------
    >>> bob_block(T=6000, d=2)
    155
    """
    return min(T, ceil(d * sqrt(T)))


@checked
def bob_candidates(*, T: int, d: int) -> tuple[float, ...]:
    """The candidates γ_i = 1 − d^{−1/2}2^{1−i}, i = 1..N, N = ⌈log₂(T/√d)⌉ + 1 (eq:candidate-set).

    For d = 1 the first is 0 and is raised to 1/T.

    Examples
    --------
    >>> candidates = bob_candidates(T=6000, d=2)
    >>> len(candidates), [round(gamma, 4) for gamma in candidates[:3]]
    (14, [0.2929, 0.6464, 0.8232])
    """
    N = max(1, ceil(log2(T / sqrt(d))) + 1)
    return tuple(max(1.0 - d**-0.5 * 2.0 ** (1 - i), 1.0 / T) for i in range(1, N + 1))


def bob_gamma(*, T: int, d: int, P_T: float, sharp_bias: bool = False, variant: Variant = "printed") -> float:
    """γ̃, the smallest candidate ≥ `lb_gamma`: the one the analysis compares with.

    `sharp_bias` and `variant` are those of `lb_gamma`; the candidates do not change.

    Examples
    --------
    >>> round(bob_gamma(T=6000, d=2, P_T=6.283185), 8)
    0.97790291
    """
    best = lb_gamma(T=T, d=d, P_T=P_T, sharp_bias=sharp_bias, variant=variant)
    candidates = bob_candidates(T=T, d=d)
    return next((gamma for gamma in candidates if gamma >= best), candidates[-1])


@checked
def bob_reward_bound(*, T: int, block: int, S: float = 1.0, L: float = 1.0, R: float = 1.0) -> float:
    """L_max = L S Δ_b + 2R√(Δ_b ln(T/√Δ_b)) (lemma:bounded-noise).

    It bounds |Σ r| in every block with probability 1 − 2/T.

    Examples
    --------
    >>> round(bob_reward_bound(T=6000, block=155), 3)
    216.889
    """
    block = dimension("block", block)
    require(block <= T, "block", block, f"≤ T = {T}", "there are no more rounds")
    return L * S * block + 2.0 * R * sqrt(block * log(T / sqrt(block)))


def bob_rates(*, N: int, M: int) -> tuple[float, float]:
    """Exp3.IX's learning rate η = √(2 log N/(NM)) and implicit exploration ϱ = η/2, for N candidates and M blocks.

    Examples
    --------
    >>> eta, rho = bob_rates(N=14, M=39)
    >>> round(eta, 5), round(rho, 5)
    (0.09832, 0.04916)
    """
    N, M = dimension("N", N), dimension("M", M)
    eta = sqrt(2.0 * log(N) / (N * M))
    return eta, eta / 2.0


@checked
def bob_meta_bound(*, N: int, M: int, reward_bound: float, delta: float, anytime: bool = False) -> float:
    """The regret of Exp3.IX against the best of N candidates over M blocks, in units of reward.

    Parameters
    ----------
    N, M : candidates (≥ 2) and blocks.
    reward_bound : L_max; losses are (1 − Y/L_max)/2.
    delta : failure probability δ'.
    anytime : rates η_i = √(log N/(N i)), which need no M: 2L_max[4√(NM log N) + (2√(NM/log N) + 1) log(2/δ')].

    Examples
    --------
    >>> round(bob_meta_bound(N=14, M=39, reward_bound=216.8889114272125, delta=1 / (29 * 6000)), 3)
    164698.815
    """
    N, M = dimension("N", N), dimension("M", M)
    reward_bound, delta = (
        positive("reward_bound", reward_bound, "it bounds the block sums"),
        delta,
    )
    if N == 1:
        return 0.0  # nothing to choose
    if anytime:
        regret = 4.0 * sqrt(N * M * log(N)) + (2.0 * sqrt(N * M / log(N)) + 1.0) * log(2.0 / delta)
    else:
        regret = 2.0 * sqrt(2.0 * N * M * log(N)) + (sqrt(2.0 * N * M / log(N)) + 1.0) * log(2.0 / delta)
    return 2.0 * reward_bound * regret


@checked
def bob_delta(*, T: int, d: int, variant: Variant = "printed") -> float:
    """δ inside the radius: 1/((2N+1)T) printed, 1/T² corrected.

    Examples
    --------
    >>> bob_delta(T=6000, d=2) == 1 / (29 * 6000)
    True
    """
    if variant != "printed":
        return 1.0 / T**2
    return 1.0 / ((2 * len(bob_candidates(T=T, d=d)) + 1) * T)


@checked
def bob_regret_bound(
    *,
    T: int,
    d: int,
    P_T: float,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    gamma: float | None = None,
    lam: float | None = None,
    delta: float | None = None,
    block: int | None = None,
    variant: Variant = "printed",
    sharp_bias: bool = False,
    anytime: bool = False,
) -> Bound:
    """Bandits over bandits (appendix on BOB): the dynamic regret of LB-WeightUCB under Bandits-over-Bandits, which does not know P_T.

    The terms `bias` and `variance` make up the base regret; `meta` is the price of not knowing γ̃.

    Parameters
    ----------
    T, d, P_T, S, L, R, lam, sharp_bias : as in `lb_regret_bound`; P_T enters the bound only, not the algorithm.
    gamma : γ̃; `bob_gamma` if omitted.
    delta : δ inside the radius, `bob_delta` if omitted.
    block : Δ_b; `bob_block` if omitted.
    variant : `printed` has δ' = δ and claims 1 − (2N+1)δ − 2/T. `corrected` has no union over candidates but one over
        rounds (δ = 1/T², Tδ together), δ' = δ'' = 1/T, and the term `noise` = 2R√(2T log(2/δ'')) for passing from
        realised rewards to means: probability 1 − Tδ − 4/T. The path θ_1, …, θ_T must be fixed in advance (see the module).
        `repaired` is the same; `sharp` also drops the superfluous √d of the bias: Õ(d^{5/8}P_T^{1/4}T^{3/4} + d^{1/2}T^{3/4}).
    anytime : Exp3.IX with rates that need no horizon.

    Examples
    --------
    >>> bound = bob_regret_bound(T=6000, d=2, P_T=6.283185019988713)
    >>> round(bound.bias + bound.variance, 3), round(bound.terms["meta"], 3)
    (39971.293, 164698.815)
    """
    printed = variant == "printed"
    sharp = variant == "sharp"
    gamma = bob_gamma(T=T, d=d, P_T=P_T, sharp_bias=sharp) if gamma is None else gamma
    lam = lb_lambda(d=d) if lam is None else lam
    delta = bob_delta(T=T, d=d, variant=variant) if delta is None else delta
    block = bob_block(T=T, d=d) if block is None else dimension("block", block)
    M, N = ceil(T / block), len(bob_candidates(T=T, d=d))
    radius = lb_radius(n=effective_rounds(gamma=gamma, t=block), d=d, lam=lam, delta=delta, S=S, L=L, R=R)
    reward_bound = bob_reward_bound(T=T, block=block, S=S, L=L, R=R)
    level = delta if printed else 1.0 / T
    energy = potential_bound(T=block, d=d, gamma=gamma, lam=lam, L=L)
    terms = {
        "bias": 2.0 * L * L * bias_factor(d, lam, sharp_bias or sharp) * bias_sum_bound(P_T=P_T, gamma=gamma),
        "variance": M * 2.0 * radius * sqrt(block * energy),
        "meta": bob_meta_bound(N=N, M=M, reward_bound=reward_bound, delta=level, anytime=anytime),
    }
    if not printed:
        terms["noise"] = 2.0 * R * sqrt(2.0 * T * log(2.0 * T))
    failure = (2 * N + 1) * delta + 2.0 / T if printed else T * delta + 4.0 / T
    return Bound(
        theorem="Bandits over bandits (appendix on BOB)",
        variant=variant,
        terms=terms,
        radius=radius,
        gamma=gamma,
        lam=lam,
        delta=delta,
        probability=max(0.0, 1.0 - failure),
        gap=2.0 * L * S,
        horizon=T,
        details={"block": block, "M": M, "N": N, "reward_bound": reward_bound},
    )
