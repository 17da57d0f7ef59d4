"""Kernel learners: a linear learner on features whose inner products are the kernel's (`kernel_features` has the arguments)."""

from typing import Any, Unpack

from ..meta import OnFeatures
from ..meta.feature_map import kernel_features
from .kernel_features import Features, on_kernel_features
from .linear import SMALL, d_lin_ucb, lb_weight_ucb
from .record import algorithm, algorithms_of

POINTS = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.5]]


@algorithm(
    family="linear",
    remembers="what its base remembers",
    plays="what its base plays on features φ(x), ⟨φ(x), φ(y)⟩ = k(x, y)",
    regret="that of its base with D features, if the mean reward is linear in φ(x)",
    papers=("rahimi2007random",),
    example={"base": lb_weight_ucb(gamma=0.95, **SMALL), "frequencies": 4},
    world="linear",
    randomised=True,  # all features have norm 1, so that every arm ties in round 1 and chance decides
    defaults_of=kernel_features,
)
def on_features(base: Any, **features: Unpack[Features]) -> OnFeatures:
    """Any linear learner on kernel features: `base` sees φ(x) in place of x.

    S bounds the norm of the reward function in the kernel's space, and L = 1 is right for every kernel but the linear one.

    Examples
    --------
    >>> base = lb_weight_ucb(half_life=200, lam=1, S=1, L=1, R=0.3, delta=0.01)
    >>> on_features(base, kernel="rbf", lengthscale=0.5, frequencies=50).features.frequencies
    50.0
    """
    return on_kernel_features(base, features)


@algorithm(
    family="linear",
    remembers="γ^age, two matrices, in the space of a kernel",
    plays="k-ridge mean + β·(its doubly weighted width)",
    regret="γ̇_T^{7/8} P_T^{1/4} T^{3/4}, γ̇_T the kernel's information gain (Deng et al.)",
    papers=("deng2022weighted", "russac2019weighted"),
    example=SMALL | {"gamma": 0.95, "points": POINTS},
    world="linear",
    defaults_of=kernel_features,
)
def wgp_ucb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    lam: float,
    S: float,
    R: float,
    delta: float,
    L: float = 1.0,
    bonus_scale: float = 1.0,
    **features: Unpack[Features],
) -> OnFeatures:
    """WGP-UCB: weighted kernel ridge regression with doubly weighted widths (Deng et al. 2022).

        μ_t(x) = k̃(x)ᵀ(K̃ + λI)⁻¹ỹ,   k̃ = √w∘k,   K̃ = √W K √W,   ỹ = √W r,   w_s = γ^{t−1−s}
        play argmax μ_t(x) + β_t‖φ(x)‖_{V⁻¹ṼV⁻¹},   β_t = √λ S + R√(2 log(1/δ) + log det(I + WKW/λ))

    D-LinUCB in the space of the kernel: a linear kernel gives its index, γ = 1 gives IGP-UCB. S bounds the norm of the reward function
    there. log det is twice the doubly weighted information gain; the constants are those of the self-normalised inequality, the paper's
    were not at hand.

    Examples
    --------
    >>> import numpy as np
    >>> strategy = wgp_ucb(half_life=200, lam=1, S=1, R=0.3, delta=0.01, kernel="rbf", lengthscale=0.5, points=np.eye(3))
    >>> type(strategy.base.rule).__name__
    'SandwichBonus'
    """
    base = d_lin_ucb(
        gamma=gamma, half_life=half_life, lam=lam, S=S, L=L, R=R, delta=delta, bonus_scale=bonus_scale, radius="det"
    )
    return on_kernel_features(base, features)


__all__ = algorithms_of(__name__)
