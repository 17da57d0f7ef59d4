"""An experiment under another reading of what its source leaves open, or replicated with other seeds."""

from dataclasses import replace

from ...util.spelling import did_you_mean
from .calls import Call
from .experiment import Environment, Experiment
from .schema import Reading


def under(experiment: Experiment, reading: Reading) -> Experiment:
    """The experiment with the constants and the arms of a reading; a key that a reading cannot change is an error with its line."""
    i = experiment.readings.index(reading)
    for name in reading.constants:
        if name not in experiment.constants:
            hint = did_you_mean(name, experiment.constants) or f"; known: {', '.join(experiment.constants)}"
            raise experiment.source.error(f"unknown constant '{name}'{hint}", "reading", i, "constants")
    return replace(
        experiment,
        constants={**experiment.constants, **reading.constants},
        places={**experiment.places, **{name: ("reading", i, "constants", name) for name in reading.constants}},
        environments=tuple(_with_arms(e, reading.arms, experiment, i) for e in experiment.environments),
    )


def _with_arms(entry: Environment, use: str, experiment: Experiment, i: int) -> Environment:
    if not use:
        return entry
    arms = entry.call.args.get("arms")
    if not isinstance(arms, Call):
        raise experiment.source.error(f"the environment '{entry.name}' has no arms to be read otherwise", "reading", i)
    other = replace(arms, use=use, where=("reading", i))
    other.function  # noqa: B018 - an unknown name is an error
    return replace(entry, call=entry.call.with_args({"arms": other}))


def replicated(experiment: Experiment, times: int) -> Experiment:
    """The same with so many fresh seeds, those that follow its own: the trials on which a claim was found do not confirm it."""
    last = max(experiment.seeds)
    return replace(experiment, seeds=tuple(range(last + 1, last + 1 + times)))


def for_claims(experiment: Experiment) -> Experiment:
    """Only the strategies that its claims speak of."""
    named = {name.partition(" @ ")[0] for claim in experiment.claims for name in (*claim.left, *claim.others)}
    spoken = tuple(s for s in experiment.strategies if s.name in named)
    all_found = named <= {s.name for s in spoken}  # not if a claim speaks of a point of a grid
    return replace(experiment, strategies=spoken if all_found else experiment.strategies, bounds=())
