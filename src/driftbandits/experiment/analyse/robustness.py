"""Does a claim survive other seeds, and other readings of what its source leaves open?

    the source's reading    tested on the trials of all replications together: fresh arms, paths and noise
    every other reading     tested on the trials of the experiment's own seeds

Under each reading the p-values of all claims are corrected together (Holm), so that the chance of calling *any* wrong claim right is 5 %
per reading. A claim

    holds                               if it does under the source's reading and under every other that was tried
    holds at the paper's reading only   if it does under the source's, and fails under another
    does not hold                       if it fails under the source's

"Fails" is "is not shown": a margin that is too small for the trials there are counts as a failure.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..run.cells import Result
from ..run.plan import Plan
from ..spec.experiment import Experiment
from ..spec.readings import for_claims, replicated, under
from .analysis import curves_of, verdicts
from .claims import LEVEL
from .panel_results import Curve, Panel, UnderReading, Verdict
from .statistics import holm

REPLICATIONS = 8
OWN = "paper"  # name of the source's reading
HOLDS, ONLY_THERE, FAILS = "holds", "holds at the paper's reading only", "does not hold"


@dataclass(frozen=True)
class Variant:
    """An experiment under one reading."""

    reading: str
    experiment: Experiment


def variants(experiment: Experiment) -> list[Variant]:
    """What has to be run beside the experiment itself: its replications, then its other readings."""
    spoken = for_claims(experiment)
    own = Variant(OWN, replicated(spoken, REPLICATIONS))
    return [own, *(Variant(reading.name, under(spoken, reading)) for reading in experiment.readings)]


def judged(panels: list[Panel], plans: Sequence[Sequence[tuple[str, Plan]]], results: dict[str, Result]) -> list[Panel]:
    """The panels with a robustness line on every claim; `plans` has, for each panel, its readings and their plans."""
    tested = [[(reading, plan, curves_of(plan, results)) for reading, plan in rows] for rows in plans]
    raw = [[(reading, verdicts(plan, curves)) for reading, plan, curves in rows] for rows in tested]
    corrected = _corrected(raw)
    answer = []
    for k, (panel, rows, lines) in enumerate(zip(panels, tested, raw, strict=True)):
        times = _replications(rows[0][1], rows[0][2])
        claims = []
        for i, claim in enumerate(panel.claims):
            readings = []
            for reading, found in lines:
                v, p = found[i], corrected[k, reading, i]
                holds = v.margin > 0.0 and (math.isnan(p) or p < LEVEL)
                readings.append(UnderReading(reading, holds, v.margin, p, times[i] if reading == OWN else ""))
            claims.append(replace(claim, robust=verdict(readings), readings=readings))
        answer.append(replace(panel, claims=claims))
    return answer


def verdict(readings: Sequence[UnderReading]) -> str:
    """In a word; the source's reading is the first.

    Examples
    --------
    >>> own, other = UnderReading("paper", True, 0.2, 0.001), UnderReading("δ = 0.05", False, 0.01, 0.3)
    >>> verdict([own, other])
    "holds at the paper's reading only"
    """
    if not readings[0].holds:
        return FAILS
    return HOLDS if all(r.holds for r in readings) else ONLY_THERE


def _corrected(raw: list[list[tuple[str, list[Verdict]]]]) -> dict[tuple[int, str, int], float]:
    """Holm's p-value of every claim under every reading, corrected over all panels that have the reading; NaN of single trials stays."""
    groups: dict[str, dict[tuple[int, str, int], float]] = {}
    for k, lines in enumerate(raw):
        for reading, found in lines:
            groups.setdefault(reading, {}).update({(k, reading, i): v.p for i, v in enumerate(found)})
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
