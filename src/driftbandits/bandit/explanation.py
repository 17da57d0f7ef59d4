"""Why an item was chosen: its estimate taken apart, beside the best other item on offer."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.sums import NEVER, USE, State
from ..core.lanes import lane
from .adaptive import Adaptive
from .contributions import AVERAGE, contributions, cut
from .learner import Learner
from .vectors import Row

NAMED = 3  # contributions named in a sentence
OLD = 100  # decisions after which a sentence says how old the newest observation of an item is
ENTRY = re.compile(r"\[\d+\]$")  # the place of an entry in a vector


class Case(NamedTuple):
    """A decision to be explained: what was on offer, what was shown, and with what probability."""

    names: Sequence[Any]
    rows: Sequence[Row]
    context: Row
    item: Any
    propensity: float | None
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

    @property
    def sentence(self) -> str:
        """The explanation as one sentence."""
        return _sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON, the sentence included; what is not a number is None."""
        plain = asdict(self) | {"sentence": self.sentence}
        for part in (plain, plain["runner_up"] or {}):
            if "sd" in part and math.isnan(part["sd"]):
                part["sd"] = None
        return plain

    def __str__(self) -> str:
        return self.sentence


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
                feature = _feature(label) if entries else _vector(_feature(label))
                parts[feature] = parts.get(feature, 0.0) + value
        for feature, value in parts.items():
            totals[feature] = totals.get(feature, 0.0) + abs(value)
    many = max(len(cases), 1)
    return {label: total / many for label, total in sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))}


def _feature(label: str) -> str:
    """The features of a label, categories and items without their values."""
    return " × ".join(part.split("=", 1)[0] for part in label.split(" × "))


def _vector(label: str) -> str:
    """A label without the places of entries, but for those of an item or a context that is a vector itself: they have no other names."""
    parts = label.split(" × ")
    return " × ".join(part if part.startswith(("item[", "context[")) else ENTRY.sub("", part) for part in parts)


def _sentence(e: Explanation) -> str:
    if not e.observations:
        return f"{_chosen(e)}; no reward is known yet, so that nothing speaks for or against an item."
    many = f"{e.observations:,.0f}"
    rests = f"this rests on about {many} observation{'' if many == '1' else 's'}{_memory(e)}"
    other = e.runner_up
    if other is None:
        own = f"its expected reward is {_estimate(e)}{_old(e, e.clocked)}"
        return f"{_chosen(e)}: {own}{_largest(_by_feature(e))}; {rests}."
    differ = _by_feature(e)
    for label, value in _by_feature(other).items():
        differ[label] = differ.get(label, 0.0) - value
    best = e.estimate >= other.estimate
    then, now = _then(e, best)
    own = f"{then or 'its expected reward '}is {now}{_estimate(e)}{_old(e, e.clocked)}"
    beside = f"{'against' if best else 'below'} {_estimate(other)} for {other.item!r}{_old(other, e.clocked)}"
    return f"{_chosen(e, best)}: {own}, {beside}{_largest(differ, 1.0 if best else -1.0)}; {rests}."


def _chosen(e: Explanation, best: bool = True) -> str:
    """What was chosen, how likely, and why, as far as that is not the estimate."""
    if e.guided:
        return f"{e.item!r} was shown because your own policy said so"
    chance = "" if e.propensity is None else f" with probability {_percent(e.propensity)}"
    learns = not (best if e.highest is None else e.highest) and bool(e.observations)
    return f"{e.item!r} was chosen{chance}{' to learn more about it' if learns else ''}"


def _then(e: Explanation, best: bool) -> tuple[str, str]:
    """What has changed since the decision, if its estimate was the highest then and is not now, or the other way round."""
    if e.guided or e.highest is None or e.highest == best:
        return "", ""
    if e.highest:
        return f"its expected reward was then the highest ({e.score:.3g}), and ", "now "
    return "", "now "


def _by_feature(part: Part) -> dict[str, float]:
    """Contributions with all values of a category as one feature, so that those of two items can be compared."""
    totals: dict[str, float] = {}
    for label, value in part.contributions.items():
        if label != AVERAGE:
            totals[_feature(label)] = totals.get(_feature(label), 0.0) + value
    return totals


def _largest(parts: Mapping[str, float], sign: float = 1.0) -> str:
    """The contributions that matter, in words: those of the sign that the whole has are why, the others are in spite of it."""
    size = max(map(abs, parts.values()), default=0.0)
    if size == 0.0:
        return ""
    top = sorted(parts.items(), key=lambda entry: -abs(entry[1]))[:NAMED]
    told = [(f"{label} ({value:+.3g})", sign * value > 0.0) for label, value in top if abs(value) >= 0.05 * size]
    why, spite = ([text for text, for_it in told if for_it is kind] for kind in (True, False))
    return (f", because of {_listed(why)}" if why else "") + (f", in spite of {_listed(spite)}" if spite else "")


def _listed(said: list[str]) -> str:
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _estimate(part: Part) -> str:
    return f"{part.estimate:.3g}" if math.isnan(part.sd) else f"{part.estimate:.3g} ± {part.sd:.2g}"


def _old(part: Part, clocked: bool) -> str:
    """How old the evidence is, where that is worth a word."""
    if part.item_observations == 0.0:
        return ", which has no reward yet"
    if part.age is None or part.age < (3600.0 if clocked else OLD):
        return ""
    told = f", last shown {_length(part.age, clocked)} ago"
    if part.mean_age is None or part.mean_age < 2.0 * part.age:
        return told
    return f"{told}, on average {_length(part.mean_age, clocked)} ago"


def _length(age: float, clocked: bool) -> str:
    return _written(age) if clocked else f"{age:,.0f} decisions"


def _written(seconds: float) -> str:
    hours = seconds / 3600.0
    return f"{hours:.0f} hours" if hours < 48.0 else f"{hours / 24.0:.0f} days"


def _memory(e: Explanation) -> str:
    return "" if e.memory is None else f" (a memory of {_length(e.memory, e.clocked)})"


def _percent(p: float) -> str:
    return f"{100.0 * p:.3g} %"


__all__ = ["Case", "Explanation", "Part", "explain", "importance", "is_highest"]
