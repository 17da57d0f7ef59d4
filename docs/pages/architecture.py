"""The architecture in one picture, drawn from the imports: each box imports only from boxes below it."""

import html
import pathlib

PACKAGE = "driftbandits"
WIDTH, ROW, BOX, GAP = 700, 58, 26, 8
MOST = 5  # boxes beside each other
#: What a box is, in a few words; a module without words is drawn without.
WORDS = {
    "cli": "the command",
    "lab": "a page to play in",
    "experiment": "comparisons as data",
    "replay": "logs, what-if",
    "bandit": "named items, late rewards",
    "agent": "one decision at a time",
    "zoo": "papers' names",
    "mdp": "decision processes",
    "simulate": "the loop",
    "env": "worlds",
    "meta": "strategies of strategies",
    "strategy": "four parts, one learner",
    "memory": "what is forgotten?",
    "model": "what is estimated?",
    "radius": "how sure?",
    "rule": "how do we choose?",
    "protocol": "open functions",
    "core": "compiles them",
    "sums": "what is kept of the past",
    "theory": "theorems as numbers",
}


def imports() -> dict[str, set[str]]:
    """Which part of the package imports which, files inside a part taken together."""
    import grimp

    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        own = part(module)
        if own:
            found.setdefault(own, set())
            found[own] |= {part(other) for other in graph.find_modules_directly_imported_by(module)} - {own, ""}
    return found


def part(module: str) -> str:
    """The part a module belongs to; the package's own file is none."""
    pieces = module.split(".")
    return pieces[1] if pieces[0] == PACKAGE and len(pieces) > 1 else ""


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """How high a part stands: one above the highest that it imports."""
    found: dict[str, int] = {}

    def level(name: str) -> int:
        if name not in found:
            found[name] = 1 + max((level(other) for other in graph[name]), default=-1)
        return found[name]

    for name in sorted(graph):
        level(name)
    return found


def needed(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Imports that no chain of other imports implies: the lines of the picture."""

    def below(name: str, seen: set[str]) -> set[str]:
        for other in graph[name]:
            if other not in seen:
                seen.add(other)
                below(other, seen)
        return seen

    return [
        (name, other)
        for name, others in sorted(graph.items())
        for other in sorted(others)
        if not any(other in below(third, set()) for third in others - {other})
    ]


def picture() -> str:
    """The picture, as SVG that takes its colours from the page."""
    graph = imports()
    height = levels(graph)
    rows: list[list[str]] = []
    for level in range(max(height.values()) + 1):
        names = [name for name in sorted(graph) if height[name] == level]
        rows += [names[first : first + MOST] for first in range(0, len(names), MOST)]
    total = len(rows) * ROW + 20
    place: dict[str, tuple[float, float, float]] = {}
    for level, names in enumerate(rows):
        widths = [max(64.0, 7.4 * max(len(n), 0.82 * len(WORDS.get(n, ""))) + 18) for n in names]
        x = (WIDTH - sum(widths) - GAP * (len(names) - 1)) / 2
        for name, w in zip(names, widths, strict=True):
            place[name] = x, total - 10 - ROW * (level + 1) + 8, w
            x += w + GAP
    out = [
        f'<div class="wide"><svg class="architecture" viewBox="0 0 {WIDTH} {total}" role="img" aria-label="imports of {PACKAGE}">'
    ]
    for name, other in needed(graph):
        (x, y, w), (u, v, s) = place[name], place[other]
        x, y, u = x + w / 2, y + BOX + 10, u + s / 2
        out.append(
            f'<path class="edge" d="M{x:.0f} {y:.0f} C{x:.0f} {y + 22:.0f} {u:.0f} {v - 22:.0f} {u:.0f} {v:.0f}"/>'
        )
    for name, (x, y, w) in place.items():
        words = WORDS.get(name, "")
        kind = "part" if name in ("memory", "model", "radius", "rule") else "box"
        out.append(f'<g class="{kind}"><rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{BOX + 10}" rx="5"/>')
        first = y + (15 if words else 22)
        out.append(f'<text x="{x + w / 2:.0f}" y="{first:.0f}">{html.escape(name)}</text>')
        if words:
            out.append(f'<text class="words" x="{x + w / 2:.0f}" y="{y + 29:.0f}">{html.escape(words)}</text>')
        out.append("</g>")
    return "\n".join([*out, "</svg></div>", ""])


def write(folder: pathlib.Path) -> None:
    """Write architecture.svg."""
    from .reference import put

    put(folder / "architecture.svg", picture())
