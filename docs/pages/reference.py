"""The reference: a page per public module, a page per name in it, written from `__all__` so that none is forgotten.

Names stand under the file that defines them, under the first line of that file's docstring; files come in the order of the names.
"""

import importlib
import importlib.util
import inspect
import pathlib
import re
from types import ModuleType
from typing import Any, NamedTuple

PACKAGE = "driftbandits"
TOP = frozenset(importlib.import_module(PACKAGE).__all__)


class Page(NamedTuple):
    """One module of the reference."""

    module: str  # below the package; "" for the package itself
    title: str
    needs: str = ""  # another module of Python without which it cannot be read


#: In the order of the reference: what a user with data calls, what simulates, what is proved, what the parts are.
PAGES = (
    Page("bandit", "db.Bandit: decisions in production"),
    Page("", "driftbandits"),
    Page("features", "db.features: numbers from moments"),
    Page("zoo", "db.zoo: every algorithm by its paper's name"),
    Page("env", "db.env: drifting worlds"),
    Page("replay", "db.replay: logs, and what a policy would have earned"),
    Page("datasets", "db.datasets: streams to measure with"),
    Page("mdp", "db.mdp: drifting Markov decision processes"),
    Page("theory", "db.theory: the theorems as numbers"),
    Page("experiment", "driftbandits.experiment: comparisons as data", "pydantic"),
    Page("driftbench", "driftbandits.driftbench: a frozen suite of worlds", "pydantic"),
    Page("memory", "driftbandits.memory: what is forgotten?"),
    Page("model", "driftbandits.model: what is estimated?"),
    Page("radius", "driftbandits.radius: how sure are we?"),
    Page("rule", "driftbandits.rule: how do we choose?"),
    Page("meta", "driftbandits.meta: strategies made of strategies"),
    Page("core.parts", "driftbandits.core.parts: what a part of your own is"),
    Page("protocol", "driftbandits.protocol: the open functions a part answers"),
    Page("links", "driftbandits.links: from a score to a mean reward"),
    Page("testing", "driftbandits.testing: what every strategy must satisfy"),
    Page("integrations.gymnasium", "driftbandits.integrations.gymnasium", "gymnasium"),
    Page("errors", "driftbandits.errors: what is refused, and how it says so"),
)

#: Packages with names for each other that a user never imports.
INSIDE = {
    "agent": "`db.Agent`",
    "simulate": "`db.simulate`, `db.trials`, `db.Run`",
    "core.kernel": "the compiler's side of parts; docs/design.md",
    "core.state": "whole states at once, for saving",
    "lab": "the page of `driftbandits lab`",
    "plots": "what reports and pages draw with",
    "model.one_pass": "the parts of two models; `model.OnePass`, `model.OnePassMean`",
    "meta.igw_mix": "the parts of one strategy; `zoo.igw_mix` makes it",
    "meta.self_tuning": "the parts of one strategy; `zoo.self_tuning` makes it",
}


def full(module: str) -> str:
    """The name to import."""
    return f"{PACKAGE}.{module}" if module else PACKAGE


def exists(page: Page) -> bool:
    """Pages of modules that this version does not have are left out."""
    try:
        return importlib.util.find_spec(full(page.module)) is not None
    except ModuleNotFoundError:
        return False


def names(module: ModuleType) -> list[str]:
    """The public names: `__all__`, or what the module itself defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("_")]
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and is_named(thing) and defined_in(thing) == module.__name__
    ]


def is_named(thing: Any) -> bool:
    """Functions, classes and open functions have pages; numbers and types of annotations have not."""
    return (inspect.isclass(thing) or callable(thing)) and getattr(thing, "__doc__", None) is not None


def defined_in(thing: Any) -> str:
    """The module that defines it."""
    return str(getattr(thing, "__module__", ""))


def groups(module: ModuleType) -> dict[str, list[str]]:
    """Names by the file that defines them."""
    found: dict[str, list[str]] = {}
    for name in names(module):
        thing = getattr(module, name)
        home = thing.__name__ if inspect.ismodule(thing) else defined_in(thing)
        found.setdefault(home if home.startswith(PACKAGE) else module.__name__, []).append(name)
    return found


def heading(home: str) -> str:
    """What a file is about: the first sentence of its docstring."""
    text = (importlib.import_module(home).__doc__ or home).strip().partition("\n\n")[0]
    return " ".join(text.split()).partition(". ")[0].rstrip(".:").replace("`", "").replace("|", "∣")


def page_text(page: Page) -> str:
    """The page of a module, as reStructuredText."""
    module = importlib.import_module(full(page.module))
    lines = [page.title, "=" * len(page.title), "", f".. automodule:: {full(page.module)}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {full(page.module)}", ""]
    parts = groups(module)
    for home, members in parts.items():
        modules = [name for name in members if inspect.ismodule(getattr(module, name))]
        things = [name for name in members if name not in modules]
        if things and len(parts) > 1 and page.module:
            lines += [".. rubric:: " + heading(home), ""]
        own = [name for name in things if not page.module or name not in TOP]
        if own:
            lines += [
                ".. autosummary::",
                "   :toctree: generated",
                "   :nosignatures:",
                "",
                *(f"   {n}" for n in own),
                "",
            ]
        if len(own) < len(things):  # has its page under driftbandits
            also = [f"   ~{PACKAGE}.{name}" for name in things if name not in own]
            lines += [".. autosummary::", "   :nosignatures:", "", *also, ""]
    return "\n".join(lines)


def slug(page: Page) -> str:
    """The file's name."""
    return page.module or PACKAGE


def write(folder: pathlib.Path) -> list[str]:
    """Write all pages that this version and this environment have; returns their names."""
    folder.mkdir(exist_ok=True)
    written = []
    for page in PAGES:
        if not exists(page) or (page.needs and importlib.util.find_spec(page.needs) is None):
            continue
        put(folder / f"{slug(page)}.rst", page_text(page))
        written.append(slug(page))
    named = {name for page in folder.glob("*.rst") for name in stubs(page.read_text())}
    for old in (*folder.glob("*.rst"), *folder.glob("generated/*.rst")):
        if (old.parent == folder and old.stem not in written) or (old.parent != folder and old.stem not in named):
            old.unlink()
    return written


def stubs(text: str) -> list[str]:
    """The pages that a module's page has made: its names with their module."""
    module = re.search(r"^\.\. currentmodule:: (\S+)$", text, re.MULTILINE)
    blocks = re.findall(r":toctree: generated\n.*?\n\n((?:   \w+\n?)+)", text, re.DOTALL)
    return [f"{module[1]}.{name}" for block in blocks for name in block.split()] if module else []


def put(path: pathlib.Path, text: str) -> None:
    """Write a file if its content is new, so that Sphinx does not read again what has not changed."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
