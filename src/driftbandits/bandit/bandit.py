"""`Bandit`: named items in, a decision out; rewards when they come."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from ..errors import InvalidState, InvalidValue, flag, integer, said
from .arguments import (
    Code,
    Durability,
    Duration,
    FeatureMap,
    FeatureMode,
    Features,
    Items,
    Mask,
    Moment,
    Name,
    OnRepeat,
    Path,
    RewardKind,
)
from .challengers import dropped, new_challenger, promoted
from .changes import Answer, Wanted, Way
from .clock import duration, moment
from .decision import Decision
from .events import DriftEvent
from .features import BUCKETS
from .looking import Estimate, Looking
from .offers import as_name
from .pending import DEFERRED, LIMIT, new_id, own_id
from .rewards import as_reward


class Bandit(Looking):
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

    # ------------------------------------------------------------------------------------------------------------ frames

    def fit(
        self,
        data: Any,
        *,
        item: str | None = None,
        reward: str | None = None,
        time: str | None = None,
        propensity: str | None = None,
        weight: str | None = None,
        id: str | None = None,  # noqa: A002
        repeats: Literal["error", "drop"] = "error",
        context: Sequence[str] | None = None,
        item_features: Sequence[str] | None = None,
        exact: bool = True,
        tail: int = 20_000,
        scheduler: str | None = None,
    ) -> "Bandit":
        """Learn from past choices, one per row, in order of time: all rows, or none if one is broken.

        Parameters
        ----------
        data
            A pandas, polars or Arrow frame, which is sorted by time here; files (Parquet, CSV, JSON lines, Arrow), a folder or a pattern
            of such, which must be in order of time; or a `Log`, which needs no columns named. Files are read in pieces.
        item, reward
            Columns with the item chosen and its reward.
        time, propensity, weight
            Further columns, optional. Propensities are checked; the regression does not need them.
        id, repeats
            A column with an id that no two rows share: a second row is refused, or with "drop" left out; `info()["fit"]` says how many.
        context, item_features
            Lists of columns. Otherwise columns named "item.…" are features of the item, all that are left of the context, but for those
            that by their name are an id, a propensity or a reward, have another text in each row, or count rows: a warning says so.
        exact, tail, scheduler
            exact=False learns all but the last `tail` rows by their sums, many times as fast, in parts that any number of
            processes can read: files, or a Dask collection, on a Dask scheduler ("threads", "processes", the address of a cluster). See
            docs/large-logs.md for what differs; `info()["fit"]["exact_from"]` is the row from which all is exact.

        Examples
        --------
        >>> import driftbandits as db, pandas as pd
        >>> frame = pd.DataFrame({"banner": ["a", "b", "b"], "clicked": [0, 1, 1], "age": [31, 45, 27]})
        >>> bandit = db.Bandit(reward="click").fit(frame, item="banner", reward="clicked")
        >>> bandit.info()["observed"]
        3
        """
        from .bulk import naming
        from .bulk.fit import fit
        from .bulk.sources import Data

        exact = flag("exact", exact)
        single = {
            "item": item,
            "reward": reward,
            "time": time,
            "propensity": propensity,
            "weight": weight,
            "id": id,
        }
        several = {"context": context, "item_features": item_features}
        columns: dict[str, Any] = {name: naming.column(name, given) for name, given in single.items()}
        columns |= {name: naming.columns(name, given) for name, given in several.items()}
        tail = integer("tail", tail, least=1, why="so many of the last rows are learned exactly")
        if exact and scheduler is not None:
            raise InvalidValue("scheduler=… reads parts of a log at once, which needs exact=False")
        if exact and hasattr(data, "to_delayed"):
            raise InvalidValue("a Dask collection is learned in parts; say exact=False, or .compute() it first")
        if exact:
            fit(self, Data(data, repeats, columns))
            return self
        from ..util.tasks import OnDask, in_turn
        from .bulk.by_sums import fit_by_sums, parts_of

        spread = scheduler is not None or hasattr(data, "to_delayed")
        fit_by_sums(self, parts_of(data, repeats, columns), tail, OnDask(scheduler) if spread else in_turn)
        return self

    def merge(self, other: "Bandit") -> "Bandit":
        """Add what another bandit learned from rows that this one has not seen: another region, shard or day.

        Both must have the same settings, and no decision that waits. The sums are those of one bandit that learned both logs, to rounding;
        see docs/large-logs.md for what is no sum. If one log ended before the other began, decisions are counted on from it; logs of the
        same time end together. Many bandits are merged at once, in any order, by `from_parts`.
        """
        from .merging import merged
        from .saving import STATE

        with self._turn():
            if self._writes_rows:
                raise InvalidState(
                    "a durable bandit is the bandit of its log, and cannot be merged; merge bandits in memory"
                )
            found = merged([self, other])
            self.__dict__ |= {name: getattr(found, name) for name in STATE}
        return self

    @classmethod
    def from_parts(cls, parts: "Sequence[Bandit]") -> "Bandit":
        """A bandit with what all of these learned, from logs that share no row; they are not changed. See `merge`.

        Examples
        --------
        >>> import driftbandits as db, pandas as pd
        >>> days = [pd.DataFrame({"item": ["a", "b"], "reward": [0, 1], "at": [day, day + 1.0]}) for day in (1e9, 1.1e9)]
        >>> parts = [db.Bandit().fit(day, item="item", reward="reward", time="at") for day in days]
        >>> db.Bandit.from_parts(parts).info()["observed"]
        4
        """
        from .merging import merged

        if not isinstance(parts, list | tuple):
            raise InvalidValue(f"parts = {said(parts)} is not allowed; it must be a list of bandits")
        return merged(list(parts))

    def decide_batch(
        self, frame: Any, *, offers: Items | str, time: str | None = None, context: Sequence[str] | None = None
    ) -> Any:
        """One decision per row; the frame with columns id, item, propensity, in the library it came in.

        `offers` is a list of names, a dict of items with features, or the name of a column with a list of names per row.
        """
        from .bulk.decide import decide_batch

        return decide_batch(self, frame, offers=offers, time=time, context=context)

    def _decide_wanted(self, wanted: Sequence[Wanted]) -> Iterable[Decision]:
        """One decision after the other."""
        return (self.decide(**one._asdict()) for one in wanted)

    def reward_batch(self, frame: Any) -> int:
        """Learn the rewards of a frame with columns id and reward (at, weight: if there are); all are checked first. Returns how many."""
        from .bulk.reward import reward_batch

        return reward_batch(self, frame)

    # -------------------------------------------------------------------------------------------------------- challengers

    def challenge(self, name: str, policy: Any = None, **settings: Any) -> None:
        """Let another learner, or a function, watch: it sees every decision and reward from now on, and never acts.

        `value(name)` says what it would have earned; `promote(name)` lets it decide. A learner costs each decision and reward about as much
        as the bandit itself (`info()["challengers"]` has the measured time). It is saved with the bandit; a function must be given again.

        Parameters
        ----------
        policy
            A strategy of the zoo; a function of (items, context) that returns the probability of each item, a dict by name or a list in
            the order of `items`; None for the default learner with other settings.
        settings
            `half_life` (math.inf: never forgets), `features`, `explore`: where the challenger differs.

        Examples
        --------
        >>> import driftbandits as db
        >>> bandit = db.Bandit(reward="click", explore=0.2, seed=0)
        >>> bandit.challenge("static", half_life=float("inf"))
        >>> bandit.challenge("always b", lambda items, context: {"b": 1.0})
        >>> for _ in range(200):
        ...     d = bandit.decide(["a", "b"])
        ...     bandit.reward(d.id, d.item == "b")
        >>> bandit.value("always b").other.n  # all but the first 50, which say how rare clicks are
        150
        >>> bandit.promote("static")
        """
        with self._turn():
            new = new_challenger(self, name, policy, settings)
            self._become({"_challengers": {**self._challengers, name: new}})

    def promote(self, name: str) -> None:
        """Let a challenger decide from now on, with what it has learned; the learner in place is given up.

        Rewards of decisions made before the challenge are learned too, as far as these are remembered: the last 64, or all in the log of
        a durable bandit. Of the others, give the dict (`Decision.to_dict`) in place of the id.
        """
        with self._turn():
            self._become(promoted(self, name))

    def drop_challenger(self, name: str) -> None:
        """End a challenge, and forget its value."""
        with self._turn():
            self._become(dropped(self, name))

    def _become(self, after: dict[str, Any]) -> None:
        """Replace attributes, all or none. A durable bandit takes a snapshot: such a change is not in the log."""
        self.__dict__ |= after

    # ------------------------------------------------------------------------------------------------------------ saving

    def save(self, path: Path) -> None:
        """Write one file of arrays and JSON, whole or not at all."""
        from .saving import save

        with self._turn():
            save(self, path)

    def backup(self, path: Path) -> None:
        """Write a consistent copy of a durable bandit to another file, whole or not at all, while it is in use."""
        raise InvalidState(f"this bandit is in memory, and has no file to copy to {said(path)}; save(path) writes one")

    def _whole(self) -> Any:
        """Many calls, or none: what goes wrong in one undoes all."""
        from .saving import undone_together

        return undone_together(self)

    def __reduce__(self) -> Any:
        """Copied and pickled as it is saved; functions (features, on_drift) must be picklable themselves."""
        from .saving import copied, to_bytes

        with self._turn():
            strategy = getattr(self._learner, "strategy", None)
            return copied, (to_bytes(self), self._function, strategy, self._on_drift)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        features: FeatureMap | None = None,
        strategy: Any = None,
        on_drift: Callable[[DriftEvent], Any] | None = None,
    ) -> "Bandit":
        """The bandit that was saved; a function of features must be given again: files hold no code. A strategy is in the file."""
        from .saving import load

        return load(path, features, strategy, on_drift)

    @classmethod
    def open(cls, path: Path, **settings: Unpack[Durability]) -> "Bandit":
        """A durable bandit in one SQLite file, made if it is not there; see docs/production.md.

        `settings` are those of `Bandit`; `sync`: "normal" (survives the death of the process) or "full" (and a power cut); and `start`: a
        bandit, or a file of `save`, whose knowledge a file that is made now begins with.
        """
        from .opening import open_durable

        return open_durable(path, dict(settings))

    @classmethod
    def follow(cls, path: Path, *, refresh: float = 5.0, **code: Unpack[Code]) -> "Bandit":
        """Decide in another process with the latest snapshot of `open`, looked for every `refresh` seconds."""
        from .follower import open_follower

        return open_follower(path, refresh, dict(code))


__all__ = ["Bandit", "DriftEvent", "Estimate"]
