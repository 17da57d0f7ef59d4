"""One record per algorithm: what there is to know of it beside its code, said once, on the function that makes it.

From the records come `zoo.__all__`, `cite`, `driftbandits list` and `tune`, the tables of README and docs (`make tables`), what "theory"
means in an experiment, and the contract tests. An algorithm without a record is not in the zoo.
"""

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from ..errors import InvalidValue
from ..util.spelling import did_you_mean
from .papers import BIBTEX, label

F = TypeVar("F", bound=Callable[..., Any])
Family = Literal["linear", "generalized", "adaptive", "mdp"]
ExampleWorld = Literal["linear", "logistic", "linear mixture", "multinomial"]


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
    world: ExampleWorld  # where its example runs
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
    world: ExampleWorld,
    papers: tuple[str, ...] = (),
    theorem: str = "",
    bound: str = "",
    tuned_by: Mapping[str, str] | None = None,
    randomised: bool = False,
    defaults_of: Callable[..., Any] | None = None,
) -> Callable[[F], F]:
    """Decorate a function of the zoo with its record, and write out its `**options: Unpack[Options]` in its signature.

    `tuned_by` may name parameters that the function does not have: families share their formulas. `defaults_of` is the function that
    the options are passed on to: its defaults are those that `help` shows.
    """

    def keep(make: F) -> F:
        make = _spelled_out(make, defaults_of)
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
    """The keywords a function takes."""
    return frozenset(inspect.signature(make).parameters)


def _spelled_out(make: F, defaults_of: Callable[..., Any] | None) -> F:
    """The function itself, or one that knows the names behind its `**options` and refuses others in its own name.

    Type checkers and editors read `Unpack[Options]`; `help`, notebooks, experiments and `tune` read the signature that is set here.
    """
    own = inspect.signature(make)
    named = list(own.parameters.values())
    if not named or named[-1].kind is not inspect.Parameter.VAR_KEYWORD:
        return make
    rest = named.pop()
    (options,) = typing.get_args(rest.annotation)
    known = inspect.signature(defaults_of).parameters if defaults_of else {}
    hints = typing.get_type_hints(options)
    for name in sorted(hints, key=lambda name: name not in options.__required_keys__):
        default = rest.empty if name in options.__required_keys__ else known[name].default if name in known else ...
        named.append(inspect.Parameter(name, rest.KEYWORD_ONLY, default=default, annotation=hints[name]))
    every = [each.name for each in named]
    required = [each.name for each in named if each.default is rest.empty]

    @functools.wraps(make)
    def checked(*args: Any, **given: Any) -> Any:
        for name in given.keys() - set(every):
            hint = did_you_mean(name, every) or f"; it takes {', '.join(every)}"
            raise TypeError(f"{make.__name__}() got an unexpected keyword argument {name!r}{hint}")
        missing = [name for name in required[len(args) :] if name not in given]
        if missing:
            raise TypeError(f"{make.__name__}() is missing required arguments: {', '.join(missing)}")
        return make(*args, **given)

    checked.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
    return typing.cast(F, checked)


def algorithms_of(module: str) -> list[str]:
    """The algorithms that a module of the zoo defines: its `__all__`."""
    return [record.name for record in RECORDS.values() if record.make.__module__ == module]
