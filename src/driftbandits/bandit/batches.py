"""`Bandit` on frames and files of many rows: learn a log, decide and reward in batches, merge what was learned apart."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from ..errors import InvalidState, InvalidValue, flag, integer, said
from .arguments import Items
from .changes import Wanted
from .decision import Decision
from .looking import Looking

if TYPE_CHECKING:
    from .bandit import Bandit


class Batches(Looking):
    """A bandit that reads tables."""

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
    ) -> Self:
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

        this: Any = self
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
            fit(this, Data(data, repeats, columns))
            return self
        from ..util.tasks import OnDask, in_turn
        from .bulk.by_sums import fit_by_sums, parts_of

        spread = scheduler is not None or hasattr(data, "to_delayed")
        fit_by_sums(this, parts_of(data, repeats, columns), tail, OnDask(scheduler) if spread else in_turn)
        return self

    def merge(self, other: "Bandit") -> Self:
        """Add what another bandit learned from rows that this one has not seen: another region, shard or day.

        Both must have the same settings, and no decision that waits. The sums are those of one bandit that learned both logs, to rounding;
        see docs/large-logs.md for what is no sum. If one log ended before the other began, decisions are counted on from it; logs of the
        same time end together. Many bandits are merged at once, in any order, by `from_parts`.
        """
        from .merging import merged
        from .saving import STATE

        this: Any = self
        with self._turn():
            if self._writes_rows:
                raise InvalidState(
                    "a durable bandit is the bandit of its log, and cannot be merged; merge bandits in memory"
                )
            found = merged([this, other])
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

        this: Any = self
        return decide_batch(this, frame, offers=offers, time=time, context=context)

    def _decide_wanted(self, wanted: Sequence[Wanted]) -> Iterable[Decision]:
        """One decision after the other."""
        this: Any = self
        return (this.decide(**one._asdict()) for one in wanted)

    def reward_batch(self, frame: Any) -> int:
        """Learn the rewards of a frame with columns id and reward (at, weight: if there are); all are checked first. Returns how many."""
        from .bulk.reward import reward_batch

        this: Any = self
        return reward_batch(this, frame)
