"""The strategy's configuration and everything that changes while it runs."""

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import part
from ...core.linalg import CHUNK, Matrix, Vector
from ...core.state import scratch
from ...errors import require
from ...protocol import Integers, Setting

MEMORIES = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, math.inf)  # of the exponential models, in rounds
EVERY = 2  # of which items take every second: each of them has fewer observations, and a matrix per memory
MANY = 32  # and so does a learner of more features than that: each memory costs d², and short ones know little
RATES = (1e-2, 1e-3, 1e-5)  # of the random walks: the share of the prior's variance added per round is rate·λ
RIDGE = 0.3  # λ = RIDGE·d to start with
ITEM_RIDGE = 0.125  # the same of items
PER_ITEM = 2.0  # a memory of fewer rounds per item has forgotten most of them
EVENTS = 64  # so many drift events are kept
BANKS = 3
EXPONENTIAL, STATIC, WALK = 0, 1, 2

# Solvers take the whole state by value, so that an array for each number and each vector would cost 7 % of a round: places have names.
# In `now`: numbers that change.
(
    CLOCK,  # rounds passed: decisions made, and observations that came without one
    SEEN,  # observations
    NEXT,  # checkpoint, in observations
    REWARDS,  # their total weight, mean and sum of squared deviations
    REWARD_MEAN,
    REWARD_SQUARES,
    LAM,  # precision of the prior: of slopes, of the intercept
    LAM_INTERCEPT,
    ORIGIN,  # 1: no intercept
    GAUSSIAN,  # lead of Gauss over Student in nats
    ERRORS,  # weight of the errors averaged
    BEYOND_1,  # and of those beyond one and two standard deviations
    BEYOND_2,
    DRAWN,  # 1: the randomness of the coming decision is drawn
    COUNT,  # features seen
    EVENT,  # drift events
    SPREAD,  # precision of the static bank's prior with items: how much do they differ? of slopes, of intercepts
    SPREAD_INTERCEPT,
) = range(18)
NUMBERS = 18

TICKETS = 256  # so many decisions may be open and still count in the duel of the banks
ROUND, DISAGREED, PROPENSITY, CHOSEN, GREEDY = 0, 1, 2, 3, 4  # places in a ticket; one GREEDY per bank

BANK, CHECK, PICK, EXPLORE = range(
    4
)  # places in the uniform draws: which bank, check or not, which of equals, uniform or not
DRAWS = 4


# In `Work.vectors`: Σ w y z and m̄ in candidate coordinates, VΔ, the coordinates of one arm, the change Δ of m̄, and U⁻ᵀb or VΔ.
MOMENT, OFFSET, PRODUCT, ARM, CHANGE, HALF = range(6)
LOW, STEP = range(2)  # in `Work.line`: the score of an arm at ξ = 0, and what ξ = 1 adds
OF_CHOICE, OF_CHECK = range(2)  # in `Work.p`: weights of the arms


@part
class SelfTuning(NamedTuple):
    """Banks of forgetting models that judge each other; `disjoint` 1: one model per item, `explore` ε: propensities ≥ ε/n."""

    reward: Any
    disjoint: float
    explore: float

    def check(self) -> None:
        """ε is a probability."""
        require(0.0 <= self.explore < 1.0, "explore", self.explore, "in [0, 1)", "it is the share of uniform choices")


class Scale(NamedTuple):
    """The features' statistics, and the coordinates z = (1, clip((x−μ)/s, ±4)) in use."""

    mean: Vector  # (d,) of all features seen
    square: Vector  # (d,) sum of squared deviations
    mu: Vector  # (d,)
    sd: Vector  # (d,)
    offset: Vector  # (p,) m̄: what all blocks have in common; rewards are r = zᵀm̄ + y


class Models(NamedTuple):
    """Exponential models m < E keep V and b; all keep P and θ. One block per item, or one for all arms."""

    V: Matrix  # (E, B, p, p)  Σ w zzᵀ
    b: Matrix  # (E, B, p)     Σ w y z
    yy: Matrix  # (E, B)       Σ w y²
    n: Matrix  # (M, B)        Σ w
    P: Matrix  # (M, B, p, p)
    theta: Matrix  # (M, B, p)
    since: Matrix  # (E, B)    observations since P was computed from V
    last: Vector  # (B,)       the round up to which a block has faded
    alive: Vector  # (B,)      0: dropped


class Evidence(NamedTuple):
    """What forecasts have shown."""

    weight: Vector  # (M,) adds up to 1 in each bank
    error: Vector  # (M,) 500-round sum of e²
    forecast: Vector  # (M,)
    q: Vector  # (M,)
    score: Vector  # (M,) log scores of the last forecasts
    current: Integers  # (BANKS,) the model each bank plays with
    noise: Vector  # (BANKS,) σ̂²
    refuted: Vector  # (M,) how often each started anew
    events: Vector  # (EVENTS,) rounds in which the memory that forgets nothing did so


class Duel(NamedTuple):
    """What rewards have shown of the banks."""

    sums: Matrix  # (3, BANKS) Σw, Σwr, Σw²
    rho: Vector  # (BANKS,) the probability that a bank decides
    tickets: Matrix  # (TICKETS, GREEDY+BANKS) of the last decisions: round, disagreed, propensity, arm, was it the bank's greedy one


class Draw(NamedTuple):
    """The randomness of the coming decision."""

    u: Vector  # (DRAWS,)
    xi: Vector  # (1,)


@scratch
class Work(NamedTuple):
    """Room for n arms, and for one matrix."""

    Z: Vector  # (p·n,)
    mean: Matrix  # (BANKS, n)
    sd: Vector  # (n,)
    line: Matrix  # (2, n) LOW, STEP
    p: Matrix  # (2, n) OF_CHOICE, OF_CHECK
    key: Vector  # (n,)
    chunk: Matrix  # (p, CHUNK)
    A: Matrix  # (p, p)
    U: Matrix  # (p, p)
    W: Matrix  # (p, p)
    T: Matrix  # (2, 2, p) two candidate coordinates: shift and stretch
    vectors: Matrix  # (6, p) MOMENT, …
    Pz: Matrix  # (M, p) of the observation at hand


class SelfTuningState(NamedTuple):
    """Everything."""

    now: Vector  # (NUMBERS,)
    gamma: Vector  # (E,) of the exponential models, longest last, then 1 for the static one
    rate: Vector  # (M−E,) of the random walks, slowest last
    bank: Integers  # (M,)
    scale: Scale
    models: Models
    evidence: Evidence
    duel: Duel
    draw: Draw
    x: Vector  # (d,) the features last chosen
    value: Vector  # (1,) the score of the last choice
    work: Work


def first_state(strategy: SelfTuning, setting: Setting) -> SelfTuningState:
    """The state before round 1."""
    d = setting.dim
    p, B = d + 1, setting.items if strategy.disjoint else 1
    memories = memories_of(d, B if strategy.disjoint else 0)
    lam = (ITEM_RIDGE if strategy.disjoint else RIDGE) * d
    gamma = np.array([1.0 - 1.0 / m for m in memories] + [1.0])
    E, M = len(gamma), len(gamma) + len(RATES)
    bank = np.array([EXPONENTIAL] * (E - 1) + [STATIC] + [WALK] * len(RATES))
    now = np.zeros(NUMBERS)
    now[NEXT], now[LAM], now[LAM_INTERCEPT], now[GAUSSIAN] = 1.0, lam, 1.0, -10.0
    now[SPREAD], now[SPREAD_INTERCEPT] = lam, 1.0
    P = np.zeros((M, B, p, p))
    P[:] = np.diag(1.0 / np.array([1.0] + [lam] * d))
    return SelfTuningState(
        now=now,
        gamma=gamma,
        rate=np.array(RATES),
        bank=bank,
        scale=Scale(np.zeros(d), np.zeros(d), np.zeros(d), np.ones(d), np.zeros(p)),
        models=Models(
            V=np.zeros((E, B, p, p)),
            b=np.zeros((E, B, p)),
            yy=np.zeros((E, B)),
            n=np.zeros((M, B)),
            P=P,
            theta=np.zeros((M, B, p)),
            since=np.zeros((E, B)),
            last=np.zeros(B),
            alive=np.ones(B),
        ),
        evidence=Evidence(
            weight=1.0 / np.bincount(bank)[bank],
            error=np.zeros(M),
            forecast=np.zeros(M),
            q=np.zeros(M),
            score=np.zeros(M),
            current=np.array([E - 2, E - 1, M - 1]),
            noise=np.zeros(BANKS),
            refuted=np.zeros(M),
            events=np.zeros(EVENTS),
        ),
        duel=Duel(np.zeros((3, BANKS)), np.zeros(BANKS), np.zeros((TICKETS, GREEDY + BANKS))),
        draw=Draw(np.zeros(DRAWS), np.zeros(1)),
        x=np.zeros(d),
        value=np.zeros(1),
        work=room(M, p, max(B, setting.arms.shape[1], 1)),
    )


def memories_of(dim: int, items: int) -> list[float]:
    """The exponential memories that can tell `dim` numbers, and items, apart."""
    grid = MEMORIES[::EVERY] if items or dim > MANY else MEMORIES
    return [m for m in grid if m >= max(dim / 2.0, PER_ITEM * items)]


def room(models: int, p: int, n: int) -> Work:
    """Workspace for n arms."""
    return Work(
        Z=np.zeros(p * n),
        mean=np.zeros((BANKS, n)),
        sd=np.zeros(n),
        line=np.zeros((2, n)),
        p=np.zeros((2, n)),
        key=np.zeros(n),
        chunk=np.zeros((p, CHUNK)),
        A=np.zeros((p, p)),
        U=np.zeros((p, p)),
        W=np.zeros((p, p)),
        T=np.zeros((2, 2, p)),
        vectors=np.zeros((6, p)),
        Pz=np.zeros((models, p)),
    )
