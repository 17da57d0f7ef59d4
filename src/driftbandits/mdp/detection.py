r"""Change detection for piecewise-stationary MDPs: a planner that keeps all data until a test finds a change, and then starts again.

Ours, after the idea of detection wrappers (Gerogiannis et al. 2025 for bandits). For every pair the counts of its successors and the
sum of its rewards before each earlier visit are kept. Visit n of a pair raises an alarm if for some earlier visit m

    Λ(m) = m·KL(p̂₁‖p̂) + (n−m)·KL(p̂₂‖p̂) ≥ β(m) + β(n−m) + log(4·m(m+1)/δ²),      β(m) = log C(m+U−1, U−1)

p̂₁, p̂₂, p̂: shares of the successors in the first m visits, in the others, in all; U: how many successors the pair can have. Rewards on
[0, 1] are tested in the same way, as two outcomes.

Why it is valid. With a uniform prior on the simplex the mixture likelihood ratio against the true p is a martingale and at least
exp(m·KL(p̂₁‖p))/C(m+U−1, U−1), so by Ville's inequality m·KL(p̂₁‖p) < β(m) + log(2/δ) for all m at once, with probability 1−δ/2; from
each m on the same holds of the later visits, at the level δ/(2m(m+1)). And Λ(m) is at most the sum of both. For rewards in [0, 1] the
ratio is a supermartingale, since q^r(1−q)^{1−r} is convex in r. δ is divided among all pairs and both tests: in a world that stands
still there is ever an alarm with probability at most δ.

At most 128 earlier visits of a pair are tried: every one, then every second, fourth, ….
"""

from math import log
from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..core.linalg import Matrix, Vector
from ..core.state import copy_state
from ..errors import InvalidValue, probability
from ..protocol import Integers
from ..util.notebook import shown_as_boxes
from .protocol import Book, Cube, Task, experience, miss, open_book, plan, report, room_for, settle_in, settled

PLACES = 128  # earlier visits that are tried, per pair
LARGEST = 1 << 25  # numbers that may be kept


@part
class ChangeTest(NamedTuple):
    """The probability δ of any false alarm."""

    delta: float = 0.01

    def check(self) -> None:
        """δ is a probability."""
        probability("delta", self.delta)


@shown_as_boxes
class DetectingPlanner(NamedTuple):
    """A planner that is restarted when a test finds a change; see `zoo.detect_ucrl`."""

    base: Any
    test: ChangeTest


class Visits(NamedTuple):
    """What happened at every pair since the last restart."""

    successors: Matrix  # (S·A, S) how often each was next
    paid: Vector  # (S·A,) sum of rewards
    n: Integers  # (S·A,) visits
    earlier: Cube  # (S·A, PLACES, S) counts before
    earlier_paid: Matrix  # (S·A, PLACES)
    step: Integers  # (S·A,) visits between two places
    used: Integers  # (S·A,) places
    outcomes: Integers  # (S·A,) U


class DetectingState(NamedTuple):
    """The planner, a fresh one, and the visits."""

    book: Book
    base: Any
    blank: Any
    visits: Visits
    alarm: Integers  # (1,) 1 if the coming episode is planned afresh
    episode: Integers  # (1,)
    restarts: Integers  # (1,)
    last: Integers  # (1,) episode of the last restart, or 0


@settle_in.register(DetectingPlanner)
def _(strategy: DetectingPlanner, task: Task) -> tuple[DetectingPlanner, Task]:
    base, task = settled(strategy.base, task)
    return strategy._replace(base=base), task


@open_book.register(DetectingPlanner)
def _(strategy: DetectingPlanner, task: Task) -> DetectingState:
    S, pairs = task.states, task.states * task.actions
    if pairs * PLACES * S > LARGEST:
        raise InvalidValue(
            f"a world of {S} states and {task.actions} actions is too large for this test, which keeps {PLACES}·S·A·S counts; "
            f"it must be at most {LARGEST}"
        )
    possible = np.full(pairs, S, np.int64)
    if task.moves is not None and len(task.moves.used) == pairs:  # features say which successors a pair can have
        possible[:] = np.maximum(np.asarray(task.moves.used), 1)
    visits = Visits(
        successors=np.zeros((pairs, S)),
        paid=np.zeros(pairs),
        n=np.zeros(pairs, np.int64),
        earlier=np.zeros((pairs, PLACES, S)),
        earlier_paid=np.zeros((pairs, PLACES)),
        step=np.ones(pairs, np.int64),
        used=np.zeros(pairs, np.int64),
        outcomes=possible,
    )
    blank, base = open_book(strategy.base, task), open_book(strategy.base, task)
    one = np.zeros(1, np.int64)
    return DetectingState(
        open_book(strategy.base, task).book, base, blank, visits, one, one.copy(), one.copy(), one.copy()
    )


@plan.register(DetectingPlanner)
def _(strategy: DetectingPlanner, state: DetectingState, rng: np.random.Generator) -> None:
    state.episode[0] += 1
    if state.alarm[0]:
        copy_state(state.base, state.blank)
        forget_visits(state.visits)
        state.alarm[0] = 0
        state.restarts[0] += 1
        state.last[0] = state.episode[0]
    for s in range(state.book.ended.shape[0]):  # which states end an episode is not forgotten
        state.base.book.ended[s] = state.book.ended[s]
    state.base.book.idle[0] = state.book.idle[0]
    plan(strategy.base, state.base, rng)
    copy_state(state.book, state.base.book)


@experience.register(DetectingPlanner)
def _(strategy: DetectingPlanner, state: DetectingState, h: int, pair: int, r: float, successor: int) -> None:
    experience(strategy.base, state.base, h, pair, r, successor)
    pairs = state.visits.n.shape[0]
    if visit_refutes(state.visits, pair, r, successor, strategy.test.delta / (2.0 * pairs)):
        state.alarm[0] = 1


@miss.register(DetectingPlanner)
def _(strategy: DetectingPlanner, state: DetectingState, h: int) -> None:
    miss(strategy.base, state.base, h)


@room_for.register(DetectingPlanner)
def _(strategy: DetectingPlanner, state: DetectingState, pair: int, successor: int) -> None:
    if room_for.knows(type(strategy.base)):
        room_for(strategy.base, state.base, pair, successor)


@report.register(DetectingPlanner)
def _(strategy: DetectingPlanner, state: DetectingState) -> dict[str, Any]:
    told = {"restarts": int(state.restarts[0]), "last_restart": int(state.last[0])}
    return report(strategy.base, state.base) | told


# --------------------------------------------------------------------------------------------------------------------- the test


@kernel
def forget_visits(v: Visits) -> None:
    """Nothing has been visited."""
    for pair in range(v.n.shape[0]):
        v.n[pair] = v.used[pair] = 0
        v.step[pair] = 1
        v.paid[pair] = 0.0
        for s in range(v.successors.shape[1]):
            v.successors[pair, s] = 0.0


@kernel
def visit_refutes(v: Visits, pair: int, r: float, successor: int, delta: float) -> bool:
    """Whether the visits of a pair up to this one, which is counted, contradict a world that stands still, at level δ per test."""
    n = v.n[pair]
    if n > 0 and n % v.step[pair] == 0:
        keep_place(v, pair)
    v.n[pair] = n + 1
    v.successors[pair, successor] += 1.0
    v.paid[pair] += min(max(r, 0.0), 1.0)
    for p in range(v.used[pair]):
        first = float((p + 1) * v.step[pair])
        rest = float(v.n[pair]) - first
        # log(4m(m+1)/δ²): the union bound over all split points m, and over the two sides of each.
        level = log(4.0 * first * (first + 1.0)) - 2.0 * log(delta)
        U = v.outcomes[pair]
        if moves_ratio(v, pair, p, first, rest) >= level + choices_log(first, U) + choices_log(rest, U):
            return True
        paid = v.earlier_paid[pair, p]
        ratio = bernoulli_ratio(paid, first, v.paid[pair] - paid, rest)
        if ratio >= level + choices_log(first, 2) + choices_log(rest, 2):
            return True
    return False


@kernel
def keep_place(v: Visits, pair: int) -> None:
    """Keep the counts so far as one more place; when there are PLACES of them, every second is left."""
    p = v.used[pair]
    v.earlier_paid[pair, p] = v.paid[pair]
    for s in range(v.successors.shape[1]):
        v.earlier[pair, p, s] = v.successors[pair, s]
    v.used[pair] = p + 1
    if p + 1 == PLACES:
        for q in range(PLACES // 2):
            v.earlier_paid[pair, q] = v.earlier_paid[pair, 2 * q + 1]
            for s in range(v.successors.shape[1]):
                v.earlier[pair, q, s] = v.earlier[pair, 2 * q + 1, s]
        v.used[pair] = PLACES // 2
        # Half the places are dropped and the distance between places doubles, so memory stays bounded and old split points stay covered.
        v.step[pair] *= 2


@kernel
def choices_log(m: float, U: int) -> float:
    """log C(m+U−1, U−1) = Σ_{j=1}^{U−1} log(1 + m/j)."""
    total = 0.0
    for j in range(1, U):
        # log C(m+U−1, U−1) as a sum, which neither overflows nor needs gamma functions.
        total += log(1.0 + m / j)
    return total


@kernel
def moves_ratio(v: Visits, pair: int, place: int, first: float, rest: float) -> float:
    """Λ of the successors."""
    total = 0.0
    for s in range(v.successors.shape[1]):
        a = v.earlier[pair, place, s]
        b = v.successors[pair, s] - a
        total += surprise_of(a, first, a + b, first + rest) + surprise_of(b, rest, a + b, first + rest)
    return total


@kernel
def bernoulli_ratio(a: float, first: float, b: float, rest: float) -> float:
    """Λ of sums a and b of numbers in [0, 1]."""
    n = first + rest
    up = surprise_of(a, first, a + b, n) + surprise_of(b, rest, a + b, n)
    return up + surprise_of(first - a, first, n - a - b, n) + surprise_of(rest - b, rest, n - a - b, n)


@kernel
def surprise_of(x: float, n: float, total: float, whole: float) -> float:
    """x·log((x/n)/(total/whole)), 0 for x = 0; sums of rewards may be off by rounding."""
    # x·log(p̂₁/p̂) in counts; an outcome that never came contributes 0, the limit of x·log x.
    return x * log(x * whole / (n * total)) if x > 1e-12 and total > 1e-12 else 0.0
