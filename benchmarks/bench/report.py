"""From results/bench.json to a page and charts: benchmarks/results/README.md, docs/benchmarks.md, and two pictures."""

import json
import math
import pathlib
import tomllib

import numpy as np

from .peers import OURS, PEERS

LABELS = {"bandit": "`Bandit`", "self_tuning": "`self_tuning`", "numpy": "LinUCB in NumPy"}


def label(name):
    return LABELS.get(name, name)


class Stream:
    """What everybody earned on one stream, per seed, as a share of the way from random play (0) to the best choice of every round (1)."""

    def __init__(self, found):
        self.found = found
        self.seeds = max(map(len, found.values()), default=0)

    def shares(self, name, variant):
        """(seeds,), or None if a seed is missing."""
        told = []
        for cell in self.found.get(name, {}).values():
            run = cell.get(variant, {})
            if "reward" not in run:
                return None
            told.append((run["reward"] - cell["random"]) / (cell["best"] - cell["random"]))
        return np.array(told) if told and len(told) == self.seeds else None

    def reward(self, name, variant="default"):
        cells = self.found.get(name, {}).values()
        told = [c[variant]["reward"] for c in cells if "reward" in c.get(variant, {})]
        return float(np.mean(told)) if told else None

    def why_not(self, name):
        """Why a learner has no number here, in a word."""
        for cell in self.found.get(name, {}).values():
            if "refused" in cell:
                return "–"
            if "stopped" in cell.get("default", {}):
                return "too slow"
        return "failed" if self.seeds else ""

    def best(self, variant):
        """The peer that earned most, and its shares."""
        found = {name: self.shares(name, variant) for name in PEERS}
        known = {name: s for name, s in found.items() if s is not None}
        name = max(known, key=lambda n: known[n].mean(), default=None)
        return (name, known[name]) if name else (None, None)


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
        for variant, word in (("tuned", "the best tuned peer"), ("default", "the best untuned peer")):
            told = []
            for found in data["streams"].values():
                s = Stream(found)
                mine, theirs = s.shares(own, "default"), s.best(variant)[1]
                if mine is not None and theirs is not None:
                    told.append(verdict(mine, theirs).split()[0].strip("*"))
            rows.append([f"{label(own)} against {word}", *(told.count(w) for w in ("ahead", "level", "behind"))])
    return table(["of " + str(len(told)) + " streams", "ahead", "level", "behind"], rows)


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


def rewards(data):
    """Who wins where, and every number."""
    short, long = [], []
    for title, found in data["streams"].items():
        s = Stream(found)
        ours = {name: s.shares(name, "default") for name in OURS}
        tuned, untuned = s.best("tuned"), s.best("default")
        row = [title]
        row += ["" if ours[n] is None else f"{ours[n].mean():.3f}" for n in OURS]
        row += [f"{label(n)} {v.mean():.3f}" if n else "" for n, v in (tuned, untuned)]
        row += [verdict(ours[n], tuned[1]) if ours[n] is not None and tuned[0] else "" for n in OURS]
        row += [verdict(ours[n], untuned[1]) if ours[n] is not None and untuned[0] else "" for n in OURS]
        short.append(row)
        long.append([title, *(_one(s, name) for name in (*OURS, *PEERS))])
    long.append(["**mean of all streams**", *(_overall(data, name) for name in (*OURS, *PEERS))])
    head = ["stream", *map(label, OURS), "best tuned peer", "best untuned peer"]
    head += [f"{label(n)} against the tuned" for n in OURS] + [f"{label(n)} against the untuned" for n in OURS]
    return table(head, short), table(["stream", *map(label, (*OURS, *PEERS))], long)


def _one(s, name):
    default, tuned = s.shares(name, "default"), s.shares(name, "tuned")
    if default is None:
        return s.why_not(name)
    return f"{default.mean():.3f}" + ("" if tuned is None else f" / {tuned.mean():.3f}")


def _overall(data, name):
    """The mean over streams of one learner: what it is to pick it for all of them. Empty if it does not play all."""
    told = []
    for variant in ("default", "tuned"):
        found = [Stream(found).shares(name, variant) for found in data["streams"].values()]
        if found and all(shares is not None for shares in found):
            told.append(f"**{np.mean([shares.mean() for shares in found]):.3f}**")
    return " / ".join(told)


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
    """Who wins on a stream and by how much, where ours is behind the best tuned peer, or else the best untuned one; "" where it is not."""
    s = Stream(data["streams"][title])
    for variant, word in (("tuned", "tuned"), ("default", "untuned")):
        peer, theirs = s.best(variant)
        lost = []
        for own in OURS:
            mine = s.shares(own, "default")
            if mine is not None and peer and "behind" in (told := verdict(mine, theirs)):
                lost.append(f"{label(own)} {told.split()[1]}")
        if lost:
            return f"**{title}** ({', '.join(lost)} to {word} {label(peer)})"
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
    return table(["stream", "peer", "chosen on the first tenth"], rows)


def one_run(data):
    """When it ran and how long, and which rewards are older than that."""
    told = f"One run of {data['minutes']:.0f} minutes ({data['CPU minutes']:.0f} of CPU), begun {data['began'].replace('T', ' ')} UTC."
    cells = sum(len(seeds) for found in data["streams"].values() for seeds in found.values())
    if not data["kept"]:
        return f"{told} All {cells} rewards were measured in it."
    whose, anew = (
        ", ".join(f"{n} of {label(name)}" for name, n in data["kept"].items()),
        cells - sum(data["kept"].values()),
    )
    return (
        f"{told} Costs, growth, limits and {anew} of {cells} rewards were measured in it; the other rewards ({whose}) were kept from "
        "an earlier run in which the learner's version, its settings, NumPy, the way of playing and every round of the "
        "stream were the same, by digest."
    )


def page(data, pictures, notes):
    """The whole page as Markdown."""
    m, v = data["machine"], data["versions"]
    short, every = rewards(data)
    out = ["# Side by side with what one would pick instead", ""]
    out += ["*Written by `make bench` from `benchmarks/results/bench.json`; do not edit.*", ""]
    out += [
        f"{m['cpu']}, {m['cores']} cores, load {m['load'][0]} at the start and {data['load at the end'][0]} at the end "
        f"(measured is the CPU time of the process), Python {m['python']}, NumPy {m['numpy']}, numba {m['numba']}. "
        f"Streams × {data['scale']:g} of their length, {data['seeds']} seeds, three stretches of real streams. "
        + ", ".join(f"{label(n)} {x}" for n, x in v.items() if x)
        + ".",
        "",
    ]
    out += [one_run(data), ""]
    if data["trouble"]:
        out += ["Left out or unfinished: " + "; ".join(f"{n}: {w}" for n, w in data["trouble"].items()) + ".", ""]
    if data["absent"]:
        out += ["Left out because the data are not on this machine: " + ", ".join(data["absent"]) + ".", ""]
    out += [
        "Everybody sees the same rounds, features and rewards. Ours has nothing set but the kind of reward. A peer plays as "
        "its authors document it, and again with the best of a handful of settings, chosen on the first tenth of the stream. "
        "Features of labelled streams are standardised by the first tenth, for all. Where the means of rewards are known, earnings "
        "are counted in them, in the tuning too, which is kind to the peers.",
        "",
        "## Reward",
        "",
        "Share of the way from random play (0) to the best choice of every round (1), mean over seeds. *Level*: within one "
        "standard error of the paired difference.",
        "",
        sums(data),
        short,
        f"![reward]({pictures}/bench_reward.png)",
        "",
        "### Where a peer wins, and why",
        "",
        reasons(data, notes),
        "### Every learner, as documented / tuned",
        "",
        every,
        "### Reward per round on labelled streams, as documented",
        "",
        absolute(data),
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
        "## What tuning chose",
        "",
        settings(data),
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
        told = [s.shares(n, v) for n in PEERS for v in ("default", "tuned")]
        points = [(t.mean(), y) for t in told if t is not None]
        axis.plot(
            *zip(*points, strict=True),
            "o",
            color="0.72",
            ms=5,
            label="a peer, as documented or tuned" if y == 0 else None,
        )
        name, best = s.best("tuned")
        if name:
            axis.plot([best.mean()], [y], "D", color="0.2", ms=6, label="the best tuned peer" if y == 0 else None)
        for own, colour, shift in zip(OURS, ("tab:red", "tab:blue"), (0.13, -0.13), strict=True):
            mine = s.shares(own, "default")
            if mine is not None:
                error = mine.std(ddof=1) / math.sqrt(len(mine)) if len(mine) > 1 else 0.0
                text = {"bandit": "Bandit", "self_tuning": "self_tuning"}[own] if y == 0 else None
                axis.errorbar(mine.mean(), y + shift, xerr=error, fmt="s", color=colour, ms=5, label=text)
    axis.set_yticks(range(len(titles)), list(reversed(titles)))
    axis.set_xlabel("share of the way from random play to the best choice of every round")
    axis.grid(axis="x", alpha=0.3)
    axis.set_xlim(min(-0.05, axis.get_xlim()[0]), 1.02)
    figure.legend(loc="outside upper center", ncol=4, fontsize=8)
    figure.savefig(folder / "bench_reward.png", dpi=120)
    plt.close(figure)
    names = [n for n in (*OURS, *PEERS) if data["cost"].get(n)]
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
