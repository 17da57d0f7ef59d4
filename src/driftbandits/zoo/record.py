"""One record per algorithm: what there is to know of it beside its code, said once, on the function that makes it.

From the records come `zoo.__all__`, `cite`, `driftbandits list` and `tune`, the tables of README and docs (`make tables`), what "theory"
means in an experiment, and the contract tests. An algorithm without a record is not in the zoo.
"""

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from ..errors import InvalidValue
from .papers import BIBTEX, label

F = TypeVar("F", bound=Callable[..., Any])
Family = Literal["linear", "generalized", "adaptive", "mdp"]
World = Literal["linear", "logistic", "linear mixture", "multinomial"]


class Record(NamedTuple):
    """What there is to know of one algorithm."""

    name: str
    make: Callable[..., Any]
    family: Family
    remembers: str  # which part of the past counts
    plays: str  # the arm of largest …
    regret: str  # its guarantee: the rate of its dynamic regret up to logarithms, or that there is none
    papers: tuple[str, ...]  # BibTeX keys beside the paper this library is about
    theorem: str  # of that paper, if it has one for this algorithm
    bound: str  # the function of `theory` that computes the guarantee, or ""
    tuned_by: Mapping[str, str]  # parameter → formula of `theory`: what "theory" means in an experiment
    world: World  # where its example runs
    example: Mapping[str, Any]  # arguments of a small instance, d = 3 and T = 40: the case of the contract tests
    randomised: bool  # draws in every round, so that the order of the arms matters

    @property
    def source(self) -> str:
        """Who published it, for a table."""
        own = [f"Wang, Zhao, Zhou, {self.theorem}"] if self.theorem else []
        return "; ".join(own + [label(key) for key in self.papers]) or "ours"

    @property
    def summary(self) -> str:
        """What it is, in one line."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    def build(self) -> Any:
        """The small instance."""
        return self.make(**self.example)


RECORDS: dict[str, Record] = {}


def records() -> list[Record]:
    """All records, family by family."""
    order = typing.get_args(Family)
    return sorted(RECORDS.values(), key=lambda record: order.index(record.family))


def algorithm(
    *,
    family: Family,
    remembers: str,
    plays: str,
    regret: str,
    example: Mapping[str, Any],
    world: World,
    papers: tuple[str, ...] = (),
    theorem: str = "",
    bound: str = "",
    tuned_by: Mapping[str, str] | None = None,
    randomised: bool = False,
) -> Callable[[F], F]:
    """Decorate a function of the zoo with its record.

    `tuned_by` may name parameters that the function does not have: families share their formulas.
    """

    def keep(make: F) -> F:
        name, own = make.__name__, parameters(make)
        unknown = [key for key in papers if key not in BIBTEX]
        if unknown or name in RECORDS:
            raise InvalidValue(
                f"{name} cites {unknown}, not in papers.py" if unknown else f"two algorithms are called {name}"
            )
        formulas = {key: value for key, value in (tuned_by or {}).items() if key in own}
        RECORDS[name] = Record(
            name=name,
            make=make,
            family=family,
            remembers=remembers,
            plays=plays,
            regret=regret,
            papers=papers,
            theorem=theorem,
            bound=bound,
            tuned_by=formulas,
            world=world,
            example=example,
            randomised=randomised,
        )
        return make

    return keep


def parameters(make: Callable[..., Any]) -> frozenset[str]:
    """The keywords a function takes; those of `**options: Unpack[Options]` too."""
    names: set[str] = set()
    for parameter in inspect.signature(make).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and typing.get_origin(parameter.annotation) is typing.Unpack:
            names |= set(typing.get_type_hints(typing.get_args(parameter.annotation)[0]))
        else:
            names.add(parameter.name)
    return frozenset(names)


def algorithms_of(module: str) -> list[str]:
    """The algorithms that a module of the zoo defines: its `__all__`."""
    return [record.name for record in RECORDS.values() if record.make.__module__ == module]
