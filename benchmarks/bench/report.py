"""From results/bench.json to a page and charts: benchmarks/results/README.md, docs/benchmarks.md, and two pictures."""

import json
import math
import pathlib
import tomllib

import numpy as np

from driftbandits.plots.style import PALETTE

from .peers import OURS, PEERS
from .play import share

LABELS = {
    "bandit": "`Bandit`",
    "bandit_explore_0": "`Bandit(explore=0)`",
    "self_tuning": "`self_tuning`",
    "numpy": "LinUCB in NumPy",
}
# All three are tuning-free learners, so they have the colours of that role, and markers that tell them apart.
LOOKS = {
    "bandit": ("s", PALETTE["blue"]),
    "bandit_explore_0": ("^", PALETTE["sky"]),
    "self_tuning": ("o", PALETTE["sky"]),
}


def label(name):
    return LABELS.get(name, name)


class Stream:
    """What everybody earned on one stream, by seed, as a share of the way from random play (0) to the best choice of every round (1)."""

    def __init__(self, found):
        self.found = found

    def shares(self, name, variant):
        """By seed; empty if the learner was refused, too slow or not played."""
        told = {}
        for seed, cell in self.found.get(name, {}).items():
            run = cell.get(variant, {})
            if "reward" in run:
                told[seed] = share(run)
        return told

    def mean(self, name, variant):
        """Over its seeds, NaN if there is none."""
        told = self.shares(name, variant)
        return float(np.mean([*told.values()])) if told else math.nan

    def reward(self, name, variant="default"):
        cells = self.found.get(name, {}).values()
        told = [c[variant]["reward"] for c in cells if "reward" in c.get(variant, {})]
        return float(np.mean(told)) if told else None

    def why_not(self, name):
        """Why a learner has no number here, in a word."""
        for cell in self.found.get(name, {}).values():
            if "refused" in cell.get("default", {}):
                return "–"
            if "stopped" in cell.get("default", {}):
                return "too slow"
        return ""

    def best(self, variant):
        """The peer that earned most."""
        known = {name: self.mean(name, variant) for name in PEERS if self.shares(name, variant)}
        return max(known, key=lambda name: known[name], default=None)

    def against(self, own, variant):
        """The verdict on ours against the best peer, over the seeds that both played; "" if there is none."""
        peer = self.best(variant)
        mine, theirs = self.shares(own, "default"), self.shares(peer, variant) if peer else {}
        both = [seed for seed in mine if seed in theirs]
        return verdict(np.array([mine[k] for k in both]), np.array([theirs[k] for k in both])) if both else ""


def verdict(ours, theirs):
    """Ahead, level or behind, by the paired difference and its standard error over seeds."""
    difference = ours - theirs
    mean = float(difference.mean())
    error = float(difference.std(ddof=1) / math.sqrt(len(difference))) if len(difference) > 1 else math.inf
    word = "ahead" if mean > error else "level" if mean >= -error else "**behind**"
    return f"{word} {mean:+.3f} ± {error:.3f}"


def sums(data):
    """On how many streams ours is ahead, level or behind."""
    rows = []
    for own in OURS:
        for variant, word in (("tuned", "the best tuned peer"), ("default", "the best peer as documented")):
            told = [Stream(found).against(own, variant).split(" ")[0].strip("*") for found in data["streams"].values()]
            if any(told):
                rows.append([f"{label(own)} against {word}", *(told.count(w) for w in ("ahead", "level", "behind"))])
    return table(["streams on which it is", "ahead", "level", "behind"], rows)


def targets(data):
    """The targets for cost, each with its number."""
    cost, lines = data["cost"], []
    for own in OURS:
        mine = cost.get(own, {})
        for peer, wanted in (("bayesianbandits", 10), ("river", 10), ("vowpalwabbit", 3)):
            theirs = cost.get(peer, {})
            shapes = [s for s in mine if mine[s] and theirs.get(s)]
            if shapes:
                told = [theirs[s] / mine[s] for s in shapes]
                missed = [f"{s} ({x:.1f})" for s, x in zip(shapes, told, strict=True) if x < wanted]
                span = f"{min(told):.1f} – {max(told):.1f} ×"
                wish = f"≥ {wanted} × less CPU than {peer}"
                where = f", missed at {'; '.join(missed)}" if missed else ""
                lines.append([label(own), wish, span, f"met at {len(told) - len(missed)} of {len(told)} sizes{where}"])
        long = data["long"].get(own, {})
        if "late" in long:
            ratio = long["late"] / long["early"]
            lines.append([label(own), "flat in t", f"{ratio:.2f} ×", "met" if ratio < 1.1 else "missed"])
    return table(["", "target", "measured", ""], lines)


def table(head, rows):
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def answer(data):
    """One row a stream: ours, and the best peer."""
    rows = []
    for title, found in data["streams"].items():
        s = Stream(found)
        row = [title, *("" if math.isnan(m := s.mean(n, "default")) else f"{m:.3f}" for n in OURS)]
        for variant in ("tuned", "default"):
            peer = s.best(variant)
            row.append(f"{label(peer)} {s.mean(peer, variant):.3f}" if peer else "")
        rows.append([*row, s.against("bandit", "tuned")])
    head = ["stream", *map(label, OURS), "best tuned peer", "best peer as documented", "`Bandit` against the tuned"]
    return table(head, rows)


def every(data):
    """All learners, as documented / tuned."""
    rows = [
        [title, *(_one(Stream(found), name) for name in (*OURS, *PEERS))] for title, found in data["streams"].items()
    ]
    rows.append(["**mean of all streams**", *(_overall(data, name) for name in (*OURS, *PEERS))])
    return table(["stream", *map(label, (*OURS, *PEERS))], rows)


def _one(s, name):
    default, tuned = s.mean(name, "default"), s.mean(name, "tuned")
    if math.isnan(default):
        return s.why_not(name)
    return f"{default:.3f}" + ("" if math.isnan(tuned) else f" / {tuned:.3f}")


def overall(data, name, variant):
    """The mean over streams of one learner: what it is to pick it for all of them. NaN if it does not play all."""
    return float(np.mean([Stream(found).mean(name, variant) for found in data["streams"].values()]))


def _overall(data, name):
    told = [overall(data, name, variant) for variant in ("default", "tuned")]
    return " / ".join(f"**{x:.3f}**" for x in told if not math.isnan(x))


def first_words(data):
    """The answer in two sentences."""
    ours = ", ".join(f"{label(n)} {x:.3f}" for n in OURS if not math.isnan(x := overall(data, n, "default")))
    told = [
        f"Mean over {len(data['streams'])} streams of the share of the way from random play to the best choice: {ours}"
    ]
    for variant, word in (("tuned", "tuned"), ("default", "as documented")):
        known = {n: x for n in PEERS if not math.isnan(x := overall(data, n, variant))}
        if known:
            best = max(known, key=lambda n: known[n])
            told.append(f"the best single peer {word}: {label(best)} {known[best]:.3f}")
    return "; ".join(told) + "."


def absolute(data):
    """Reward per round on the real streams, where it is a rate of right labels."""
    rows = []
    for title, found in data["streams"].items():
        s = Stream(found)
        told = [s.reward(name) for name in (*OURS, *PEERS)]
        known = [t for t in told if t is not None]
        if known and title in REAL:
            rows.append([title, *("" if t is None else f"{t:.3f}" for t in told)])
    return table(["stream", *map(label, (*OURS, *PEERS))], rows)


REAL = ("Elec2", "weather", "SEA", "keystroke", "LED with drift", "digits, permuted")


def costs(data):
    """µs of CPU per decision with its learning step, by shape."""
    cost = data["cost"]
    names = [n for n in (*OURS, *PEERS) if cost.get(n)]
    shapes = list(dict.fromkeys(shape for n in names for shape in cost[n]))
    rows = [
        [shape, *("" if cost[n].get(shape) is None else f"{cost[n][shape]:.0f}" for n in names)] for shape in shapes
    ]
    return table(["µs", *map(label, names)], rows)


def growth(data):
    """Early and late rounds of one run, and memory."""
    rows = []
    for n in (*OURS, *PEERS):
        long = data["long"].get(n, {})
        if "late" in long:
            row = [label(n), f"{long['early']:.0f}", f"{long['late']:.0f}", f"{long['late'] / long['early']:.2f}"]
            rows.append([*row, f"{long['MB']:.0f}", f"{long['MB grown']:.1f}"])
    head = [
        "learner",
        "µs, rounds 200–400",
        "µs, last 200 of 2000",
        "ratio",
        "MB, imports and compiled code included",
        "MB since round 400",
    ]
    return table(head, rows)


def ratios(data):
    """How many times our CPU each peer needs."""
    found, rows = data["cost"], []
    for shape in ("n = 10, d = 10", "n = 10, d = 50", "n = 80, d = 10", "10 items, d = 10", "1000 items, d = 10"):
        for own in OURS:
            base, told = found.get(own, {}).get(shape), {n: found.get(n, {}).get(shape) for n in PEERS}
            if base:
                rows.append([shape, label(own), *("" if told[n] is None else f"{told[n] / base:.1f} ×" for n in PEERS)])
    return table(["", "against", *map(label, PEERS)], rows)


def limits(data):
    rows = []
    for r in data["limits"]:
        by_hand = f"{r['C']:.0f}" if r["C"] else "no compiler"
        over = f"{r['ours'] / r['C']:.2f}" if r["C"] else ""
        numbers = [f"{r['ours']:.0f}", by_hand, f"{r['dgemm']:.0f}", over, f"{r['ours'] / r['dgemm']:.2f}"]
        rows.append([f"d = {r['d']}, n = {r['n']}", *numbers])
    return table(
        ["ns per round", "`lb_weight_ucb`", "hand-written C", "one dgemm d×d·d×n", "ours / C", "ours / dgemm"], rows
    )


def behind(data, title):
    """Who wins on a stream and by how much, where ours is behind the best tuned peer, or else the best one as documented; "" where not."""
    s = Stream(data["streams"][title])
    for variant, word in (("tuned", "tuned"), ("default", "untuned")):
        told = {own: s.against(own, variant) for own in OURS}
        lost = [f"{label(own)} {words.split()[1]}" for own, words in told.items() if "behind" in words]
        if lost:
            return f"**{title}** ({', '.join(lost)} to {word} {label(s.best(variant))})"
    return ""


def reasons(data, notes):
    """Every stream on which a peer wins, with the reason that was given for it by hand; or that there is none."""
    losses = {title: told for title in data["streams"] if (told := behind(data, title))}
    if not losses:
        return "Nowhere: ours is level with the best peer, or ahead of it, on every stream.\n"
    out = [
        f"On {len(losses)} of {len(data['streams'])} streams. The best peer is the best of {len(PEERS)} after the fact, and the best "
        "tuned one of about 30 settings: on a single stream some of its lead is luck.",
        "",
    ]
    for group in notes:
        here = [losses.pop(title) for title in group["streams"] if title in losses]
        if here:
            sure = "" if group["tested"] else " *This reason was not tested apart.*"
            out += ["- " + ", ".join(here) + ": " + " ".join(group["text"].split()) + sure]
    if losses:
        out += ["- " + ", ".join(losses.values()) + ": nobody has looked into the reason yet."]
    return "\n".join(out) + "\n"


def settings(data):
    """What tuning chose, seed by seed."""
    rows = []
    for title, found in data["streams"].items():
        for name in PEERS:
            chosen = [str(c["setting"]) for c in found.get(name, {}).values() if "setting" in c]
            if chosen:
                rows.append([title, label(name), "; ".join(dict.fromkeys(chosen))])
    return table(["stream", "peer", "chosen on other rounds"], rows)


def provenance(data):
    """What ran, when, on what, and what did not run."""
    m, v = data["machine"], data["versions"]
    cells = sum(len(seeds) for found in data["streams"].values() for seeds in found.values())
    told = [
        f"{cells} runs as documented; {data['minutes']:.0f} minutes ({data['CPU minutes']:.0f} of CPU), begun "
        f"{data['began'].replace('T', ' ')} UTC; runs finished before are kept under a digest of the learner's version and settings, of "
        "NumPy, of the way of playing and of every round.",
        f"{m['cpu']}, {m['cores']} cores, load {m['load'][0]} at the start and {data['load at the end'][0]} at the end (measured is the "
        f"CPU time of the process), Python {m['python']}, NumPy {m['numpy']}, numba {m['numba']}. Streams × {data['scale']:g} of their "
        "length. " + ", ".join(f"{label(n)} {x}" for n, x in v.items() if x) + ".",
    ]
    if data["trouble"]:
        told.append("Left out or unfinished: " + "; ".join(f"{n}: {w}" for n, w in data["trouble"].items()) + ".")
    if data["absent"]:
        told.append("Left out because the data are not on this machine: " + ", ".join(data["absent"]) + ".")
    return "\n\n".join(told)


def seeds_played(data):
    """How many seeds each learner played of each stream, as documented."""
    names = (*OURS, *PEERS)
    rows = [
        [title, *(len(Stream(found).shares(name, "default")) for name in names)]
        for title, found in data["streams"].items()
    ]
    return table(["seeds", *map(label, names)], rows)


def page(data, pictures, notes):
    """The whole page as Markdown."""
    out = [
        "# Benchmarks against other libraries",
        "",
        first_words(data),
        "",
        sums(data),
        answer(data),
        f"![reward]({pictures}/bench_reward.png)",
        "",
        "*Level*: within one standard error of the paired difference. The best peer is the best of "
        f"{len(PEERS)} after the fact.",
        "",
        "## Where a peer wins, and why",
        "",
        reasons(data, notes),
        "## How it is measured",
        "",
        "Everybody sees the same rounds, features and rewards. Ours have nothing set but the kind of reward; `Bandit` keeps every "
        "propensity at least .002/n so that its log can be evaluated, `Bandit(explore=0)` does not. A peer plays as its authors document "
        "it, and again with the best of a handful of settings, chosen on other seeds of the same kind of stream, or on the stretch just "
        "before a real one: no round that counts is tuned on, and all rounds count. Features of labelled streams are standardised by the "
        "first tenth, for all. Where the means of rewards are known, earnings are counted in them.",
        "",
        "## Every learner, as documented / tuned",
        "",
        every(data),
        "Reward per round on labelled streams, as documented:",
        "",
        absolute(data),
    ]
    if data["cost"]:
        out += [
            "## Cost",
            "",
            "µs of CPU per decision with its learning step, everybody as documented. `Bandit` keeps named items, open decisions "
            "and propensities; `self_tuning` through `Agent` is vectors in, an index out, as the peers are.",
            "",
            costs(data),
            f"![cost]({pictures}/bench_cost.png)",
            "",
            targets(data),
            "How many times our CPU:",
            "",
            ratios(data),
            "### Growth with t, and memory",
            "",
            growth(data),
            "## Limits",
            "",
            limits(data),
        ]
    out += [
        "## What ran",
        "",
        provenance(data),
        "",
        seeds_played(data),
        "### What tuning chose",
        "",
        settings(data),
        "*Written by `make bench` from `benchmarks/results/bench.json`; do not edit.*",
        "",
    ]
    return "\n".join(out)


def charts(data, folder):
    """Two pictures: shares by stream, and µs by learner."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    titles = list(data["streams"])
    figure, axis = plt.subplots(figsize=(8, 0.42 * len(titles) + 1.2), layout="constrained")
    for y, title in enumerate(reversed(titles)):
        s = Stream(data["streams"][title])
        told = [s.mean(n, v) for n in PEERS for v in ("default", "tuned")]
        axis.plot(told, [y] * len(told), "o", color="0.72", ms=5, label=None if y else "a peer, as documented or tuned")
        name = s.best("tuned")
        if name:
            axis.plot([s.mean(name, "tuned")], [y], "D", color="0.2", ms=6, label=None if y else "the best tuned peer")
        for shift, own in zip((0.2, 0.0, -0.2), OURS, strict=True):
            mine = np.array([*s.shares(own, "default").values()])
            if len(mine):
                error = mine.std(ddof=1) / math.sqrt(len(mine)) if len(mine) > 1 else 0.0
                text = None if y else label(own).strip("`")
                marker, colour = LOOKS[own]
                axis.errorbar(mine.mean(), y + shift, xerr=error, fmt=marker, color=colour, ms=5, label=text)
    axis.set_yticks(range(len(titles)), list(reversed(titles)))
    axis.set_xlabel("share of the way from random play to the best choice of every round")
    axis.grid(axis="x", alpha=0.3)
    axis.set_xlim(min(-0.05, axis.get_xlim()[0]), 1.02)
    figure.legend(loc="outside upper center", ncol=4, fontsize=8)
    figure.savefig(folder / "bench_reward.png", dpi=120)
    plt.close(figure)
    names = [n for n in (*OURS, *PEERS) if data["cost"].get(n)]
    if not names:
        return
    shapes = ("n = 10, d = 10", "10 items, d = 10")
    figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for i, shape in enumerate(shapes):
        values = [data["cost"][n].get(shape) or math.nan for n in names]
        axis.bar(np.arange(len(names)) + 0.4 * i, values, 0.38, label=shape)
    axis.set_xticks(
        np.arange(len(names)) + 0.2, [label(n).strip("`") for n in names], rotation=20, ha="right", fontsize=8
    )
    axis.set_yscale("log")
    axis.set_ylabel("µs of CPU per decide + learn")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(folder / "bench_cost.png", dpi=120)
    plt.close(figure)


def write(source: pathlib.Path, root: pathlib.Path):
    """The page in both places, and the pictures."""
    data = json.loads(source.read_text())
    folder = source.parent
    notes = tomllib.loads((root / "benchmarks" / "notes.toml").read_text())["why"]
    charts(data, folder)
    (folder / "README.md").write_text(page(data, ".", notes))
    (root / "docs" / "benchmarks.md").write_text(page(data, "../benchmarks/results", notes))


if __name__ == "__main__":
    root = pathlib.Path(__file__).resolve().parents[2]
    write(root / "benchmarks" / "results" / "bench.json", root)
