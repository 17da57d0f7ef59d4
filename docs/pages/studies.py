"""Tables that stand in hand-written pages, from docs/results/*.json: `docs/tables.py` puts them there, a test compares.

A page says `<!-- results: WRITER FILE ARGUMENTS -->`, up to `<!-- end -->`; WRITER is one of the functions below that `WRITERS` names.
"""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from .results import verdict as told

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "results"
LEAST_RATIO = 1.15  # what adaptive weights were to stay below


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [head, *rows]
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines]
    return "".join([text[0], "|---" * len(head) + "|\n", *text[1:]])


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
    """Fitted exponents next to the theorem's."""
    found = read(file)["exponents"]
    learners = list(dict.fromkeys(row["strategy"] for row in found))
    rows = []
    for against in dict.fromkeys(row["against"] for row in found):
        own = {row["strategy"]: row for row in found if row["against"] == against}
        cells = [f"{own[s]['exponent']:.2f} ± {own[s]['std']:.2f}" if s in own else "" for s in learners]
        rows.append([against, *cells, f"{next(iter(own.values()))['theorem']:.2f}"])
    return table(["against", *learners, "theorem"], rows)


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


# ----------------------------------------------------------------------------------------------------- the adaptive study

COLUMNS = ("adaptive", "best γ", "tuned γ", "BOB", "MASTER(0)", "MASTER(13)", "DAL", "static")


def adaptive(file: str) -> str:
    """Adaptive weights beside the best γ in hindsight and everybody else. Bold: a ratio that missed its target."""
    made, rows, group = read(file), [], ""
    for row in made["rows"]:
        if row["group"] != group:
            group = row["group"]
            rows.append([f"**{group}**, {made['trials']} trials", *[""] * (len(COLUMNS) + 3)])
        ratio = row["ratio"]
        miss = ratio > LEAST_RATIO or (row["changes_speed"] and ratio > 1.0)
        regrets = [f"{row[c]['mean']:.0f}" if c in row else "–" for c in COLUMNS]
        rows.append(
            [
                row["world"],
                str(row["scale"]),
                f"**{ratio:.2f}**" if miss else f"{ratio:.2f}",
                *regrets,
                row["best memory"],
            ]
        )
    return table(["world", "c", "ratio", *COLUMNS, "best memory"], rows)


# ----------------------------------------------------------------------------------------------- one pass beside exact

TURNS = {"rot×1": "one turn", "rot×4": "four turns"}


def one_pass(file: str) -> str:
    """Regret, exact → one pass, and the mean difference with its standard error."""
    found = read(file)["rows"]
    names = list(dict.fromkeys(row["world"] for row in found))
    rows = []
    for key in dict.fromkeys((row["link"], row["d"], row["scale"], row["rounds"]) for row in found):
        own = {r["world"]: r for r in found if (r["link"], r["d"], r["scale"], r["rounds"]) == key}
        cells = [
            f"{r['exact']:.0f} → {r['one pass']:.0f} ({r['gap']:+.0f} ± {r['se']:.0f})".replace("-", "−")
            for r in (own[name] for name in names)
        ]
        rows.append([f"{key[0]}, d = {key[1]}, bonus × {key[2]:g}, T = {key[3]}", *cells])
    return table(["exact → one pass", *(TURNS.get(name, name) for name in names)], rows)


# ------------------------------------------------------------------------------------------------------- the learners' study


def of_one(value: float) -> str:
    """A share without its leading zero."""
    return f"{value:.3f}".removeprefix("0")


def shares(file: str) -> str:
    """Of the way to the best arm: the learner with nothing set, and the best fixed γ in hindsight. The best is bold."""
    rows = []
    for role, world, *values in read(file)["shared"]:
        rows.append([role, world, *(f"**{of_one(v)}**" if v == max(values) else of_one(v) for v in values)])
    return table(["", "shared features", "`self_tuning`", "best fixed γ, bonus × 1", "× 0.3"], rows)


def item_shares(file: str) -> str:
    """The same of items, then the reward per round of streams."""
    made = read(file)
    rows = [[role, world, of_one(value)] for role, world, value in made["items"]]
    rows += [[role, f"{name}: reward per round", of_one(value)] for role, name, value in made["streams"]]
    return table(["", "items", "`self_tuning`"], rows)


def regrets(file: str, section: str) -> str:
    """Mean regrets next to rivals, and the ratio to the best of them. The best is bold."""
    made = read(file)[section]
    rows = []
    for name, runs, own, *rivals in made["rows"]:
        told = [f"**{v:g}**" if v == min(own, *rivals) else f"{v:g}" for v in (own, *rivals)]
        rows.append([name, str(runs), *told, f"{own / min(rivals):.2f}"])
    return table(["", "runs", *made["columns"], "ratio to the best rival"], rows)


# ----------------------------------------------------------------------------------------------------------- MDP studies

MDP_RATIO, NOTHING = 1.25, 0.5  # the target, and a regret so small that a ratio to it says nothing
RIVALS = ("BOB", "window", "restart")
LEARNERS = {"weight": "weighted", "pooled": "weighted, stages pooled"}
LEARNERS |= {name: name for name in ("window", "restart", "static")}


def few(value: float) -> str:
    """A regret, with a digit more where it is small."""
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def ratio_to(mean: float, best: Mapping[str, Any] | None) -> str:
    """The ratio to a regret chosen in hindsight; bold where it misses the target."""
    if best is None or best["mean"] < NOTHING:
        return "–"
    ratio = mean / best["mean"]
    return f"**{ratio:.2f}**" if ratio > MDP_RATIO else f"{ratio:.2f}"


def mdp_adaptive(file: str) -> str:
    """Memory and scale found out, beside the best fixed pair in hindsight, of the paper's bonus and of a measured one."""
    rows = []
    for row in read(file)["rows"]:
        own, best, measured = row["adaptive"], row["hindsight"], row.get("measured")
        memory = "all" if best["memory"] is None else f"{best['memory']:.0f}"
        chosen = f"{few(best['mean'])} ({memory}, × {best['scale']:g})"
        others = [f"{row['rivals'][f'{rival}, practical']['mean']:.0f}" for rival in RIVALS]
        mean, ratios = own["mean"], [ratio_to(own["mean"], pair) for pair in (best, measured)]
        ours = [
            f"{few(mean)} ± {few(own['error'])}",
            chosen,
            ratios[0],
            few(measured["mean"]) if measured else "–",
            ratios[1],
        ]
        rows.append([f"{row['world']}, {row['drift']}", f"{row['random']:.0f}", *ours, *others])
    paper = "the paper's bonus, best pair (memory, scale)"
    head = ["K = 3000", "random play", "nothing set", paper, "ratio", "measured bonus, best pair", "ratio", *RIVALS]
    return table(head, rows)


def mdp_curves(file: str, model: str) -> str:
    """Final regret of the four learners at the theory's scales and at tuned ones."""
    made = read(file)
    found = {(r["scale"], r["learner"], r["drift"]): r for r in made["rows"] if r["model"] == model}
    drifts = made["Delta"][model]
    played = {learner: name for learner, name in LEARNERS.items() if any(key[1] == learner for key in found)}

    def line(kind: str, learner: str, title: str) -> list[str]:
        cells = [found[kind, learner, drift] for drift in drifts]
        return [title, *(few(c["mean"]) + (f" ± {few(c['std'])}" if c["std"] else "") for c in cells)]

    rows = [line("none", "random", "random play")]
    rows += [line("theory", learner, f"theory (1, 1): {name}") for learner, name in played.items()]
    for learner, name in played.items():
        pair = found["tuned", learner, next(iter(drifts))]
        scales = f"({pair['reward_scale']:g}, {pair['transition_scale']:g})"
        rows.append(line("tuned", learner, f"tuned {scales}: {name}"))
    return table(["final regret", *(f"{drift}, Δ = {Delta:.0f}" for drift, Delta in drifts.items())], rows)


def mdp_exponents(file: str) -> str:
    """Fitted exponents of the linear mixture."""
    names, rows = LEARNERS | {"random": "random play"}, {}
    for row in read(file)["exponents"]:
        title = names.get(row["learner"], row["learner"]) + (
            f", {row['scale']} scale" if row["scale"] != "none" else ""
        )
        rows.setdefault(title, {})[row["against"]] = f"{row['exponent']:.2f}"
    theorem = [["Theorem 5, at most", "0.75", "0.25"]]
    return table(["exponent in", "K", "Δ"], [[title, own["K"], own["Delta"]] for title, own in rows.items()] + theorem)


def mdp_memory(file: str) -> str:
    """Final regret at the theorem's memory and at the best one, stages apart and pooled; then BOB beside blind restarts."""
    made = read(file)

    def told(run: Mapping[str, Any], memory: bool = False) -> str:
        where = f" ({run['memory']:.0f})" if memory else ""
        return f"{few(run['mean'])} ± {few(run['error'])}{where}"

    rows = []
    for learner in dict.fromkeys(row["learner"] for row in made["rows"]):
        cells = []
        for pooled in (False, True):
            own = [row for row in made["rows"] if (row["learner"], row["pooled"]) == (learner, pooled)]
            same = (row for row in made["at_theorem"] if (row["learner"], row["pooled"]) == (learner, pooled))
            cells += [told(next(same)), told(min(own, key=lambda row: row["mean"]), memory=True)]
        rows.append([learner, *cells])
    for learner, name in (("BOB", "BOB"), ("restart", f"restart every {made['block']} episodes, BOB's block")):
        found = [row for row in made["blind"] if row["learner"] == learner]
        rows.append([name, *(cell for row in found for cell in (told(row), ""))])
    head = [
        f"stages {how}: {which}" for how in ("apart", "pooled") for which in ("the theorem's memory", "its best one")
    ]
    return table([f"K = {made['episodes']}", *head], rows)


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


# ---------------------------------------------------------------------------------------------------------------- replay


def estimates(file: str) -> str:
    """Bias and coverage of off-policy estimates; a policy's name stands once."""
    rows, last = [], ""
    for found in read(file)["estimates"]:
        bias = f"{found['in_standard_errors']:+.1f}".replace("-", "−")
        rows.append(
            [
                "" if found["policy"] == last else found["policy"],
                found["estimator"],
                bias,
                f"{100 * found['coverage']:.1f} %",
            ]
        )
        last = found["policy"]
    return table(["policy", "estimator", "bias", "coverage of the 95 % interval"], rows)


def other_ope(file: str) -> str:
    """Our estimates beside those of the Open Bandit Pipeline."""
    rows = []
    for name, found in read(file)["estimates"].items():
        told = [f"{x[0]:.6f}" + (f" [{x[1]:.4f}, {x[2]:.4f}]" if x[1:] else "") for x in (found["ours"], found["obp"])]
        rows.append([name, *told, f"{abs(found['ours'][0] - found['obp'][0]):.0e}"])
    return table(["", "ours", "obp", "difference"], rows)


def large_log(file: str) -> str:
    """A log that does not fit into the memory it may use."""
    x = read(file)["large_log"]
    head = ["rows", "file", "may use", "resident at its peak", "to read and check", "to replay a fixed policy"]
    row = [f"{x['rows']}", *(f"{x[k]} MB" for k in ("file_MB", "allowed_MB", "resident_MB"))]
    per = [f"{x[k]} µs per row" for k in ("micros_per_row_read", "micros_per_row_replayed")]
    return table(head, [[*row, *per]])


def sharp(file: str) -> str:
    """Regret at the paper's tuning and at the sharp one, and the paired gain with its standard error."""
    rows = []
    for x in read(file)["rows"]:
        share = 100 * x["gain"] / x["paper"]
        gain = f"{x['gain']:.0f} ± {x['gain_se']:.0f} ({share:+.0f} %)".replace("-", "−")
        rows.append([x["world"], str(x["d"]), x["learner"], f"{x['paper']:.0f}", f"{x['sharp']:.0f}", gain])
    return table(["world", "d", "learner", "paper's tuning", "sharp tuning", "gain"], rows)


WRITERS = {
    "sharp": sharp,
    "mdp_adaptive": mdp_adaptive,
    "mdp_curves": mdp_curves,
    "mdp_exponents": mdp_exponents,
    "mdp_memory": mdp_memory,
    "speed": speed,
    "regrets": regrets,
    "estimates": estimates,
    "other_ope": other_ope,
    "large_log": large_log,
    "shares": shares,
    "item_shares": item_shares,
    "one_pass": one_pass,
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
    "adaptive": adaptive,
}


def write(order: str) -> str:
    """The table that a mark of a page asks for: the name of a writer, of a file, and more."""
    name, *arguments = order.split()
    return WRITERS[name](*arguments)
