"""The line of a specification that caused an error of the library."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import DriftBanditsError
from .calls import Call
from .experiment import Environment, Experiment
from .source import SpecError

ASSIGNED = re.compile(r"(\w+) = ")  # messages say "gamma = 1.5 is not allowed", "… > L = 0.5; …"


@contextmanager
def errors_with_lines(experiment: Experiment, call: Call, entry: Environment) -> Iterator[None]:
    """Errors from creating what a call describes, in this environment, point at the value they name."""
    try:
        yield
    except SpecError:
        raise
    except DriftBanditsError as problem:
        raise _located(str(problem), experiment, call, entry) from None
    except (MemoryError, OverflowError):
        raise call.error(f"{call.use} is too large for the memory of this machine") from None
    except (TypeError, ValueError) as problem:
        raise call.error(f"{call.use}: {problem}") from None
    except Exception as problem:
        if ":" not in call.use:
            raise
        raise call.error(f"{call.use} raised {type(problem).__name__}: {problem}") from problem


def _located(message: str, experiment: Experiment, call: Call, entry: Environment) -> SpecError:
    """At the argument, the environment's constant or the experiment's constant that the message names; else at the call."""
    told = f"{call.use}: {message}"
    for name in ASSIGNED.findall(message):
        culprit = _call_with_argument(call, name)
        if culprit is not None:
            return culprit.error(told, name)
        if name in entry.constants:
            return entry.call.source.error(told, *entry.call.where, "constants", name)
        if name in experiment.constants:
            return experiment.constant_error(name, told)
    return call.error(told)


def _call_with_argument(call: Call, name: str) -> Call | None:
    """The call, here or nested, that gives an argument."""
    if name in call.args:
        return call
    inner = [i for value in call.args.values() for i in (value if isinstance(value, tuple) else (value,))]
    found = (_call_with_argument(value, name) for value in inner if isinstance(value, Call))
    return next((culprit for culprit in found if culprit is not None), None)
