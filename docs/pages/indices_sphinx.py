"""Indices and exponents of prose (`indices`) below and above the line; code, formulas, titles and names of parameters stay as they are."""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from .indices import pieces

# Terms and field names are those of parameters: P_T is what a user types, and must stay so.
KEPT = (
    nodes.literal,
    nodes.FixedTextElement,
    nodes.math,
    nodes.title,
    nodes.term,
    nodes.field_name,
    nodes.raw,
    nodes.comment,
    addnodes.desc_signature,
    addnodes.literal_strong,
)
PLACES = {"_": nodes.subscript, "^": nodes.superscript}


class Indices(SphinxTransform):
    """Replaces text that has an index by text, subscripts and superscripts."""

    default_priority = 700

    def apply(self, **_: Any) -> None:
        """Look at every text of the document."""
        for text in list(self.document.findall(nodes.Text)):
            if "_" not in text and "^" not in text:
                continue
            if not any(isinstance(node, KEPT) for node in _ancestors(text)):
                found = written(text.astext())
                if len(found) > 1:
                    text.parent.replace(text, found)


def _ancestors(node: nodes.Node) -> list[nodes.Node]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def written(text: str) -> list[nodes.Node]:
    """The nodes of a text."""
    found: list[nodes.Node] = []
    for place, part in pieces(text):
        if place:
            found.append(PLACES[place]("", "", *written(part)))
        elif part:
            found.append(nodes.Text(part))
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_transform(Indices)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
