"""One learner in one world: the unit of work whose result is kept."""

import pathlib
import time
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..env import Table, from_rewards
from ..errors import DriftBanditsError, InvalidValue
from ..mdp import MDP, simulate_mdp
from ..simulate import simulate
from ..util.spelling import did_you_mean
from . import suite
from .bandit_worlds import spread
from .entrants import ENTRANTS, Entrant, Setting, fixed_forgetting
from .own import own_learner
from .task import CannotPlay, Made


def entrant_of(text: str) -> Entrant:
    """A learner of the suite, given by its name, or a user's learner, given by its file."""
    if text in ENTRANTS:
        return ENTRANTS[text]
    if text.partition(":")[0].endswith(".py"):
        return own_learner(text)
    raise InvalidValue(
        f"unknown learner '{text}'; give a name of --list, or FILE.py:Class{did_you_mean(text, list(ENTRANTS)) or ''}"
    )


def play(learner: str, world: str, setting: dict[str, Any], draws: list[int], tiny: bool, code: str) -> dict[str, Any]:
    """A cell: regret of each draw and mean seconds, or why there is none. `code` names what decides the result beyond the library."""
    entrant, lost, seconds = entrant_of(learner), list[float](), 0.0
    for draw in draws:
        made = suite.drawn(world, draw, tiny)
        began = time.process_time()
        try:
            lost.append(regret(entrant, setting, made, suite.seed(suite.find(world), draw)))
        except CannotPlay as problem:
            return {"absent": str(problem)}
        except Exception as problem:
            if not entrant.code:  # ours: an error of the library, whose traceback is wanted
                raise
            raise InvalidValue(f"{learner} in {world}, draw {draw}: {_said(problem, learner)}") from problem
        seconds += time.process_time() - began
        if seconds > suite.SECONDS * len(lost):
            return {"absent": f"it used more than {suite.SECONDS:.0f} s of CPU for one draw"}
    return {"regret": lost, "seconds": seconds / len(draws)}


def _said(problem: Exception, learner: str) -> str:
    """An error of a user's learner in one line, with the last line of its file that was running."""
    if isinstance(problem, DriftBanditsError):
        return str(problem)
    file = pathlib.Path(learner.partition(":")[0]).resolve()
    lines = [frame for frame in traceback.extract_tb(problem.__traceback__) if pathlib.Path(frame.filename) == file]
    where = f" ({file.name}, line {lines[-1].lineno}: {lines[-1].line})" if lines else ""
    return f"{type(problem).__name__}: {problem}{where}"


def uniform(world: str, draws: list[int], tiny: bool, code: str) -> list[float]:
    """A cell: the regret of random play in each draw."""
    return [suite.drawn(world, draw, tiny).uniform() for draw in draws]


def fixed(world: str, number: int, draws: list[int], tiny: bool, code: str) -> list[float]:
    """A cell: the regret of the `number`-th fixed forgetting in each draw."""
    answer = []
    for draw in draws:
        made = suite.drawn(world, draw, tiny)
        strategy = fixed_forgetting(made.task)[number]
        answer.append(_simulated(strategy, made, suite.seed(suite.find(world), draw), disjoint=False))
    return answer


def regret(entrant: Entrant, setting: Setting, made: Made, seed: Sequence[int]) -> float:
    """Dynamic regret of a learner in a draw of a world."""
    built = entrant.build(made.task, setting)
    if entrant.kind == "strategy":
        return _simulated(built, made, seed, disjoint=entrant.name == "self_tuning")
    chance = int(np.random.SeedSequence([*seed, 1]).generate_state(1)[0])
    if isinstance(made.world, MDP):
        run = simulate_mdp(built(chance), made.world, seed=np.random.SeedSequence(list(seed)))
        return float(run.regret[-1])
    return _played(built(chance), made, made.world, entrant.contexts)


def _simulated(strategy: Any, made: Made, seed: Sequence[int], *, disjoint: bool) -> float:
    """By the compiled loop."""
    chance = np.random.SeedSequence(list(seed))
    if isinstance(made.world, MDP):
        return float(simulate_mdp(strategy, made.world, seed=chance).regret[-1])
    world = made.world if disjoint or not made.world.items else _spread(made.world)
    # Guarantees assume bounded rewards or the same arms in every round; here every learner plays everywhere.
    return float(simulate(strategy, world, seed=chance, checkpoints=1, check="off").regret[-1])


def _spread(world: Table) -> Table:
    """The same world for a learner with one model of all items."""
    return from_rewards(spread(np.asarray(world.features), world.choices), world.rewards, expected=world.expected)


def _played(learner: Any, made: Made, world: Table, contexts: bool) -> float:
    """By a loop over rounds; an arm that is not on offer is an error of the learner."""
    features: Any = world.features
    if world.items and not contexts:
        features = spread(features, world.choices)
    features = np.asarray(features).view()
    features.flags.writeable = False  # a learner that changes its input must not change the world of the others
    lost, best, n = 0.0, world.best(), world.choices
    limit = time.process_time() + suite.SECONDS
    for t in range(world.horizon):
        k = learner.select(features[t])
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 0 <= k < n:
            raise InvalidValue(
                f"select returned {k!r} in round {t}; it must be the index of one of {n} arms, 0 to {n - 1}"
            )
        lost += float(best[t] - world.expected[t, k])
        learner.update(float(world.rewards[t, k]))
        if t % 256 == 0 and time.process_time() > limit:
            raise CannotPlay(f"stopped after {t} rounds: it used more than {suite.SECONDS:.0f} s of CPU for one draw")
    return lost
