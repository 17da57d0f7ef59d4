"""How a bandit is doing, as one sentence and a list of what to do; the dashboard shows the same."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from .events import DriftEvent
from .value import Value

FEW = 30  # rewards before anything is said about what it earns
MISSING = 0.5  # share of rewards that has come, below which they are said to be missing
DAY = 86400.0
MANY = 1000  # rewards after which a comparison with random choice should say something
SHARP = 0.05  # the exploration at which it does


class Health(NamedTuple):
    """`ok`: there is nothing to do. `sentence`: how it is doing. `actions`: what to do, most urgent first, one sentence each."""

    ok: bool
    sentence: str
    actions: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return self._asdict()


def health(
    info: dict[str, Any],
    against_random: Value,
    challengers: Sequence[Value],
    events: Sequence[DriftEvent],
    now: float,
    explore: float,
) -> Health:
    """The health of a bandit with this `info`, value against random choice, values against its challengers, and drift events."""
    recent = [event for event in events if now - event.at < DAY]
    actions = [*_alarms(recent, info), *_rewards(info), *_learning(info, against_random)]
    actions += [*_challengers(info, challengers), *_limits(info), *_exploration(against_random, explore)]
    if not info["decisions"]:
        return Health(True, "Nothing has been decided yet.", actions)
    if against_random.own.n < FEW:
        sentence = f"It has learned from {_many(info['rewards'], 'reward')}, which is too few to say how it is doing."
    else:
        sentence = against_random.sentence
    changes = [event for event in recent if event.kind in ("reward level", "best item")]
    if changes:
        sentence = f"{sentence} {changes[-1].sentence} This was noticed at {changes[-1].time:%Y-%m-%d %H:%M} UTC."
    return Health(not actions, sentence, actions)


def _alarms(recent: Sequence[DriftEvent], info: dict[str, Any]) -> list[str]:
    """What to do about changes of the last day; to a new level or another best item the learner adapts by itself."""
    actions = []
    missing = [event for event in recent if event.kind == "missing rewards"]
    if missing:
        actions.append(f"{missing[-1].sentence} Check what calls reward().")
    extended = (info.get("misfit") or {}).get("events")
    if any(event.kind == "model misfit" for event in recent) and not extended:
        actions.append(
            "Rewards are no linear function of the features: add the feature that is missing, or give squares and products as features."
        )
    return actions


def _exploration(v: Value, explore: float) -> list[str]:
    """More exploration, where nothing can be said without it, and what it costs."""
    known = v.lift.lower > 0.0 or v.lift.upper < 0.0
    if v.own.n < MANY or known or explore >= SHARP:
        return []
    more = SHARP - explore
    return [
        f"Random choice is too rare to compare with: explore={SHARP:g} in place of {explore:g} makes value() sharper. It costs "
        f"{100 * more:.1f} % of what it earns more than random choice, which is not known: at most "
        f"{more * max(v.lift.upper, 0.0):.2g} per decision."
    ]


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _rewards(info: dict[str, Any]) -> list[str]:
    actions = []
    made, came = info["decisions"], info["rewards"] + info["expired"]
    if made >= FEW and came < MISSING * made:
        share = f"{100.0 * came / made:.0f} % of {made} decisions have had a reward"
        actions.append(f"{share}: give the others theirs with reward(), or what no reward means with expire().")
    if info["dropped"]:
        actions.append(
            f"{info['dropped']} decisions were given up unlearned: call expire() oftener, or raise max_pending."
        )
    if info["unmatched"]:
        actions.append(
            f"{_many(info['unmatched'], 'reward')} came for decisions that were expired or dropped: expire() later."
        )
    if info.get("refused"):
        actions.append(f"{_many(info['refused'], 'row')} of the log could not be applied: the program's log says why.")
    if info["backwards"] > 0.01 * made:
        actions.append(f"{info['backwards']} decisions are older than the one before: check the clocks that give at=….")
    return actions


def _learning(info: dict[str, Any], v: Value) -> list[str]:
    if v.lift.upper < 0.0:
        return [
            "It earns less than random choice: check that rewards belong to their decisions and that more is better."
        ]
    misfit = (info.get("misfit") or {}).get("events") or []
    return [f"The model was extended: {misfit[-1]}. Nothing has to be done."] if misfit and v.lift.lower <= 0.0 else []


def _challengers(info: dict[str, Any], values: Sequence[Value]) -> list[str]:
    better = [
        f"Challenger {v.against!r} earns more by {-v.lift.mean:.3g} (at least {-v.lift.upper:.3g}): promote({v.against!r})."
        for v in values
        if v.lift.upper < 0.0
    ]
    suspended = [
        f"Challenger {name!r} is suspended ({told['problem']}): drop_challenger({name!r})."
        for name, told in info["challengers"].items()
        if told["problem"]
    ]
    return better + suspended


def _limits(info: dict[str, Any]) -> list[str]:
    actions = []
    if info.get("evicted"):
        actions.append(f"{info['evicted']} items lost their own model to newer ones: raise max_items.")
    if info.get("collisions"):
        actions.append(f"{info['collisions']} categories share a column with another: raise buckets.")
    return actions


__all__ = ["Health", "health"]
