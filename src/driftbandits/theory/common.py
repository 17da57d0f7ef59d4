r"""What all theorems share: the weights, the default confidence levels, and the shape of a bound.

The learner of round t weighs observation s ≤ t−1 by w_{t−1,s} = γ^{t−1−s}. Two numbers follow from γ alone:

    n_t  =  Σ_{s≤t} γ^{t−s}      =  (1 − γ^t) / (1 − γ)          effective number of rounds
    n'_t =  Σ_{s≤t} γ^{2(t−s)}   =  (1 − γ^{2t}) / (1 − γ²)      the same for squared weights

Every regret bound of the paper is a sum of named terms — a *bias* (the parameter moved), a *variance* (it was
estimated from noise) and sometimes a third — and holds with some probability. `Bound` keeps all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import expm1, inf, isinf, log, log2

from ..errors import integer, positive, real, require
from .checks import Variant, checked


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A bound of the paper as numbers.

    Attributes
    ----------
    theorem : the paper's name and label, e.g. `"Theorem 1 (thm:LB-regret)"`.
    variant : `"printed"`, `"corrected"`, `"repaired"` or `"sharp"`.
    terms : the summands by name; names begin with `bias` or `variance` where that is their role.
    radius : the confidence radius β used in the variance.
    gamma : the discount factor, or None for windows and restarts.
    lam : the regulariser λ.
    delta : the confidence level inside the radius.
    probability : the bound holds with at least this probability (as claimed, if printed; as true, if corrected).
    gap : the largest possible regret of one round (episode).
    horizon : the number of rounds (episodes).
    details : further numbers of the theorem (W, D, second radius, …).

    Examples
    --------
    >>> bound = Bound(theorem="demo", variant="printed", terms={"bias": 3.0, "variance": 4.0}, radius=1.0,
    ...               gamma=0.9, lam=1.0, delta=0.01, probability=0.99, gap=0.5, horizon=10)
    >>> bound.total, bound.bias, bound.variance, bound.capped, bound.informative
    (7.0, 3.0, 4.0, 5.0, False)
    """

    theorem: str
    variant: Variant
    terms: Mapping[str, float]
    radius: float
    gamma: float | None
    lam: float
    delta: float
    probability: float
    gap: float
    horizon: int
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The bound: the sum of its terms."""
        return sum(self.terms.values())

    @property
    def bias(self) -> float:
        """The part paid because the parameter moves: all terms named `bias…`."""
        return sum(value for name, value in self.terms.items() if name.startswith("bias"))

    @property
    def variance(self) -> float:
        """The part paid because the rewards are noisy: all terms named `variance…`."""
        return sum(value for name, value in self.terms.items() if name.startswith("variance"))

    @property
    def capped(self) -> float:
        """min(total, gap · horizon): no policy can do worse than the largest regret in every round."""
        return min(self.total, self.gap * self.horizon)

    @property
    def informative(self) -> bool:
        """Whether the bound says more than gap · horizon; at T = 6000 none of the paper's bounds does."""
        return self.total < self.gap * self.horizon

    def __str__(self) -> str:
        terms = " + ".join(f"{name} {value:.6g}" for name, value in self.terms.items())
        return f"{self.theorem}, {self.variant}: {self.total:.6g} = {terms}, with probability ≥ {self.probability:.6g}"


def lemma_bound(
    label: str,
    *,
    bias: float,
    radius: float,
    width: float,
    gamma: float,
    lam: float,
    delta: float,
    factor: float = 1.0,
    variant: Variant = "printed",
    gap: float = inf,
) -> Bound:
    """A one-round estimation-error lemma: factor · (bias + radius · width), with probability 1 − δ."""
    return Bound(
        theorem=label,
        variant=variant,
        terms={"bias": factor * bias, "variance": factor * radius * width},
        radius=radius,
        gamma=gamma,
        lam=lam,
        delta=delta,
        probability=1.0 - delta,
        gap=gap,
        horizon=1,
    )


def effective_rounds(*, gamma: float, t: int, squared: bool = False) -> float:
    """n_t, the sum of the weights of t observations; `squared=True` sums the squared weights.

    n_t = (1 − γ^t)/(1 − γ), and t for γ = 1. The radius of round t uses n_{t−1}. Both sums give valid radii:
    Σ w_s η_s X_s is also a self-normalised sum with vectors w_s X_s, and λI + Σ w_s² X_sX_sᵀ ⪯ V. This is why the γ²
    form that appears half-way in the proofs of Theorems 1 and 2 is harmless (and a little sharper).

    Parameters
    ----------
    gamma : in (0, 1].
    t : number of observations, ≥ 0.
    squared : replace γ by γ².

    Examples
    --------
    >>> effective_rounds(gamma=0.5, t=3), effective_rounds(gamma=1.0, t=3)
    (1.75, 3.0)
    >>> effective_rounds(gamma=0.5, t=3, squared=True)
    1.3125
    """
    gamma = real("gamma", gamma)
    require(0.0 < gamma <= 1.0, "gamma", gamma, "in (0, 1]", "weights of the past must not grow")
    t = integer("t", t, least=0, why="it counts observations")
    if gamma == 1.0:
        return float(t)
    base = gamma * gamma if squared else gamma
    return -expm1(t * log(base)) / (1.0 - base)


def half_life(gamma: float) -> float:
    """After how many rounds an observation counts half: log 2 / log(1/γ); infinite for γ = 1.

    Examples
    --------
    >>> half_life(0.5), half_life(1.0), round(half_life(0.97711772), 4)
    (1.0, inf, 29.944)
    """
    gamma = real("gamma", gamma)
    require(0.0 < gamma <= 1.0, "gamma", gamma, "in (0, 1]", "weights of the past must not grow")
    return inf if gamma == 1.0 else 1.0 / -log2(gamma)


def gamma_from_half_life(half_life: float) -> float:
    """The discount factor γ = 2^(−1/half_life) under which weights halve every `half_life` rounds.

    Examples
    --------
    >>> gamma_from_half_life(1.0), round(gamma_from_half_life(30.0), 6), gamma_from_half_life(float("inf"))
    (0.5, 0.97716, 1.0)
    """
    if isinstance(half_life, float) and isinf(half_life) and half_life > 0.0:
        return 1.0
    rounds = positive("half_life", half_life, "weights fade with time, not against it; use inf to forget nothing")
    gamma = float(2.0 ** (-1.0 / rounds))
    require(gamma > 0.0, "half_life", half_life, "long enough that 2^(−1/half_life) > 0", "γ = 0 forgets everything")
    return gamma


@checked
def default_delta(family: str, *, T: int, variant: Variant = "printed") -> float:
    """The confidence level δ inside the radius of a family of theorems.

    | family | printed | every other variant |
    |---|---|---|
    | `lb`, `scb` | 1/(2T) | 1/T² |
    | `glb` | 1/(2T²) | 1/T² |
    | `pw` | 1/T | 1/T² |
    | `mdp` | 1/(4T) | 1/(2T²) |

    Why they differ: the self-normalised inequality is applied to √w_{t−1,s} X_s, which change with t. It therefore
    holds for each fixed t with probability 1 − δ, not for all t at once as the paper's lemmas say. (The claim for all
    t is false, not only unproved.) A union over the T rounds gives 1 − Tδ, so δ = 1/T² gives 1 − 1/T.

    Examples
    --------
    >>> default_delta("lb", T=1000), default_delta("lb", T=1000, variant="corrected")
    (0.0005, 1e-06)
    """
    rounds = float(T)
    printed = {
        "lb": 1.0 / (2.0 * rounds),
        "glb": 1.0 / (2.0 * rounds**2),
        "scb": 1.0 / (2.0 * rounds),
        "pw": 1.0 / rounds,
        "mdp": 1.0 / (4.0 * rounds),
    }
    require(family in printed, "family", family, f"one of {', '.join(printed)}", "each family has its own δ")
    if variant == "printed":
        return printed[family]
    return 1.0 / (2.0 * rounds**2) if family == "mdp" else 1.0 / rounds**2


def arm_width(value: float | None, L: float, lam: float) -> float:
    """‖x‖_{V⁻¹}, or its largest value L/√λ."""
    return L / lam**0.5 if value is None else value


def clip_gamma(forgetting: float, rounds: int, *, least: float | None = None) -> float:
    """γ = 1 − forgetting, kept in [1/T, 1 − 1/T] (or [least, 1 − 1/T])."""
    floor = 1.0 / rounds if least is None else least
    return min(max(1.0 - forgetting, floor), 1.0 - 1.0 / rounds)


def bias_factor(d: int, lam: float, sharp_bias: bool) -> float:
    """√(d/λ), or 1/√λ with the sharper bias lemma."""
    return float(((1.0 if sharp_bias else float(d)) / lam) ** 0.5)


def union(events: float, delta: float) -> float:
    """1 − events · δ, at least 0."""
    return max(0.0, 1.0 - events * delta)
