"""Strategies for worlds whose rate of drift is unknown: MASTER and Bandits-over-Bandits, made of other strategies.

All arguments except a base are keyword-only.
"""

import math
from typing import Any, Unpack

import numpy as np

from ..errors import InvalidValue, integer, positive
from ..links import law, link_of
from ..meta import Bob, Exp3IX, Master
from ..meta.bob import candidates
from ..meta.master import expected_reward
from ..protocol import limits
from .generalized_linear import glb_weight_ucb
from .linear import SMALL, lb_weight_ucb, oful
from .options import Bounds, Estimator, GLMBounds, glm_bonus, noise_of, ridge_ucb, slopes_of
from .record import algorithm, algorithms_of
from .tuning import GLB, LB

OWN_CHOICE = "what the γ in use plays"
NO_THEOREM = "no theorem is claimed"
SIZES: dict[str, Any] = {"horizon": 40, "dim": 3, "lam": 1.0, "S": 1.0, "L": 1.0}


@algorithm(
    family="adaptive",
    remembers="fresh starts on many time scales",
    plays="what the shortest live instance plays",
    regret="min{d (Γ_T T)^{1/2}, d P_T^{1/3} T^{2/3}}",
    papers=("wei2021nonstationary", "gerogiannis2025prior"),
    example={"base": oful(**SMALL), "horizon": 40},
    world="linear",
)
def master(
    base: Any,
    *,
    first_order: int = 0,
    horizon: int,
    delta: float | None = None,
    bonus_factor: float = 1.0,
    test_scale: float = 1.0,
) -> Master:
    """MASTER: instances of `base` on many time scales, restarted when a test fails (Wei and Luo 2021).

        blocks of 2^n rounds, n = n₀, n₀+1, …;  in each, random instances of all lengths 2^m ≤ 2^n;  the shortest plays

    With the published constants (test_scale = 1) no test can fail in a run of ordinary length: even the least
    admissible ρ(t) = 1/√t gives ρ̂(6000) ≥ 18, and a test compares numbers in [0, 1] (resolution F1). What is left is
    the random schedule of fresh starts. A small test_scale makes the tests active, at the price of the theorem.

    Parameters
    ----------
    base
        A strategy for a world that stands still: `oful`, `glm_ucb`, `log_ucb1`, …
    first_order
        n₀: the first block, and the first after a restart, has 2^n₀ rounds.
    horizon
        T in the constants of the tests. A run may go on beyond it; blocks then grow no further.
    delta
        Failure probability in the tests; by default 1/T.
    bonus_factor
        Multiplies the base's bonus, not the ρ of the tests: 1 keeps it as it is alone, 2 is Wei and Luo's.
    test_scale
        Multiplies ρ̂ in both tests.

    Examples
    --------
    >>> import driftbandits as db
    >>> strategy = db.zoo.master(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.001), horizon=500)
    >>> world = db.env.linear(db.env.unit_arms(10, dim=2, seed=0), db.env.rotating(500))
    >>> db.simulate(strategy, world, seed=0).info["blocks"][:4].tolist()
    [[1, 0], [2, 1], [4, 2], [8, 3]]
    """
    T = integer("horizon", horizon, least=1, why="it is the number of rounds T")
    low, high = _reward_range(base)
    return Master(
        base=_widened(base, bonus_factor),
        horizon=T,
        first_order=first_order,
        delta=1.0 / max(T, 2) if delta is None else delta,
        low=low,
        span=high - low,
        test_scale=test_scale,
        bonus_factor=bonus_factor,
    )


@algorithm(
    family="adaptive",
    remembers="γ^age, γ drawn by Exp3.IX for each block",
    plays=OWN_CHOICE,
    regret="d^{3/4} P_T^{1/4} T^{3/4} + d^{1/2} T^{3/4}",
    theorem="appendix on BOB",
    papers=("cheung2019learning", "neu2015explore"),
    bound="bob_regret_bound",
    tuned_by=LB,
    example=SIZES | {"R": 0.5},
    world="linear",
    defaults_of=ridge_ucb,
)
def bob(*, horizon: int, dim: int, delta: float | None = None, **options: Unpack[Bounds]) -> Bob:
    """BOB: Exp3.IX chooses the γ of LB-WeightUCB, block by block (Wang, Zhao, Zhou; appendix on BOB).

        Δ = ⌈d√T⌉ rounds per block;   γ_i = 1 − d^{−1/2}·2^{1−i},  i = 1..N,  N = ⌈log₂(T/√d)⌉ + 1

    δ is by default the proof's 1/((2N+1)T). With T = 6000 there are 39 blocks for 14 candidates: Exp3.IX stays close to
    uniform, and the bound (`theory`) says as much.

    Examples
    --------
    >>> strategy = bob(horizon=6000, dim=2, lam=2, S=1, L=1, R=1)
    >>> strategy.block, strategy.exp3
    (155.0, Exp3IX(options=14.0, plays=39.0))
    """
    T, d, N = _bob_sizes(horizon, dim)
    slow = float(candidates(d, N, T)[-1])
    base = lb_weight_ucb(gamma=slow, delta=_bob_delta(delta, N, T), **options)
    return _bob(base, T, d, N, options["L"] * options["S"], options["R"], 0.0)


@algorithm(
    family="adaptive",
    remembers="γ^age, γ drawn by Exp3.IX for each block",
    plays=OWN_CHOICE,
    regret="none stated (BOB's theorem is for linear rewards)",
    papers=("cheung2019learning", "neu2015explore"),
    tuned_by=GLB,
    example=SIZES | {"lam": 2.0},
    world="logistic",
    defaults_of=glm_bonus,
)
def bob_glm(
    *,
    horizon: int,
    dim: int,
    lam: float | None = None,
    delta: float | None = None,
    m: float = 1.0,
    estimator: Estimator | None = None,
    **options: Unpack[GLMBounds],
) -> Bob:
    """BOB over GLB-WeightUCB, for rewards in [0, m]: the same blocks and candidates, loss ℓ = 1 − Y/(mΔ) of a block.

    λ is by default the theorem's d/c_μ². `estimator` is that of `glb_weight_ucb`.

    Examples
    --------
    >>> bob_glm(horizon=6000, dim=2, S=1, L=1).block
    155.0
    """
    T, d, N = _bob_sizes(horizon, dim)
    positive("m", m, "it is the largest reward")
    link, S, L = options.get("link", "logistic"), options["S"], options["L"]
    ridge = d / slopes_of(link, S, L).c ** 2 if lam is None else lam
    slow = float(candidates(d, N, T)[-1])
    base = glb_weight_ucb(gamma=slow, lam=ridge, delta=_bob_delta(delta, N, T), estimator=estimator, **options)
    return _bob(base, T, d, N, L * S, noise_of(link_of(link), options.get("R")), m)


def _bob_sizes(horizon: int, dim: int) -> tuple[int, int, int]:
    """T, d and the number N of candidates."""
    T = integer("horizon", horizon, least=1, why="it is the number of rounds T")
    d = integer("dim", dim, least=1, why="it is the number of features d")
    return T, d, max(math.ceil(math.log2(T / math.sqrt(d))) + 1, 1)


def _bob_delta(delta: float | None, N: int, T: int) -> float:
    return 1.0 / ((2 * N + 1) * T) if delta is None else delta


def _bob(base: Any, T: int, d: int, N: int, reach: float, noise: float, top: float) -> Bob:
    block = math.ceil(d * math.sqrt(T))
    return Bob(
        base=base,
        exp3=Exp3IX(options=N, plays=math.ceil(T / block)),
        horizon=T,
        dim=d,
        block=block,
        reach=reach,
        noise=noise,
        top=top,
    )


def _reward_range(base: Any) -> tuple[float, float]:
    """Where rewards lie: [0, 1] for binary ones, the range that the base assumes, else μ(−LS)..μ(LS)."""
    if not hasattr(base, "model"):
        raise InvalidValue(
            f"base = {type(base).__name__} is not allowed; it must be made of parts, like oful: MASTER widens its radius"
        )
    known = limits(base)
    if np.isfinite(known.low) and np.isfinite(known.high):
        return known.low, known.high
    if law(getattr(base.model, "link", None)) == "bernoulli":
        return 0.0, 1.0
    S = getattr(getattr(base.model, "projection", base.radius), "S", None)
    if S is None:
        raise InvalidValue(
            f"{type(base.radius).__name__} has no bound S on ‖θ‖; MASTER needs it: its tests scale rewards to [0, 1]"
        )
    return expected_reward(base.model, -known.L * S), expected_reward(base.model, known.L * S)


def _widened(base: Any, factor: float) -> Any:
    """The base with its bonus multiplied."""
    positive("bonus_factor", factor, "it multiplies the base's bonus; 2 is Wei and Luo's")
    if factor == 1.0:
        return base
    if not hasattr(base.radius, "scale"):
        raise InvalidValue(f"{type(base.radius).__name__} has no scale; bonus_factor = {factor!r} cannot multiply it")
    return base._replace(radius=base.radius._replace(scale=base.radius.scale * factor))


__all__ = algorithms_of(__name__)
