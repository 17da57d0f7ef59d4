"""Robustness of claims: tests with other seeds, and under other readings of what the source leaves open.

Every reading, the source's own among them, is tested on the same number of trials, with seeds that are not those of the experiment:
fresh arms, paths and noise. Under each reading there are three verdicts (`claims`): the trials show the claim (*holds*), or its
contrary (*fails*), or neither (*undecided*). The p-values of all claims under a reading are corrected together (Holm), and so are those
of their contraries: the chance of calling
*any* wrong claim right is 5 % per reading, and so is that of calling any right claim wrong. Over all readings a claim

    holds                       if it does under every reading
    depends on the reading      if it holds under the source's, and fails under another
    fails                       if it fails under the source's
    is undecided                otherwise
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ..run.cells import Result
from ..run.plan import Plan
from ..spec.experiment import Experiment
from ..spec.variants import for_claims, replicated, under
from .analysis import curves_of, verdicts
from .panel_results import FAILS, HOLDS, UNDECIDED, Curve, Panel, UnderReading, Verdict
from .statistics import holm

REPLICATIONS = 8
OWN = "paper"  # name of the source's reading
DEPENDS = "depends on the reading"
VERDICTS = (HOLDS, DEPENDS, FAILS, UNDECIDED)


@dataclass(frozen=True)
class Variant:
    """An experiment under one reading."""

    reading: str
    experiment: Experiment


def variants(experiment: Experiment) -> list[Variant]:
    """The experiments to run in addition: replications, then other readings, each with as many trials as the original."""
    spoken = for_claims(experiment)
    read = [(OWN, spoken), *((reading.name, under(spoken, reading)) for reading in experiment.readings)]
    return [Variant(name, replicated(one, REPLICATIONS)) for name, one in read]


def judged(panels: list[Panel], plans: Sequence[Sequence[tuple[str, Plan]]], results: dict[str, Result]) -> list[Panel]:
    """The panels with a robustness line on every claim; `plans` has, for each panel, its readings and their plans."""
    tested = [[(reading, plan, curves_of(plan, results)) for reading, plan in rows] for rows in plans]
    raw = [[(reading, verdicts(plan, curves)) for reading, plan, curves in rows] for rows in tested]
    p, contrary = (_corrected(raw, of) for of in (_p, _contrary))
    answer = []
    for k, (panel, rows, lines) in enumerate(zip(panels, tested, raw, strict=True)):
        times = _replications(rows[0][1], rows[0][2])
        claims = []
        for i, claim in enumerate(panel.claims):
            readings = []
            for reading, found in lines:
                key = k, reading, i
                told = times[i] if reading == OWN else ""
                readings.append(UnderReading(reading, found[i].margin, p[key], contrary[key], told))
            claims.append(replace(claim, robust=verdict(readings), readings=readings))
        answer.append(replace(panel, claims=claims))
    return answer


def verdict(readings: Sequence[UnderReading]) -> str:
    """The overall verdict in one word; the first reading is that of the source.

    Examples
    --------
    >>> own = UnderReading("paper", 0.2, 0.001, 0.999)
    >>> verdict([own, UnderReading("δ = 0.05", 0.01, 0.3, 0.7)])
    'undecided'
    >>> verdict([own, UnderReading("δ = 0.05", -0.1, 0.99, 0.01)])
    'depends on the reading'
    """
    own, *others = (r.verdict for r in readings)
    if own == FAILS:
        return FAILS
    if own == HOLDS and FAILS in others:
        return DEPENDS
    return HOLDS if {own, *others} == {HOLDS} else UNDECIDED


def _p(v: Verdict) -> float:
    return v.p


def _contrary(v: Verdict) -> float:
    return v.contrary


def _corrected(
    raw: list[list[tuple[str, list[Verdict]]]], p_value: Callable[[Verdict], float]
) -> dict[tuple[int, str, int], float]:
    """Holm's p-value of every claim under every reading, corrected over all panels that have the reading; NaN of single trials stays."""
    groups: dict[str, dict[tuple[int, str, int], float]] = {}
    for k, lines in enumerate(raw):
        for reading, found in lines:
            groups.setdefault(reading, {}).update({(k, reading, i): p_value(v) for i, v in enumerate(found)})
    answer: dict[tuple[int, str, int], float] = {}
    for group in groups.values():
        tested = {key: p for key, p in group.items() if not math.isnan(p)}
        answer |= group | dict(zip(tested, holm(list(tested.values())), strict=True))
    return answer


def _replications(plan: Plan, curves: Iterable[Curve]) -> list[str]:
    """In how many replications each claim holds, tested as in an experiment of its own."""
    trials, counts = plan.experiment.trials, [0] * len(plan.experiment.claims)
    seeds = len(plan.experiment.seeds)
    for k in range(seeds):
        part = slice(k * trials, (k + 1) * trials)
        own = [replace(c, regret=c.regret[part], seconds=c.seconds[part]) for c in curves]
        for i, v in enumerate(verdicts(plan, own)):
            counts[i] += v.holds
    return [f"{count} of {seeds}" for count in counts]
