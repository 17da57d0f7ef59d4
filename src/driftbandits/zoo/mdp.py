"""Episodic MDPs: linear mixture and multinomial-logit mixture. All arguments are keyword-only. Common to all:

lam_theta, lam_w
    Ridge of rewards and of transitions; the theory has d and H²d (linear mixture), d and d (multinomial).
S_theta, S_w, L_phi, L_psi, kappa
    Bounds of the parameters and features; `world.bounds` of an MDP has them all.
delta
    Failure probability of one stage's interval; the theory has 1/(4KH).
reward_bonus_scale, transition_bonus_scale
    Multiply the two bonuses. The theory is 1, at which Q saturates and play is no better than random (resolution D15).
cap
    Q is clipped to [0, H] ("horizon", as printed) or to [0, H−h+1] ("stage"; resolution D8).
variant
    "printed" radius or "corrected". Linear mixture: the printed radius covers one (k, h); corrected divides δ by KH and needs to know K.
    Multinomial: the printed noise constant ½ is too small; corrected has 1/√2, U−1 and L′ (theory.md §7).
    `uniform_in_time` divides δ by KH.
reward_noise
    Sub-Gaussian constant of the rewards; the paper has none (resolution D7).
"""

from typing import Any, Literal, NotRequired, TypedDict, Unpack

from ..errors import InvalidValue, integer
from ..mdp.bob import Blocks, BlockwiseChoice
from ..mdp.multinomial import Multinomial
from ..mdp.planner import Backup, OptimisticPlanner
from ..mdp.reward import RewardRidge
from ..mdp.value_targeted import ValueTargeted
from ..memory import Discounted, Everything, Restart, Window
from .options import discount

Cap = Literal["horizon", "stage"]
Variant = Literal["printed", "corrected"]


class Constants(TypedDict):
    """What every learner of linear mixtures takes."""

    lam_theta: float
    lam_w: float
    S_theta: float
    S_w: float
    L_phi: float
    L_psi: float
    delta: float
    reward_bonus_scale: NotRequired[float]
    transition_bonus_scale: NotRequired[float]
    cap: NotRequired[Cap]
    variant: NotRequired[Variant]
    uniform_in_time: NotRequired[bool]
    reward_noise: NotRequired[float]


class MultinomialConstants(Constants):
    """What every learner of multinomial mixtures takes."""

    kappa: float


def _chosen(name: str, given: str, plain: str, other: str) -> bool:
    if given not in (plain, other):
        raise InvalidValue(f"{name} = {given!r} is not allowed; it must be {plain!r} or {other!r}")
    return given == other


def _linear(
    memory: Any,
    *,
    lam_theta: float,
    lam_w: float,
    S_theta: float,
    S_w: float,
    L_phi: float,
    L_psi: float,
    delta: float,
    reward_bonus_scale: float = 1.0,
    transition_bonus_scale: float = 1.0,
    cap: Cap = "horizon",
    variant: Variant = "printed",
    uniform_in_time: bool = False,
    reward_noise: float = 0.0,
    share_stages: bool = False,
) -> OptimisticPlanner:
    uniform = _chosen("variant", variant, "printed", "corrected") or uniform_in_time
    return OptimisticPlanner(
        RewardRidge(lam_theta, S_theta, L_phi, delta, reward_noise, reward_bonus_scale),
        ValueTargeted(lam_w, S_w, L_psi, delta, transition_bonus_scale, uniform),
        memory,
        Backup(_chosen("cap", cap, "horizon", "stage"), share_stages),
    )


def _multinomial(
    memory: Any,
    *,
    lam_theta: float,
    lam_w: float,
    S_theta: float,
    S_w: float,
    L_phi: float,
    L_psi: float,
    kappa: float,
    delta: float,
    reward_bonus_scale: float = 1.0,
    transition_bonus_scale: float = 1.0,
    cap: Cap = "horizon",
    variant: Variant = "printed",
    uniform_in_time: bool = False,
    reward_noise: float = 0.0,
    share_stages: bool = False,
) -> OptimisticPlanner:
    corrected = _chosen("variant", variant, "printed", "corrected")
    return OptimisticPlanner(
        RewardRidge(lam_theta, S_theta, L_phi, delta, reward_noise, reward_bonus_scale),
        Multinomial(lam_w, S_w, L_psi, kappa, delta, transition_bonus_scale, uniform_in_time, corrected),
        memory,
        Backup(_chosen("cap", cap, "horizon", "stage"), share_stages),
    )


def weight_ucrl(
    *, gamma: float | None = None, half_life: float | None = None, **constants: Unpack[Constants]
) -> OptimisticPlanner:
    """LMDP-WeightUCRL: discounted regressions over episodes (Wang, Zhao, Zhou; Algorithm 3, Theorem 5).

        Λ_h ← γΛ_h + φφᵀ + (1−γ)λ_θI,   Σ_h ← γΣ_h + ψ_Vψ_Vᵀ + (1−γ)λ_wI
        Q_h = clip_{[0,H]}( φᵀθ̂_h + c_rβ_θ‖φ‖_{Λ_h⁻¹} + ψ_Vᵀŵ_h + c_wβ_w‖ψ_V‖_{Σ_h⁻¹} ),   V = max_a Q_{h+1}

    Examples
    --------
    >>> bounds = {"S_theta": 1, "S_w": 1, "L_phi": 1, "L_psi": 1}
    >>> weight_ucrl(gamma=0.95, lam_theta=2, lam_w=200, delta=0.001, **bounds).memory
    Discounted(gamma=0.95)
    """
    return _linear(Discounted(discount(gamma, half_life)), **constants)


def ucrl_vtr(*, share_stages: bool = False, **constants: Unpack[Constants]) -> OptimisticPlanner:
    """UCRL-VTR: value-targeted regression that forgets nothing (Jia et al. 2020; Ayoub et al. 2020).

    One estimate for each stage, as in the paper's comparison; `share_stages` pools all stages, as in the original.
    """
    return _linear(Everything(), share_stages=share_stages, **constants)


def sw_ucrl(*, window: int, **constants: Unpack[Constants]) -> OptimisticPlanner:
    """SW-LSVI-UCB in value-targeted form: only the last `window` episodes count (Zhong, Yang, Szepesvári 2022)."""
    return _linear(Window(window), **constants)


def restart_ucrl(*, period: int, **constants: Unpack[Constants]) -> OptimisticPlanner:
    """UCRL-VTR that starts afresh every `period` episodes (Zhong, Yang, Szepesvári 2022)."""
    return _linear(Restart(period), **constants)


def mnl_weight_ucrl(
    *, gamma: float | None = None, half_life: float | None = None, **constants: Unpack[MultinomialConstants]
) -> OptimisticPlanner:
    """MNL-WeightUCRL: discounted maximum likelihood over episodes (Wang, Zhao, Zhou; Algorithm 4, Theorem 6).

        ŵ_h = argmin (λ_wκ/2)‖w‖² − Σ_j γ^{k−1−j} log p(s'_j; w),   w̃_h its projection onto ‖w‖ ≤ S_w
        Q_h = clip_{[0,H]}( φᵀθ̂_h + c_rβ_θ‖φ‖_{Λ_h⁻¹} + Σ_{s'} p(s'; w̃_h)V(s') + c_w(H/κ)β̄_w max_{s'}‖ψ(s')‖_{Σ̄_h⁻¹} )

    The features of a reference successor are subtracted (resolution D5). `mdp.kappa` computes κ.
    """
    return _multinomial(Discounted(discount(gamma, half_life)), **constants)


def ucrl_mnl(*, share_stages: bool = False, **constants: Unpack[MultinomialConstants]) -> OptimisticPlanner:
    """UCRL-MNL: maximum likelihood that forgets nothing (Hwang and Oh 2023); `share_stages` pools all stages, as there."""
    return _multinomial(Everything(), share_stages=share_stages, **constants)


def mnl_sw_ucrl(*, window: int, **constants: Unpack[MultinomialConstants]) -> OptimisticPlanner:
    """UCRL-MNL on the last `window` episodes."""
    return _multinomial(Window(window), **constants)


def mnl_restart_ucrl(*, period: int, **constants: Unpack[MultinomialConstants]) -> OptimisticPlanner:
    """UCRL-MNL that starts afresh every `period` episodes."""
    return _multinomial(Restart(period), **constants)


def bob_ucrl(
    base: OptimisticPlanner, *, episodes: int, block: int | None = None, candidates: int | None = None
) -> BlockwiseChoice:
    """Unknown Δ: Bandits-over-Bandits chooses the discount factor for every block of episodes (paper, BOB appendix).

    Parameters
    ----------
    base
        `weight_ucrl(…)` or `mnl_weight_ucrl(…)`; its γ is replaced by γ_i = 1 − 2^−i, i = 1..candidates.
    episodes
        Number of episodes K.
    block
        Episodes with the same γ, each block a fresh learner; by default 2√K (the paper: d√T).

    Examples
    --------
    >>> bounds = {"S_theta": 1, "S_w": 1, "L_phi": 1, "L_psi": 1}
    >>> base = weight_ucrl(gamma=0.9, lam_theta=2, lam_w=200, delta=0.001, **bounds)
    >>> bob_ucrl(base, episodes=1024).blocks
    Blocks(episodes=1024.0, size=64.0, candidates=10.0)
    """
    K = integer("episodes", episodes, least=2, why="it is the number of episodes K")
    if not isinstance(base.memory, Discounted):
        raise InvalidValue("bob_ucrl needs a discounted base: weight_ucrl(…) or mnl_weight_ucrl(…)")
    size = min(K, int(2 * K**0.5)) if block is None else block
    return BlockwiseChoice(base, Blocks(K, size, (K - 1).bit_length() if candidates is None else candidates))
