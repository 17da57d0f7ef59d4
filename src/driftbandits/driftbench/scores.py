r"""From regrets to scores.

    score of a draw     1 − regret / regret of uniform play                 0 is random play, 1 the best choice of every round
    score of a world    the mean of its eight draws
    score of a family   the mean of all its worlds; error = √(Σ_w se_w²)/W, se_w the standard error of the mean of the draws
    over best fixed γ   exp of the mean over the worlds of log(regret / regret of the best fixed forgetting), both means over draws;
                        the error is the jackknife's over draws

The best fixed forgetting is found after the fact on the judge's own draws: LB-WeightUCB (in MDPs weight_ucrl, with logits
mnl_weight_ucrl) over a grid of memories and bonuses. 1 means: as good as if the best γ and bonus of each world had been known.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .suite import CEILING, FAMILIES, WORLDS
from .task import Family

BANDITS: tuple[Family, ...] = ("linear", "clicks", "counts", "kernel", "items")


class Score(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


class WorldScore(NamedTuple):
    """What one learner did in one world."""

    score: Score
    over_fixed: float  # mean regret / that of the best fixed forgetting; nan if it is not known


class Standing(NamedTuple):
    """What one learner did in one track."""

    worlds: dict[str, WorldScore]
    families: dict[Family, Score]
    over_fixed: dict[Family, Score]
    overall: Score | None  # of the five bandit families, if it has them all
    at_ceiling: int  # worlds whose score is at least CEILING


def standing(worlds: Mapping[str, Mapping[str, Any]]) -> Standing:
    """The scores of a track, from `regret`, `uniform` and `fixed` of every world in which the learner took part."""
    found = {name: _world(kept) for name, kept in worlds.items() if "regret" in kept}
    families: dict[Family, Score] = {}
    over: dict[Family, Score] = {}
    for family in FAMILIES:
        names = [name for name, world in WORLDS.items() if world.family == family]
        if all(name in found for name in names):  # a family counts only as a whole: part of it may be the easier part
            families[family] = mean_score([found[name].score for name in names])
            over[family] = _over_fixed([worlds[name] for name in names])
    overall = mean_score([families[f] for f in BANDITS]) if all(f in families for f in BANDITS) else None
    return Standing(found, families, over, overall, sum(w.score.value >= CEILING for w in found.values()))


def mean_score(scores: Sequence[Score]) -> Score:
    """The mean of independent scores."""
    values, errors = np.array(scores).T
    return Score(float(values.mean()), float(np.sqrt((errors**2).sum()) / len(errors)))


def _world(kept: Mapping[str, Any]) -> WorldScore:
    regret, uniform = np.array(kept["regret"], float), np.array(kept["uniform"], float)
    share = 1.0 - regret / uniform
    error = share.std(ddof=1) / np.sqrt(len(share)) if len(share) > 1 else np.nan
    fixed = kept.get("fixed")
    over = regret.mean() / np.mean(fixed) if fixed else np.nan
    return WorldScore(Score(float(share.mean()), float(error)), float(over))


def _over_fixed(kept: Sequence[Mapping[str, Any]]) -> Score:
    """The geometric mean over worlds, and the jackknife's error over draws."""
    if not all(each.get("fixed") for each in kept):
        return Score(np.nan, np.nan)
    regret, fixed = (np.array([each[key] for each in kept], float) for key in ("regret", "fixed"))
    n = regret.shape[1]

    def ratio(draws: Any) -> float:
        return float(np.exp(np.log(regret[:, draws].mean(axis=1) / fixed[:, draws].mean(axis=1)).mean()))

    every = np.arange(n)
    if n < 2:
        return Score(ratio(every), np.nan)
    without = np.array([ratio(every != i) for i in range(n)])
    return Score(ratio(every), float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())))
