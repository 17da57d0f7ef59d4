r"""The open functions that make a learner of episodic MDPs, with their contracts.

In episode k the learner plans backwards over the stages h = H−1, …, 0 from what it learned in the episodes before, follows the greedy
policy, and learns one observation (s, a, r, s') a stage. It is made of a reward model, a transition model, a memory — one of the four
memories of the bandits, which here counts episodes — and a rule of planning.

==========  =================================  ==================================================
part        question                           open functions it answers
==========  =================================  ==================================================
transition  where does an action lead?         `transition_state`, `add_next`, `learn_transition`
dynamics    (environments) the same, in truth  `transition_row`
strategy    what to do in this episode?        `open_book`, `plan`, `experience`, `miss`, `report`
==========  =================================  ==================================================

Pairs (s, a) are numbered n = s·A + a; stages are 0-based in code, 1-based in the paper.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel import generic
from ..linalg import Matrix, Vector
from ..protocol import Integers

Cube = NDArray[np.float64]


class Task(NamedTuple):
    """What a learner may know before the first episode.

    phi (S, A, d_θ); psi (S, A, S, d_w); reachable (S, A, S) of bool, or None if every successor is possible; H stages; K episodes, or 0 if
    that is not known.
    """

    phi: Cube
    psi: Cube
    reachable: NDArray[np.bool_] | None
    horizon: int
    episodes: int


class Book(NamedTuple):
    """What every strategy lays open while it runs: the plan of the current episode."""

    Q: Cube  # (H, S·A) optimistic values
    V: Matrix  # (H+1, S) their maxima, V[H] = 0
    policy: Integers  # (H, S) greedy actions, ties broken while planning


# ------------------------------------------------------------------------------------------------------------- transition


@generic
def transition_state(transition: Any, task: Task, memory: Any, groups: int) -> Any:
    """Allocate what the model learns: one set of sums for each of `groups` stages, 1 if the stages are pooled. (Python only.)"""


@generic
def add_next(transition: Any, state: Any, g: int, fresh: bool, V: Vector, H: int, out: Vector) -> None:
    """Add an optimistic E[V(s')] of every pair to `out` (S·A,), from the sums of group g, estimated anew if `fresh`."""


@generic
def learn_transition(transition: Any, memory: Any, state: Any, g: int, pair: int, successor: int, V: Vector) -> None:
    """Remember one transition; pair = −1 if the episode ended before this stage, so that only time has passed.

    V is the optimistic value of the next stage that the episode was planned with.
    """


@generic
def transition_row(dynamics: Any, pair: int, w: Vector, out: Vector) -> None:
    """Write P(·|s,a; w) into `out` (S,)."""


# --------------------------------------------------------------------------------------------------------------- strategy


@generic
def open_book(strategy: Any, task: Task) -> Any:
    """Allocate the state before the first episode: a tuple with at least `book`. (Python only.)"""


@generic
def plan(strategy: Any, state: Any, rng: np.random.Generator) -> None:
    """Fill state.book for the coming episode."""


@generic
def experience(strategy: Any, state: Any, h: int, pair: int, r: float, successor: int) -> None:
    """Learn what happened in stage h of the current episode."""


@generic
def miss(strategy: Any, state: Any, h: int) -> None:
    """Note that the current episode ended before stage h."""


@generic
def report(strategy: Any, state: Any) -> dict[str, Any]:
    """What a user may want to know about the state. (Python only.)"""
