"""Formulas in titles and names are rendered once in advance, so that one Matplotlib cannot render is refused early."""

import re
from collections.abc import Iterator

from ..run.plan import Plan
from ..spec.experiment import Environment, Strategy
from ..spec.source import Where

DOLLAR = re.compile(r"(?<!\\)\$")


def check_texts(plan: Plan) -> None:
    """Refuse a title or a name with a formula that cannot be drawn."""
    for what, text, where in _drawn(plan):
        if len(DOLLAR.findall(text)) >= 2 and not _can_be_set(text):
            raise plan.experiment.source.error(
                f"the formula in {what} '{text}' cannot be drawn; write \\\\$ for a dollar sign", *where
            )


def _drawn(plan: Plan) -> Iterator[tuple[str, str, Where]]:
    e = plan.experiment
    yield "the title", e.title, ("experiment", "title")
    yield "the unit", e.unit, ("experiment", "unit")
    entries: list[Environment | Strategy] = [*plan.environments, *plan.strategies]
    for entry in entries:
        yield "the name", entry.name, (*entry.call.where, "name")
    for i, axis in enumerate(e.axes):
        yield "the label", axis.title, ("axis", i, "label")


def _can_be_set(text: str) -> bool:
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(text)
    except (ValueError, RuntimeError, RecursionError):
        return False
    return True
