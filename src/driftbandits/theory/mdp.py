r"""What the two MDP theorems share: tuning over episodes, the reward radius, the martingale.

An MDP has K episodes of H stages, T = KH. Rewards are r_h^k(s,a) = φ(s,a)ᵀθ_h^k with ‖φ‖ ≤ L_φ, ‖θ‖ ≤ S_θ, observed
without noise. Weights are over episodes, n_k = (1−γ^k)/(1−γ). The drift is Δ = P^θ + P^w with

    P^θ = Σ_{k≥2} Σ_h ‖θ_h^k − θ_h^{k−1}‖₂,     P^w likewise     (`path_length` of an array (K, H, d))

Tuning:  1 − γ = max{1/K, √(Δ/T)}.  In both theorems λ_w cancels the d of the bias, so the balance is √(L_ψ²Δ/(dT))
instead; the two agree for L_ψ² = d (mixtures on the simplex).

Regret decomposition (lemma:LMDP-regret-decomposition), E = r + PV_{h+1} − Q the model prediction error:
    D-Reg_T ≤ Σ_{k,h} (E_{π*}[E_h^k] − E_h^k(s_h^k, a_h^k)) + 4H√(2T log(1/δ))
"""

from math import floor, inf, log, sqrt
from typing import NamedTuple

from ..errors import InvalidShape, InvalidValue
from .checks import Variant, checked, drift
from .common import clip_gamma, effective_rounds
from .linear import noise_radius
from .paths import Path, path_array, round_bias


@checked
def mdp_gamma(
    *,
    K: int,
    H: int,
    Delta: float,
    dimension_aware: bool = False,
    d: int | None = None,
    L_psi: float = 1.0,
    sharp_bias: bool = False,
    variant: Variant = "printed",
) -> float:
    """The discount factor of Theorems 5 and 6: γ = 1 − max{1/K, √(Δ/T)} with T = KH, kept in [1/K, 1 − 1/K].

    Parameters
    ----------
    K, H : episodes (≥ 2) and stages.
    Delta : Δ = P^θ + P^w; if the stages share their parameters it carries the factor H.
    dimension_aware : balance the true bias, 1 − γ = √(L_ψ²Δ/(dT)); needs d. The paper carries a factor d in the bias
        that λ_θ = d, λ_w = H²d (Theorem 5) and λ_w = d (Theorem 6) cancel. Rate Õ(H d^{3/4} Δ^{1/4} T^{3/4}) for L_ψ
        = O(1).
    d, L_psi : dimension and feature bound, used only by `dimension_aware` and `sharp_bias`.
    sharp_bias : balance the bias without the superfluous √d of its lemma, 1 − γ = √(L_ψ²Δ/(d^{3/2}T)). Rate Õ(H L_ψ^{1/2} d^{5/8}
        Δ^{1/4} T^{3/4}).
    variant : that of the bound it is for; `sharp` implies `sharp_bias`.

    Examples
    --------
    >>> round(mdp_gamma(K=1500, H=10, Delta=55.1543), 6)
    0.939362
    >>> round(mdp_gamma(K=1500, H=10, Delta=55.1543, dimension_aware=True, d=2), 6)
    0.957123
    """
    sharp_bias = sharp_bias or variant == "sharp"
    return clip_gamma(_forgetting(K, H, Delta, dimension_aware, d, L_psi, sharp_bias), K)


def mdp_window(
    *,
    K: int,
    H: int,
    Delta: float,
    dimension_aware: bool = False,
    d: int | None = None,
    L_psi: float = 1.0,
    sharp_bias: bool = False,
) -> int:
    """The window (or restart period) in episodes with the memory 1/(1−γ) of `mdp_gamma`: ⌊√(T/Δ)⌋ in [1, K].

    Examples
    --------
    >>> mdp_window(K=1500, H=10, Delta=55.1543), mdp_window(K=1500, H=10, Delta=0.0)
    (16, 1500)
    """
    forgetting = _forgetting(K, H, Delta, dimension_aware, d, L_psi, sharp_bias)
    return max(1, floor(min(1.0 / forgetting if forgetting > 0.0 else inf, float(K))))


def _forgetting(
    K: int, H: int, Delta: float, dimension_aware: bool, d: int | None, L_psi: float, sharp_bias: bool
) -> float:
    T = K * H
    Delta = drift("Delta", Delta)
    if not (dimension_aware or sharp_bias):
        return sqrt(Delta / T)
    if d is None:
        raise InvalidValue(
            "d = None is not allowed with dimension_aware=True or sharp_bias=True; the balance of bias and variance contains d"
        )
    power = 1.5 if sharp_bias else 1.0
    return sqrt(L_psi**2 * Delta / (d**power * T))


@checked
def mdp_reward_radius(
    *,
    lam: float,
    S_theta: float,
    R: float = 0.0,
    n: float = 0.0,
    d: int = 1,
    L_phi: float = 1.0,
    delta: float = 0.5,
) -> float:
    """β_θ = √λ_θ S_θ (lemma:LMDP-r-ucb).

    If rewards carry R-sub-Gaussian noise, R√(2 log(1/δ) + d log(1 + L_φ²n/(λ_θd))) is added (not in the paper).

    Parameters
    ----------
    lam, S_theta : λ_θ and the bound of ‖θ_h^k‖.
    R : sub-Gaussian constant of the reward noise; 0 (the paper: rewards are observed exactly) makes the rest
        irrelevant.
    n, d, L_phi, delta : sum of the weights, dimension, feature bound, failure probability of one episode and stage.

    Examples
    --------
    >>> round(mdp_reward_radius(lam=2.0, S_theta=2**0.5), 12)
    2.0
    """
    noise = noise_radius(n=n, d=d, lam=lam, L=L_phi, R=R, delta=delta)
    return sqrt(lam) * S_theta + noise


@checked
def mdp_martingale(*, K: int, H: int, delta: float, deterministic: bool = False) -> float:
    """4H√(2T log(1/δ)), the price of acting on samples (lemma:LMDP-regret-decomposition).

    A policy that is deterministic within an episode (ties broken once, while planning) has no action martingale, which
    leaves half of it: `deterministic=True`. Probability 1 − 2δ, resp. 1 − δ.

    Examples
    --------
    >>> round(mdp_martingale(K=1500, H=10, delta=1 / 60000), 4)
    22980.4437
    """
    T = K * H
    return (2.0 if deterministic else 4.0) * H * sqrt(2.0 * T * log(1.0 / delta))


class Stage(NamedTuple):
    """One stage as a lemma sees it: the bias b_k of its path, its dimension, and n_{k−1}."""

    bias: float
    d: int
    n: float


def stage(path: Path, *, gamma: float, k: int | None) -> Stage:
    """b_k = Σ_{p<k} √(Σ_{j≤p} γ^{k−1−j}) Δ_p of one stage's path (K, d), with d and n_{k−1}."""
    array = path_array(path)
    if array.ndim != 2:
        raise InvalidShape(
            f"path has shape {array.shape}; the lemma is about one stage: pass path[:, h, :], of shape (K, d)"
        )
    k = len(array) if k is None else k
    return Stage(round_bias(array, gamma=gamma, t=k), int(array.shape[1]), effective_rounds(gamma=gamma, t=k - 1))
