"""A request with the cells that answer it: which are computed, in which order, and how many of them for a preview."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InvalidValue
from ..experiment.run.cells import Cell
from ..experiment.run.plan import plan
from ..experiment.spec.experiment import parse
from ..experiment.spec.formulas import number
from ..experiment.spec.scopes import WORLDS
from ..experiment.spec.source import Source, SpecError
from ..io.cell_store import digest
from ..zoo.record import RECORDS
from .learners import LEARNERS
from .question import Question
from .specification import NAME, toml

GAMMAS = 13  # points of the regret against γ
PREVIEW = 5  # a preview has this part of the trials,
LEAST_PREVIEW = 2  # if that is at least so many,
AT_ONCE = 0.1  # and fewer if a thread would work longer than this on them, in seconds


@dataclass(frozen=True)
class Asked:
    """A question with its cells: for every learner, one for each trial."""

    question: Question
    cells: list[list[Cell]]
    theory: dict[str, float]  # the theorem's γ, and the path length

    @property
    def weighted(self) -> int | None:
        """The index of the learner whose regret is shown against γ: the first that has a γ."""
        return next((i for i, learner in enumerate(self.question.chosen) if learner.weighs), None)


def ask(question: Question) -> Asked:
    """Resolve and validate a request without running it; raises a one-line error if it cannot run."""
    if not question.chosen:
        raise InvalidValue("choose at least one learner (MASTER needs fixed arms)")
    try:
        experiment = parse(Source.from_text(toml(question), NAME))
        planned = plan(replace(experiment, trials=1))
    except SpecError as problem:
        raise InvalidValue(str(problem).removeprefix(f"{NAME}:").lstrip("0123456789:").strip()) from None
    scope = planned.scopes["world"]
    known = "Delta" if question.world == "river" else "P_T"
    theory = {known: float(scope[known])}
    weighing = next(x for x in (*question.chosen, *LEARNERS[question.place]) if x.weighs)
    theory["gamma"] = float(number(RECORDS[weighing.name].tuned_by["gamma"], scope))
    cells = [[_trial(cell, question.seed, i) for i in range(question.trials)] for cell in planned.cells]
    return Asked(question, cells, theory)


def _trial(first: Cell, seed: int, trial: int) -> Cell:
    """The cell of another trial. Only arms and noise differ, so the specification is not resolved again."""
    environment = first.spec["environment"]
    if "arms" in environment:
        environment = {**environment, "arms": {**environment["arms"], "seed": seed * WORLDS + trial}}
    return changed(replace(first, trial=trial), environment=environment, seed=[seed, trial])


def changed(cell: Cell, **parts: Any) -> Cell:
    """The cell with other parts of its specification, and the name that follows from them."""
    spec = {**cell.spec, **parts}
    return replace(cell, spec=spec, key=digest(spec))


def preview_trials(trials: int, threads: int, seconds: float) -> int:
    """How many of the trials a preview has, 0 for no preview; `seconds` is the CPU time of one trial of all learners.

    All threads work until the longest is done, so a reduced number is a multiple of theirs.

    Examples
    --------
    >>> preview_trials(20, 2, 0.01), preview_trials(20, 2, 0.06), preview_trials(9, 2, 0.01)
    (4, 2, 0)
    """
    few = trials // PREVIEW
    if few < LEAST_PREVIEW:
        return 0
    rounds = -(-few // threads)
    if rounds > 1 and rounds * seconds > AT_ONCE:
        few = min(few, threads * max(1, int(AT_ONCE / seconds)))
    return max(few, LEAST_PREVIEW)


def gammas(horizon: int, theory: float) -> list[float]:
    """γ from a memory of 2 rounds to one of 2T, evenly on the scale of log 1/(1−γ), and the theorem's; every fourth first.

    Examples
    --------
    >>> [round(g, 3) for g in gammas(100, 0.9)[:4]]
    [0.9, 0.5, 0.892, 0.977]
    """
    grid = [float(1.0 - 1.0 / memory) for memory in np.geomspace(2.0, 2.0 * horizon, GAMMAS)]
    order = sorted(range(GAMMAS), key=lambda i: (i % 4 != 0, i % 2 != 0, i))
    return [theory, *(grid[i] for i in order)]
