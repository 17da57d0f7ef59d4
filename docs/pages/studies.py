"""Tables that stand in hand-written pages, from docs/results/*.json: `docs/tables.py` puts them there, a test compares.

A page says `<!-- results: WRITER FILE ARGUMENTS -->`, up to `<!-- end -->`; WRITER is one of the functions below that `WRITERS` names, or a
table that a study of experiments/ names.
"""

import functools
import json
import math
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from scipy.special import stdtrit

from driftbandits.experiment.study import table
from driftbandits.experiment.study.study import studies

from .results import verdict as told

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "results"


def read(name: str) -> Any:
    """A result file."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def spread(policy: Mapping[str, Any], *, bold: bool = False) -> str:
    """Mean ± standard deviation."""
    mean = f"{policy['final_regret_mean']:.0f}"
    return f"{f'**{mean}**' if bold else mean} ± {policy['final_regret_std']:.0f}"


def margin(value: float | None) -> str:
    """How far a claim is from failing."""
    return "" if value is None else f"{100 * value:+.0f} %".replace("-", "−")


# -------------------------------------------------------------------------------------------------------------- panels


def policies(file: str, *panels: str) -> str:
    """Final regret of every policy, the least first; panels side by side."""
    found = [read(file)["panels"][panel]["policies"] for panel in panels]
    ranked = [sorted(own, key=lambda p: float(p["final_regret_mean"])) for own in found]
    head = ["policy", "final regret", ""] * len(panels)
    rows = []
    for place in range(max(map(len, ranked))):
        cells = [(own[place]["name"], spread(own[place])) if place < len(own) else ("", "") for own in ranked]
        rows.append([cell for pair in cells for cell in (*pair, "")][:-1])
    return table(head[:-1], rows)


def readings(first: str, second: str, *panels: str) -> str:
    """The same panels in two files: ‖θ‖ = 1 and ‖θ‖ = S."""
    rows = []
    for panel in panels:
        others = {p["name"]: p for p in read(second)["panels"][panel]["policies"]}
        ranked = sorted(read(first)["panels"][panel]["policies"], key=lambda p: float(p["final_regret_mean"]))
        rows += [[policy["name"], spread(policy), spread(others[policy["name"]])] for policy in ranked]
    return table(["policy", "A: ‖θ‖ = 1", "B: ‖θ‖ = 5"], rows)


def sizes(first: str, second: str, *kinds: str) -> str:
    """Panels of each kind at S = 1 and S = 5; at 5 in two files: ‖θ‖ = 1 and ‖θ‖ = S."""
    rows = []
    for kind in kinds:
        found = [
            read(file)["panels"][f"{kind}-{size}"] for file, size in ((first, "s1"), (first, "s5"), (second, "s5"))
        ]
        least, *others = [{p["name"]: spread(p) for p in panel["policies"]} for panel in found]
        rows += [[name, regret, *(other[name] for other in others)] for name, regret in least.items()]
    return table(["", "S = 1", "S = 5 (A)", "S = 5 (B)"], rows)


def claims(file: str, *panels: str) -> str:
    """What was claimed, and what came out."""
    found = [claim for panel in panels for claim in read(file)["panels"][panel]["claims"]]
    rows = [[c["claim"], bold_unless_it_holds(told(c)), margin(c["margin"])] for c in found]
    return table(["claim", "here", "margin"], rows)


def verdicts(first: str, second: str, *panels: str) -> str:
    """The claims of the same panels in two files."""
    rows = []
    for panel in panels:
        both = zip(read(first)["panels"][panel]["claims"], read(second)["panels"][panel]["claims"], strict=True)
        rows += [[a["claim"], verdict(a), verdict(b)] for a, b in both]
    return table(["claim", "A: ‖θ‖ = 1", "B: ‖θ‖ = 5"], rows)


def verdict(claim: Mapping[str, Any]) -> str:
    """Holds or not, and by how much."""
    return f"{bold_unless_it_holds(told(claim))}: {margin(claim['margin'])}"


def bold_unless_it_holds(verdict: str) -> str:
    """What does not reproduce stands out."""
    return verdict if verdict == "holds" else f"**{verdict}**"


def times(file: str, panel: str) -> str:
    """µs per round: the median of the trials, and the fastest."""
    found = sorted(read(file)["panels"][panel]["policies"], key=lambda p: float(p["microseconds_per_round"]))
    rows = [[p["name"], f"{p['microseconds_per_round']:.2f}", f"{p['microseconds_at_best']:.2f}"] for p in found]
    return table(["µs per round", "median", "fastest trial"], rows)


def matrix(file: str) -> str:
    """Every claim over seeds and readings."""
    found = [claim for panel in read(file)["panels"].values() for claim in panel["claims"]]
    names = list(dict.fromkeys(name for claim in found for name in claim["readings"]))
    rows = []
    for claim in found:
        cells = [mark(claim["readings"].get(name)) for name in names]
        rows.append([claim["claim"], f"**{claim['robust']}**", claim["replications"], *cells])
    return table(["claim", "verdict", "replications", *names], rows)


def mark(found: Mapping[str, Any] | None) -> str:
    """✓ the trials show it; ✗ they show its contrary; ? neither."""
    if found is None:
        return ""
    sign = {"holds": "✓", "fails": "✗"}.get(told(found), "?")
    return f"{sign} {margin(found['margin'])}"


def exponents(file: str) -> str:
    """Fitted exponents with the 95 % intervals of their means (Student), next to the theorem's."""
    made = read(file)
    found, trials = made["exponents"], made["trials"]
    half = float(stdtrit(trials - 1, 0.975)) / math.sqrt(trials)  # of the interval, in standard deviations over trials
    learners = list(dict.fromkeys(row["strategy"] for row in found))
    rows = []
    for against in dict.fromkeys(row["against"] for row in found):
        own = {row["strategy"]: row for row in found if row["against"] == against}
        cells = [_interval(own[s]["exponent"], half * own[s]["std"]) if s in own else "" for s in learners]
        rows.append([against, *cells, f"{next(iter(own.values()))['theorem']:.2f}"])
    return table(["against", *learners, "theorem"], rows)


def _interval(mean: float, half: float) -> str:
    return f"{mean:.2f} ({mean - half:.2f} … {mean + half:.2f})"


def worlds(file: str, panel: str, *only: str, time: bool = False, along: str = "learners") -> str:
    """A row per world and a column per learner, or the other way round; the least regret of a world is bold."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for policy in read(file)["panels"][panel]["policies"]:
        learner, _, world = policy["name"].partition(" @ ")
        if not only or world.startswith(only):
            found[world, learner] = policy
    names, learners = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))

    def cell(world: str, learner: str) -> str:
        if (world, learner) not in found:
            return "–"
        least = min(found[world, s]["final_regret_mean"] for s in learners if (world, s) in found)
        own = found[world, learner]
        text = spread(own, bold=own["final_regret_mean"] == least)
        return text + (f" ({own['microseconds_at_best']:.2g})" if time else "")

    prefix = f"{only[0]}, " if len(only) == 1 else ""
    if along == "learners":
        rows = [[world.removeprefix(prefix), *(cell(world, s) for s in learners)] for world in names]
        return table(["world", *learners], rows)
    return table(["", *names], [[s, *(cell(world, s) for world in names)] for s in learners])


def timed(file: str, panel: str, *only: str) -> str:
    """`worlds`, with µs per round of the fastest trial in brackets."""
    return worlds(file, panel, *only, time=True)


def learners(file: str, *panels: str) -> str:
    """A row per learner of each panel, a column per world."""
    parts = [worlds(file, panel, along="worlds") for panel in panels]
    return parts[0] + "".join("".join(part.splitlines(keepends=True)[2:]) for part in parts[1:])


# ----------------------------------------------------------------------------------------------------------- MDP benchmarks


def speed(file: str) -> str:
    """CPU seconds of an episode, and what they compare to; a target that was missed is bold."""
    rows = []
    for section in read(file)["sections"].values():
        for row in section["rows"]:
            target, seconds = row["target"], row["seconds"]
            asked = "" if target is None else f" (target {lasts(target)})"
            told = lasts(seconds) if target is None or seconds <= target else f"**{lasts(seconds)}**"
            against = "; ".join(text.format(two_digits(value)) for text, value in row["against"])
            rows.append([row["what"], told + asked, against])
    return table(["", "CPU", "against"], rows)


def two_digits(value: float) -> str:
    """Two digits that count, and no exponent."""
    return f"{float(f'{value:.2g}'):g}" if value < 1e5 else f"{value:.0f}"


def lasts(seconds: float) -> str:
    """A time in a unit that suits it."""
    unit, size = next((u for u in (("s", 1.0), ("ms", 1e-3)) if seconds >= u[1]), ("µs", 1e-6))
    return f"{two_digits(seconds / size)} {unit}"


WRITERS = {
    "speed": speed,
    "policies": policies,
    "readings": readings,
    "sizes": sizes,
    "claims": claims,
    "verdicts": verdicts,
    "times": times,
    "matrix": matrix,
    "exponents": exponents,
    "worlds": worlds,
    "timed": timed,
    "learners": learners,
}


def write(order: str) -> str:
    """The table that a mark of a page asks for: the name of a writer, of a file, and more."""
    name, file, *arguments = order.split()
    return WRITERS[name](file, *arguments) if name in WRITERS else of_studies()[name](read(file), *arguments)


@functools.cache
def of_studies() -> Mapping[str, Callable[..., str]]:
    """The tables of all studies, by name."""
    return {name: writer for each in studies().values() for name, writer in each.tables.items()}
