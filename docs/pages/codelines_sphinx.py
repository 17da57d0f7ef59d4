"""The directives of `codelines`, and the links back on the pages of the source."""

import html
import pathlib
import re
import shutil
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

from .codelines import NotFound, Place, find, test_source

LOG = logging.getLogger(__name__)
LINE = re.compile(r'<span class="linenos">(\s*)(\d+)</span>')


class CodeLine(Directive):
    """Lines of a function, with their number and a link to each."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The box."""
        env = self.state.document.settings.env
        try:
            places = find(self.arguments[0], "\n".join(self.content))
        except NotFound as problem:
            LOG.warning("%s", problem, location=(env.docname, self.lineno))
            return []
        box = nodes.container(classes=["code-line"])
        for place in places:
            anchor = f"code-{place.module.replace('.', '-')}-{place.line}"
            back = {"docname": env.docname, "anchor": anchor}
            env.metadata[env.docname].setdefault("code_lines", {})[f"{place.module}:{place.line}"] = back
            row = nodes.container(classes=["code-line-row"], ids=[anchor])
            row += nodes.literal(place.text, place.text, classes=["code", "python"])
            row += link(env, place)
            box += row
        return [box]


def link(env: Any, place: Place) -> nodes.Node:
    """From here to the line of the source."""
    uri = (
        env.app.builder.get_relative_uri(env.docname, f"_modules/{place.module.replace('.', '/')}")
        + f"#line-{place.line}"
    )
    label = f"{place.module.removeprefix('driftbandits.').replace('.', '/')}.py:{place.line}"
    reference = nodes.reference("", label, refuri=uri, classes=["code-line-link"])
    return nodes.paragraph("", "", reference)


class TestCode(Directive):
    """A test, folded."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Its name; its text when it is opened."""
        env = self.state.document.settings.env
        target = self.arguments[0]
        try:
            text, line = test_source(target)
        except NotFound as problem:
            LOG.warning("%s", problem, location=(env.docname, self.lineno))
            return []
        env.note_dependency(str(env.srcdir.parent / target.partition("::")[0]))
        path, _, name = target.partition("::")
        said = name.removeprefix("test_").replace("_", " ")
        summary = f"<summary>{html.escape(said)} <small>{path}:{line}</small></summary>"
        code = nodes.literal_block(text, text, language="python")
        return [
            nodes.raw("", f'<details class="test-code">{summary}', format="html"),
            code,
            nodes.raw("", "</details>", format="html"),
        ]


def forget_source_pages(app: Any) -> None:
    """Make all source pages anew: Sphinx keeps those whose source has not changed, whatever the pages say about it."""
    shutil.rmtree(pathlib.Path(app.outdir) / "_modules", ignore_errors=True)


def lines_of(env: Any) -> dict[str, dict[str, str]]:
    """Every line that a page speaks of, and where."""
    return {key: back for data in env.metadata.values() for key, back in data.get("code_lines", {}).items()}


def mark_source(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Give every line of a source page its anchor, and those that pages speak of a link back."""
    if not pagename.startswith("_modules/") or "body" not in context:
        return
    module = pagename.removeprefix("_modules/").replace("/", ".")
    spoken = lines_of(app.env)
    seen = app.env.__dict__.setdefault("linked_lines", set())

    def anchor(match: re.Match[str]) -> str:
        number = int(match[2])
        mark = f'<span class="linenos" id="line-{number}">{match[1]}{number}</span>'
        back = spoken.get(f"{module}:{number}")
        if back is None:
            return mark
        seen.add(f"{module}:{number}")
        uri = app.builder.get_relative_uri(pagename, back["docname"]) + "#" + back["anchor"]
        title = html.escape(app.env.titles[back["docname"]].astext())
        return f'{mark}<a class="equation-back" href="{uri}" title="{title}">∑</a>'

    context["body"] = LINE.sub(anchor, context["body"])


def source_pages(app: Any, env: Any) -> None:
    """A page for every module that is spoken of, also where nothing of it is in the reference."""
    pages = env.__dict__.setdefault("_viewcode_modules", {})
    for module in {key.partition(":")[0] for key in lines_of(env)}:
        if not pages.get(module):
            analyzer = ModuleAnalyzer.for_module(module)
            analyzer.find_tags()
            pages[module] = analyzer.code, analyzer.tags, {}, module


def check_links(app: Any, problem: Exception | None) -> None:
    """Every line that a page links to has a source page."""
    if problem is None and app.builder.name == "html":
        lost = set(lines_of(app.env)) - app.env.__dict__.get("linked_lines", set())
        if lost:
            LOG.warning("no source page has the lines %s", ", ".join(sorted(lost)))


def connect(app: Any) -> None:
    """Tell Sphinx."""
    app.add_directive("code-line", CodeLine)
    app.add_directive("test-code", TestCode)
    app.connect("builder-inited", forget_source_pages)
    app.connect("env-updated", source_pages)
    app.connect("html-page-context", mark_source)
    app.connect("build-finished", check_links)
