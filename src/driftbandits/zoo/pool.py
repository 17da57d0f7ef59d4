"""Baselines and neighbours that restart or pool stationary learners without a theorem for drift: random restarts, dLinUCB."""

from statistics import NormalDist
from typing import Any, Unpack

from ..errors import integer, probability
from ..meta import DLinUCB, RandomRestart
from .bases import any_base
from .linear import SMALL, oful
from .options import PlainRidge, ridge_ucb
from .record import algorithm, algorithms_of


@algorithm(
    family="adaptive",
    remembers="everything since the last restart, at random times",
    plays="what its base plays",
    regret="none: a baseline",
    papers=("gerogiannis2025prior",),
    example={"base": oful(**SMALL), "period": 20},
    world="linear",
)
def random_restart(base: Any, *, period: float) -> RandomRestart:
    """Random restarts: before each round the base forgets everything with probability 1/`period`.

    A baseline for learners that detect changes: what a detector adds must be measured against restarts that know nothing. `base` is any
    strategy for a world that stands still; `period` is the mean number of rounds between restarts. Around a planner, `ucrl_vtr()`, a
    round is an episode of its MDP.

    Examples
    --------
    >>> random_restart(oful(lam=1, S=1, L=1, R=1, delta=0.01), period=200).rate
    0.005
    """
    rounds = integer("period", period, least=1, why="it is the mean number of rounds between restarts")
    return RandomRestart(base=any_base(base, "random_restart"), rate=1.0 / rounds)


@algorithm(
    family="adaptive",
    remembers="per slave, the rounds that it predicted well",
    plays="what the slave of least (badness − √(log τ)·doubt) plays",
    regret="Γ_T^{1/2} T^{1/2} if changes are large and far apart (Wu et al.); constants are theirs",
    papers=("wu2018learning", "abbasi2011improved"),
    example=SMALL | {"tau": 10},
    world="linear",
    defaults_of=ridge_ucb,
)
def dlin_ucb(
    *,
    tau: int = 200,
    delta1: float = 0.01,
    delta2: float = 0.1,
    good: float | None = None,
    bad: float = 0.1,
    slaves: int = 10,
    **options: Unpack[PlainRidge],
) -> DLinUCB:
    """dLinUCB: a pool of LinUCB slaves, made when all predict badly and dropped when they do (Wu, Iyer, Wang 2018).

        slave m fails if |r − xᵀθ̂_m| > β_m‖x‖_{V_m⁻¹} + √2·R·erf⁻¹(1−δ₁), else it learns;   e_m its failures in the last τ rounds, as a
        share play the slave of least e_m − √(log τ)·d_m,   d_m = √(log(1/δ₂)/(2n_m));   new slave if all e_m ≥ d_m + δ̃₁, drop those
        with e_m ≥ d_m + δ̃₂

    After the authors' public code. `good` is δ̃₁, by default δ₁, and `bad` is δ̃₂. At most `slaves` at a time, where the paper has no
    bound: a new one then takes the place of the worst.

    Examples
    --------
    >>> round(dlin_ucb(lam=1, S=1, L=1, R=1, delta=0.01).slack, 4)  # the 99.5 % point of N(0, 1)
    2.5758
    """
    # √2·erf⁻¹(1−δ₁) = −Φ⁻¹(δ₁/2). Importing `scipy.special` for erf⁻¹ would take a fifth of `import driftbandits`.
    slack = -options["R"] * NormalDist().inv_cdf(probability("delta1", delta1) / 2.0)
    return DLinUCB(
        base=oful(**options),
        slack=slack,
        tau=tau,
        delta2=delta2,
        good=delta1 if good is None else good,
        bad=bad,
        places=integer("slaves", slaves, least=1, why="it is the largest number of slaves"),
    )


__all__ = algorithms_of(__name__)
