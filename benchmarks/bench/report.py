"""From results/bench.json to the page: benchmarks/results/README.md and docs/benchmarks.md."""

import math

import numpy as np

from . import cost_tables
from .peers import OURS, PEERS, module
from .tables import label, table


class Stream:
    """What everybody earned on one stream, by seed, as a share of the way from random play (0) to the best choice of every round (1)."""

    def __init__(self, found):
        self.found = found

    def shares(self, name, variant):
        """By seed; empty if the learner was refused, too slow or not played."""
        told = self.found.get(name, {})
        return dict(zip(told["seeds"], told[variant], strict=True)) if variant in told else {}

    def mean(self, name, variant):
        """Over its seeds, NaN if there is none."""
        told = self.shares(name, variant)
        return float(np.mean([*told.values()])) if told else math.nan

    def reward(self, name):
        told = self.found.get(name, {}).get("reward")
        return float(np.mean(told)) if told else None

    def why_not(self, name):
        """Why a learner has no number here, in a word."""
        told = self.found.get(name, {})
        return "–" if "refused" in told else "too slow" if "stopped" in told else ""

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
            chosen = [str(module(name).SETTINGS[k]) for k in found.get(name, {}).get("setting", [])]
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
            cost_tables.costs(data),
            f"![cost]({pictures}/bench_cost.png)",
            "",
            cost_tables.targets(data),
            "How many times our CPU:",
            "",
            cost_tables.ratios(data),
            "### Growth with t, and memory",
            "",
            cost_tables.growth(data),
            "## Limits",
            "",
            cost_tables.limits(data),
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
