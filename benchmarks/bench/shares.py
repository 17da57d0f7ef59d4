"""What every learner earned on a stream, and whether ours is ahead of the best peer, level or behind."""

import math

import numpy as np

from .peers import OURS, PEERS

# Never the best of a stream, tuned or not, when all played eight seeds (0.2); played last, and on fewer seeds where time was short.
LAST = ("bayesianbandits", "mabwiser", "contextualbandits")
AHEAD, LEVEL, BEHIND = "ahead", "level", "**behind**"


class Stream:
    """What every learner earned on one stream, by seed, as a share of the way from random play (0) to the best choice of every round (1).

    The seeds that count are those that ours and the peers not in `LAST` have all played.
    """

    def __init__(self, found):
        self.found = found
        played = [self._all(name, "default") for name in OURS]
        played += [self._all(name, v) for name in PEERS if name not in LAST for v in ("default", "tuned")]
        known = [set(told) for told in played if told]
        self.seeds = sorted(set.intersection(*known)) if known else []

    def _all(self, name, variant):
        told = self.found.get(name, {})
        shares = told.get(variant, [])
        return {seed: x for seed, x in zip(told["seeds"], shares, strict=True) if x is not None} if shares else {}

    def shares(self, name, variant):
        """By seed, of those that count; empty if the learner was refused, too slow or not played."""
        return {seed: x for seed, x in self._all(name, variant).items() if seed in self.seeds}

    def mean(self, name, variant):
        """Over the seeds that count, NaN if it played none."""
        told = self.shares(name, variant)
        return float(np.mean([*told.values()])) if told else math.nan

    def complete(self, name, variant):
        """Whether a learner played every seed that counts."""
        return bool(self.seeds) and len(self.shares(name, variant)) == len(self.seeds)

    def reward(self, name):
        """Per round, as documented."""
        told = self.found.get(name, {})
        here = [r for seed, r in zip(told.get("seeds", []), told.get("reward", []), strict=True) if seed in self.seeds]
        return float(np.mean(here)) if here else None

    def why_not(self, name):
        """Why a learner has no number here, in a word."""
        told = self.found.get(name, {})
        return "–" if "refused" in told else "too slow" if "stopped" in told else ""

    def best(self, variant):
        """The peer that earned most, of those that played all seeds."""
        known = {name: self.mean(name, variant) for name in PEERS if self.complete(name, variant)}
        return max(known, key=lambda name: known[name], default=None)

    def against(self, own, variant):
        """The verdict on ours against the best peer; "" if there is none."""
        peer = self.best(variant)
        if peer is None or not self.complete(own, "default"):
            return ""
        mine, theirs = self.shares(own, "default"), self.shares(peer, variant)
        return verdict(np.array([mine[k] for k in self.seeds]), np.array([theirs[k] for k in self.seeds]))


def verdict(ours, theirs):
    """Ahead, level or behind, by the paired difference and its standard error over seeds."""
    difference = ours - theirs
    mean = float(difference.mean())
    error = float(difference.std(ddof=1) / math.sqrt(len(difference))) if len(difference) > 1 else math.inf
    word = AHEAD if mean > error else LEVEL if mean >= -error else BEHIND
    return f"{word} {mean:+.3f} ± {error:.3f}"
