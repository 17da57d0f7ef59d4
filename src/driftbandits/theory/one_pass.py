r"""One-pass learners in numbers (successors §A.4): the discount that balances their regret.

‖θ_t − θ_*‖_{H_t} ≤ β_t + √bias,    bias ≤ 4S(λ + k_μL²/(1−γ))·Σ_{s<t} γ^{t−1−s}‖θ_{s+1} − θ_s‖
D-Reg_T ≲ √(k_μSdP_T·T/(c_μ(1−γ))) + d·√((1−γ)/c_μ)·T                                              a sketch, no bound
"""

from math import sqrt

from .checks import checked, nonnegative
from .common import clip_gamma


@checked
def domd_gamma(*, T: int, d: int, P_T: float, k_mu: float, S: float = 1.0) -> float:
    """γ of DOMD-GLB under drift, 1 − γ = √(k_μSP_T/(dT)), kept in [1/T, 1 − 1/T]: rate c_μ^{−1/2}d^{3/4}P_T^{1/4}T^{3/4} (Lee, Oh 2026).

    Parameters
    ----------
    T, d, P_T : rounds, dimension, path length.
    k_mu, S : largest slope of the link on [−LS, LS], bound of ‖θ‖.

    Examples
    --------
    >>> round(domd_gamma(T=6000, d=2, P_T=6.283185019988713, k_mu=0.25), 8)
    0.98855886
    """
    k = k_mu
    return clip_gamma(sqrt(k * S * P_T / (d * T)), T)


@checked
def domd_jump_gamma(*, T: int, d: int, changes: int, c_mu: float) -> float:
    """γ of DOMD-GLB for Γ_T jumps, 1 − γ = (√c_μ·Γ_T/(dT))^{2/3}, kept in [1/T, 1 − 1/T]: rate c_μ^{−1/3}d^{2/3}Γ_T^{1/3}T^{2/3}.

    Examples
    --------
    >>> round(domd_jump_gamma(T=6000, d=2, changes=5, c_mu=0.19661193324148185), 8)
    0.99675614
    """
    c = c_mu
    jumps = nonnegative("changes", changes, "it counts changes")
    return clip_gamma((sqrt(c) * jumps / (d * T)) ** (2.0 / 3.0), T)
