"""Repairs of formulas that docutils translates wrongly or that browsers would draw wrongly; pure text, so that tests need no docutils."""

import html
import re
from xml.etree import ElementTree

MATHML = "http://www.w3.org/1998/Math/MathML"
ENTITY = re.compile(r"&(?!lt;|gt;|amp;|quot;|#)\w+;")
#: One-character accents as docutils writes them, from `\\acute` to `\\vec`.
ACCENTS = ("´", "ˉ", "¯", "˘", "ˇ", "˙", "¨", "`", "ˆ", "˚", "~", "→")
BARS = ("|", "‖")
DELIMITERS = (*BARS, "(", ")", "[", "]", "{", "}", "⟨", "⟩", ".", "⌈", "⌉", "⌊", "⌋")
SHORT_FRACTION = re.compile(r"\\(d?frac)\s*(\d)\s*(\d)")


def prepared(source: str) -> str:
    r"""LaTeX that docutils reads as LaTeX does: it takes the two digits of \frac12 for one number, twelve, over what follows.

    >>> prepared(r"\frac12\log\frac1\delta")
    '\\frac{1}{2}\\log\\frac1\\delta'
    """
    return SHORT_FRACTION.sub(r"\\\1{\2}{\3}", source)


def repaired(formula: str) -> str:
    r"""MathML with indices beside letters with accents, and with bars and braces that grow only between \left and \right."""
    ElementTree.register_namespace("", MATHML)
    root = ElementTree.fromstring(ENTITY.sub(lambda name: html.unescape(name[0]), formula))
    _place_indices(root)
    _quiet_bars(root)
    for node in root:
        if node.text in ("{", "}"):
            node.set("stretchy", "false")
    return ElementTree.tostring(root, encoding="unicode")


def _tag(name: str) -> str:
    return f"{{{MATHML}}}{name}"


def _place_indices(root: ElementTree.Element) -> None:
    """docutils puts the index of a letter with an accent below the letter; LaTeX puts it beside."""
    for node in root.iter(_tag("munderover")):
        if len(node) == 3 and node[2].text in ACCENTS:
            letter, index, accent = list(node)
            over = ElementTree.Element(_tag("mover"), {"accent": "true"})
            over.extend([letter, accent])
            node.tag = _tag("msub")
            node[:] = [over, index]
    for node in root.iter(_tag("msup")):
        if node[0].tag == _tag("msub") and node[0][0].tag == _tag("mover"):  # index and exponent stand above each other
            (letter, index), exponent = list(node[0]), node[1]
            node.tag = _tag("msubsup")
            node[:] = [letter, index, exponent]


def _quiet_bars(root: ElementTree.Element) -> None:
    r"""Bars do not stretch and have no space around them, as in LaTeX.

    A browser stretches a bar to the height of its row and adds the space of a relation; the closing bar of ‖x‖_V, which has an index, is in
    a row of its own and stays small. Only the two ends of a row that docutils made of \left and \right may grow.
    """
    growing = set()
    for row in root.iter(_tag("mrow")):
        if len(row) > 1 and row[0].text in DELIMITERS and row[-1].text in DELIMITERS:
            growing |= {row[0], row[-1]}
    for node in root.iter(_tag("mo")):
        if node.text in BARS and node not in growing:
            node.set("stretchy", "false")
            node.set("lspace", "0")
            node.set("rspace", "0")
