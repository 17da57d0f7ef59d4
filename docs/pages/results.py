"""Tables and pictures from result files: docs/results/*.json. No number is typed.

A result file has `made_by`, the command that made it, and `rows`, or it is a `summary.json` of `driftbandits reproduce`. What is not there
yet is left out, and the page says so.
"""

import json
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driftbandits.plots.style import role_colour
from driftbandits.zoo.roles import Role

from .reference import put

WRITTEN = (
    "which.md",
    "table1.md",
    "paper.md",
    "beyond.md",
    "drift.png",
    "architecture.svg",
)  # into docs/generated


def markdown(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def source(name: str, made: Mapping[str, Any]) -> str:
    """Where the numbers come from."""
    how = f", by `{made['made_by']}`" if made.get("made_by") else ""
    return f"*From `{name}`{how}.*\n"


def read(path: pathlib.Path) -> Any:
    """A result file, or None."""
    return json.loads(path.read_text()) if path.exists() else None


def missing(what: str) -> str:
    """Instead of a table."""
    return f"*{what}: no result file has been committed yet.*\n"


# ----------------------------------------------------------------------------------------------------------------- which learner


def which(path: pathlib.Path) -> str:
    """Regret and cost of every learner in every world, the least regret in bold."""
    made = read(path)
    if made is None:
        return missing("Regret and cost")
    out = [
        f"{made['rounds']} rounds, {made['trials']} trials, all learners in the same worlds with the same noise; regret is the "
        "mean and its standard error. *path length*: γ or the window is the theorem's, which knows how far θ moves. "
        "Cost is process CPU time per round, the making of the world included, "
        f"as a multiple of the plain discounted learner in the same world, on a busy machine ({made['machine']}).\n"
    ]
    for world in dict.fromkeys(row["world"] for row in made["rows"]):
        rows = [row for row in made["rows"] if row["world"] == world]
        least = min(row["regret"] for row in rows)
        first = rows[0]
        out.append(f"**{world[:1].upper()}{world[1:]}** (d = {first['d']}, n = {first['n']})\n")
        cells = []
        for row in sorted(rows, key=lambda row: row["regret"]):
            regret = f"{row['regret']:.0f}\u00a0±\u00a0{row['se']:.0f}"
            bold = f"**{regret}**" if row["regret"] == least else regret
            cells.append(
                (f"`{row['learner']}`", row["drift"], bold, f"{row['us']:.1f}\u00a0µs", f"{row['cost']:.1f}\u00a0×")
            )
        out.append(markdown(("learner", "speed of drift", "regret", "per round", "cost"), cells))
    return "\n".join([*out, source("docs/results/which.json", made)])


# -------------------------------------------------------------------------------------------------------------------- the panels


def panels(path: pathlib.Path) -> str:
    """Every policy and every claim of a summary of the command."""
    made = read(path)
    if made is None:
        return missing("Panels and claims")
    out = [
        f"{made['trials']} trials of {made['horizon']} rounds, seed {made['seed']}: mean final dynamic regret and its "
        "standard deviation over trials. A claim holds if a paired one-sided test over trials shows it at 5 %, fails if such a test "
        "shows its contrary, and is undecided otherwise; its margin is relative to the right-hand side. "
        "What each claim means, and why some do not hold: [Does it reproduce?](../reproduction.md)\n"
    ]
    for name, panel in made["panels"].items():
        out.append(f"## {name}\n")
        ranked = sorted(panel["policies"], key=lambda policy: policy["final_regret_mean"])
        rows = [(p["name"], spread(p), f"{p['microseconds_per_round']:.2f}\u00a0µs") for p in ranked]
        out.append(markdown(("policy", "final regret", "per round"), rows))
        if panel["claims"]:
            out.append(claims(panel["claims"]))
    return "\n".join([*out, f"*From `docs/results/{path.name}`, the `summary.json` of `driftbandits reproduce`.*\n"])


def beyond(folder: pathlib.Path) -> str:
    """Learners of MDPs next to others, and the panels that are not in the paper, as far as there are files."""
    import tables  # docs/tables.py, which writes the same table into docs/mdp.md

    out = []
    for file in sorted(folder.glob("*_rivals.json")):
        made = read(file)
        title = file.stem.removesuffix("_rivals").upper() + " learners next to others"
        sizes = f"{made['episodes']} episodes, {made['trials']} trials; mean final regret and its standard error.\n"
        out += [f"## {title}\n", sizes, tables.rivals(file.stem), source(f"docs/results/{file.name}", made)]
    kept = [folder / f"{name}.json" for name in ("beyond", "piecewise", "scaling")]
    out += [panels(file) for file in kept if file.exists()]
    return "\n".join(out) or missing("Panels beyond the paper")


def claims(found: Sequence[Mapping[str, Any]]) -> str:
    """Verdicts; with `--robust` also over seeds and under every other reading of what the paper leaves open."""
    head, readings = ["claim", "here", "margin"], list(found[0].get("readings", {}))
    if readings:
        head += ["robust", "replications", *(reading for reading in readings if reading != "paper")]
    rows = []
    for claim in found:
        word = verdict(claim)
        row = [claim["claim"], word if word == "holds" else f"**{word}**", margin(claim)]
        if readings:
            others = [claim["readings"].get(reading) for reading in readings if reading != "paper"]
            marks = ["" if o is None else f"{MARKS.get(verdict(o), '?')} {margin(o)}" for o in others]
            row += [claim["robust"], claim["replications"], *marks]
        rows.append(row)
    return markdown(head, rows)


def spread(policy: Mapping[str, Any]) -> str:
    """Mean and standard deviation."""
    return f"{policy['final_regret_mean']:.0f}\u00a0±\u00a0{policy['final_regret_std']:.0f}"


#: Of the three verdicts.
MARKS = {"holds": "✓", "fails": "✗", "undecided": "?"}


def verdict(claim: Mapping[str, Any]) -> str:
    """Of a result file from before there were three verdicts only this is known: whether the trials show the claim."""
    return str(claim["verdict"] if "verdict" in claim else "holds" if claim["holds"] else "not shown")


def margin(claim: Mapping[str, Any]) -> str:
    """How far a claim is from failing."""
    return "" if claim["margin"] is None else f"{claim['margin']:+.0%}"


# ------------------------------------------------------------------------------------------------------------------------ Table 1


def whole(value: float) -> str:
    """A number with thousands apart."""
    return f"{value:,.0f}".replace(",", "\u202f")


def formula(rate: str) -> str:
    """A rate as a formula."""
    for sign, name in (("μ", r"\mu"), ("Γ", r"\Gamma"), ("Δ", r"\Delta"), ("κ", r"\kappa"), ("−", "-")):
        rate = rate.replace(sign, name)
    return f"${rate}$"


def table1() -> str:
    """Table 1 at the paper's size and at a large one."""
    from driftbandits import theory

    sizes = {"d": 2, "P_T": 6.283185307179586, "changes": 5, "H": 10, "Delta": 4.0, "kappa": 0.1, "S": 1.0}
    small, large = theory.table1(T=6000, **sizes), theory.table1(T=10**6, **sizes)
    out = [
        "d = 2, P_T = 2π, Γ_T = 5, S = L = 1, logistic link; MDPs: H = 10, Δ = 4, κ = 0.1, two successors. "
        "*Bound* is the theorem with all its constants.\n"
    ]
    for setting in dict.fromkeys(row.setting for row in small.rows):
        rows = []
        for a, b in zip(small.rows, large.rows, strict=True):
            if a.setting == setting:
                bound = "–" if b.bound is None else whole(b.bound.total)
                name = f"**{a.algorithm}**" if a.kind == "paper" else a.algorithm
                rows.append((name, formula(a.rate), whole(a.value), whole(b.value), bound, a.source))
        head = ("algorithm", "rate", "at T = 6000", "at T = 10⁶", "bound at T = 10⁶", "source")
        out += [f"## {setting}\n", markdown(head, rows)]
        marks = [str(c) for c in small.crossings if c.setting == setting]
        if marks:
            out.append(
                f"At T = 6000 the paper's rate is the smaller one for {', '.join(marks)}, the other quantities as they are.\n"
            )
    return "\n".join(out)


# -------------------------------------------------------------------------------------------------------------------- the picture


ROLES_OF_DRIFT: tuple[Role, ...] = ("never forgets", "fixed forgetting", "tuning-free")  # in the order of the file


def draw_drift(path: pathlib.Path, target: pathlib.Path) -> None:
    """What drift costs: regret over time, and against the speed of the world."""
    made = read(path)
    newest = max(file.stat().st_mtime for file in (path, pathlib.Path(__file__)) if file.exists())
    if made is None or (target.exists() and target.stat().st_mtime > newest):
        return
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    colours = {name: role_colour(role) for name, role in zip(made["curves"], ROLES_OF_DRIFT, strict=True)}
    for (name, regret), role in zip(made["curves"].items(), ROLES_OF_DRIFT, strict=True):
        left.plot(made["rounds"], regret, color=colours[name], lw=2, label=role)
        mean = [m for m, _ in made["final"][name]]
        error = [s for _, s in made["final"][name]]
        right.errorbar(range(len(mean)), mean, error, color=colours[name], lw=2, marker="o", ms=4, capsize=2)
    left.set(xlabel="round", ylabel="reward lost (dynamic regret)", title="one turn in 6000 rounds")
    right.set(xlabel="turns in 6000 rounds", title="the same, slower and faster")
    right.set_xticks(range(len(made["turns"])), [f"{t:g}" for t in made["turns"]])
    left.legend(frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
        ax.set_ylim(bottom=0)
    fig.savefig(target, dpi=140)
    plt.close(fig)


def write(docs: pathlib.Path) -> None:
    """Write every generated page of results."""
    folder, files = docs / "generated", docs / "results"
    put(folder / "which.md", which(files / "which.json"))
    put(folder / "table1.md", table1())
    put(folder / "paper.md", "# The paper's panels, as the command wrote them\n\n" + panels(files / "paper.json"))
    put(folder / "beyond.md", "# Beyond the paper\n\n" + beyond(files))
    draw_drift(files / "drift.json", folder / "drift.png")
