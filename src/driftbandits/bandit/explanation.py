"""Why an item was chosen: its estimate as a sum of contributions, compared with the best other item on offer."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.sums import NEVER, USE, State
from ..core.lanes import lane
from ..errors import one_line
from ..util.notebook import card
from .adaptive import Adaptive
from .contributions import AVERAGE, contributions, cut
from .explanation_sentence import SHORT, feature_of, sentence_of
from .learner import Learner
from .vectors import Row

SHOWN = 12  # contributions shown in a notebook
ENTRY = re.compile(r"\[\d+\]$")  # the place of an entry in a vector


class Case(NamedTuple):
    """A decision to be explained: what was on offer, what was shown, and with what probability."""

    names: Sequence[Any]
    rows: Sequence[Row]
    context: Row
    item: Any
    propensity: float | None  # of a ranking, that its first item came first
    score: float | None  # the estimate when the decision was made, if it is known
    named: bool = True  # False: names are positions in an array
    highest: bool | None = None  # whether that estimate was the highest on offer, if it is known
    guided: bool = False  # whether a policy outside said what was shown
    shown: Sequence[Any] | None = None  # the whole ranking


@dataclass(frozen=True, kw_only=True)
class Part:
    """The estimate of one item: `contributions` maps features to rewards, "(average)" included, and adds up to `estimate`.

    `item_observations` of the item itself are in it, weighted by their age; the newest is `age` decisions old (seconds, if `half_life` is a
    duration), and all of them are at least `mean_age` old on average: None if there is none, or if it is not kept.
    """

    item: Any
    estimate: float
    sd: float
    contributions: dict[str, float]
    item_observations: float | None
    age: float | None
    mean_age: float | None


@dataclass(frozen=True, kw_only=True)
class Explanation(Part):
    """Why an item was chosen, by what the bandit knows now.

    Attributes
    ----------
    estimate, sd
        The reward expected of the item, and the standard deviation of that estimate, as decisions use it: it grows while other items are
        shown, as far as the memory forgets (NaN where a strategy does not tell it). If the world changes while an item is not shown, no
        standard deviation can know: `age` says how old the evidence is.
    contributions
        From features to rewards: how much each adds relative to what is usually on offer; "(average)" is what remains. A category is named
        as "colour=red", a product of two features as "price × age", what is known of the item by its name alone as "item=b". The values add
        up to `estimate`.
    runner_up
        The item with the highest estimate among the others, taken apart alike; None if there was no other, or if it is not known.
    propensity
        The probability with which the item was drawn: chance's share of the choice. None if it is not known.
    places
        How many items were shown; of a ranking, its first item is explained, and `propensity` is the probability that it came first.
    score, highest
        The estimate when the decision was made, and whether it was the highest on offer, if that is known; `estimate` is today's.
    guided
        Whether a policy outside said what was shown (`decide(show=…)`).
    memory
        Length of the memory that answers, in decisions, or in seconds if `half_life` is a duration; None if it forgets nothing.
    observations, item_observations
        How many observations the estimate rests on, weighted by their age; and how many of the item itself (None if it is not kept).
    age, mean_age
        How many decisions ago the newest of the item's own observations was decided (seconds, if `half_life` is a duration), and a lower
        bound on the mean over all of them: an estimate from one new and a thousand old ones is old.
    """

    runner_up: Part | None
    propensity: float | None
    score: float | None
    memory: float | None
    observations: float | None
    clocked: bool = False
    highest: bool | None = None
    guided: bool = False
    places: int = 1

    @property
    def sentence(self) -> str:
        """The explanation as one sentence."""
        return sentence_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON, the sentence included; what is not a number is None."""
        plain = asdict(self) | {"sentence": self.sentence}
        for part in (plain, plain["runner_up"] or {}):
            if "sd" in part and math.isnan(part["sd"]):
                part["sd"] = None
        return plain

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        """The sentence, and contributions, largest first, for notebooks."""
        largest = sorted(self.contributions.items(), key=lambda one: -abs(one[1]))
        return card(self.sentence, {one_line(name, SHORT): f"{value:+.4g}" for name, value in largest[:SHOWN]})


def is_highest(scores: Mapping[Any, Any], item: Any) -> bool | None:
    """Whether the score of an item is the highest; None if that cannot be told."""
    known = [score for score in scores.values() if isinstance(score, float | int) and not math.isnan(score)]
    own = scores.get(item)
    if not isinstance(own, float | int) or math.isnan(own) or len(known) < len(scores):
        return None
    return own >= max(known)


def explain(learner: Learner, case: Case, tick: int, now: float | None = None) -> Explanation:
    """The explanation of a decision by what the learner knows now; changes nothing. `now` is a time, if the learner's clock is one."""
    offer = learner.read(case.names, case.rows, case.context, named=case.named)
    placed = learner.place(offer, tick, learn=False)
    if isinstance(learner, Adaptive):
        placed = placed._replace(rows=placed.rows.copy(), context=placed.context.copy())
        cut(learner.model.items, placed.rows)
        cut(learner.model.context, placed.context)
    means, sds = learner.score(placed)

    def part(a: int) -> dict[str, Any]:
        of_features = contributions(learner, placed, a, case.rows, case.context)
        return {
            "item": case.names[a],
            "estimate": float(means[a]),
            "sd": float(sds[a]),
            "contributions": of_features,
            **_of_item(learner, int(placed.blocks[a]), float(tick) if now is None else now),
        }

    chosen = list(case.names).index(case.item)
    others = [a for a in range(len(case.names)) if a != chosen]
    best = max(others, key=lambda a: float(means[a]), default=None)
    told = learner.info()
    return Explanation(
        **part(chosen),
        runner_up=None if best is None else Part(**part(best)),
        propensity=case.propensity,
        score=case.score,
        memory=told.get("memory"),
        observations=told.get("effective_memory"),
        clocked=now is not None,
        highest=case.highest,
        guided=case.guided,
        places=1 if case.shown is None else len(case.shown),
    )


def _of_item(learner: Learner, i: int, now: float) -> dict[str, float | None]:
    """Observations of an item in the memory in use, Σw, which is M_i of its constant; and the age of the newest."""
    if not isinstance(learner, Adaptive) or learner.model.state.own_M.shape[2] == 0:
        return {"item_observations": None, "age": None, "mean_age": None}
    state = learner.model.state
    if i < 0 or state.last[i] <= NEVER:
        return {"item_observations": 0.0, "age": None, "mean_age": None}
    many = max(float(lane(state.own_M[i], int(state.numbers[USE]))[0, 0]), 0.0)
    age = max(now - float(state.last[i]), 0.0)
    return {"item_observations": many, "age": age, "mean_age": _mean_age(state, i, age)}


def _mean_age(state: State, i: int, age: float) -> float | None:
    """A lower bound on the mean age of an item's n observations: Σ e^−ρτ ≥ n e^−ρτ̄ (Jensen), for the slowest memory that forgets."""
    forgets, keeps = np.flatnonzero(state.rate > 0.0), np.flatnonzero(state.rate == 0.0)
    if not len(forgets) or not len(keeps):
        return None
    slowest = int(forgets[np.argmin(state.rate[forgets])])
    left, n = (float(lane(state.own_M[i], int(m))[0, 0]) for m in (slowest, keeps[-1]))
    return age + max(math.log(n / left), 0.0) / float(state.rate[slowest]) if n > 0.0 and left > 0.0 else None


def importance(learner: Learner, cases: Sequence[Case], tick: int, *, entries: bool = False) -> dict[str, float]:
    """The mean size of each feature's contributions over decisions, largest first; a vector with a name is one feature, or its entries."""
    totals: dict[str, float] = {}
    for case in cases:
        parts: dict[str, float] = {}
        for label, value in explain(learner, case, tick).contributions.items():
            if label != AVERAGE:
                feature = feature_of(label) if entries else _vector(feature_of(label))
                parts[feature] = parts.get(feature, 0.0) + value
        for feature, value in parts.items():
            totals[feature] = totals.get(feature, 0.0) + abs(value)
    many = max(len(cases), 1)
    return {label: total / many for label, total in sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))}


def _vector(label: str) -> str:
    """A label without the places of entries, but for those of an item or a context that is a vector itself: they have no other names."""
    parts = label.split(" × ")
    return " × ".join(part if part.startswith(("item[", "context[")) else ENTRY.sub("", part) for part in parts)


__all__ = ["Case", "Explanation", "Part", "explain", "importance", "is_highest"]
