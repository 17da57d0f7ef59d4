"""The content of an alarm: the bettor that won, the time of the change, and the mean rewards before and after it."""

import math
from typing import Literal, NamedTuple

import numpy as np

from ..core.linalg import Vector
from .state import (
    BEFORE,
    COLUMN,
    COUNT,
    EARNED,
    GW,
    ITEM,
    ITEM_COLUMN,
    ITEM_SEVERAL,
    LEVEL,
    MISFIT,
    MUTED,
    SEVERAL,
    SINCE,
    SR,
    SUM,
    TOTAL,
    Fixed,
    State,
)

Kind = Literal["reward level", "best item", "model misfit", "missing rewards"]
ALONE = 0.8  # an item explains a change of the level if its own evidence, in nats, is at least this share


class Verdict(NamedTuple):
    """The kind of a change, and what is known of it; block and column are −1 where it is not of one."""

    kind: Kind
    evidence: float  # ln Σ π SR
    since: int
    block: int
    column: int
    before: float | None  # mean reward, of the block or of all
    after: float | None
    rises: bool = False  # the residuals that were bet on are positive


def verdict(state: State, fixed: Fixed) -> Verdict:
    """The verdict of the bettor with the largest π SR."""
    best = {
        LEVEL: _largest(state.shared[:1]),
        COLUMN: _largest(state.shared[1:-1]),
        SEVERAL: _largest(state.shared[-1:]),
        ITEM: _largest(state.own[:, :1]),
        ITEM_COLUMN: _largest(state.own[:, 1:-1]),
        ITEM_SEVERAL: _largest(state.own[:, -1:]),
        MISFIT: _largest(state.misfit),
    }
    wins = {kind: fixed.shares[kind] * (b[SR] if b is not None else 0.0) for kind, (b, _) in best.items()}
    kind = max(wins, key=lambda k: wins[k])
    if kind == LEVEL and math.log1p(wins[ITEM]) >= ALONE * math.log1p(wins[LEVEL]):
        kind = ITEM  # it is that item alone, as far as anybody can see
    b, place = best[kind]
    assert b is not None
    evidence, since = math.log(state.numbers[TOTAL]), int(b[SINCE])
    if kind == MISFIT:
        return Verdict("model misfit", evidence, since, -1, -1, None, None)
    if kind == LEVEL:
        means = _means(b, state.numbers[COUNT], state.numbers[SUM])
        return Verdict("reward level", evidence, since, -1, -1, *means, bool(b[GW] > 0.0))
    if kind in (COLUMN, SEVERAL):
        return Verdict("best item", evidence, since, -1, place[0] + 1 if kind == COLUMN else -1, None, None)
    a = place[0]
    means = _means(b, *state.tally[a, :2].tolist())
    return Verdict(
        "best item", evidence, since, a, place[1] + 1 if kind == ITEM_COLUMN else -1, *means, bool(b[GW] > 0.0)
    )


def muted(state: State, fixed: Fixed) -> State:
    """The detector goes on without the bettors on misfit, which is said once."""
    quiet = state._replace(numbers=state.numbers.copy(), misfit=np.zeros_like(state.misfit))
    quiet.numbers[TOTAL], quiet.numbers[MUTED] = total(quiet, fixed), 1.0
    return quiet


def total(state: State, fixed: Fixed) -> float:
    """Σ π SR, from its terms: if a large one leaves the sum, a difference would keep its rounding error."""
    shares, D = fixed.shares, state.theta.shape[1]
    shared = np.r_[shares[LEVEL], np.full(D - 1, shares[COLUMN]), shares[SEVERAL]]
    own = np.r_[shares[ITEM], np.full(D - 1, shares[ITEM_COLUMN]), shares[ITEM_SEVERAL]]
    items = (own[:, None] * state.own[..., SR]).sum()
    return float((shared[:, None] * state.shared[..., SR]).sum() + items + shares[MISFIT] * state.misfit[:, SR].sum())


def _largest(bettors: np.ndarray) -> tuple[Vector | None, tuple[int, ...]]:
    """The bettor with the largest SR, and where it is."""
    if not bettors.size:
        return None, ()
    place = np.unravel_index(int(bettors[..., SR].argmax()), bettors.shape[:-1])
    return bettors[place], tuple(int(i) for i in place)


def _means(b: Vector, count: float, total: float) -> tuple[float | None, float | None]:
    """Mean rewards before a change and since."""
    before, since = float(b[BEFORE]), count - float(b[BEFORE])
    return (
        float(b[EARNED]) / before if before > 0.0 else None,
        (total - float(b[EARNED])) / since if since > 0.0 else None,
    )
