"""Any strategy of the zoo as the learner of a `Bandit`.

The constants of a strategy are in the user's units, so features are passed on unscaled and uncentred: a category is 0 or 1, a missing
number 0, and an item without features a category of its own. The number of features is that of the first decision.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..agent.agent import Agent
from ..core.linalg import Matrix, Vector
from ..core.part_json import encode
from ..errors import InvalidValue, integer, said
from ..protocol import limits, propensities
from .features import Table
from .learner import Choice, Memo, Offer, Placed, Stepwise
from .memories import NOBODY
from .reading import Reading, by_row
from .vectors import Row

NAME = "name"
AGENT = "agent."  # before the names of its arrays


class Wrapped(Stepwise):
    """An `Agent` behind names."""

    takes_all = False
    largest_reward = math.inf

    def __init__(self, strategy: Any, mode: str, seed: int, buckets: int) -> None:
        if mode not in ("item", "interact", "function"):
            raise InvalidValue(
                f"features = {mode!r} is not allowed with strategy=…; it must be 'item', 'interact' or a function: "
                "one model is shared by all items"
            )
        if getattr(strategy, "disjoint", 0.0):
            raise InvalidValue(
                "strategy=self_tuning(features='disjoint') has a model per item, and names are features here; "
                "use self_tuning(features='shared'), or Bandit(features='disjoint') without strategy=…"
            )
        if not limits.knows(type(strategy)):
            raise InvalidValue(
                f"strategy = {said(strategy)} is not allowed; it must be one of the zoo, or your own composition"
            )
        self.strategy, self.mode, self.seed = strategy, mode, seed
        self.items, self.context = Table("item", buckets), Table("context", buckets)
        self.agent: Agent | None = None
        self._first: Agent | None = None  # made to check the first offer
        self.selected = 0

    @property
    def ranks(self) -> bool:
        """MASTER and others compare decisions with the same arms, and a ranking is drawn from fewer at each place."""
        return not limits(self.strategy).fixed_arms

    def read(self, names: Sequence[Any], rows: Sequence[Row], context: Row, *, named: bool = True) -> Offer:
        """Check what is on offer; after the first decision, also that nothing in it is new."""
        rows = [row if row else {NAME: str(name)} for name, row in zip(names, rows, strict=True)]
        offer = Offer(names, self.items.read(rows), self.context.read((context,)), named)
        if self.agent is not None:
            _nothing_new(self.items, offer.items)
            _nothing_new(self.context, offer.context)
            own, who = self.items, self.context
        else:
            own, who = (Table.from_json(table.side, table.to_json()) for table in (self.items, self.context))
        learn = self.agent is None
        arms = self._arms(own.write(offer.items, learn=learn), who.write(offer.context, learn=learn))
        self._agent_for(arms).check_offer(arms)
        return offer

    def _agent_for(self, arms: Matrix) -> Agent:
        """The agent; before the first decision, one that would be it."""
        if self.agent is not None:
            return self.agent
        if self._first is None or self._first.dim != arms.shape[1]:
            self._first = Agent(self.strategy, dim=arms.shape[1], seed=self.seed)
        return self._first

    def place(self, offer: Offer, tick: int, *, learn: bool = True, awaited: Mapping[Any, int] = NOBODY) -> Placed:  # noqa: ARG002
        """Arms (n, d) of the strategy."""
        first = self.agent is None
        rows = self.items.write(offer.items, learn=first and learn)
        context = self.context.write(offer.context, learn=first and learn)
        arms = self._arms(rows, context)
        if first:
            self.agent = self._agent_for(arms)
        return Placed(offer.names, arms, context, np.zeros(len(offer.names), np.int64))

    def _arms(self, rows: Matrix, context: Matrix) -> Matrix:
        """The item's features, those of the context, and with "interact" their products."""
        item, who = np.nan_to_num(rows[:, 1:]), np.nan_to_num(context[0, 1:])
        parts = [item, np.tile(who, (len(item), 1))]
        if self.mode == "interact":
            parts.append((item[:, :, None] * who[None, None, :]).reshape(len(item), -1))
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def score(self, placed: Placed) -> tuple[Vector, Vector]:
        """The strategy's estimate xᵀθ; its standard deviation is not known."""
        assert self.agent is not None
        return placed.rows @ self.agent.theta, np.full(len(placed.rows), np.nan)

    def choose(self, placed: Placed, explore: float, chance: Sequence[float]) -> Choice:
        """The strategy's choice, or with probability `explore` any; place by place for a ranking."""
        assert self.agent is not None
        arms, left = placed.rows, list(range(len(placed.rows)))
        exact = propensities.knows(type(self.agent.strategy))
        drawn: list[int] = []
        propensity, first = 1.0, np.zeros(len(arms))
        for u in chance:
            offered = arms[left]
            own = self.agent.propensities(offered) if exact else None
            k = self.agent.select(offered)
            self.selected += 1
            p = np.zeros(len(left))
            p[k] = 1.0
            p = (1.0 - explore) * (p if own is None else own) + explore / len(left)
            if u < explore:
                k = min(int(u / explore * len(left)), len(left) - 1)
            if not drawn:
                first = p
            propensity *= float(p[k])
            drawn.append(left.pop(k))
        return Choice(drawn, propensity, first, arms @ self.agent.theta, [self.memo(placed, a) for a in drawn])

    def repeat(self, placed: Placed, k: int) -> None:
        """The strategy's own chance moves on as if it had chosen."""
        self.choose(placed, 0.0, [1.0] * k)

    def memo(self, placed: Placed, a: int, *, chosen: bool = True) -> Memo:
        """The arm, and the number of the selection that chose it, if one did."""
        return Memo(placed.names[a], placed.rows[a].copy(), np.zeros(0), np.full(int(chosen), float(self.selected)))

    def accepts(
        self,
        memos: Sequence[Memo | None],
        rewards: Sequence[float],
        w: float,
        *,
        again: bool = False,
        late: bool = False,
    ) -> None:
        """Try it: on the agent's own checks, and if there are several rewards on a copy of it."""
        if again:
            raise InvalidValue(
                "on_repeat='replace' is not possible with strategy=…: what a strategy has learned cannot be taken back"
            )
        agent = self.agent
        if agent is None or len(rewards) > 1:
            agent = (
                Agent(self.strategy, dim=1, seed=self.seed, compile="never")
                if agent is None
                else Agent.unpack(*agent.pack(), compile="never")
            )
        for memo, r in zip(memos, rewards, strict=True):
            age = 1 if late else None
            if memo is not None and len(memo.seen):
                age = self.selected - int(memo.seen[0])
            agent.check_update(r, weight=w, age=age)
            if len(rewards) > 1 and memo is not None:
                agent.update(r, x=memo.row, weight=w, age=age)

    def can_forget(self, feature: str) -> None:
        """Never: a strategy has a fixed number of features."""
        raise InvalidValue(
            f"feature {said(feature)} cannot be forgotten with strategy=…: the strategy has a fixed number of features"
        )

    def forget_feature(self, feature: str) -> None:
        """Never."""
        self.can_forget(feature)

    def learn(
        self,
        memo: Memo,
        tick: float,  # noqa: ARG002
        r: float,
        w: float,
        *,
        judge: bool = True,  # noqa: ARG002
        awaited: Mapping[Any, int] = NOBODY,  # noqa: ARG002
    ) -> None:
        """Learn a reward as late as it is."""
        assert self.agent is not None
        age = self.selected - int(memo.seen[0]) if len(memo.seen) else None
        self.agent.update(r, x=memo.row, weight=w, age=age)

    def drop(self, item: Any) -> None:
        """Items have no models of their own: nothing to forget."""

    def info(self) -> dict[str, Any]:
        """What the strategy tells."""
        told = {} if self.agent is None else self.agent.info()
        plain = {name: value for name, value in told.items() if isinstance(value, int | float | str | bool | None)}
        known = {"effective_memory": plain.get("effective_memory"), "sigma": plain.get("sigma"), "calibration": None}
        return {**known, "strategy": type(self.strategy).__name__, "covariance": "of the strategy", **plain}

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything, as JSON and arrays."""
        about: dict[str, Any] = {
            "wrapped": encode(self.strategy),
            "selected": self.selected,
            "items": self.items.to_json(),
            "context": self.context.to_json(),
            "agent": None,
        }
        if self.agent is None:
            return about, {}
        about["agent"], arrays = self.agent.pack()
        return about, {AGENT + name: array for name, array in arrays.items()}

    def restore(self, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """What was packed, in place of what is known; the strategy is the same."""
        self.selected = integer("selected", about["selected"], least=0, why="it is a number of decisions")
        self.items, self.context = Table.from_json("item", about["items"]), Table.from_json("context", about["context"])
        if about["agent"] is not None:
            own = {name.removeprefix(AGENT): array for name, array in arrays.items() if name.startswith(AGENT)}
            self.agent = Agent.unpack(about["agent"], own)
            arms = self._arms(np.zeros((1, self.items.width)), np.zeros((1, self.context.width)))
            if arms.shape[1] != self.agent.dim:
                raise InvalidValue(f"its features are {arms.shape[1]}, and its agent has dim = {self.agent.dim}")


def _nothing_new(table: Table, reading: Reading) -> None:
    """A strategy has a fixed number of features."""
    rows = by_row(reading)
    new = [name for numbers, _ in rows for name in numbers if name not in table.numbers]
    new += [f"{name}={value}" for _, strings in rows for name, value in strings if table.slot_of((name, value)) is None]
    if new:
        raise InvalidValue(
            f"{table.side} feature {new[0]!r} is new; with strategy=… the first decision must show all features: "
            "the default learner accepts new ones"
        )
