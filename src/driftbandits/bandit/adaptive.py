"""The learner that `Bandit` has by default: memories of several lengths over columns that grow with what is seen."""

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from . import bank as kernels
from .coordinates import Columns, Integers, Scale, following, new_scale
from .features import BUCKETS, Table
from .learner import Memo, Offer, Placed, Refuted
from .machine import machine
from .memories import Memories, same, same_bank
from .moving import new_route
from .sums import DIRECT, LAM, MEMORIES, NEVER, NEWEST, Bank, Shape, new_bank, new_work

FULL = 500  # columns up to which the covariance is full


class TooWide(Exception):
    """More columns than a full covariance is kept for: time for `diagonal`. `Bandit` never lets it out."""


class Adaptive(Memories):
    """Memories of several lengths over the columns of `coordinates`: the default."""

    def __init__(
        self, mode: str, rates: Sequence[float] | Vector | None = None, buckets: int = BUCKETS, max_items: int = 4096
    ) -> None:
        self.mode = mode
        self._machine = machine()
        self.rates = np.array([-math.log1p(-1.0 / m) for m in MEMORIES] if rates is None else rates)
        self.max_items = max_items
        self.items = Table("item", buckets)
        self.context = Table("context", buckets)
        self.blocks: dict[Any, int] = {}
        self.offered = np.full(1, math.inf)  # when each block was last on offer; ∞ where there is no item
        self._names: list[Any] = [None]
        self._free: list[int] = []
        self._ones = np.ones(16, np.int64)
        self.evicted = 0
        self.stale = 0
        self._next = 1  # the next checkpoint
        self._started = False
        self._set_up(per_item=mode in ("disjoint", "hybrid"), pool=mode != "disjoint")

    def _set_up(self, *, per_item: bool, pool: bool) -> None:
        self.columns = Columns(products=self.mode == "interact" and not per_item)
        self.shape = Shape(
            np.array([float(pool)]), np.array([float(per_item)]), self.columns.item, self.columns.context
        )
        self.scales = new_scale(self.items), new_scale(self.context)
        self.bank = new_bank(self.rates, 1, 0)
        self._grow()

    # ---------------------------------------------------------------------------------------------------------- reading

    def place(self, offer: Offer, tick: int, *, learn: bool = True) -> Placed:
        """Count what is on offer, make room for what is new, and move the coordinates when it is time."""
        rows = self.items.write(offer.items, learn=learn)
        context = self.context.write(offer.context, learn=learn)
        if not learn:
            return Placed(offer.names, rows, context, self._blocks_of(offer.names))
        if not self._started:
            self._started = True
            if self.mode == "interact" and not self.items.described:
                self._set_up(per_item=True, pool=False)  # items that are only names are told apart by their names
        if self.items.width != self.scales[0].kind.shape[0] or self.context.width != self.scales[1].kind.shape[0]:
            if self.columns.count(self.items, self.context) > FULL:
                raise TooWide
            self._grow()
        woken = self._machine.count(self.scales[0], rows, self.scales[1], context)
        if woken or tick >= self._next:
            self._next = following(tick)
            self._move()
        return Placed(offer.names, rows, context, self._offered(offer.names, tick))

    def _blocks_of(self, names: Sequence[Any]) -> Integers:
        """The blocks of items; one that is not known has none, −1."""
        if self.shape.single[0] == 0.0:
            return np.zeros(len(names), np.int64)
        return np.array([self.blocks.get(name, -1) for name in names], np.int64)

    def _offered(self, names: Sequence[Any], tick: float) -> Integers:
        if self.shape.single[0] == 0.0:
            return np.zeros(len(names), np.int64)
        found = [*map(self.blocks.get, names)]
        if None in found:
            found = [self._add_block(name) if k is None else k for name, k in zip(names, found, strict=True)]
        blocks = np.array(found, np.int64)
        self.offered[blocks] = tick
        return blocks

    def _add_block(self, name: Any) -> int:
        """A block for a new item: the first free one, or that of the item unseen for longest."""
        if len(self.blocks) >= self.max_items:
            self.evicted += 1
            self.drop(self._names[int(np.argmin(self.offered))])
        if not self._free:
            self._more_blocks(min(max(4, 2 * len(self.offered)), self.max_items + 1))
        k = heapq.heappop(self._free)
        self.blocks[name] = k
        self._names[k] = name
        return k

    def _more_blocks(self, K: int) -> None:
        old = self.bank
        fresh = new_bank(self.rates, K, self.columns.width)
        k = old.last.shape[0]
        for name in ("V", "b", "sums", "U", "theta", "rest"):
            getattr(fresh, name)[:, :k] = getattr(old, name)
        fresh.last[:k] = old.last
        self.bank = fresh._replace(
            rate=old.rate, cut=old.cut, cut_rate=old.cut_rate, weight=old.weight, misc=old.misc, event=old.event
        )
        self._forget(slice(k, K))
        self.offered = np.r_[self.offered, np.full(K - k, math.inf)]
        self._names += [None] * (K - k)
        self._free += range(k, K)  # all larger than any other: still a heap

    def _forget(self, blocks: Any) -> None:
        """Nothing is known of these blocks but the prior, UᵀU = Λ; a factor holds the reciprocals of its diagonal."""
        i = np.arange(self.columns.width)
        self.bank.U[:, blocks] = 0.0
        self.bank.U[:, blocks, i, i] = 1.0 / math.sqrt(self.bank.misc[LAM])
        self.bank.U[:, blocks, 0, 0] = 1.0

    def drop(self, item: Any) -> None:
        """Forget an item's own model, if it has one."""
        k = self.blocks.pop(item, None)
        if k is None:
            return
        bank = self.bank
        for array in (bank.V, bank.b, bank.sums, bank.theta, bank.rest):
            array[:, k] = 0.0
        bank.last[k] = NEVER
        self.offered[k] = math.inf
        self._names[k] = None
        heapq.heappush(self._free, k)
        self._forget(k)

    # ------------------------------------------------------------------------------------------------------- coordinates

    def _grow(self) -> None:
        """Slots and columns for features that are new."""
        sources = self.columns.grow(self.items, self.context)
        self.scales = new_scale(self.items, self.scales[0]), new_scale(self.context, self.scales[1])
        self.shape = self.shape._replace(item=self.columns.item, context=self.columns.context)
        p, old = self.columns.width, self.bank
        fresh = new_bank(self.rates, old.last.shape[0], p)
        known = np.flatnonzero(sources >= 0)
        from_ = sources[known]
        fresh.b[:, :, known] = old.b[:, :, from_]
        fresh.V[:, :, known[:, None], known[None, :]] = old.V[:, :, from_[:, None], from_[None, :]]
        self.bank = old._replace(V=fresh.V, b=fresh.b, U=fresh.U, theta=fresh.theta)
        self._make_room()
        p0 = old.b.shape[2]
        if p0 > DIRECT and np.array_equal(sources, np.r_[np.arange(p0), np.full(p - p0, -1)]):
            self._extend(old, p0)
        else:
            self._renew_all()

    def _extend(self, old: Bank, p0: int) -> None:
        """Estimates with columns that nobody has seen: the old ones, and the prior; λ waits for the next checkpoint."""
        bank = self.bank
        bank.U[:, :, :p0, :p0] = old.U
        bank.theta[:, :, :, :p0] = old.theta
        new = np.arange(p0, bank.b.shape[2])
        bank.U[:, :, new, new] = 1.0 / math.sqrt(bank.misc[LAM])

    def _make_room(self) -> None:
        """Workspace for the columns there are."""
        I, C = self.items.width, self.context.width  # noqa: E741
        self.work = new_work(I, C, self.columns.width)
        self.sources = self.columns.sources(self.items, self.context)

    def _move(self) -> None:
        """New coordinates, if the statistics have moved; what has been learned is re-expressed exactly."""
        route = new_route(self.sources, self.items.width, self.context.width)  # seldom needed: not kept
        moved = self._machine.move(self.bank, self.shape, *self.scales, route, self.work)
        if moved and self.columns.width > DIRECT:
            self._renew_wide()

    def _renew_all(self) -> None:
        """λ for the columns there are, and all estimates from their sums."""
        self._machine.renew_all(self.bank, self.shape, *self.scales, self.work)
        if self.columns.width > DIRECT:
            self._renew_wide()

    def _renew_wide(self) -> None:
        """Estimates of every block that has seen something, by LAPACK."""
        for k in np.flatnonzero(self.bank.last > NEVER):
            for j in range(len(self.rates)):
                self._renew(j, int(k))

    def _renew(self, j: int, k: int) -> None:
        """Estimates of one block from its sums."""
        from scipy.linalg import cho_solve

        bank, p = self.bank, self.columns.width
        V, b, theta = bank.V[j, k], bank.b[j, k], bank.theta[j, k]
        W = V.copy()
        W[np.diag_indices(p)] += np.r_[1.0, np.full(p - 1, bank.misc[LAM])]
        U = np.linalg.cholesky(W, upper=True)
        theta[:] = cho_solve((U, False), np.stack([b, V[0]], axis=1)).T
        U[np.diag_indices(p)] = 1.0 / np.diagonal(U)
        bank.U[j, k] = U
        bank.rest[j, k] = bank.sums[j, k, 1] - b @ theta[0], b[0] - b @ theta[1], V[0, 0] - V[0] @ theta[1]

    # ---------------------------------------------------------------------------------------------------------- deciding

    def _look(self, placed: Placed, explore: float, u: float, given: int) -> tuple[Matrix, int, Vector]:
        n = len(placed.names)
        table, seen = np.empty((5, n)), np.empty(1 + 2 * len(self.rates))
        if n > len(self._ones):
            self._ones = np.ones(2 * n, np.int64)
        (a, c), open_ = self.scales, self._ones[:n]
        rows, context, blocks = placed.rows, placed.context, placed.blocks
        args = (rows, c, context, blocks, explore, u, given, table, open_, seen, self.work)
        return table, self._machine.decide(self.bank, self.shape, a, *args), seen

    # ---------------------------------------------------------------------------------------------------------- learning

    def learn(self, memo: Memo, tick: float, r: float, w: float, *, judge: bool = True) -> Refuted | None:
        """Learn a reward with the weight of its own age; late ones are written in today's coordinates."""
        row, context = self._today(memo.row, self.items), self._today(memo.context, self.context)
        k = 0
        if self.shape.single[0] == 1.0:
            known = self.blocks.get(memo.item)
            k = self._add_block(memo.item) if known is None else known
            if known is None:
                self.offered[k] = tick
        seen = memo.seen if judge else memo.seen[:0]
        a, c = self.scales
        refuted = self._machine.learn(self.bank, self.shape, a, row, c, context, k, tick, r, w, seen, self.work)
        if self.columns.width > DIRECT:
            self._renew_sometimes()
        if not refuted:
            return None
        return Refuted(*self.bank.event.tolist())

    def _renew_sometimes(self) -> None:
        """Above 64 columns estimates are renewed every p/8 rewards; their sums are always exact."""
        self.stale += 1
        if self.stale * 8 >= self.columns.width or self.bank.misc[NEWEST] < 32:
            self.stale = 0
            self._renew_wide()

    @staticmethod
    def _today(row: Vector, table: Table) -> Vector:
        """A row made before some slots existed, with what it holds there."""
        return row if len(row) == table.width else np.r_[row, table.missing[len(row) :]]

    # ------------------------------------------------------------------------------------------------------------ looking

    def info(self) -> dict[str, Any]:
        """What the learner tells about itself."""
        first = 0 if self.shape.shared[0] else 1
        known = float(self.bank.sums[self.use, first : None if first else 1, 0].sum())
        return self._told(
            known,
            columns=self.columns.width,
            covariance="full",
            items=len(self.blocks),
            evicted=self.evicted,
            buckets=self.items.buckets,
        )

    def _noise(self) -> float:
        return float(kernels.noise(self.bank, self.shape, self.use))

    # ------------------------------------------------------------------------------------------------------------- saving

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Everything, as JSON and arrays."""
        about = {
            "mode": self.mode,
            "max_items": self.max_items,
            "items": self.items.to_json(),
            "context": self.context.to_json(),
            "products": self.columns.products,
            "pairs": [self.columns.item.tolist(), self.columns.context.tolist()],
            "blocks": [[name, k] for name, k in self.blocks.items()],
            "evicted": self.evicted,
            "stale": self.stale,
            "started": self._started,
            "next": self._next,
        }
        arrays = {f"bank.{name}": value for name, value in self.bank._asdict().items()}
        for side, scale in zip(("items", "context"), self.scales, strict=True):
            arrays |= {f"{side}.{name}": value for name, value in scale._asdict().items()}
        arrays |= {
            "offered": self.offered,
            "rates": self.rates,
            "shared": self.shape.shared,
            "single": self.shape.single,
        }
        return about, arrays

    @classmethod
    def unpack(cls, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Adaptive":
        """The learner that was packed; raises if arrays do not fit each other."""
        learner = cls(about["mode"], np.array(arrays["rates"], np.float64), max_items=int(about["max_items"]))
        learner.items = Table.from_json("item", about["items"])
        learner.context = Table.from_json("context", about["context"])
        learner.columns = Columns(products=bool(about["products"]))
        learner.columns.restore(about["pairs"])
        learner.blocks = {name: int(k) for name, k in about["blocks"]}
        learner.evicted, learner.stale, learner._started = (
            int(about["evicted"]),
            int(about["stale"]),
            bool(about["started"]),
        )
        learner._next = int(about["next"])
        learner.shape = Shape(
            np.array(arrays["shared"]), np.array(arrays["single"]), learner.columns.item, learner.columns.context
        )
        if not all(0 < k < len(arrays["offered"]) for k in learner.blocks.values()):
            raise InvalidValue("an item's block does not exist")
        K, p = len(arrays["offered"]), learner.columns.width
        learner.bank = same_bank("bank.", new_bank(learner.rates, K, p), arrays)
        learner.scales = (
            Scale(*(same(f"items.{n}", v, arrays) for n, v in new_scale(learner.items)._asdict().items())),
            Scale(*(same(f"context.{n}", v, arrays) for n, v in new_scale(learner.context)._asdict().items())),
        )
        learner.offered = np.array(arrays["offered"], np.float64)
        learner._names = [None] * K
        for name, k in learner.blocks.items():
            learner._names[k] = name
        learner._free = sorted(set(range(1, K)).difference(learner.blocks.values()))
        learner._make_room()
        return learner
