"""The strategy's configuration, and the engine's state with what a strategy keeps beside it."""

import math
from typing import NamedTuple

import numpy as np

from ...adaptive import sums
from ...adaptive.choice import ROWS
from ...adaptive.columns import CONSTANT, NUMBER, Layout, Scale, Slots, new_scale
from ...adaptive.duel import ITEMS, SHARED
from ...adaptive.layout import Columns
from ...adaptive.levels import Cells, Found, Levels, new_cells, new_found, no_levels
from ...core.kernel import part
from ...core.linalg import Matrix, Vector
from ...core.state import scratch
from ...errors import require
from ...protocol import Integers, Setting

# of a value, a click, a count, an amount
RANGES = ((-math.inf, math.inf), (0.0, 1.0), (0.0, math.inf), (0.0, math.inf))
EVENTS = 64  # so many drift events are kept
TICKETS = 256  # so many decisions may be open and still count in the duel of the voices
ROUND, VOICE, PROBABILITY = range(3)  # places in a ticket

# Places in `now`.
(
    CLOCK,  # rounds passed: decisions made, and observations that came without one
    EVENT,  # drift events
    DRAWN,  # 1: the draw of the coming decision is there,
    DRAW,  # … uniform on [0, 1)
    VALUE,  # the score of the arm last chosen
    KEPT,  # 1: `row` and `crow` are those of the arm last chosen
) = range(6)
NUMBERS = 6


@part
class SelfTuning(NamedTuple):
    """`reward`: place in `RANGES`; `disjoint` 1: items with own effects in one context, 0: arms are vectors; propensities ≥ `explore`/n."""

    reward: float
    disjoint: float
    explore: float

    def check(self) -> None:
        """The family is known; ε is a probability."""
        require(self.reward in range(len(RANGES)), "reward", self.reward, "0, 1, 2 or 3", "it is a place in RANGES")
        require(0.0 <= self.explore < 1.0, "explore", self.explore, "in [0, 1)", "it is the share of uniform choices")


@scratch
class Room(NamedTuple):
    """Workspace for n arms on offer; the tables are flat, so that those of fewer arms are contiguous too."""

    rows: Vector  # (n·J,)
    crow: Matrix  # (1, J)
    table: Vector  # (ROWS·n,)
    who: Integers  # (n,)
    ones: Integers  # (n,)
    told: Vector  # (2,)
    slots: Slots
    work: sums.Work
    levels: Levels  # numbers have none
    cells: Cells
    found: Found


class SelfTuningState(NamedTuple):
    """Everything that changes while the strategy runs."""

    engine: sums.State
    layout: Layout
    items: Scale
    context: Scale
    row: Vector  # (J,)  the row last chosen, extreme values cut, …
    crow: Matrix  # (1, J)  … its context, …
    x: Vector  # (d,)  … and its features as they were given
    alive: Integers  # (N,)  0: dropped
    tickets: Matrix  # (TICKETS, 3)
    events: Vector  # (EVENTS,)
    now: Vector  # (NUMBERS,)
    room: Room


class Side(NamedTuple):
    """One side of a decision, as `Columns` asks for it: the constant, then numbers that are never missing."""

    width: int

    @property
    def missing(self) -> list[float]:
        """Only the constant was there before."""
        return [1.0] + [np.nan] * (self.width - 1)

    @property
    def present(self) -> dict[int, int]:
        """Nothing is ever missing."""
        return {}

    @property
    def marker(self) -> int:
        """Own slopes were always there."""
        return 0

    @property
    def marks(self) -> tuple[int, ...]:
        """Numbers have no levels."""
        return ()

    @property
    def alone(self) -> tuple[int, ...]:
        """Every slot is multiplied with those of the other side."""
        return ()

    @property
    def kinds(self) -> list[int]:
        """Kinds of the slots."""
        return [CONSTANT] + [NUMBER] * (self.width - 1)


def sides(d: int, disjoint: bool) -> tuple[Side, Side, Layout]:
    """Slots of the items and of the context, and the columns made of them."""
    items, context = (Side(1), Side(d + 1)) if disjoint else (Side(d + 1), Side(1))
    columns, _, _ = Columns(products=True, slopes=disjoint, own_effects=disjoint).extended(items, context)
    return items, context, columns.layout(items, context)


def first_state(strategy: SelfTuning, setting: Setting) -> SelfTuningState:
    """Nothing is known. Arms have features, all of them columns φ; items have own effects ψ of the context, around a common one φ."""
    d, N, disjoint = setting.dim, setting.items, strategy.disjoint == 1.0
    items, context, layout = sides(d, disjoint)
    rates, p, k = sums.default_rates(), len(layout.item), len(layout.own)
    engine = sums.new_state(rates, N, p, k)
    engine.numbers[sums.SEPARATE] = strategy.disjoint
    engine.numbers[sums.ODDS] = ITEMS if disjoint else SHARED
    work = sums.new_work(len(rates), p, k)
    sums.check(engine, work)
    slots = Slots(np.zeros(items.width), np.zeros(context.width))
    return SelfTuningState(
        engine=engine,
        layout=layout,
        items=new_scale(items.kinds),
        context=new_scale(context.kinds),
        row=np.ones(items.width),
        crow=np.ones((1, context.width)),
        x=np.zeros(d),
        alive=np.ones(N, np.int64),
        tickets=np.zeros((TICKETS, 3)),
        events=np.zeros(EVENTS),
        now=np.zeros(NUMBERS),
        room=room_for(max(N, setting.arms.shape[1], 1), slots, work),
    )


def room_for(n: int, slots: Slots, work: sums.Work) -> Room:
    """Workspace for n arms."""
    levels, M = no_levels(), len(work.refuted)
    return Room(
        rows=np.ones(n * len(slots.zi)),
        crow=np.ones((1, len(slots.zc))),
        table=np.zeros(ROWS * n),
        who=np.zeros(n, np.int64),
        ones=np.ones(n, np.int64),
        told=np.zeros(2),
        slots=slots,
        work=work,
        levels=levels,
        cells=new_cells(M),
        found=new_found(levels, M),
    )
