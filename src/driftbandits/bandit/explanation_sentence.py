"""An explanation as one sentence of plain English."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import one_line, said
from .contributions import AVERAGE

if TYPE_CHECKING:
    from .explanation import Explanation, Part

NAMED = 3  # contributions named in a sentence
SHORT = 100  # characters of a name in it
LIKELY = 0.5  # a probability that is more than what checks and exploration give
OLD = 100  # decisions after which a sentence says how old the newest observation of an item is


def sentence_of(e: "Explanation") -> str:
    """The sentence of an explanation."""
    if not e.observations:
        return f"{_chosen(e)}; no reward is known yet, so that nothing speaks for or against an item."
    many = f"{e.observations:,.0f}"
    rests = f"this rests on about {many} observation{'' if many == '1' else 's'}{_memory(e)}"
    other = e.runner_up
    if other is None:
        own = f"its expected reward is {_estimate(e)}{_old(e, e.clocked)}"
        return f"{_chosen(e)}: {own}{largest(_by_feature(e))}; {rests}."
    differ = _by_feature(e)
    for label, value in _by_feature(other).items():
        differ[label] = differ.get(label, 0.0) - value
    best = e.estimate >= other.estimate
    then, now = _then(e, best)
    own = f"{then or 'its expected reward '}is {now}{_estimate(e)}{_old(e, e.clocked)}"
    beside = f"{'against' if best else 'below'} {_estimate(other)} for {said(other.item)}{_old(other, e.clocked)}"
    return f"{_chosen(e, best)}: {own}, {beside}{largest(differ, 1.0 if best else -1.0)}; {rests}."


def _chosen(e: "Explanation", best: bool = True) -> str:
    """What was chosen, how likely, and why, as far as that is not the estimate."""
    if e.guided:
        return f"{said(e.item)} was shown because your own policy said so"
    chosen = "chosen" if e.places == 1 else f"placed first of {e.places}"
    chance = "" if e.propensity is None else f" with probability {_percent(e.propensity)}"
    lower = not (best if e.highest is None else e.highest) and bool(e.observations)
    return f"{said(e.item)} was {chosen}{chance}{_in_spite(e) if lower else ''}"


def _in_spite(e: "Explanation") -> str:
    """Why an item was chosen that had not the highest estimate.

    Optimism and checks prefer what is less certain. An item that was likely although it is no less certain than the runner-up owes it to
    one of the two voices: the estimate is their mean, and they choose one by one.
    """
    voice = e.propensity is not None and e.propensity >= LIKELY and e.runner_up is not None
    if voice and e.runner_up is not None and e.sd <= e.runner_up.sd:
        return " because one of its two estimates, with and without forgetting, was highest"
    return " to learn more about it"


def _then(e: "Explanation", best: bool) -> tuple[str, str]:
    """What has changed since the decision, if its estimate was the highest then and is not now, or the other way round."""
    if e.guided or e.highest is None or e.highest == best:
        return "", ""
    if e.highest:
        return f"its expected reward was then the highest ({e.score:.3g}), and ", "now "
    return "", "now "


def _by_feature(part: "Part") -> dict[str, float]:
    """Contributions with all values of a category as one feature, so that those of two items can be compared."""
    totals: dict[str, float] = {}
    for label, value in part.contributions.items():
        if label != AVERAGE:
            totals[feature_of(label)] = totals.get(feature_of(label), 0.0) + value
    return totals


def largest(parts: Mapping[str, float], sign: float = 1.0) -> str:
    """The contributions that matter, in words: those of the sign that the whole has are why, the others are in spite of it."""
    size = max(map(abs, parts.values()), default=0.0)
    if size == 0.0:
        return ""
    top = sorted(parts.items(), key=lambda entry: -abs(entry[1]))[:NAMED]
    told = [
        (f"{one_line(label, SHORT)} ({value:+.3g})", sign * value > 0.0)
        for label, value in top
        if abs(value) >= 0.05 * size
    ]
    why, spite = ([text for text, for_it in told if for_it is kind] for kind in (True, False))
    return (f", because of {_listed(why)}" if why else "") + (f", in spite of {_listed(spite)}" if spite else "")


def _listed(told: list[str]) -> str:
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


def _estimate(part: "Part") -> str:
    return f"{part.estimate:.3g}" if math.isnan(part.sd) else f"{part.estimate:.3g} ± {part.sd:.2g}"


def _old(part: "Part", clocked: bool) -> str:
    """How old the evidence is, where that is worth a word."""
    if part.item_observations == 0.0:
        return ", which has no reward yet"
    if part.age is None or part.age < (3600.0 if clocked else OLD):
        return ""
    told = f", last rewarded {_length(part.age, clocked)} ago"
    if part.mean_age is None or part.mean_age < 2.0 * part.age:
        return told
    return f"{told}, on average {_length(part.mean_age, clocked)} ago"


def _length(age: float, clocked: bool) -> str:
    return _written(age) if clocked else f"{age:,.0f} decisions"


def _written(seconds: float) -> str:
    hours = seconds / 3600.0
    return f"{hours:.0f} hours" if hours < 48.0 else f"{hours / 24.0:.0f} days"


def _memory(e: "Explanation") -> str:
    return "" if e.memory is None else f" (a memory of {_length(e.memory, e.clocked)})"


def _percent(p: float) -> str:
    return f"{100.0 * p:.3g} %"


def feature_of(label: str) -> str:
    """The features of a label, categories and items without their values."""
    return " × ".join(part.split("=", 1)[0] for part in label.split(" × "))
