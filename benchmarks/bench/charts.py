"""Two pictures of results/bench.json: shares by stream, and µs by learner."""

import math

import matplotlib as mpl
import numpy as np

from driftbandits.plots.style import PALETTE

from .peers import OURS, PEERS
from .shares import Stream
from .tables import label

mpl.use("Agg")
import matplotlib.pyplot as plt

# All three are tuning-free learners, so they have the colours of that role, and markers that tell them apart.
LOOKS = {
    "bandit": ("s", PALETTE["blue"]),
    "bandit_explore_0": ("^", PALETTE["sky"]),
    "self_tuning": ("o", PALETTE["sky"]),
}


def reward_chart(data, folder):
    """Every learner's share, stream by stream."""
    titles = list(data["streams"])
    figure, axis = plt.subplots(figsize=(8, 0.42 * len(titles) + 1.2), layout="constrained")
    for y, title in enumerate(reversed(titles)):
        s = Stream(data["streams"][title])
        told = [s.mean(n, v) for n in PEERS for v in ("default", "tuned") if s.complete(n, v)]
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


def cost_chart(data, folder):
    """µs at two shapes; nothing if costs were not measured."""
    names = [n for n in (*OURS, *PEERS) if data["cost"].get(n)]
    if not names:
        return
    shapes = ("n = 10, d = 10", "10 items, d = 10")
    figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for i, shape in enumerate(shapes):
        values = [data["cost"][n].get(shape) or math.nan for n in names]
        axis.bar(
            np.arange(len(names)) + 0.4 * i, values, 0.38, color=("0.35", "0.7")[i], label=shape
        )  # shapes have no role
    axis.set_xticks(
        np.arange(len(names)) + 0.2, [label(n).strip("`") for n in names], rotation=20, ha="right", fontsize=8
    )
    axis.set_yscale("log")
    axis.set_ylabel("µs of CPU per decide + learn")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(folder / "bench_cost.png", dpi=120)
    plt.close(figure)
