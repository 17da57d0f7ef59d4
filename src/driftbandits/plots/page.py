"""A single HTML file with interactive plots and tables that works offline."""

import base64
import functools
import gzip
import pathlib
from dataclasses import dataclass
from typing import Any

from .interactive import figure
from .plot import Plot

TEMPLATES = pathlib.Path(__file__).with_name("templates")
LEVEL = 3  # of compression: level 9 takes thrice the time for a tenth less


@dataclass(frozen=True)
class Cell:
    """A text, how it looks, and a note below it."""

    text: str
    style: str = ""  # a class of page.css
    note: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table of plain text, with headings; the template converts it to HTML."""

    kind: str
    head: list[str]
    rows: list[list[Cell]]


class Figures:
    """The plots of a page, by arbitrary keys."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}

    def add(self, plot: Plot | None) -> str:
        """Add a plot and return its key; "" if there is no plot."""
        if plot is None:
            return ""
        key = f"f{len(self.data)}"
        self.data[key] = figure(plot)
        return key


def render(template: pathlib.Path, figures: Figures, **values: Any) -> str:
    """The whole page, from a template that extends page.html.

    All text is escaped, by the template or as JSON without characters that HTML interprets.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template(template.name).render(figures=figures.data, plotly=_library(), **values)


@functools.cache
def _library() -> str:
    """plotly.js, compressed: a third of its size."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    return Markup(
        base64.b64encode(gzip.compress(get_plotlyjs().encode(), LEVEL, mtime=0)).decode()
    )  # nothing to escape
