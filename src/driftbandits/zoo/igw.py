"""IGW-mix: discounted regressions, mixed and explored by inverse gaps, with a theorem. Beyond the paper."""

import math
from typing import Literal, NamedTuple

from ..errors import InvalidValue, integer, positive
from ..meta.igw_mix import KNOWN, NOISE_KNOWN, UNKNOWN, IgwMix
from ..protocol import settle
from ..theory.igw import C0, igw_mix_regret_bound
from .record import algorithm, algorithms_of

UNKNOWN_HORIZON_MEMORIES = 20  # 2, 4, …, 2^20 rounds


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

    def in_dimension(self, d: int) -> IgwMix:
        """The strategy."""
        lam = 2.0 * self.R**2 / (d * self.S**2) if self.lam is None else self.lam
        finite = self.arms is not None
        if self.P is not None and self.horizon is not None:
            budget = igw_mix_regret_bound(
                d=d, T=self.horizon, P=self.P, Q=self.Q, S=self.S, L=self.L, R=self.R, lam=lam, K=self.memories
            ).squared_error
            width = self.arms - 1 if self.arms is not None else 1.0 / (self.kappa * d)
            tuning, rate = KNOWN, math.sqrt(8.0 * width * self.horizon / budget)
        elif self.sigma is not None:
            tuning, rate = NOISE_KNOWN, 1.0
        else:
            tuning, rate = UNKNOWN, C0 / (max(self.R, self.L * self.S) * math.sqrt(self.kappa * d))
            rate = rate if self.c is None else self.c
        return IgwMix(
            memories=self.memories,
            lam=lam,
            S=self.S,
            L=self.L,
            R=self.R,
            finite=float(finite),
            tuning=tuning,
            rate=rate,
            kappa=self.kappa,
            variance=(self.sigma or 0.0) ** 2,
            horizon=float(self.horizon or 0),
        )


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
    )
    options.in_dimension(1)  # refuses now what it would refuse later
    return options


__all__ = algorithms_of(__name__)
