"""The result of `Bandit.value`: the value of the bandit, the value of another policy, and the difference."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.linalg import Vector
from ..errors import InvalidState, InvalidValue, said
from ..inference import policy_value as pv
from ..inference.outcomes import N
from ..inference.policy_value import EARLY, Interval
from ..util.notebook import card
from ..util.words import counted
from .challengers import Challenger
from .ledger import Ledger
from .policy_sums import ACTING, FIRST, RANDOM
from .windows import WINDOWS

Looked = Literal["always", "once"]
Kind = Literal["policy", "challenger", "item"]
Limits = tuple[float, float]
EVERYWHERE = (-math.inf, math.inf)


class Against(NamedTuple):
    """What a bandit is compared with."""

    kind: Kind
    name: Any


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Means per decision over the same decisions: `own` of the bandit, `other` of the policy it is compared with, `lift` = own − other.

    Each has `mean`, `lower`, `upper`, `n`, `effective_n` and `finite`. `valid` says for how many looks the bounds hold, each at level
    1 − α: "always" (at all times at once: look as often as you like) or "once" (a window that moves: each look by itself).
    """

    own: Interval
    other: Interval
    lift: Interval
    valid: Looked


@dataclass(frozen=True, kw_only=True)
class Value(Comparison):
    """What a bandit earns, and what another policy would have earned on the same decisions.

    Attributes
    ----------
    own, other, lift
        Intervals over all decisions whose reward has come, valid at all times at once while the world drifts: what is bounded is the mean
        of the values that the rounds had. `finite=False` marks asymptotic bounds: rewards without a known range. Of clicks, the first 50
        decisions of a bandit do not count: they say how rare clicks are.
    against, kind
        "random" or "first" ("policy"), a challenger's name ("challenger"), or an item's ("item").
    windows
        "day" and "week": the same over the last 24 whole hours and 7 calendar days (UTC) up to the newest decision, valid at one look.
    alpha
        Each interval is ever wrong with at most this probability.
    """

    against: Any
    kind: Kind
    alpha: float
    windows: Mapping[str, Comparison]

    @property
    def sentence(self) -> str:
        """The answer as one sentence."""
        return _sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON, the sentence included; what is not finite is None."""
        windows = {name: _plain(window) for name, window in self.windows.items()}
        named = {"against": self.against, "kind": self.kind, "alpha": self.alpha, "sentence": self.sentence}
        return {**_plain(self), **named, "windows": windows}

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        """The sentence and the three intervals, for notebooks."""
        whose = {"own": "this bandit", "other": _whose(self), "lift": "the difference"}
        return card(self.sentence, {f"{name}: {what}": _told(getattr(self, name)) for name, what in whose.items()})


def _told(interval: Interval) -> str:
    bounds = f"{interval.lower:.4g} to {interval.upper:.4g}" if math.isfinite(interval.lower) else "no bounds yet"
    return f"{interval.mean:.4g} ({bounds}; {counted(interval.n, 'decision')})"


def _check_valued(name: str, ledger: Ledger, challengers: Mapping[str, Challenger]) -> None:
    """Raise if a challenger was suspended before any of its decisions could be valued."""
    problem = challengers[name].problem if name in challengers else None
    if problem is not None and not ledger.knows_policy(name):
        raise InvalidState(
            f"challenger {said(name)} was suspended ({problem}) before a reward came for a decision of it: nothing is known of its value"
        )


def named(ledger: Ledger, against: Any, item: Any, challengers: Mapping[str, Challenger]) -> Against:
    """What words mean: "random" and "first" are policies, then come challengers, then items; `item` can only be an item."""
    if item is not None:
        if against != RANDOM:
            raise InvalidValue(
                f"against = {said(against)} and item = {said(item)} are two comparisons; give one of them"
            )
        against = item
    elif isinstance(against, str) and against in (RANDOM, FIRST):
        return Against("policy", against)
    against = int(against) if isinstance(against, np.integer) else against
    if item is None and isinstance(against, str) and (against in challengers or ledger.knows_policy(against)):
        _check_valued(against, ledger, challengers)
        return Against("challenger", against)  # a function is to be given again after load; its sums are there
    if isinstance(against, str | int) and ledger.knows_item(against):
        return Against("item", against)
    allowed = "'random', 'first', a challenger, or an item" if item is None else "an item"
    raise InvalidValue(
        f"{'against' if item is None else 'item'} = {said(against)} is not known; it must be {allowed} that was on offer in a decision "
        "whose reward has come"
    )


def value(ledger: Ledger, against: Against, alpha: float, now: float, limits: Limits = EVERYWHERE) -> Value:
    """The sums of a ledger as intervals; rewards, and so their means, lie within `limits`."""
    kind, name = against
    ledger.flush()
    windows, acting = {}, ledger.unknown(ACTING)
    if kind == "item":
        sums = ledger.of_item(name)
        of = Terms(ledger.bounded, ledger.stakes(FIRST), alpha, limits, (acting, 0.0))
    else:
        sums = ledger.of_policy(name)
        of = Terms(ledger.bounded, ledger.stakes(name), alpha, limits, (acting, ledger.unknown(name)))
        for window in WINDOWS if sums[N] > 0.0 else ():
            windows[window] = Comparison(**_intervals(ledger.window(name, window, now), of), valid="once")
    whole = _intervals(sums, of)
    return Value(**whole, valid="always", against=name, kind=kind, alpha=alpha, windows=windows)


class Terms(NamedTuple):
    """On what terms sums become intervals: stakes on the bandit and on the other policy, level, limits of means, and shares unknown."""

    bounded: bool
    lam: tuple[pv.Sides, pv.Sides]
    alpha: float
    limits: Limits
    unknown: tuple[float, float]


def _intervals(sums: Vector, of: Terms) -> dict[str, Interval]:
    plain, bounded, alpha = sums.tolist(), of.bounded, of.alpha
    own = pv.own_interval(plain, bounded=bounded, alpha=alpha, lam=of.lam[0], unknown=of.unknown[0])
    other = pv.other_interval(plain, bounded=bounded, alpha=alpha, lam=of.lam[1], unknown=of.unknown[1])
    lift = pv.lift_interval(plain, bounded=bounded, alpha=alpha, lam=of.lam[1], unknown=max(of.unknown))
    return {"own": _within(own, of.limits), "other": _within(other, of.limits), "lift": lift}


def _within(found: Interval, limits: Limits) -> Interval:
    """An interval of means that cannot lie outside of the limits; while there are no bounds, it has none."""
    low, high = limits
    if math.isinf(found.lower) and math.isinf(found.upper):
        return found
    mean, lower, upper = (min(max(x, low), high) for x in found[:3])
    return found._replace(mean=mean, lower=lower, upper=upper)


def _plain(found: Comparison) -> dict[str, Any]:
    intervals = {name: getattr(found, name)._asdict() for name in ("own", "other", "lift")}
    for interval in intervals.values():
        for name in ("mean", "lower", "upper"):
            interval[name] = interval[name] if math.isfinite(interval[name]) else None
    return {**intervals, "valid": found.valid}


def _whose(v: Value) -> str:
    if v.kind == "policy":
        return "random choice" if v.against == RANDOM else "always showing the first item"
    return f"challenger {said(v.against)}" if v.kind == "challenger" else f"always showing {said(v.against)}"


def _sentence(v: Value) -> str:
    n, level = v.own.n, f"{100 * (1 - v.alpha):g} %"
    if n == 0:
        after = f" of a decision after the first {EARLY}, which only say how rare rewards are," if v.own.finite else ""
        return f"No reward{after} has come yet, so that nothing can be said about what it earns."
    whose = _whose(v)
    earns = f"It earns {v.own.mean:.4g} per decision over {counted(n, 'decision')}"
    lift, bounds = v.lift, f"between {v.lift.lower:+.3g} and {v.lift.upper:+.3g}"
    if lift.lower > 0.0:
        verdict = f"more than {whose} by {lift.mean:.3g} ({bounds})"
    elif lift.upper < 0.0:
        verdict = f"less than {whose} by {-lift.mean:.3g} ({bounds})"
    elif math.isinf(lift.lower):
        verdict = f"which is too few to compare it with {whose}"
        return f"{earns}, {verdict}."
    else:
        verdict = f"which is not yet known to be more or less than {whose}: the difference is {bounds}"
    kind = f"valid at all times with probability {level}" if lift.finite else f"asymptotically valid at level {level}"
    return f"{earns}, {verdict}, {kind}."


__all__ = ["Against", "Comparison", "Interval", "Value", "named", "value"]
