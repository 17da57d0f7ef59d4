"""The open functions of a rule: which arm is played."""

from typing import Any

import numpy as np

from ..core.kernel import generic
from ..core.linalg import Matrix, Vector
from ..core.parts import Model, Rule
from ..core.ties import best_arm
from .tuples import Choice, Setting


@generic
def blank_work(rule: Rule, setting: Setting) -> Any:
    """The rule's state and workspace: a tuple with at least the field of `Choice`, which is the default. (Python only.)"""
    return Choice(value=np.zeros(1))


@generic
def anticipate(rule: Rule, est: Any, work: Any, x: Vector) -> None:
    """Record what the rule needs of the old estimate before x is added to the sums; by default nothing."""
    return


@generic
def prepare(rule: Rule, model: Model, sums: Any, est: Any, work: Any, g: float) -> None:
    """Update the workspace for a new estimate, after `anticipate(x)` and a `remember(x)` that returned g; g = 0 in round 1.

    By default nothing.
    """
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
    """Write the rule's exact index of every arm into `score` (n,)."""
