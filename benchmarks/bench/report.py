"""From results/bench.json to the page: benchmarks/results/README.md and docs/benchmarks.md."""

import math

from . import cost_tables
from .answer import first_words, overall, where
from .peers import OURS, PEERS, module
from .shares import LAST, Stream
from .tables import label, table


def sums(data):
    """On how many streams ours is ahead, level or behind."""
    rows = []
    for own in OURS:
        for variant, word in (("tuned", "the best tuned peer"), ("default", "the best peer as documented")):
            told = [Stream(found).against(own, variant).split(" ")[0].strip("*") for found in data["streams"].values()]
            if any(told):
                rows.append([f"{label(own)} against {word}", *(told.count(w) for w in ("ahead", "level", "behind"))])
    return table(["streams on which it is", "ahead", "level", "behind"], rows)


def by_stream(data):
    """One row a stream."""
    rows = []
    for title, found in data["streams"].items():
        s = Stream(found)
        bandit, *others = ("" if math.isnan(m := s.mean(n, "default")) else f"{m:.3f}" for n in OURS)
        against = [s.against("bandit", variant) for variant in ("tuned", "default")]
        best = [(s.best(variant), variant) for variant in ("tuned", "default")]
        peers = [f"{label(peer)} {s.mean(peer, variant):.3f}" if peer else "" for peer, variant in best]
        rows.append([title, *against, bandit, *peers, *others, len(s.seeds)])
    bandit, *others = map(label, OURS)
    head = ["stream", f"{bandit} against the tuned", f"{bandit} against the documented", bandit, "best tuned peer"]
    return table([*head, "best peer as documented", *others, "seeds"], rows)


def every(data):
    """All learners, as documented / tuned."""
    rows = [
        [title, *(_one(Stream(found), name) for name in (*OURS, *PEERS))] for title, found in data["streams"].items()
    ]
    rows.append(["**mean of all streams**", *(_overall(data, name) for name in (*OURS, *PEERS))])
    return table(["stream", *map(label, (*OURS, *PEERS))], rows)


def _one(s, name):
    told = {v: s.mean(name, v) for v in ("default", "tuned")}
    if math.isnan(told["default"]):
        return s.why_not(name)
    few = {v: "" if s.complete(name, v) else f" ({len(s.shares(name, v))})" for v in told}
    return " / ".join(f"{x:.3f}{few[v]}" for v, x in told.items() if not math.isnan(x))


def _overall(data, name):
    told = [overall(data, name, variant) for variant in ("default", "tuned")]
    return " / ".join(f"**{x:.3f}**" for x in told if not math.isnan(x))


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
        f"On {len(losses)} of {len(data['streams'])} streams. The best peer is chosen after the fact, and the best tuned one "
        "from about 20 settings: on a single stream some of its lead is luck.",
        "",
    ]
    for group in notes:
        here = [losses.pop(title) for title in group["streams"] if title in losses]
        if here:
            sure = "" if group["tested"] else " *This reason was not tested apart.*"
            out += ["- " + ", ".join(here) + ": " + " ".join(group["text"].split()) + sure]
    if losses:
        out += ["- " + ", ".join(losses.values()) + ": the reason is not known yet."]
    return "\n".join(out) + "\n"


def settings(data):
    """What tuning chose, seed by seed."""
    rows = []
    for title, found in data["streams"].items():
        for name in PEERS:
            played = found.get(name, {}).get("setting", [])
            chosen = [str(module(name).SETTINGS[k]) for k in played if k is not None]
            if chosen:
                rows.append([title, label(name), "; ".join(dict.fromkeys(chosen))])
    return table(["stream", "peer", "chosen on other rounds"], rows)


def provenance(data):
    """What ran, when, on what, and what did not run."""
    m, v = data["machine"], data["versions"]
    runs = ", ".join(f"{label(n)} {told['runs']} ({told['CPU minutes']:.0f})" for n, told in data["runs"].items())
    told = [
        f"Runs, those that chose settings included, and minutes of CPU that they took: {runs}. Each is kept in `benchmarks/results/cells/` "
        "under the learner's version, NumPy's, a digest of its settings and of the way of playing, and a digest of every round. What was "
        f"missing was played, and costs were measured, from {data['began'].replace('T', ' ')} UTC on.",
        f"{m['cpu']}, {m['cores']} cores, load {m['load'][0]} at the start and {data['load at the end'][0]} at the end (measured is the "
        f"CPU time of the process), Python {m['python']}, NumPy {m['numpy']}, numba {m['numba']}. Streams × {data['scale']:g} of their "
        "length. " + ", ".join(f"{label(n)} {x}" for n, x in v.items() if x) + ".",
    ]
    if data["trouble"]:
        told.append("Left out or unfinished: " + "; ".join(f"{n}: {w}" for n, w in data["trouble"].items()) + ".")
    if data["absent"]:
        told.append("Left out because the data are not on this machine: " + ", ".join(data["absent"]) + ".")
    return "\n\n".join(told)


def page(data, pictures, notes):
    """The whole page as Markdown."""
    out = [
        "# Benchmarks against other libraries",
        "",
        first_words(data),
        "",
        where(data),
        f"![reward]({pictures}/bench_reward.png)",
        "",
        "*Level*: within one standard error of the paired difference. The best peer of a stream is chosen after the fact, so that on a "
        "single stream some of its lead is luck. [What ran](#what-ran) · [how it is measured](#how-it-is-measured)",
        "",
        "## Stream by stream",
        "",
        sums(data),
        by_stream(data),
        "The best peer is the best of those that played all seeds. Real streams have three stretches; of the others as many seeds were "
        "played as there was time for, more of the cheap ones and of clicks and revenue. "
        f"{', '.join(map(label, LAST))} were never the best of a stream when all played eight seeds (0.2) and "
        "were played last: where they played fewer seeds than the others the number of them is in brackets, and where a number is missing "
        "the run was not played.",
        "",
        "## Where a peer wins, and why",
        "",
        reasons(data, notes),
        "## How it is measured",
        "",
        "All learners see the same rounds, features and rewards. Ours have nothing set but the kind of reward; `Bandit` keeps every "
        "propensity at least .002/n so that its log can be evaluated, `Bandit(explore=0)` does not. A peer plays as its authors document "
        "it, and again with the best of a handful of settings, chosen on four other seeds of the same kind of stream (two of digits and of "
        "the rotation), or on the stretch just before a real one: no round that counts is tuned on, and all rounds count. "
        "Features of labelled streams are standardised by the first tenth, for all. Where the means of rewards are known, earnings are "
        "counted in them.",
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
            "µs of CPU per decision with its learning step, every learner as documented. `Bandit` keeps named items, open decisions "
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
        "### What tuning chose",
        "",
        settings(data),
        "*Written by `make bench` from `benchmarks/results/bench.json`; do not edit.*",
        "",
    ]
    return "\n".join(out)
