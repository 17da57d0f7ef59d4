"""Episodic MDPs: linear mixture, multinomial-logit mixture and tables. All arguments are keyword-only, and all may be left out.

gamma, half_life, window, period
    How fast to forget, in episodes. `weight_ucrl` and `mnl_weight_ucrl` find it out where neither γ nor the half-life is given.
constants
    Where the constants below come from that are not given: "practical" or "theory" (`mdp.defaults`).
lam_theta, lam_w
    Ridge of rewards and of transitions; the theory has d and H²d (linear mixture), d and d (multinomial).
S_theta, S_w, L_phi, L_psi, kappa
    Bounds of the parameters and features; `world.bounds` of an MDP has them all.
delta
    Failure probability of one stage's interval; the theory has 1/(4KH), corrected 1/(2(KH)²).
uniform_in_time
    True divides δ by KH, for rewards and transitions alike: all intervals hold at once. Needs to know the number of episodes; "anytime"
    does not: δ_k = δ/(2Hk(1+log k)²).
bonus
    "fixed", the paper's form times the scales below, or "measured": posterior standard deviations, from measured noise and information
    (`mdp.measured_reward`, `mdp.measured_mixture`, `mdp.measured_multinomial`, of tables `mdp.measured_table`), which is the default where
    the memory is found out and no constant of a fixed bonus is given.
reward_bonus_scale, transition_bonus_scale
    Multiply the two bonuses. The theory is 1, at which Q saturates and play is no better than random (resolution D15). Measured: 1 and 1,
    of multinomial mixtures 1 and 0.3, of tables 0.1 and 1.
ridge_centre
    Of linear mixtures: what λ_w pulls ŵ to, "zero" as in the paper or "even", the shortest w whose probabilities add up to 1 (of a mixture
    of d models 1/d each), which is the practical default; with "even" only such w are estimated (`mdp.mixture_coordinates`).
imagined_visits
    Of tables: how many visits to the best state, or with reward 1, a pair is credited with before it was tried; 0.1 with a fixed bonus,
    found out with a measured one.
cap
    Q is clipped to [0, H] ("horizon", as printed) or to [0, H−h+1] ("stage"; resolution D8).
variant
    "printed" or "corrected" constants of the radius. Multinomial: the printed noise constant ½ is too small, corrected has 1/√2 (theory
    §7). Linear mixture: the printed radius is correct, both are the same; only the theorem's δ differs.
reference
    Multinomial: the successor whose features are subtracted, the "lowest" reachable one or "stay", the state itself where it is reachable;
    None subtracts nothing, as the paper prints it, but its radius does not hold then (resolution D5).
estimator
    Multinomial: "exact", the weighted likelihood of all that counts, at the price of going through every class of pairs visited; or
    "one_pass", one proximal step per transition (`mdp.one_pass`): for large state spaces, discounted or static, no theorem.
reward_noise
    Sub-Gaussian constant of the rewards; the paper has none (resolution D7).
share_stages
    One estimate for all stages, where their parameters are the same. Weights still count episodes.
"""

from typing import Any, Literal, TypedDict, Unpack

from ..errors import InvalidValue, integer
from ..mdp.bob import Blocks, BlockwiseChoice
from ..mdp.defaults import Origin, learner
from ..memory import Discounted, Everything, Restart, Window
from ..radius.union import UniformInTime
from .options import discount
from .record import algorithm, algorithms_of
from .tuning import LINEAR_MIXTURE, MNL

TARGETED = "φᵀθ̂ + β_θ‖φ‖_{Λ⁻¹} + ψ_Vᵀŵ + β_w‖ψ_V‖_{Σ⁻¹}"
LIKELIEST = "φᵀθ̂ + β_θ‖φ‖_{Λ⁻¹} + Σp(s'; w̃)V(s') + (H/κ)β̄_w max‖ψ(s')‖_{Σ̄⁻¹}"
STATIC_ONLY, UNSTATED = "none if the parameters drift", "none stated"
SMALL: dict[str, Any] = {
    "lam_theta": 2.0,
    "lam_w": 5.0,
    "S_theta": 1.0,
    "S_w": 1.0,
    "L_phi": 1.0,
    "L_psi": 2.0,
    "delta": 0.05,
    "transition_bonus_scale": 0.1,
}
SMALL_MNL = SMALL | {"kappa": 0.05}


class Constants(TypedDict, total=False):
    """What every learner of linear mixtures and tables takes."""

    constants: Origin
    lam_theta: float
    lam_w: float
    S_theta: float
    S_w: float
    L_phi: float
    L_psi: float
    delta: float
    reward_bonus_scale: float
    transition_bonus_scale: float
    imagined_visits: float
    cap: Literal["horizon", "stage"]
    variant: Literal["printed", "corrected"]
    uniform_in_time: UniformInTime
    reward_noise: float
    share_stages: bool
    ridge_centre: Literal["zero", "even"]
    bonus: Literal["fixed", "measured"]


class MultinomialConstants(Constants, total=False):
    """What every learner of multinomial mixtures takes."""

    kappa: float
    reference: Literal["lowest", "stay"] | None
    estimator: Literal["exact", "one_pass"]


def _linear(memory: Any, *, constants: Origin = "practical", **given: Any) -> Any:
    return learner("linear", memory, constants, given)


def _multinomial(memory: Any, *, constants: Origin = "practical", **given: Any) -> Any:
    return learner("multinomial", memory, constants, given)


def _discounted(gamma: float | None, half_life: float | None) -> Discounted | None:
    return None if gamma is None and half_life is None else Discounted(gamma=discount(gamma, half_life))


def _window(window: int) -> Window:
    return Window(W=integer("window", window, least=1, why="it is the number of episodes remembered"))


def _restart(period: int) -> Restart:
    return Restart(H=integer("period", period, least=1, why="it is the number of episodes between restarts"))


@algorithm(
    family="mdp",
    remembers="γ^age, in episodes",
    plays=TARGETED,
    regret="d H Δ^{1/4} T^{3/4}",
    theorem="Theorem 5",
    bound="linear_mixture_regret_bound",
    example=SMALL | {"gamma": 0.9},
    tuned_by=LINEAR_MIXTURE,
    world="linear mixture",
)
def weight_ucrl(*, gamma: float | None = None, half_life: float | None = None, **constants: Unpack[Constants]) -> Any:
    """LMDP-WeightUCRL: discounted regressions over episodes (Wang, Zhao, Zhou; Algorithm 3, Theorem 5).

        Λ_h ← γΛ_h + φφᵀ + (1−γ)λ_θI,   Σ_h ← γΣ_h + ψ_Vψ_Vᵀ + (1−γ)λ_wI
        Q_h = clip_{[0,H]}( φᵀθ̂_h + c_rβ_θ‖φ‖_{Λ_h⁻¹} + ψ_Vᵀŵ_h + c_wβ_w‖ψ_V‖_{Σ_h⁻¹} ),   V = max_a Q_{h+1}

    Examples
    --------
    >>> weight_ucrl(gamma=0.95).memory
    Discounted(gamma=0.95)
    """
    return _linear(_discounted(gamma, half_life), **constants)


@algorithm(
    family="mdp",
    remembers="everything",
    plays=TARGETED,
    regret=STATIC_ONLY,
    papers=("ayoub2020model",),
    example=SMALL,
    tuned_by=LINEAR_MIXTURE,
    world="linear mixture",
)
def ucrl_vtr(**constants: Unpack[Constants]) -> Any:
    """UCRL-VTR: value-targeted regression that forgets nothing (Jia et al. 2020; Ayoub et al. 2020).

    One estimate for each stage, as in the paper's comparison; `share_stages` pools all stages, as in the original.
    """
    return _linear(Everything(), **constants)


@algorithm(
    family="mdp",
    remembers="the last W episodes",
    plays=TARGETED,
    regret=UNSTATED,
    papers=("ayoub2020model", "zhong2022optimistic"),
    example=SMALL | {"window": 4},
    tuned_by=LINEAR_MIXTURE,
    world="linear mixture",
)
def sw_ucrl(*, window: int, **constants: Unpack[Constants]) -> Any:
    """SW-LSVI-UCB in value-targeted form: only the last `window` episodes count (Zhong, Yang, Wang, Szepesvári 2022)."""
    return _linear(_window(window), **constants)


@algorithm(
    family="mdp",
    remembers="since the last restart",
    plays=TARGETED,
    regret=UNSTATED,
    papers=("ayoub2020model",),
    example=SMALL | {"period": 4},
    tuned_by=LINEAR_MIXTURE,
    world="linear mixture",
)
def restart_ucrl(*, period: int, **constants: Unpack[Constants]) -> Any:
    """UCRL-VTR that starts afresh every `period` episodes: what the paper compares to under the name of restarting.

    Zhong, Yang, Wang and Szepesvári (2022) restart another algorithm, PROPO, which optimises a policy step by step; the idea is theirs.
    """
    return _linear(_restart(period), **constants)


@algorithm(
    family="mdp",
    remembers="γ^age, in episodes",
    plays=LIKELIEST,
    regret="κ^{−1} d H Δ^{1/4} T^{3/4}",
    theorem="Theorem 6",
    bound="mnl_regret_bound",
    example=SMALL_MNL | {"gamma": 0.9},
    tuned_by=MNL,
    world="multinomial",
)
def mnl_weight_ucrl(
    *, gamma: float | None = None, half_life: float | None = None, **constants: Unpack[MultinomialConstants]
) -> Any:
    """MNL-WeightUCRL: discounted maximum likelihood over episodes (Wang, Zhao, Zhou; Algorithm 4, Theorem 6).

        ŵ_h = argmin (λ_wκ/2)‖w‖² − Σ_j γ^{k−1−j} log p(s'_j; w),   w̃_h its projection onto ‖w‖ ≤ S_w
        Q_h = clip_{[0,H]}( φᵀθ̂_h + c_rβ_θ‖φ‖_{Λ_h⁻¹} + Σ_{s'} p(s'; w̃_h)V(s') + c_w(H/κ)β̄_w max_{s'}‖ψ(s')‖_{Σ̄_h⁻¹} )

    The features of a reference successor are subtracted (resolution D5). `mdp.kappa` computes κ.
    """
    return _multinomial(_discounted(gamma, half_life), **constants)


@algorithm(
    family="mdp",
    remembers="everything",
    plays=LIKELIEST,
    regret=STATIC_ONLY,
    papers=("hwang2023model",),
    example=SMALL_MNL,
    tuned_by=MNL,
    world="multinomial",
)
def ucrl_mnl(**constants: Unpack[MultinomialConstants]) -> Any:
    """UCRL-MNL: maximum likelihood that forgets nothing (Hwang and Oh 2023); `share_stages` pools all stages, as there."""
    return _multinomial(Everything(), **constants)


@algorithm(
    family="mdp",
    remembers="the last W episodes",
    plays=LIKELIEST,
    regret=UNSTATED,
    papers=("hwang2023model", "zhong2022optimistic"),
    example=SMALL_MNL | {"window": 4},
    tuned_by=MNL,
    world="multinomial",
)
def mnl_sw_ucrl(*, window: int, **constants: Unpack[MultinomialConstants]) -> Any:
    """UCRL-MNL on the last `window` episodes."""
    return _multinomial(_window(window), **constants)


@algorithm(
    family="mdp",
    remembers="since the last restart",
    plays=LIKELIEST,
    regret=UNSTATED,
    papers=("hwang2023model",),
    example=SMALL_MNL | {"period": 4},
    tuned_by=MNL,
    world="multinomial",
)
def mnl_restart_ucrl(*, period: int, **constants: Unpack[MultinomialConstants]) -> Any:
    """UCRL-MNL that starts afresh every `period` episodes."""
    return _multinomial(_restart(period), **constants)


@algorithm(
    family="mdp",
    remembers="γ^age, γ drawn by Exp3.IX for each block",
    plays="what the base plays",
    regret=UNSTATED,
    papers=("cheung2019learning", "neu2015explore"),
    example={"base": weight_ucrl(gamma=0.9, **SMALL), "episodes": 16},
    world="linear mixture",
)
def bob_ucrl(base: Any, *, episodes: int, block: int | None = None, candidates: int | None = None) -> BlockwiseChoice:
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
    >>> bob_ucrl(weight_ucrl(gamma=0.9), episodes=1024).blocks
    Blocks(episodes=1024.0, size=64.0, candidates=10.0)
    """
    K = integer("episodes", episodes, least=2, why="it is the number of episodes K")
    if not isinstance(getattr(base, "memory", None), Discounted):
        raise InvalidValue(
            f"base = {base!r:.60} is not allowed; bob_ucrl needs a discounted base, whose γ it chooses: weight_ucrl(gamma=0.9)"
        )
    size = min(K, int(2 * K**0.5)) if block is None else block
    count = (K - 1).bit_length() if candidates is None else candidates
    return BlockwiseChoice(base=base, blocks=Blocks(episodes=K, size=size, candidates=count))


__all__ = algorithms_of(__name__)
