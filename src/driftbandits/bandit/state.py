"""The settings of a bandit, validated once, and its initial state."""

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from ..errors import InvalidValue, integer, real, said
from ..util.fair_lock import FairLock
from .adaptive import Adaptive
from .alarms import Alarms
from .arguments import FeatureMap
from .arrivals import Arrivals
from .chance import seed_of
from .clock import NEVER_FORGETS, duration
from .decision import Decision
from .events import DriftEvent
from .kinds import KINDS
from .learner import Learner
from .ledger import Ledger
from .pending import REPEATS, Pending
from .transformers import Transformer

if TYPE_CHECKING:
    from .challengers import Challenger

MODES = ("item", "interact", "disjoint", "hybrid", "linear")
EVENTS = 1000  # alarms kept
RECENT = 64  # decisions kept to be explained by their id; a durable bandit has them all in its log
COUNTED = ("decisions", "observed", "rewards", "late", "expired", "replaced", "ignored", "unmatched", "backwards")
ALSO_COUNTED = ("guided", "agreed")  # only where a policy outside decides what is shown


class State:
    """Settings and attributes of a bandit."""

    _together = False  # many changes are being made that are undone together
    _writes_rows = False  # every change is written to a log, row by row

    def _begin(self, strategy: Any, on_drift: Callable[[DriftEvent], Any] | None) -> None:
        """The state of a bandit that has seen nothing."""
        if on_drift is not None and not callable(on_drift):
            raise InvalidValue(
                f"on_drift = {said(on_drift)} is not allowed; it must be a function of a DriftEvent, or None"
            )
        self._on_drift = on_drift
        self._lock = FairLock()
        self._pending = Pending(self._config["max_pending"])
        self._tick = 0  # decisions made, here and elsewhere
        self._counts = dict.fromkeys(COUNTED, 0)
        self._newest = -math.inf  # the latest time seen
        self._oldest = math.inf  # the earliest
        self._given = False  # do users give the time?
        self._events: list[DriftEvent] = []
        self._alarms, self._arrivals = Alarms(), Arrivals()
        self._watched = True  # False: of a challenger, whose alarms would be those of the bandit
        self._recent: dict[str, Decision] = {}
        self._challengers: dict[str, Challenger] = {}
        self._ledger = Ledger(bounded=self._config["reward"] == "click", explore=self._config["explore"])
        self._fitted: dict[str, Any] | None = None  # what `info` says of logs that were learned, and their fingerprints
        self._unreported: list[DriftEvent] = []  # those that on_drift has not been called with
        self._learner: Learner = self._new_learner(strategy)

    def _configure(
        self,
        reward: str,
        features: str | FeatureMap,
        half_life: Any,
        explore: float,
        seed: int,
        on_repeat: str,
        buckets: int,
        max_items: int,
        max_pending: int,
    ) -> None:
        _one_of("reward", reward, [*KINDS])
        _one_of("on_repeat", on_repeat, REPEATS)
        made = callable(features) or (
            isinstance(features, Transformer) and not hasattr(features, "__array__")
        )  # no frame
        if isinstance(features, str) or not made:
            _one_of("features", features, MODES, "a function of (item, context)", "a fitted transformer")
        self._function: FeatureMap | None = None if isinstance(features, str) else features
        share = real("explore", explore)
        if isinstance(explore, bool) or not 0.0 <= share <= 1.0:
            raise InvalidValue(
                f"explore = {said(explore)} is not allowed; it must be a number in [0, 1]: it is shared among the items on offer"
            )
        self._clocked = half_life is not None and not isinstance(half_life, Real)
        if isinstance(half_life, float) and half_life == math.inf:
            half_life = NEVER_FORGETS
        if half_life is not None:
            half_life = duration(half_life, name="half_life", number="a number of decisions")
        self._config: dict[str, Any] = {
            "reward": reward,
            "features": features if isinstance(features, str) else "function",
            "half_life": half_life,
            "clocked": self._clocked,
            "explore": share,
            "seed": _seed(seed),
            "on_repeat": on_repeat,
            "buckets": integer("buckets", buckets, least=1, why="strings are hashed into them"),
            "max_items": integer("max_items", max_items, least=1, why="so many items have a model of their own"),
            "max_pending": integer("max_pending", max_pending, least=1, why="so many decisions wait for a reward"),
        }
        self._chance = seed_of(self._config["seed"])

    def _new_learner(self, strategy: Any) -> Learner:
        c = self._config
        if strategy is not None:
            from .wrapped import Wrapped

            return Wrapped(strategy, c["features"], c["seed"], c["buckets"])
        mode = c["features"] if self._function is None else "item"
        rates = None if c["half_life"] is None else [math.log(2.0) / c["half_life"]]
        return Adaptive(mode, rates, c["buckets"], c["max_items"])


def _seed(given: Any) -> int:
    seed = integer("seed", given, least=0, why="it starts the chance of this bandit")
    if seed >= 2**128:
        raise InvalidValue("seed is a whole number of more than 128 bits; a generator has no more")
    return seed


def _one_of(name: str, given: Any, allowed: Sequence[str], *more: str) -> None:
    if not isinstance(given, str) or given not in allowed:
        *first, last = [*map(repr, allowed), *more]
        raise InvalidValue(f"{name} = {said(given)} is not allowed; it must be {', '.join(first)} or {last}")
