"""`Bandit`: named items in, a decision out; rewards when they come."""

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InvalidState, InvalidValue, flag, said
from .arguments import (
    Duration,
    FeatureMap,
    FeatureMode,
    Features,
    Items,
    Mask,
    Moment,
    Name,
    OnRepeat,
    RewardKind,
)
from .changes import Answer, Way
from .clock import duration, moment
from .decision import Decision
from .events import DriftEvent
from .features import BUCKETS
from .filed import Filed
from .looking import Estimate
from .offers import as_name
from .pending import DEFERRED, LIMIT, new_id, own_id
from .rewards import as_reward


class Bandit(Filed):
    """Decides between named items, remembers what it decided, and learns when the reward arrives.

    Parameters
    ----------
    reward
        "value" (any number), "click" (0 or 1), "count" (0, 1, 2, …) or "amount" (≥ 0, often 0, sometimes large). Location and scale are
        learned.
    features
        "item", "interact" (context × item), "linear" (the same, but no columns are added later), "disjoint" (one model per item),
        "hybrid" (one per item, from a pooled one): docs/features.md says what each can represent. Or a function of the item's features
        (its name, if it has none) and the context that returns a dict or a vector, or a fitted scikit-learn transformer of both.
    half_life
        None: finds out. A number: of decisions after which an observation counts half (math.inf: never).
        "3d", "90min" or a timedelta: by the clock.
    explore
        Every item on offer has propensity ≥ explore / number of items. 0.002 costs next to nothing; 0.02 costs one or two percent of what
        there is to earn, and makes evaluation of other policies on the log ten times as sharp for items that are rarely chosen.
    seed
        Of the bandit's own chance; ids are drawn from the system's.
    strategy
        Any strategy of the zoo to decide instead of the default learner.
    on_repeat
        What a second reward for one decision does: "error", "ignore", "replace".
    on_drift
        Called with each `DriftEvent`.
    buckets, max_items, max_pending
        Bounds: of hashed categories, of items with a model of their own, of decisions that wait for a reward.

    Examples
    --------
    >>> import driftbandits as db
    >>> bandit = db.Bandit(reward="click", seed=0)
    >>> for _ in range(300):
    ...     d = bandit.decide(items=["a", "b"])
    ...     bandit.reward(d.id, 1 if d.item == "b" else 0)
    >>> d.item, d.propensities["b"] > 0.9
    ('b', True)
    """

    def __init__(
        self,
        *,
        reward: RewardKind = "value",
        features: FeatureMode | FeatureMap = "interact",
        half_life: Duration | None = None,
        explore: float = 0.002,
        seed: int = 0,
        strategy: Any = None,
        on_repeat: OnRepeat = "error",
        on_drift: Callable[[DriftEvent], Any] | None = None,
        buckets: int = BUCKETS,
        max_items: int = 4096,
        max_pending: int = LIMIT,
    ) -> None:
        self._configure(reward, features, half_life, explore, seed, on_repeat, buckets, max_items, max_pending)
        self._begin(strategy, on_drift)

    # ---------------------------------------------------------------------------------------------------------- deciding

    def decide(
        self,
        items: Items,
        context: Features = None,
        *,
        at: Moment = None,
        mask: Mask = None,
        k: int = 1,
        id: str | None = None,  # noqa: A002
        defer: bool = False,
        show: Any = None,
        learn: bool = True,
    ) -> Decision:
        """Choose one of the items on offer, or a ranking of k.

        Parameters
        ----------
        items
            A dict from names to features (a dict of numbers, booleans, strings and vectors; a vector; None), a list of names, or an
            array (n, d), whose rows are known by their features alone: a position is no name, and nothing is learned of it.
        context
            Features of who asks: a dict or a vector.
        at
            When: a datetime, seconds since 1970, or None for now.
        mask
            Which items may be chosen: booleans in the order of `items`, or a dict by name; the others are not on offer.
        k
            Length of the ranking.
        id
            An id of your own. A durable bandit answers a second call with the same id as it answered the first.
        defer
            The decision may never be shown: no reward is expected, and none is accepted, before `activate`.
        show
            The item, or the ranking, that your own policy shows: the bandit learns from its reward, and `info()` counts how often it would
            have chosen the same (`agreed` of `guided`).
        learn
            False: the reward is kept in the log, but not learned.
        """
        with self._turn():
            if id is not None and (made := self._made(own_id(id))) is not None:
                return made
            if defer is False and show is None and learn is True:
                decision = self._decide(self._request(items, context, at, mask, k), id or new_id())
            else:
                way = Way(flag("defer", defer), None, flag("learn", learn))
                decision = self._decide_so(items, context, at, mask, k, id, show, way)
        if self._unreported:
            self._report_drift()
        return decision

    def _decide_so(
        self, items: Any, context: Any, at: Any, mask: Any, k: Any, id_: str | None, show: Any, way: Way
    ) -> Decision:
        """A decision that is deferred, made by a policy outside, or for the log alone."""
        shown_ = None if show is None else [as_name(name) for name in (show if isinstance(show, list) else [show])]
        request = self._request(items, context, at, mask, k if shown_ is None else len(shown_))
        for name in shown_ or ():
            if name not in request.names:
                raise InvalidValue(f"show names {said(name)}, which is not on offer")
        if shown_ is not None and len({*shown_}) < len(shown_):
            raise InvalidValue("show names an item twice; a ranking shows each item once")
        return self._decide(request, id_ or new_id(), way._replace(show=shown_))

    def _made(self, id_: str) -> Decision | None:
        """The decision with this id; a bandit in memory does not keep what it answered, so it refuses a second one."""
        if id_ in self._pending.open or id_ in self._pending.closed:
            raise InvalidState(f"a decision {said(id_)} was made already; only a durable bandit can answer it again")
        return None

    def activate(self, decision: Any) -> None:
        """Say that a deferred decision was shown: from now on its reward is expected. Again: changes nothing."""
        with self._turn():
            id_ = decision.id if isinstance(decision, Decision) else decision
            if not isinstance(id_, str) or id_ not in self._pending.open:
                answered = isinstance(id_, str) and self._known_as_answered(id_)
                self._pending.find(id_, "error", answered=answered)  # raises: it does not wait
            if self._pending.open[id_].since == DEFERRED:
                at = moment(None)
                self._note("activate", id=id_, at=at)
                self._activate(id_, at)

    # ---------------------------------------------------------------------------------------------------------- learning

    def reward(
        self,
        decision: str | Decision | Mapping[str, Any],
        reward: float | Mapping[Any, float],
        *,
        at: Moment = None,
        weight: float = 1.0,
    ) -> None:
        """Learn the reward of a decision: late, in any order, once.

        Parameters
        ----------
        decision
            Its id, or what `decide` returned; the dict from `Decision.to_dict` when only a log has it.
        reward
            A number; for a ranking also a dict from items shown to numbers, else the number counts for every item shown.
        at
            When it came.
        weight
            How much it counts, ≥ 0.
        """
        with self._turn():
            self._take(self._answer(decision, reward, at, weight))
        self._report_drift()

    def _take(self, given: Answer) -> bool:
        """Learn a reward that was checked. Returns whether it was: a second may be ignored, and some decisions are for the log alone."""
        if given.found is None:
            self._counts = self._counts | {"ignored": self._counts["ignored"] + 1}
            return False
        self._note_reward(given)
        self._answered(given.id, given.found, given.rewards, given.weight)
        return given.learn

    def expire(self, older_than: Duration, reward: float | None = None, *, at: Moment = None) -> int:
        """Give up decisions older than a duration ("1h", a timedelta, seconds; 0: all): learn `reward`, or drop them. Returns how many.

        Older than `at`, or than now: the system's time, or the latest given one if you give times yourself.
        """
        with self._turn():
            seconds = duration(older_than, name="older_than", zero=True)
            r = None if reward is None else as_reward(self._config["reward"], reward)
            now = self._newest if at is None and self._given else moment(at)
            if r is not None:
                self._check_size([r])
                for waiting in self._older_than(now - seconds):
                    self._check_reward(waiting, [r] * len(waiting.memos), 1.0)
            self._note("expire", before=now - seconds, reward=r)
            given_up = self._expire(now - seconds, r)
        self._report_drift()
        return given_up

    def observe(
        self,
        item: Name | Features,
        context: Features = None,
        *,
        reward: float,
        at: Moment = None,
        propensity: float | None = None,
        weight: float = 1.0,
        name: Name | None = None,
    ) -> None:
        """Learn from a choice made elsewhere: `item` is its name, or its features with `name=` where items have models of their own.

        `propensity` is checked and kept in the log; the regression does not need it.
        """
        with self._turn():
            request, r, w = self._observation(item, context, reward, at, propensity, weight, name)
            self._note("observe", request=request, reward=r, weight=w, propensity=propensity)
            self._observe(request, r, w)
        self._report_drift()

    def drop(self, item: Name) -> None:
        """Forget an item: its model, and its decisions that wait."""
        with self._turn():
            name = as_name(item)
            self._note("drop", item=name)
            self._drop(name)

    def forget_feature(self, name: str) -> None:
        """Forget a feature, of items and context alike: what was learned of it, and whether it is a number or a string.

        It counts as missing from now on, in decisions that wait for their reward too; when it comes again it is a new feature.
        """
        with self._turn():
            if not isinstance(name, str):
                raise InvalidValue(f"{said(name)} is no name of a feature; names are strings")
            self._learner.can_forget(name)
            self._note("forget", item=name)
            self._forget(name)


__all__ = ["Bandit", "DriftEvent", "Estimate"]
