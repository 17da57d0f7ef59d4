"""The steps as Python calls them: one compiled entry each."""

from ..core.kernel import entry
from ..core.linalg import Matrix, Vector
from . import steps
from .columns import Layout, Scale, Slots
from .sums import Integers, State, Work


@entry(brief=True)
def see(state: State, items: Scale, rows: Matrix, context: Scale, crow: Matrix, tick: float, counted: bool) -> None:
    """`steps.see`."""
    steps.see(state, items, rows, context, crow, tick, counted)


@entry(brief=True)
def decide(
    state: State,
    layout: Layout,
    items: Scale,
    rows: Matrix,
    context: Scale,
    crow: Matrix,
    who: Integers,
    explore: float,
    u: float,
    given: int,
    table: Matrix,
    open_: Integers,
    told: Vector,
    slots: Slots,
    work: Work,
) -> int:
    """`steps.decide`."""
    return steps.decide(
        state, layout, items, rows, context, crow, who, explore, u, given, table, open_, told, slots, work
    )


@entry(brief=True)
def draw(table: Matrix, open_: Integers, rho: float, explore: float, u: float) -> int:
    """`steps.draw`."""
    return steps.draw(table, open_, rho, explore, u)


@entry(brief=True)
def learn(
    state: State,
    layout: Layout,
    items: Scale,
    row: Vector,
    context: Scale,
    crow: Vector,
    i: int,
    tick: float,
    r: float,
    w: float,
    judged: bool,
    told: Vector,
    slots: Slots,
    work: Work,
) -> bool:
    """`steps.learn`."""
    return steps.learn(state, layout, items, row, context, crow, i, tick, r, w, judged, told, slots, work)


@entry(brief=True)
def move_prior(state: State, layout: Layout, items: Scale, context: Scale, work: Work) -> None:
    """`steps.move_prior`."""
    steps.move_prior(state, layout, items, context, work)


@entry(brief=True)
def renew_all(state: State, work: Work) -> None:
    """`steps.renew_all`."""
    steps.renew_all(state, work)


@entry(brief=True)
def forget_item(state: State, i: int, work: Work) -> None:
    """`steps.forget_item`."""
    steps.forget_item(state, i, work)
