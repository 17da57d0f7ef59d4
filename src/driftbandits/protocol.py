r"""The open functions that make a learner: their contracts, and what a part does unless it says otherwise.

A learner repeats, in rounds t = 1, 2, …: choose an arm x_t from the arms on offer, see the reward r_t. Four parts make it. A part answers
open functions with its *methods*; the functions in the last column have a default, so that a new part answers only those it must.

========  =======================  ==========================  ========================================================================
part      question                 must answer                 may answer
========  =======================  ==========================  ========================================================================
memory    what is forgotten?       `elapse`, `recall`          `remember`, `blank_history`, `capacity`, `occupied`, `takes_back`
model     what is estimated, how?  `estimate`                  `blank_sums`, `blank_estimate`, `mean`, `merit`, `promise`, `linearises`,
                                                               `report`
radius    how sure are we?         `beta`, `limits`            `wants_squares`, `wants_horizon`, `anytime`
rule      how do we choose?        `index`                     `choose`, `blank_work`, `anticipate`, `prepare`, `renew`,
                                                               `wants_squares`, `report`
strategy  all of it                `start`, `act`, `scores`,   `ready`, `settle`, `describe`, `trace`, `grow`, `widen`, `make_room`,
                                   `learn`, `limits`           `size`, `sound`, `exact_when_late`
sums      the weighted past        `fade`, `absorb`            `grow`, `widen`, `gained`
========  =======================  ==========================  ========================================================================

Without a default and only for what they allow: `estimator` (Agent.theta), `ellipsoid` (its picture), `optimism` (bases of MASTER),
`propensities` (a random choice), `skip`, `learn_late` and `hears` (late rewards), `noise_size` (rewards of known noise), `add_item` and
`drop_item` (a model per item), `conditioning` (warnings).

`Optimistic` makes a strategy of the four parts; a meta-strategy wraps a strategy and is one itself. *Sums* are what a model keeps of the
past and a memory weighs: `Moments`, unless the model has sums of its own. None of the four parts imports another: what one needs of
another arrives as an argument.

State is a tree of named tuples of arrays, made in Python (`blank_…`, `start`), mutated in place by compiled code. A number that changes is
a one-element array. "Python only" marks functions that compiled code never calls. docs/extending.md has a template for each kind of part.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernel import generic
from .linalg import Matrix, Vector
from .parts import Memory, Model, Radius, Rule
from .ties import best_arm

Integers = NDArray[np.int64]
NO_SLOT = -1  # the arms on offer change: an observation belongs to no known arm
NEGLIGIBLE = 1e-12  # an observation of smaller weight changes no estimate visibly


class Setting(NamedTuple):
    """What a strategy may know before round 1.

    `arms` (d, n) when the same arms are on offer in every round, else (d, 0); `horizon` T, or 0 if it is not known;
    `items` K when the arms are items with a model each and a round offers one context (d, 1) for all of them, else 0.
    """

    dim: int
    arms: Matrix
    horizon: int
    items: int = 0


class Limits(NamedTuple):
    """What a guarantee assumes of arms and rewards; infinite where nothing is assumed."""

    L: float  # ‖x‖₂ ≤ L
    low: float  # reward ≥ low
    high: float  # reward ≤ high
    fixed_arms: bool = False  # the same arms in every round


class History(NamedTuple):
    """What a memory keeps of the raw past: for a window, a ring of its W last observations; else nothing."""

    clock: Integers  # (1,) rounds passed: decisions made, and observations that came without one
    x: Matrix  # (W, d)
    r: Vector  # (W,)
    slot: Integers  # (W,)
    weight: Vector = np.zeros(0)  # (W,) of each observation; 0 where a round has none
    usual: Vector = np.zeros(0)  # (2,) running means of log₂ of the numbers added to Σ w x xᵀ and to Σ w r x


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


class Choice(NamedTuple):
    """The least that a rule keeps."""

    value: Vector  # (1,) index of the last choice


# ----------------------------------------------------------------------------------------------------------------- memory


@generic
def blank_history(memory: Memory, dim: int) -> History:
    """What the memory keeps of the raw past, before round 1: by default only the clock. (Python only.)"""
    clock = np.zeros(1, np.int64)
    return History(clock=clock, x=np.zeros((0, dim)), r=np.zeros(0), slot=np.zeros(0, np.int64), weight=np.zeros(0))


@generic
def capacity(memory: Memory, horizon: int) -> int:
    """How many past observations can have weight ≥ `NEGLIGIBLE`: by default all T; 0 if there is no bound. (Python only.)"""
    return horizon


@generic
def remember(memory: Memory, history: History, sums: Any, x: Vector, r: float, slot: int) -> float:
    """A round passes, and its reward is here: fold the observation (x, r) into the weighted sums, forgetting as the memory says.

    Returns g ∈ [0, 1]: if g > 0 then V_new ⪰ g·V_old + (1−g)·λI + c·xxᵀ with c = `gained(sums)`, 1 by default, which lets a rule carry its
    bounds over and score fewer arms; g = 0, as by default, promises nothing but V_new ⪰ λI.
    """
    elapse(memory, history, sums)
    recall(memory, history, sums, x, r, slot, 1.0, 0)
    return 0.0


# A reward may come late. The clock of a memory counts rounds, not rewards: `remember` is `elapse`, then `recall` with weight 1 and age 0.
# After all rewards are here, in whatever order they came, the sums are those of rewards that came in time.


@generic
def elapse(memory: Memory, history: History, sums: Any) -> None:
    """A round passes whose reward is not here yet, and may never be."""


@generic
def recall(
    memory: Memory, history: History, sums: Any, x: Vector, r: float, slot: int, weight: float, age: int
) -> None:
    """Fold in an observation of the round `age` rounds before the last one, `weight` ≥ 0 times one of weight 1.

    It counts as much as it would count now had it come in time: weight·w_{t,t−age}, perhaps nothing.
    """


@generic
def takes_back(memory: Memory) -> bool:
    """Does the memory take single observations back (`absorb` with weight < 0)? By default not. (Python only.)"""
    return False


@generic
def occupied(memory: Memory, history: History, age: int) -> bool:
    """Does the memory hold an observation of that round, and has no place for a second one? By default it has. (Python only.)"""
    return False


# ------------------------------------------------------------------------------------------------------------ weighted sums


@generic
def fade(sums: Any, g: float) -> None:
    """Multiply the weight of every past observation by g (squared weights by g²); g = 0 forgets all."""


@generic
def absorb(sums: Any, x: Vector, r: float, slot: int, weight: float) -> None:
    """Add an observation, or take back (weight < 0) the oldest, whose weight is |weight|."""


@generic
def gained(sums: Any) -> float:
    """How much of xxᵀ the last observation x added to V, known once the model has estimated: by default 1."""
    return 1.0


@generic
def grow(holder: Any) -> Any:
    """The weighted sums, or a strategy's state, with more room if they are full; else, and by default, themselves. (Python only.)

    Only agents need it: a model that keeps raw observations cannot know how many will come, nor when. Nothing is overwritten that
    has a weight above `NEGLIGIBLE`.
    """
    return holder


@generic
def widen(holder: Any) -> Any:
    """The same with more room, needed or not: many states that are stored together have equal shapes. (Python only.)

    By default itself.
    """
    return holder


# ------------------------------------------------------------------------------------------------------------------ model


@generic
def blank_sums(model: Model, setting: Setting, room: int, squares: bool) -> Any:
    """The weighted sums the model estimates from, before round 1: by default `Moments`. (Python only.)

    `room` is the memory's capacity for raw observations (0: unbounded); `squares` asks for Σ w² x xᵀ too.
    """
    d, d2 = setting.dim, setting.dim if squares else 0
    return Moments(n=np.zeros(2), A=np.zeros((d, d)), A2=np.zeros((d2, d2)), b=np.zeros(d))


@generic
def blank_estimate(model: Model, setting: Setting, squares: bool) -> Any:
    """The estimate before round 1: a tuple with at least the fields of `Estimate`, by default these. (Python only.)"""
    d, d2 = setting.dim, setting.dim if squares else 0
    return Estimate(theta=np.zeros(d), factor=np.zeros((d, d)), factor2=np.zeros((d2, d2)))


@generic
def estimate(model: Model, sums: Any, est: Any) -> None:
    """Refresh the estimate from the sums."""


@generic
def mean(model: Model, z: float) -> float:
    """Expected reward at linear predictor z = xᵀθ; increasing in z. By default z."""
    return z


@generic
def merit(model: Model, z: float) -> float:
    """What a rule adds its bonus to at linear predictor z, increasing in z: by default the mean."""
    return mean(model, z)


@generic
def promise(model: Model, value: float) -> float:
    """The expected reward that an index of this value stands for: by default the index itself."""
    return value


@generic
def linearises(model: Model) -> bool:
    """Is every observation linearised once, when it comes, instead of kept? By default not.

    Such a model needs an `estimate` after every `absorb`; nothing can be taken back from it, and what comes late is linearised late.
    """
    return False


# --------------------------------------------------------------------------------------------------- wishes of radius and rule


@generic
def wants_squares(part: Any) -> bool:
    """Does this radius or rule need Σ w² x xᵀ and its factor? By default not. (Python only.)"""
    return False


@generic
def wants_horizon(radius: Radius) -> bool:
    """Does this radius need to know T? By default not. (Python only.)"""
    return False


@generic
def anytime(radius: Radius) -> bool:
    """Does this radius hold in all rounds at once without knowing T? Then `beta` is told the round t in the place of T. By default not."""
    return False


# ----------------------------------------------------------------------------------------------------------------- radius


@generic
def beta(radius: Radius, n: Vector, est: Any, horizon: int) -> float:
    """β: half the confidence interval in units of the rule's norm, all factors included, from n = (Σw, Σw²).

    `horizon` is T, or 0 if it is not known; the round t ≥ 1 that β is for if the radius is `anytime`.
    """


# ------------------------------------------------------------------------------------------------------------------- rule


@generic
def blank_work(rule: Rule, setting: Setting) -> Any:
    """What the rule keeps between and within rounds: a tuple with at least the field of `Choice`, by default this. (Python only.)"""
    return Choice(value=np.zeros(1))


@generic
def anticipate(rule: Rule, est: Any, work: Any, x: Vector) -> None:
    """Note what the rule needs of the old estimate before x is folded into it; by default nothing."""
    return


@generic
def prepare(rule: Rule, model: Model, sums: Any, est: Any, work: Any, g: float) -> None:
    """Digest a new estimate, after `anticipate(x)` and a `remember(x)` that returned g; g = 0 in round 1. By default nothing."""
    return


@generic
def renew(rule: Rule, est: Any, beta: float, work: Any, rng: np.random.Generator) -> None:
    """Draw the randomness of the coming decision; by default none."""
    return


@generic
def choose(
    rule: Rule,
    model: Model,
    sums: Any,
    est: Any,
    beta: float,
    work: Any,
    arms: Matrix,
    score: Vector,
    rng: np.random.Generator,
) -> int:
    """The arm to play among the columns of `arms` (d, n): by default the one of largest index, ties broken at random.

    `score` (n,) is scratch. Sets work.value[0] to the index of the choice.
    """
    index(rule, model, sums, est, beta, work, arms, score)
    k = best_arm(score, rng)
    work.value[0] = score[k]
    return k


@generic
def index(rule: Rule, model: Model, sums: Any, est: Any, beta: float, work: Any, arms: Matrix, score: Vector) -> None:
    """The rule's exact index of every arm, into `score` (n,)."""


# --------------------------------------------------------------------------------------------------------------- strategy


@generic
def settle(strategy: Any, dim: int) -> Any:
    """What runs in this dimension: by default the strategy itself; another where a default depends on d. (Python only.)"""
    return strategy


@generic
def start(strategy: Any, setting: Setting, rng: np.random.Generator) -> Any:
    """The state before round 1. (Python only.)"""


@generic
def ready(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    """Draw all randomness the coming decision needs; by default none. Drawing twice before a decision changes nothing."""
    return


@generic
def act(strategy: Any, state: Any, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    """Index of the arm to play. `score` (n,) is scratch."""


@generic
def scores(strategy: Any, state: Any, arms: Matrix, score: Vector) -> None:
    """The exact index of every arm, into `score` (n,); call `ready` first."""


@generic
def propensities(strategy: Any, state: Any, arms: Matrix, p: Vector) -> None:
    """The probability that the coming `act` chooses each arm, into p (n,), adding up to 1; call `ready` first.

    Exact given everything drawn so far and by `ready`: what is left to chance is what `act` draws. `act` must choose with these
    probabilities whether they were asked for or not. Only strategies that choose at random have a method.
    """


@generic
def make_room(strategy: Any, state: Any, n: int) -> Any:
    """The state with workspace for n arms on offer; itself if it has it, and by default. (Python only.)"""
    return state


@generic
def add_item(strategy: Any, state: Any) -> Any:
    """The state with one more item, numbered last. (Python only; only strategies with a model per item have it.)"""


@generic
def drop_item(strategy: Any, state: Any, item: int) -> None:
    """Never choose this item again. (Python only; only strategies with a model per item.)"""


@generic
def optimism(strategy: Any, state: Any) -> float:
    """The index of the arm last chosen."""


@generic
def learn(strategy: Any, state: Any, x: Vector, r: float, slot: int) -> None:
    """Learn from the observation (x, r); slot is the arm's position in the setting's arms, or `NO_SLOT`."""


@generic
def skip(strategy: Any, state: Any) -> None:
    """A decision's reward is not here yet, and the next decision or a late reward is: its round passes. (Optional.)"""


@generic
def learn_late(strategy: Any, state: Any, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    """Learn from an observation of the round `age` rounds before the last one, as if it had come in time. (Optional.)

    Strategies without it (a schedule that tests every reward in its turn) are told late rewards in no way.
    """


@generic
def exact_when_late(strategy: Any) -> bool:
    """Does `learn_late` leave exactly what rewards in time would have left? (Python only.)"""
    return True


@generic
def hears(strategy: Any, state: Any, age: int) -> str:
    """Why `learn_late` cannot take an observation of that age, −1 for the coming round; empty if it can. (Python only; with `skip`.)"""


@generic
def size(strategy: Any, state: Any) -> float:
    """Σ|θ̂_i| + β, or any number that is not finite when they are not; by default nothing is known, and 0."""
    return 0.0


@generic
def conditioning(strategy: Any, state: Any) -> tuple[float, float, float]:
    """tr Σ w x xᵀ, the λ added to it, and an estimate of V's condition number. (Python only; optional.)"""


@generic
def sound(state: Any) -> bool:
    """Are all places and counts inside the arrays they point into? Asked of every tuple in a loaded state. (Python only.)"""
    return True


@generic
def limits(part: Any) -> Limits:
    """What the guarantee of a radius or a strategy assumes of its input. (Python only.)"""


@generic
def noise_size(part: Any) -> float:
    """R: how large the noise is that a radius or a strategy assumes. (Python only; only where it is one number.)"""


@generic
def estimator(strategy: Any, state: Any) -> Vector:
    """The current estimate of θ, (d,). (Python only.)"""


@generic
def ellipsoid(strategy: Any, state: Any) -> tuple[Vector, Matrix]:
    """θ̂ (d,) and C (d, d): the bonus of an arm x is √(xᵀCx). (Python only; only rules whose bonus is a norm of x.)

    For linear rewards the confidence set is {θ : (θ−θ̂)ᵀC⁻¹(θ−θ̂) ≤ 1}; for a random bonus or a random θ̃, one standard deviation.
    C = 0 before the first estimate.
    """


@generic
def describe(strategy: Any, state: Any) -> dict[str, Any]:
    """What a user may want to know about the state: plain numbers, strings and arrays by name. (Python only.)"""
    return {}


@generic
def report(part: Any, own: Any) -> dict[str, Any]:
    """What a model tells of its estimate, or a rule of its workspace, for `describe`; by default nothing. (Python only.)"""
    return {}


@generic
def trace(strategy: Any, state: Any) -> dict[str, Any]:
    """Quantities worth a curve over time; by default none. (Python only.)"""
    return {}
