"""Whom to cite: the papers behind every algorithm, by name or by what it is made of.

>>> from driftbandits.zoo.citations import papers
>>> papers("d_lin_ucb")
['wang2023revisiting', 'russac2019weighted']
"""

import difflib
import functools
from typing import Any

from ..core.rooms import rooms_apart
from ..errors import InvalidValue
from ..mdp import BlockwiseChoice
from ..memory import Restart, Window
from ..meta import Bob, Dal, Master
from ..model import Generalized, Linear, WeightedBayes
from ..radius import ProjectionFree, SelfConcordant
from ..rule import ParameterBased, RandomisedBonus, SandwichBonus, ThompsonSampling
from .papers import BIBTEX, EXTENDED, OURS
from .record import RECORDS

#: Where the ideas of single parts come from, for compositions that are not in the zoo.
PARTS: dict[type, tuple[str, ...]] = {
    Window: ("cheung2019learning",),
    Restart: ("zhao2020simple",),
    SandwichBonus: ("russac2019weighted",),
    RandomisedBonus: ("kim2020randomized",),
    ThompsonSampling: ("kim2020randomized",),
    ParameterBased: ("abeille2021instance",),
    Linear: ("abbasi2011improved",),
    WeightedBayes: ("werge2026weighted",),
    Generalized: ("filippi2010parametric",),
    SelfConcordant: ("faury2020improved",),
    ProjectionFree: ("russac2021self",),
    Master: ("wei2021nonstationary",),
    Bob: ("cheung2019learning", "neu2015explore"),
    Dal: ("gerogiannis2025dal", "besson2022efficient"),
    BlockwiseChoice: ("cheung2019learning", "neu2015explore"),
}


#: The sources of options of parts that are 0 (off) by default.
OPTIONS = {"robust": "wang2025heavy", "caution": "he2022nearly"}


def papers(*algorithms: Any) -> list[str]:
    """Keys of the papers to cite for names of the zoo, functions of it, or strategies.

    A strategy that has the form of an algorithm of the zoo cites that algorithm's papers; any other composition those of its parts.
    The paper this library is about comes first: its extended version for MDPs, which the conference version does not have.
    """
    of_mdps = [_is_episodic(algorithm) for algorithm in algorithms]
    keys = ([] if of_mdps and all(of_mdps) else [OURS]) + ([EXTENDED] if any(of_mdps) else [])
    for algorithm in algorithms:
        keys += _of_strategy(algorithm) if isinstance(algorithm, tuple) else _of_name(algorithm)
    return list(dict.fromkeys(keys))


def _is_episodic(algorithm: Any) -> bool:
    """Does it learn MDPs?"""
    if isinstance(algorithm, tuple):
        return "mdp" in rooms_apart([type(algorithm).__module__])
    name = algorithm if isinstance(algorithm, str) else getattr(algorithm, "__name__", "")
    return name in RECORDS and RECORDS[name].family == "mdp"


def cite(*algorithms: Any) -> str:
    """BibTeX of the papers behind names of the zoo, functions of it, or strategies.

    Examples
    --------
    >>> import driftbandits as db
    >>> db.cite(db.zoo.d_lin_ucb).count("@inproceedings")
    2
    """
    return "\n\n".join(BIBTEX[key] for key in papers(*algorithms))


def _of_name(algorithm: Any) -> tuple[str, ...]:
    name = algorithm if isinstance(algorithm, str) else getattr(algorithm, "__name__", str(algorithm))
    if ":" in name:  # a user's own strategy: its author knows whom to cite
        return ()
    if name not in RECORDS:
        close = difflib.get_close_matches(name, RECORDS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(RECORDS))}"
        raise InvalidValue(f"no citation for '{name}'; {hint}")
    return RECORDS[name].papers


def _of_strategy(part: Any) -> list[str]:
    """Papers of a strategy, or of a part of one."""
    whole = _papers_by_form().get(_form(part))
    if whole is not None:
        base = getattr(part, "base", None)
        return [*whole, *(_of_strategy(base) if base is not None else [])]
    inner = (value for value in part if isinstance(value, tuple))
    own = [*PARTS.get(type(part), ()), *(OPTIONS[name] for name in _options(part))]
    return [*own, *(key for value in inner for key in _of_strategy(value))]


def _options(part: Any) -> tuple[str, ...]:
    return tuple(name for name in OPTIONS if getattr(part, name, 0.0))


def _form(part: Any) -> tuple[Any, ...]:
    """The kinds of parts a strategy is made of, with their `OPTIONS`: what it is apart from numbers, radius, link and base."""
    fields = zip(getattr(part, "_fields", ()), part, strict=False)
    skipped = ("radius", "link", "base")
    inner = (_form(value) for name, value in fields if isinstance(value, tuple) and name not in skipped)
    return type(part), *_options(part), *inner


@functools.cache
def _papers_by_form() -> dict[tuple[Any, ...], tuple[str, ...]]:
    """Papers of the algorithms of the zoo by the form of their examples."""
    return {_form(record.build()): record.papers for record in RECORDS.values()}
