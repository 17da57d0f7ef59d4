"""One-pass generalized linear bandits: no history, O(d²) memory and the time of a linear learner. All arguments are keyword-only:

link
    "logistic", "probit", "poisson", "identity", or a link of your own with a method of `log_partition` and a log-concave μ′.
S, L, delta
    ‖θ‖ ≤ S and ‖x‖ ≤ L; failure probability δ ∈ (0, 1) of a round's interval.
lam
    Ridge of H; by default φηL². Every λ > 0 is valid; with a smaller one the radius grows.
R
    With the identity link only: the sub-Gaussian constant of the noise, by default 1. The other links know their noise: rewards in [0, 1]
    of mean μ(xᵀθ) (logistic, probit), or Poisson counts. Counts that scatter more than Poisson's are outside the theorem.
gamma or half_life
    Discount γ ∈ (0, 1], or the number of rounds after which an observation counts half.
bonus_scale
    Multiplies the bonus; the theory is 1, practice prefers 0.1 to 0.3.
robust, caution
    τ > 0: residuals |r − μ| > τ√(1+‖x‖²_{H⁻¹}) are cut, for rewards that scatter more than the link says. c > 0: every observation has
    weight min(1, c/‖x‖_{H⁻¹}), against corruption (after HCW-GLB-OMD; Kim, Lee, Yun 2026, of which we had the abstract). Outside the proof.
uniform_in_time
    True: all intervals up to the horizon hold at once; "anytime": all there are, no horizon needed (resolution A5).

The index stands on the scale of xᵀθ, since μ is increasing: `Agent.scores` are predictors, not means.
"""

from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Unpack

from ..core.parts import Memory
from ..errors import InvalidValue, positive, require
from ..links import concordance, has_log_concave_slope, law, slopes
from ..memory import Everything
from ..model import OnePass
from ..protocol import settle
from ..radius import MixLoss, PublishedMixLoss
from ..radius.union import UniformInTime, over_time
from ..rule import Bonus
from ..strategy import Optimistic
from .generalized_linear import DISCOUNTED, EVERYTHING, STATIC_ONLY
from .options import discounted, slopes_of, wariness
from .record import algorithm, algorithms_of
from .tuning import DOMD

Constants = Literal["tight", "published"]
Step = Literal["implicit", "explicit"]
Anchor = Literal["ridge", "prox"]

INDEX = "xᵀθ + β‖x‖_{H⁻¹}, θ in one pass"
REACH = 30.0  # |z| up to which a link of your own is checked
SMALL: dict[str, Any] = {"S": 1.0, "L": 1.0, "delta": 0.05}


class OnePassGLM(NamedTuple):
    """A one-pass learner before it is known how many dimensions there are: the published λ = max{14dηM², 6ηMSk_μ} needs d."""

    link: Any
    memory: Any
    S: float
    L: float
    delta: float
    uniform: float
    bonus_scale: float

    def in_dimension(self, d: int) -> Optimistic:
        """The strategy."""
        M, (k_mu, _) = concordance(self.link, self.L * self.S), slopes(self.link, self.L * self.S)
        eta = 1.0 + M * self.L * self.S
        lam = max(14.0 * d * eta * M * M * self.L**2, 6.0 * eta * M * k_mu * self.L**3 * self.S, self.L**2)
        return self.with_ridge(lam)

    def with_ridge(self, lam: float) -> Optimistic:
        """The strategy with a λ of its own."""
        link, S, L = self.link, self.S, self.L
        eta = 1.0 + concordance(link, L * S) * L * S
        radius = PublishedMixLoss(
            lam=lam,
            S=S,
            L=L,
            k_mu=slopes(link, L * S)[0],
            delta=self.delta,
            eta=eta,
            scale=self.bonus_scale,
            uniform=self.uniform,
            **_rewards(link),
        )
        model = OnePass(link=link, lam=lam, S=S, eta=eta, prox=1, explicit=1, projected=1, damped=0)
        return Optimistic(model=model, memory=self.memory, radius=radius, rule=Bonus())


@settle.register(OnePassGLM)
def _(strategy: OnePassGLM, dim: int) -> Optimistic:
    return strategy.in_dimension(dim)


def _rewards(link: Any) -> dict[str, Any]:
    """What the rewards of a link are, for the radius."""
    rewards = law(link)
    return {"top": 1.0} if rewards == "bernoulli" else {"counts": rewards == "poisson"}


def _link(link: Any, S: float, L: float) -> Any:
    """The link, if the theorem covers it."""
    chosen = slopes_of(link, S, L).link
    if not has_log_concave_slope(chosen, REACH):
        raise InvalidValue(
            f"link = {type(chosen).__name__} is not allowed; its μ′ is not log-concave on |z| ≤ {REACH:g}, which the radius assumes"
        )
    return chosen


def _dispersion(link: Any, R: float | None) -> float:
    """φ: R² for the identity link, else 1."""
    if law(link) == "gaussian":
        return 1.0 if R is None else positive("R", R, "it is the sub-Gaussian constant of the noise") ** 2
    if R is not None:
        raise InvalidValue(
            f"R = {R!r} is not allowed with {type(link).__name__}; the noise follows from the link (R is for link='identity')"
        )
    return 1.0


def _one_of(name: str, given: Any, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise InvalidValue(f"{name} = {given!r} is not allowed; it must be {' or '.join(map(repr, allowed))}")


class OnePassOptions(TypedDict):
    """What every one-pass learner takes."""

    link: NotRequired[Any]
    S: float
    L: float
    delta: float
    lam: NotRequired[float | None]
    R: NotRequired[float | None]
    constants: NotRequired[Constants]
    bonus_scale: NotRequired[float]
    robust: NotRequired[float | None]
    caution: NotRequired[float | None]


def _one_pass(
    memory: Memory,
    *,
    link: Any = "logistic",
    S: float,
    L: float,
    delta: float,
    lam: float | None = None,
    R: float | None = None,
    constants: Constants = "tight",
    bonus_scale: float = 1.0,
    robust: float | None = None,
    caution: float | None = None,
    step: Step = "implicit",
    anchor: Anchor = "ridge",
    eta: float | None = None,
    projected: bool = False,
    uniform_in_time: UniformInTime = False,
) -> "Optimistic | OnePassGLM":
    """Play argmax xᵀθ + β‖x‖_{H⁻¹}, with the radius of onepass-proof §2 or GLB-OMD's own constants."""
    _one_of("constants", constants, ("tight", "published"))
    _one_of("step", step, ("implicit", "explicit"))
    _one_of("anchor", anchor, ("ridge", "prox"))
    wary, uniform = wariness(robust, caution), over_time(uniform_in_time)
    chosen = _link(link, S, L)
    phi, M = _dispersion(chosen, R), concordance(chosen, L * S)
    if constants == "published":
        _only_published(step, anchor, eta, projected, any(wary.values()))
        require(phi == 1.0, "R", R, "1 or left out", "the published constants are for dispersion 1")
        whole = OnePassGLM(link=chosen, memory=memory, S=S, L=L, delta=delta, uniform=uniform, bonus_scale=bonus_scale)
        checked = whole.with_ridge(1.0 if lam is None else lam)
        return whole if lam is None else checked
    full = 1.0 + M * L * S  # from this η on, and projected, the slope μ′(z) itself is small enough
    explicit = step == "explicit"
    size = (full if explicit else 1.0) if eta is None else positive("eta", eta, "it is the size of a step")
    ridge = phi * size * L * L if lam is None else lam
    if explicit and lam is None:  # what the proof of the explicit step asks for
        gamma = getattr(memory, "gamma", 1.0)
        ridge = max(ridge, 6.0 * size * M * slopes(chosen, L * S)[0] * L**3 * S / (gamma if anchor == "ridge" else 1.0))
    model = OnePass(
        link=chosen,
        lam=ridge,
        S=S,
        eta=size,
        phi=phi,
        prox=anchor == "prox",
        explicit=explicit,
        projected=projected,
        damped=not (projected and size >= full),
        **wary,
    )
    radius = MixLoss(
        lam=ridge,
        S=S,
        L=L,
        delta=delta,
        eta=size,
        phi=phi,
        anchor=4.0 if anchor == "prox" else 1.0,
        scale=bonus_scale,
        uniform=uniform,
        **_rewards(chosen),
    )
    return Optimistic(model=model, memory=memory, radius=radius, rule=Bonus())


def _only_published(step: Step, anchor: Anchor, eta: float | None, projected: bool, wary: bool) -> None:
    """Refuse options that the published algorithm does not have."""
    if (step, anchor, eta, projected) != ("implicit", "ridge", None, False):
        raise InvalidValue(
            "constants = 'published' sets step, anchor, eta and projected itself; leave them out, or use constants='tight'"
        )
    if wary:
        raise InvalidValue(
            "constants = 'published' has neither robust nor caution; leave them out, or use constants='tight'"
        )


@algorithm(
    family="generalized",
    remembers=EVERYTHING,
    plays=INDEX,
    regret=STATIC_ONLY,
    papers=("zhang2025generalized",),
    example=SMALL,
    tuned_by=DOMD,
    world="logistic",
    defaults_of=_one_pass,
)
def glb_omd(**options: Unpack[OnePassOptions]) -> "Optimistic | OnePassGLM":
    """GLB-OMD: one pass by online mirror descent, in a world that stands still (Zhang, Xu, Zhao, Sugiyama 2025).

        θ_{t+1} = argmin ℓ_t(θ) + (1/2η)‖θ − θ_t‖²_{H_t},   H_{t+1} = H_t + a_t x_t x_tᵀ,   play argmax xᵀθ_t + β_t‖x‖_{H_t⁻¹}

    "tight" is the implicit step with η = 1, the damped slope a_t and the radius of onepass-proof §2 (ours; it holds for all t at
    once). "published" is the algorithm as printed: one linearisation at θ_t, projected onto ‖θ‖ ≤ S, η = 1+MLS, a_t = μ′(x_tᵀθ_{t+1}),
    λ = max{14dηM², 6ηMSk_μ} and its radius. Their λ makes the estimator slow, about 14d²/μ′ rounds; it wins only in a static world with
    bonus_scale = 1 and d ≥ 10.

    Examples
    --------
    >>> strategy = glb_omd(S=1, L=1, delta=0.05)
    >>> strategy.model.lam, strategy.model.eta
    (1.0, 1.0)
    """
    return _one_pass(Everything(), **options)


@algorithm(
    family="generalized",
    remembers=DISCOUNTED,
    plays=INDEX,
    regret="c_μ^{−1/2} d^{3/4} P_T^{1/4} T^{3/4} of Lee and Oh's recursion, γ tuned with P_T; of ours each round's interval is proved",
    papers=("lee2026nonstationary", "zhang2025generalized"),
    example=SMALL | {"gamma": 0.95},
    tuned_by=DOMD,
    world="logistic",
    defaults_of=_one_pass,
)
def domd_glb(
    *,
    gamma: float | None = None,
    half_life: float | None = None,
    step: Step = "implicit",
    anchor: Anchor = "ridge",
    eta: float | None = None,
    projected: bool = False,
    uniform_in_time: UniformInTime = False,
    **options: Unpack[OnePassOptions],
) -> "Optimistic | OnePassGLM":
    """DOMD-GLB: discounted online mirror descent, one pass, for a world that drifts (Lee, Oh 2026; recursion and constants ours).

        Ā_t = γH_t + (1−γ)λI,   Ā_tθ̄_t = γH_tθ_t,   θ_{t+1} = argmin ℓ_t(θ) + (1/2η)‖θ − θ̄_t‖²_{Ā_t},
        H_{t+1} = Ā_t + a_t x_t x_tᵀ,   play argmax xᵀθ_t + β_t‖x‖_{H_t⁻¹},   β_t² = λS² + φη(2 log(1/δ) + Υ_t)

    The rates are theirs; what is computed here, and proven, is onepass-proof §1 and §2. With the identity link θ is that of
    LB-WeightUCB.

    Parameters
    ----------
    step
        "implicit" minimises ℓ_t itself; "explicit" its expansion at θ_t, proven with projected=True and the default η and λ.
    anchor
        "ridge" shrinks as the quasi-likelihood does. "prox" does not: better where S is large and the world slow. Its radius is proven with
        projected=True.
    eta
        Step size; by default 1, for the explicit step 1+MLS. It multiplies the gain: memory is about 1/(η(1−γ)) rounds.
    projected
        Minimise over ‖θ‖ ≤ S, exactly; with η ≥ 1+MLS the slope is then μ′(z) itself, else it is damped.
    constants
        "published" carries GLB-OMD's constants over; then step, anchor, eta and projected are its own.

    Examples
    --------
    >>> domd_glb(half_life=200, S=1, L=1, delta=0.05).radius.lam
    1.0
    """
    own: Any = {"step": step, "anchor": anchor, "eta": eta, "projected": projected}
    return _one_pass(discounted(gamma, half_life), uniform_in_time=uniform_in_time, **own, **options)


__all__ = algorithms_of(__name__)
