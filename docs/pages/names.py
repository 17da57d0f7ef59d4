"""Names of the library in running text lead to the reference; one that does not exist fails the build.

`db.zoo.oful`, `theory.lb_gamma(T=…)` or `Agent.select` in a page or a docstring is a link. An object that is defined in one file and public
in another (driftbandits.bandit.bandit.Bandit is driftbandits.Bandit) is found under its public name; one of ours that is not public stays
plain text, if it exists.
"""

import importlib
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

NAME = re.compile(r"^(?:(?:db|driftbandits)\.)?([A-Za-z_][\w.]*)(\(.*\))?$", re.DOTALL)
#: Words that are names of ours and also plain English or a parameter in most places.
PLAIN = frozenset(
    [
        "run",
        "window",
        "table",
        "linear",
        "static",
        "bob",
        "master",
        "kappa",
        "phase",
        "act",
        "learn",
        "limits",
        "start",
        "scores",
        "size",
        "grow",
        "mean",
        "index",
        "beta",
        "report",
        "names",
        "potential",
        "half_life",
        "plan",
        "load",
        "law",
        "mu",
        "inventory",
        "generalized",
        "piecewise",
        "joined",
        "linear_mixture",
        "tabular",
        "logit",
        "value",
        "replay",
        "tune",
    ]
)


def candidates(text: str) -> list[str]:
    """What a text may name, the likeliest first."""
    match = NAME.match(text)
    if not match or match[1] in PLAIN:
        return []
    name = match[1].rstrip(".")
    places = (
        "",
        "zoo.",
        "theory.",
        "env.",
        "mdp.",
        "memory.",
        "model.",
        "radius.",
        "rule.",
        "meta.",
        "errors.",
        "testing.",
        "replay.",
    )
    return [f"driftbandits.{place}{name}" for place in places]


def documented(env: Any, text: str) -> str | None:
    """The public name that a text means."""
    objects = env.get_domain("py").objects
    return next((name for name in candidates(text) if name in objects), None)


class LinkNames(SphinxPostTransform):
    """`code` in a page that names something public becomes a link to it."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002 - Sphinx's signature
        """Look at every literal."""
        if self.env.docname.startswith(("tutorials/", "reference/")):
            return
        for node in list(self.document.findall(nodes.literal)):
            if isinstance(node.parent, (nodes.reference, addnodes.pending_xref)) or "xref" in node.get("classes", ()):
                continue
            name = documented(self.env, node.astext())
            if name:
                xref = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True, refdoc=self.env.docname
                )
                xref += nodes.literal(node.astext(), node.astext(), classes=["xref", "py"])
                node.replace_self(xref)


def public(env: Any, target: str) -> str | None:
    """The documented name of an object that is asked for by where it is defined."""
    try:
        thing = resolve(target)
    except (ImportError, AttributeError, ValueError):
        return None
    name = getattr(thing, "__name__", target.rpartition(".")[2])
    for known in env.get_domain("py").objects:
        if known.rpartition(".")[2] == name and _same(known, thing):
            return str(known)
    return None


def _same(known: str, thing: Any) -> bool:
    try:
        return resolve(known) is thing
    except (ImportError, AttributeError, ValueError):
        return False


def resolve(target: str) -> Any:
    """Import an object by its dotted name."""
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part)
        return thing
    raise ImportError(target)


def missing(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Find a reference that Sphinx did not find."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    plain = "." not in target and node["refdoc"].startswith(
        "reference/"
    )  # a word of a docstring; its module was looked through
    found = (None if plain else documented(env, target)) or (
        public(env, target) if target.startswith("driftbandits.") else None
    )
    if found:
        return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", found, node, contnode)
    if target.startswith("driftbandits."):
        try:
            resolve(target)
        except (ImportError, AttributeError, ValueError):
            return None  # a name of ours that does not exist: Sphinx warns, and the build fails
        return contnode
    return None


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_post_transform(LinkNames)
    app.connect("missing-reference", missing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
