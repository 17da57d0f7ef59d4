r"""The open functions that make a learner, with their contracts; the rules live with the parts.

A learner repeats, in rounds t = 1, 2, …: choose an arm x_t from the arms on offer, see the reward r_t. Four parts make it:

=========  ==========================  =====================================================
part       question                    open functions it answers
=========  ==========================  =====================================================
memory     what is forgotten?          `keep`, `remember`, `capacity`
model      what is estimated, how?     `sums_of`, `estimate_of`, `estimate`, `mean`
radius     how sure are we?            `beta`
rule       how do we choose?           `workspace`, `anticipate`, `prepare`, `renew`, `choose`, `index`
=========  ==========================  =====================================================

A *strategy* (`Optimistic`, or a meta-strategy around it) answers `start`, `ready`, `act`, `scores`, `learn`;
`estimator` and `describe` let a user look inside. None of the four parts imports another: what one needs of another
arrives as an argument.

State is a tree of named tuples of arrays, mutated in place. A number that changes is a one-element array.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernel import generic
from .linalg import Matrix, Vector

Integers = NDArray[np.int64]
NO_SLOT = -1  # the arms on offer change: an observation belongs to no known arm


class Setting(NamedTuple):
    """What a strategy may know before round 1.

    `arms` (d, n) when the same arms are on offer in every round, else (d, 0); `horizon` T, or 0 if it is not known.
    """

    dim: int
    arms: Matrix
    horizon: int


class Limits(NamedTuple):
    """What a guarantee assumes of arms and rewards; infinite where nothing is assumed."""

    L: float  # ‖x‖₂ ≤ L
    low: float  # reward ≥ low
    high: float  # reward ≤ high


class History(NamedTuple):
    """What a memory keeps of the raw past: for a window, a ring of its W last observations; else nothing."""

    clock: Integers  # (1,) observations seen
    x: Matrix  # (W, d)
    r: Vector  # (W,)
    slot: Integers  # (W,)


class Moments(NamedTuple):
    """The weighted past of a linear learner."""

    n: Vector  # (2,)    Σ w_s and Σ w_s²
    A: Matrix  # (d, d)  Σ w_s x_s x_sᵀ = V − λI
    A2: Matrix  # (d, d)  Σ w_s² x_s x_sᵀ = Ṽ − λI, or (0, 0) where no part asks for it
    b: Vector  # (d,)    Σ w_s r_s x_s


class Estimate(NamedTuple):
    """θ̂ and the Cholesky factors (upper triangular, V = UᵀU) that measure its uncertainty."""

    theta: Vector  # (d,)
    factor: Matrix  # (d, d)  of V
    factor2: Matrix  # (d, d)  of Ṽ, or (0, 0) where no part asks for it


# ----------------------------------------------------------------------------------------------------------------- memory


@generic
def keep(memory: Any, dim: int) -> History:
    """Allocate what the memory keeps of the raw past. (Python only.)"""


@generic
def capacity(memory: Any, horizon: int) -> int:
    """How many past observations can have weight ≥ 1e-12; 0 if there is no bound. (Python only.)"""


@generic
def remember(memory: Any, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    """Fold the observation (x, r) into the weighted sums, forgetting as the memory says.

    Returns g ∈ [0, 1]: if g > 0 then V_new ⪰ g·V_old + (1−g)·λI + xxᵀ, which lets a rule carry its bounds over; g = 0 promises
    nothing but V_new ⪰ λI.
    """


# ------------------------------------------------------------------------------------------------------------ weighted sums


@generic
def fade(sums: Any, g: float) -> None:
    """Multiply the weight of every past observation by g (squared weights by g²); g = 0 forgets all."""


@generic
def absorb(sums: Any, x: Vector, r: float, slot: int, sign: float) -> None:
    """Add (sign = 1) or take back (sign = −1) an observation of weight 1."""


@generic
def grow(holder: Any) -> Any:
    """The weighted sums, or a strategy's state, with more room if they are full; else themselves. (Python only; optional.)

    Only an agent that does not know its horizon needs it: a model that keeps raw observations cannot know how many will come.
    """


# ------------------------------------------------------------------------------------------------------------------ model


@generic
def sums_of(model: Any, setting: Setting, room: int, squares: bool) -> Any:
    """Allocate the weighted sums the model estimates from. (Python only.)

    `room` is the memory's capacity for raw observations (0: unbounded); `squares` asks for Σ w² x xᵀ too.
    """


@generic
def estimate_of(model: Any, setting: Setting, squares: bool) -> Any:
    """Allocate the estimate: a tuple with at least the fields of `Estimate`. (Python only.)"""


@generic
def estimate(model: Any, sums: Any, est: Any) -> None:
    """Refresh the estimate from the sums."""


@generic
def mean(model: Any, z: float) -> float:
    """Expected reward at linear predictor z = xᵀθ; increasing in z."""


# --------------------------------------------------------------------------------------------------- wishes of radius and rule


@generic
def wants_squares(part: Any) -> bool:
    """Does this radius or rule need Σ w² x xᵀ and its factor? (Python only.)"""


@generic
def wants_horizon(radius: Any) -> bool:
    """Does this radius need to know T? (Python only.)"""


# ----------------------------------------------------------------------------------------------------------------- radius


@generic
def beta(radius: Any, n: Vector, est: Any, horizon: int) -> float:
    """Width of the confidence interval in units of the rule's norm, all factors included, from n = (Σw, Σw²)."""


# ------------------------------------------------------------------------------------------------------------------- rule


@generic
def workspace(rule: Any, setting: Setting) -> Any:
    """Allocate what the rule keeps between and within rounds: a tuple with at least `value` (1,). (Python only.)"""


@generic
def anticipate(rule: Any, est: Any, work: Any, x: Vector) -> None:
    """Note what the rule needs of the old estimate before x is folded into it."""


@generic
def prepare(rule: Any, model: Any, sums: Any, est: Any, work: Any, g: float) -> None:
    """Digest a new estimate, after `anticipate(x)` and a `remember(x)` that returned g; g = 0 in round 1."""


@generic
def renew(rule: Any, est: Any, width: float, work: Any, rng: np.random.Generator) -> None:
    """Draw the randomness of the coming decision; nothing for deterministic rules."""


@generic
def choose(
    rule: Any,
    model: Any,
    sums: Any,
    est: Any,
    width: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    """Index of the arm to play among the columns of `arms` (d, n).

    `width` is the radius β. `score` (n,) is scratch. Sets work.value[0] to the index of the choice.
    """


@generic
def index(rule: Any, model: Any, sums: Any, est: Any, width: float, work: Any, arms: Matrix, score: Vector) -> None:
    """The rule's exact index of every arm, into `score` (n,)."""


# --------------------------------------------------------------------------------------------------------------- strategy


@generic
def settle(strategy: Any, dim: int) -> Any:
    """The strategy for this dimension, where a default depends on it. (Python only; optional.)"""


def settled(strategy: Any, dim: int) -> Any:
    """What runs in this dimension: the strategy itself, unless something of it was left open."""
    return settle(strategy, dim) if settle.knows(type(strategy)) else strategy


@generic
def start(strategy: Any, setting: Setting, rng: np.random.Generator) -> Any:
    """Allocate the state before round 1. (Python only.)"""


@generic
def ready(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    """Draw all randomness the coming decision needs; drawing twice before a decision changes nothing."""


@generic
def act(strategy: Any, state: Any, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    """Index of the arm to play. `score` (n,) is scratch."""


@generic
def scores(strategy: Any, state: Any, arms: Matrix, score: Vector) -> None:
    """The exact index of every arm, into `score` (n,); call `ready` first."""


@generic
def optimism(strategy: Any, state: Any) -> float:
    """The index of the arm last chosen."""


@generic
def learn(strategy: Any, state: Any, x: Vector, r: float, slot: int) -> None:
    """Learn from the observation (x, r); slot is the arm's position in the setting's arms, or `NO_SLOT`."""


@generic
def limits(part: Any) -> Limits:
    """What the guarantee of a radius or a strategy assumes of its input. (Python only.)"""


@generic
def estimator(strategy: Any, state: Any) -> Vector:
    """The current estimate of θ, (d,). (Python only.)"""


@generic
def describe(strategy: Any, state: Any) -> dict[str, Any]:
    """What a user may want to know about the state: plain numbers, strings and arrays by name. (Python only.)"""


@generic
def report(part: Any, own: Any) -> dict[str, Any]:
    """What a model tells of its estimate, or a rule of its workspace, for `describe`. (Python only; optional.)"""


@generic
def trace(strategy: Any, state: Any) -> dict[str, Any]:
    """Quantities worth a curve over time, if the strategy has any. (Python only; optional.)"""
