"""The HTML report of `answer`: the verdict, three plots, and their numbers."""

import datetime
import math
import pathlib
from typing import TYPE_CHECKING

from ..plots.page import Cell, Figures, PageTable, render
from . import describe
from .estimators import Estimate

if TYPE_CHECKING:
    from .answer import Answer

TEMPLATE = pathlib.Path(__file__).with_name("templates") / "answer.html"


def page(answer: "Answer") -> str:
    """The whole page."""
    from .. import __version__

    figures = Figures()
    return render(
        TEMPLATE,
        figures,
        title=f"Does forgetting pay on {pathlib.PurePath(answer.log.name).name}?",
        verdict=answer.verdict,
        today=answer.against_today,
        estimator=answer.estimator,
        intervals=answer.replay.intervals,
        half_life=figures.add(describe.against_half_life(answer)),
        over_time=figures.add(describe.over_time(answer)),
        memory=figures.add(describe.memory(answer)),
        best=answer.best.name,
        drift=answer.when,
        events=_events(answer),
        which_item=answer.which_item,
        items=_items(answer),
        values=_values(answer),
        log=_log(answer),
        refused=list(answer.replay.refused.values()),
        version=__version__,
    )


def _moment(answer: "Answer", at: float) -> str:
    if not answer.timed:
        return f"row {at:.0f}"
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%d %H:%M")


def _events(answer: "Answer") -> PageTable | None:
    if not answer.events:
        return None
    rows = [
        [
            Cell(_moment(answer, e.at), "number"),
            Cell(e.kind),
            Cell(e.sentence),
            Cell(f"{e.evidence:.1f}", "number"),
        ]
        for e in answer.events
    ]
    return PageTable("events", ["noticed", "what changed", "in words", "evidence (nats)"], rows)


def _items(answer: "Answer") -> PageTable | None:
    if not answer.item_changes:
        return None
    rows = [
        [
            Cell(str(c.item)),
            Cell(_moment(answer, c.at), "number"),
            Cell(f"{c.before:.4g}", "number"),
            Cell(f"{c.after:.4g}", "number"),
            Cell(f"{c.p_value:.1g}", "number"),
        ]
        for c in answer.item_changes
    ]
    return PageTable("items", ["item", "changed", "reward before", "after", "p-value"], rows)


def _values(answer: "Answer") -> PageTable:
    found = answer.replay
    estimators = [e for e in found.estimators if e not in found.refused]
    rows = [[Cell("as logged", note="what was really earned"), *[_cell(found.logged)] * len(estimators)]]
    rows += [[Cell(name), *(_cell(found.estimate(name, e)) for e in estimators)] for name in found.policies]
    return PageTable("values", ["policy", *estimators], rows)


def _cell(e: Estimate) -> Cell:
    worth = f"worth {e.effective_n:.0f} rows"
    if math.isnan(e.value):
        return Cell("refused", note=worth)
    return Cell(f"{e.value:.4g} [{e.low:.4g}, {e.high:.4g}]", "number", worth)


def _log(answer: "Answer") -> PageTable:
    facts = answer.log.facts
    told = [("decisions", f"{facts.rows}"), ("items", f"{len(facts.items)}"), ("log", answer.log.name)]
    if answer.timed and facts.start is not None and facts.end is not None:
        told.append(("from", _moment(answer, facts.start)))
        told.append(("to", _moment(answer, facts.end)))
    told.append(("propensities", f"≥ {facts.least:.3g}" if answer.log.known else "none: choices are uniform"))
    if facts.dropped:
        told.append(("left out", f"{facts.dropped} decisions without a reward"))
    return PageTable("log", [], [[Cell(name), Cell(value)] for name, value in told])
