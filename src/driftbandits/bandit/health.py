"""The state of a bandit as one sentence and a list of recommended actions; the dashboard shows the same."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..util.notebook import card
from .challengers import ABSENT
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

    def _repr_html_(self) -> str:
        """The sentence and what to do, for notebooks."""
        return card(self.sentence, {f"{i}.": action for i, action in enumerate(self.actions, 1)})


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
    actions = [*_alarms(recent, info), *_rewards(info), *_learning(against_random)]
    actions += [*_challengers(info, challengers), *_limits(info), *_exploration(against_random, explore)]
    if not info["decisions"]:
        return Health(True, "Nothing has been decided yet.", actions)
    if against_random.own.n < FEW:
        sentence = f"It has learned from {_many(info['rewards'], 'reward')}, which is too few to say how it is doing."
    else:
        sentence = against_random.sentence
    changes = _changes(recent)
    if changes:
        sentence = f"{sentence} {_noticed(changes[-1])}"
    return Health(not actions, sentence, actions)


def _changes(recent: Sequence[DriftEvent]) -> list[DriftEvent]:
    """Changes to which the learner adapts by itself."""
    return [event for event in recent if event.kind in ("reward level", "best item")]


def _noticed(event: DriftEvent) -> str:
    return f"{event.sentence} This was noticed at {event.time:%Y-%m-%d %H:%M} UTC."


def _alarms(recent: Sequence[DriftEvent], info: dict[str, Any]) -> list[str]:
    """What to do about changes of the last day."""
    actions = []
    missing = [event for event in recent if event.kind == "missing rewards"]
    if missing:
        actions.append(f"{missing[-1].sentence} Check what calls reward().")
    extended = (info.get("misfit") or {}).get("events")
    if any(event.kind == "model misfit" for event in recent) and not extended:
        actions.append(
            "Rewards are no linear function of the features: add the feature that is missing, or give squares and products as features."
        )
    changes = _changes(recent)
    if changes:
        actions.append(
            f"{_noticed(changes[-1])} The learner adapts by itself; check whether a release, a price or the counting of rewards "
            "changed then."
        )
    return actions


def _exploration(v: Value, explore: float) -> list[str]:
    """More exploration, where nothing can be said without it, and what it costs."""
    known = v.lift.lower > 0.0 or v.lift.upper < 0.0
    if v.own.n < MANY or known or explore >= SHARP:
        return []
    more = SHARP - explore
    return [
        f"After {v.own.n:,} rewards it is not known whether it earns more than random choice, because it hardly ever chooses at random: "
        f"set explore={SHARP:g} in place of {explore:g}. That costs {100 * more:.1f} % of the difference to random choice. The difference "
        f"is at most {v.lift.upper:.2g}, so that the cost is at most {more * v.lift.upper:.2g} per decision."
    ]


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _rewards(info: dict[str, Any]) -> list[str]:
    actions = []
    made, came = info["decisions"], info["rewards"] + info["expired"]
    if made >= FEW and came < MISSING * made:
        share = f"{100.0 * came / made:.0f} % of {made:,} decisions have had a reward"
        actions.append(
            f"{share}: report the others with reward(), or say what a missing one means with expire(older_than, reward=…)."
        )
    if info["dropped"]:
        given_up = _many(info["dropped"], "decision")
        actions.append(
            f"{given_up} had no reward when max_pending newer ones were waiting, and cannot be learned any more: call expire() more "
            "often, or raise max_pending."
        )
    if info["unmatched"]:
        actions.append(
            f"{_many(info['unmatched'], 'reward')} came for decisions that were expired or dropped: wait longer before expire()."
        )
    if info.get("refused"):
        actions.append(f"{_many(info['refused'], 'row')} of the log could not be applied: the program's log says why.")
    if info["backwards"] > 0.01 * made:
        older = _many(info["backwards"], "decision")
        actions.append(f"{older} had an earlier time than the decision before: check the clocks that at=… comes from.")
    return actions


def _learning(v: Value) -> list[str]:
    if v.lift.upper >= 0.0:
        return []
    return [
        "It earns less than random choice: check that each reward belongs to its decision, and that a larger reward is better."
    ]


def _challengers(info: dict[str, Any], values: Sequence[Value]) -> list[str]:
    better = [
        f"Challenger {v.against!r} would earn more by {-v.lift.mean:.3g} per decision (at least {-v.lift.upper:.3g}): {_instead(info, v)}."
        for v in values
        if v.lift.upper < 0.0
    ]
    return better + [_stopped(name, told["problem"]) for name, told in info["challengers"].items() if told["problem"]]


def _stopped(name: str, problem: str) -> str:
    if problem == ABSENT:
        return f"Challenger {name!r} is {ABSENT}: give it again with challenge({name!r}, function), or drop_challenger({name!r})."
    return f"Challenger {name!r} raised an error and is suspended ({problem}): repair it, or drop_challenger({name!r})."


def _instead(info: dict[str, Any], v: Value) -> str:
    if info["challengers"][v.against]["function"]:
        return "a function cannot be promoted; call it in place of decide(), or show what it chooses with decide(…, show=…)"
    return f"promote({v.against!r}) lets it decide"


def _limits(info: dict[str, Any]) -> list[str]:
    actions = []
    if info.get("evicted"):
        actions.append(
            f"{_many(info['evicted'], 'item')} lost what was learned of them to newer items: raise max_items."
        )
    if info.get("collisions"):
        actions.append(
            f"{info['collisions']} categories cannot be told from another one, with which they share a column: raise buckets."
        )
    return actions


__all__ = ["Health", "health"]
