"""Loading of a user's learner from a Python file: `FILE.py` or `FILE.py:Class`."""

import inspect
import pathlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..errors import InvalidValue
from ..experiment.study.cells import load
from ..experiment.study.source import code_digest
from .entrants import ENTRANTS, Entrant
from .suite import SETTINGS
from .task import CannotPlay, Task

NAME = re.compile(r"[^\W_][\w .+-]{0,59}")  # of a learner
BANDIT, EPISODIC = ("select", "update"), ("begin_episode", "observe", "policy")


def own_learner(text: str) -> Entrant:
    """The learner in a file. Its name is the class's, or its attribute `name`."""
    file, _, name = text.partition(":")
    path = pathlib.Path(file).resolve()
    module = load(path)
    made_here = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and _plays(value)
    }
    if name and not inspect.isclass(getattr(module, name, None)):
        raise InvalidValue(f"{file} has no class '{name}'; its learners are {', '.join(made_here) or 'none'}")
    if not name and len(made_here) != 1:
        raise InvalidValue(
            f"{file} defines {len(made_here)} learners ({', '.join(made_here) or 'a class with select and update'} …): "
            f"name one, as {file}:Class"
        )
    chosen: Any = getattr(module, name) if name else next(iter(made_here.values()))
    if not _plays(chosen):
        raise InvalidValue(f"{text}: a learner needs the methods select and update, or for MDPs {', '.join(EPISODIC)}")
    settings = list(getattr(chosen, "settings", ()))
    if len(settings) > SETTINGS or not all(isinstance(s, dict) for s in settings):
        raise InvalidValue(
            f"{text}: settings must be at most {SETTINGS} dictionaries, the budget of the tuned track; it has {len(settings)}"
        )
    title = str(getattr(chosen, "name", chosen.__name__))
    if not NAME.fullmatch(title):
        raise InvalidValue(
            f"{text}: name is {title!r}; it names a file, and must be at most 60 letters, digits and ' _.+-', a letter or digit first"
        )
    if title in ENTRANTS:
        raise InvalidValue(
            f"{text}: {title} is the name of a learner of the suite; give yours another, by its attribute `name`"
        )
    return Entrant(
        name=title,
        role=str(getattr(chosen, "role", "own")),
        kind="object",
        make=_maker(chosen),
        settings=settings,
        rooms=frozenset({"agent", "bandit"}),  # it may be built on them
        code=code_digest(chosen),
        contexts=bool(getattr(chosen, "contexts", False)),
    )


def _plays(given: Any) -> bool:
    return any(all(hasattr(given, method) for method in methods) for methods in (BANDIT, EPISODIC[:2]))


def _maker(chosen: Any) -> Callable[[Task, Mapping[str, Any]], Callable[[int], Any]]:
    def make(task: Task, setting: Mapping[str, Any]) -> Callable[[int], Any]:
        wanted = EPISODIC[:2] if task.episodes else BANDIT
        if not all(hasattr(chosen, method) for method in wanted):
            raise CannotPlay(f"it has no {' and '.join(wanted)}")
        return partial(chosen, task, **setting)

    return make
