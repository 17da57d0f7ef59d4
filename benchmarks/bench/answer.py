"""The first screen of the page: how much is earned without tuning, and where we win and where not."""

import math

import numpy as np

from .peers import OURS, PEERS
from .shares import AHEAD, BEHIND, LEVEL, Stream
from .tables import label, table

VARIANTS = (("default", "as documented"), ("tuned", "tuned"))


def first_words(data):
    """Means over all streams, in two sentences."""
    mine = {n: x for n in OURS if not math.isnan(x := overall(data, n, "default"))}
    told = []
    if "bandit" in mine:
        told.append(
            f"**Without tuning, `Bandit` earns {mine.pop('bandit'):.3f}** of what separates random play (0) from the best choice of every "
            f"round (1), on average over {len(data['streams'])} streams{_others(mine)}."
        )
    for variant, word in VARIANTS:
        known = {n: x for n in PEERS if not math.isnan(x := overall(data, n, variant))}
        if known:
            best = max(known, key=lambda n: known[n])
            lead = f"; `Bandit` {apart(data, 'bandit', best, variant)}" if told else ""
            told.append(f"The best single peer {word} earns {known[best]:.3f} ({label(best)}{lead}).")
    return " ".join(told)


def _others(mine):
    return " (" + ", ".join(f"{label(n)} {x:.3f}" for n, x in mine.items()) + ")" if mine else ""


def where(data):
    """On which streams `Bandit` is ahead, level or behind, and by how much: the largest difference first."""
    found = {title: Stream(told) for title, told in data["streams"].items()}
    rows = []
    for word in (AHEAD, LEVEL, BEHIND):
        row = [word]
        for variant, _ in VARIANTS:
            told = {title: s.against("bandit", variant).split() for title, s in found.items()}
            here = {title: parts[1] for title, parts in told.items() if parts and parts[0] == word}
            ordered = sorted(here, key=lambda title: -abs(float(here[title])))
            row.append(f"**{len(here)}**: " + "; ".join(f"{t} {here[t]}" for t in ordered) if here else "**0**")
        rows.append(row)
    heads = [f"compared with the best peer {word}" for _, word in VARIANTS]
    return table(["On which streams `Bandit` is", *heads], rows)


def overall(data, name, variant):
    """The mean over streams of one learner: what it is to pick it for all of them. NaN if it did not play all."""
    told = [Stream(found) for found in data["streams"].values()]
    return float(np.mean([s.mean(name, variant) if s.complete(name, variant) else math.nan for s in told]))


def apart(data, own, peer, variant):
    """The mean over streams of ours minus a peer, paired, with the standard error that seeds leave."""
    found = [Stream(told) for told in data["streams"].values()]
    rows = [[s.shares(own, "default")[k] - s.shares(peer, variant)[k] for k in s.seeds] for s in found]
    error = math.sqrt(sum(np.var(row, ddof=1) / len(row) if len(row) > 1 else math.inf for row in rows)) / len(rows)
    return f"{np.mean([np.mean(row) for row in rows]):+.3f} ± {error:.3f}"
