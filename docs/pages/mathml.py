"""Formulas as MathML: browsers draw it themselves, so a page needs no script and no network.

Sphinx's own renderers load MathJax from another machine or call LaTeX; docutils can translate, and this hands its translation on.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

from .formulas import prepared, repaired

LOG = logging.getLogger(__name__)


def translated(node: nodes.Element, *, block: bool) -> str:
    """The formula of a node; one that docutils does not know is a warning, and so an error."""
    source = prepared(node.astext())
    if block and r"\\" in source and r"\begin" not in source:
        source = rf"\begin{{aligned}}{source}\end{{aligned}}"
    try:
        return repaired(str(latex2mathml.tex2mathml(source, as_block=block)))
    except MathError as problem:
        LOG.warning("formula not understood: %s in %s", problem, source, location=node)
        return f"<code>{source}</code>"


def inline(writer: Any, node: nodes.Element) -> None:
    """A formula in a line."""
    writer.body.append(translated(node, block=False))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.Element) -> None:
    """A formula of its own, which scrolls by itself where the page is narrow."""
    label = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    writer.body.append(f'<div class="formula"{label}>{number}{translated(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
