"""IGW-mix: discounted regressions, mixed and explored by inverse gaps, with a theorem. Beyond the paper."""

import math
from typing import Any, Literal, NamedTuple, cast

from ..errors import InvalidValue, integer, positive
from ..meta.exp3ix import Exp3IX
from ..meta.igw_mix import BLOCKS, KNOWN, NOISE_KNOWN, UNKNOWN, GaussianForecasts, IgwMix, LogisticForecasts
from ..protocol import settle
from ..theory.igw import default_rate, eta_grid, igw_mix_regret_bound, logistic_curvature
from ..util.notebook import shown_as_boxes
from .record import algorithm, algorithms_of

UNKNOWN_HORIZON_MEMORIES = 20  # 2, 4, …, 2^20 rounds


@shown_as_boxes
class OpenIgwMix(NamedTuple):
    """`igw_mix` before it is known how many dimensions there are."""

    horizon: int | None
    P: float | None
    Q: float | None
    S: float
    L: float
    R: float
    arms: int | None
    lam: float | None
    kappa: float
    sigma: float | None
    c: float | None
    memories: int

    reward: str
    oblivious: bool

    def in_dimension(self, d: int) -> IgwMix:
        """The strategy."""
        click = self.reward == "click"
        curvature = logistic_curvature(self.L * self.S)
        family = LogisticForecasts(curvature=curvature) if click else GaussianForecasts(R=self.R)
        lam = (1.0 if click else 2.0 * self.R**2) / (d * self.S**2) if self.lam is None else self.lam
        tuning, rate, options = self._tuned(d, lam)
        return IgwMix(
            family=family,
            exp3=Exp3IX(options=float(options), plays=float(math.ceil(math.sqrt(self.horizon or 1)))),
            memories=self.memories,
            lam=lam,
            S=self.S,
            L=self.L,
            finite=float(self.arms is not None),
            tuning=tuning,
            rate=rate,
            kappa=self.kappa,
            variance=(self.sigma or 0.0) ** 2,
            horizon=float(self.horizon or 0),
        )

    def _tuned(self, d: int, lam: float) -> tuple[float, float, int]:
        """How η is found, the number that this needs, and among how many Exp3.IX chooses."""
        norms: Any = {"S": self.S, "L": self.L, "R": self.R}
        if self.P is not None and self.horizon is not None:
            given: Any = {"d": d, "T": self.horizon, "P": self.P, "Q": self.Q, "lam": lam, "K": self.memories, **norms}
            budget = igw_mix_regret_bound(**given, A=self.arms, reward=cast(Any, self.reward)).squared_error
            width = self.arms - 1 if self.arms is not None else 1.0 / (self.kappa * d)
            return KNOWN, math.sqrt(8.0 * width * self.horizon / budget), 1
        if self.sigma is not None:
            return NOISE_KNOWN, 1.0, 1
        if self.oblivious and self.horizon is not None:
            return BLOCKS, *eta_grid(d=d, T=self.horizon, kappa=self.kappa, **norms)
        if self.c is not None:
            return UNKNOWN, self.c, 1
        reward = cast(Any, self.reward)
        M = self.L * self.S
        return UNKNOWN, default_rate(d=d, A=self.arms, R=self.R, M=M, kappa=self.kappa, reward=reward), 1


@settle.register(OpenIgwMix)
def _(strategy: OpenIgwMix, dim: int) -> IgwMix:
    return strategy.in_dimension(dim)


@algorithm(
    family="adaptive",
    remembers="γ^age with memories 2, 4, 8, …, mixed by their forecasts",
    plays="a draw by inverse gaps on a certified design",
    regret="d T^{1/2} + d^{5/6} P_T^{1/3} T^{2/3} with P_T known, arms changing; d^{1/2} T^{2/3} (1 + (d P_T)^{2/3}) with nothing known",
    example={"S": 1.0, "L": 1.0, "R": 0.5},
    world="linear",
    bound="igw_mix_regret_bound",
)
def igw_mix(
    *,
    S: float = 1.0,
    L: float = 1.0,
    R: float = 1.0,
    horizon: int | None = None,
    P: float | None = None,
    Q: float | None = None,
    form: Literal["linear", "finite"] = "linear",
    arms: int | None = None,
    sigma: float | None = None,
    lam: float | None = None,
    kappa: float = 2.0,
    c: float | None = None,
    memories: int | None = None,
    reward: Literal["value", "click"] = "value",
    oblivious: bool = False,
) -> OpenIgwMix:
    """IGW-mix: a mixture of the paper's weighted regressions, explored by inverse gaps; with a theorem, whatever the arms do.

        ŷ = xᵀΣw_kθ̂_k;   p(x) = q(x)/(1 + η·gap(x)), q a design certified for what is played;   w by fixed share, α_t = 1/(t+1)

    docs/igw.md states the theorem and its proof; `theory.igw_mix_regret_bound` is the bound as a number, `info()["kappa"]` the largest
    certificate so far.

    Parameters
    ----------
    S, L, R
        Bounds on ‖θ‖, ‖x‖ and the noise (sub-Gaussian).
    horizon, P, Q
        T and the path length (and Σ of squared steps): η is then tuned, Theorem 1 (a). Without P: η_t = c·t^{1/3}, (b).
    form, arms
        "finite" ignores what arms have in common and needs their number A; "linear" does not.
    sigma
        The noise's standard deviation, if it is known exactly and the same in every round; with `horizon`, Theorem 1 (c).
    lam
        λ; by default 2R²/(dS²).
    kappa
        κ̄, an upper bound on the design's certificates; 2 always holds.
    memories
        K; by default ⌈log₂T⌉, or 20.
    reward
        "value", or "click" for rewards 0 and 1 with mean 1/(1 + e^{−xᵀθ}): online Newton experts, the finite form, no R (§8.1).
    oblivious
        True if the world does not answer to what is played: with `horizon` alone, Exp3.IX finds η, Theorem 1 (d).

    Examples
    --------
    >>> import driftbandits as db
    >>> world = db.env.linear(db.env.redrawn_arms(10, dim=2, seed=0), db.env.rotating(500), noise=1.0)
    >>> run = db.simulate(db.zoo.igw_mix(horizon=500, P=6.3), world, seed=0)
    >>> 1.0 <= run.info["kappa"] <= 2.0
    True
    """
    if form not in ("linear", "finite"):
        raise InvalidValue(f"form = {form!r} is not allowed; it must be 'linear' or 'finite'")
    if (form == "finite") != (arms is not None):
        raise InvalidValue(
            f"arms = {arms!r} with form = {form!r}; the finite form needs the number of arms, the linear none"
        )
    if P is not None and horizon is None:
        raise InvalidValue(f"P = {P!r} needs the horizon T: η is tuned with both")
    if sigma is not None and (horizon is None or form == "finite"):
        raise InvalidValue("sigma needs the horizon T and the linear form (Theorem 1 (c))")
    if reward not in ("value", "click"):
        raise InvalidValue(f"reward = {reward!r} is not allowed; it must be 'value' or 'click'")
    if reward == "click" and (form != "finite" or oblivious or sigma is not None):
        raise InvalidValue(
            "reward='click' is proved for form='finite' with P known or nothing known: no sigma, not oblivious"
        )
    if oblivious and (horizon is None or P is not None or sigma is not None or form == "finite"):
        raise InvalidValue(
            "oblivious=True needs the horizon T, the linear form, and neither P nor sigma (Theorem 1 (d))"
        )
    T = None if horizon is None else integer("horizon", horizon, least=2, why="it is the number of rounds T")
    K = UNKNOWN_HORIZON_MEMORIES if T is None else math.ceil(math.log2(T))
    options = OpenIgwMix(
        horizon=T,
        P=P,
        Q=Q,
        S=positive("S", S, "it bounds ‖θ‖"),
        L=positive("L", L, "it bounds ‖x‖"),
        R=positive("R", R, "it bounds the noise"),
        arms=None if arms is None else integer("arms", arms, least=2, why="it is their number A"),
        lam=lam,
        kappa=kappa,
        sigma=None if sigma is None else positive("sigma", sigma, "it is the noise's standard deviation"),
        c=None if c is None else positive("c", c, "it scales η_t"),
        memories=K if memories is None else integer("memories", memories, least=1, why="it is their number K"),
        reward=reward,
        oblivious=bool(oblivious),
    )
    options.in_dimension(1)  # refuses now what it would refuse later
    return options


__all__ = algorithms_of(__name__)
