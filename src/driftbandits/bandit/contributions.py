r"""An item's score as a sum of contributions of features, in the user's names and units of reward.

The score is linear in products of slots (`adaptive.columns`), z_0 = 1, with an own part of each item over slots of the context:

    score = r̄ + Σ_{i,c} θ_ic z_i z_c + Σ_c u_c z_c .

Effects are stated relative to what is usually on offer. With m_j the mean of slot j over all offers and δ_j = z_j − m_j, so that δ_0 = 0,

    z_i z_c = m_i m_c + δ_i m_c + m_i δ_c + δ_i δ_c

splits the score into the average, the effect of each feature of the item and of the context, of each pair of both, and of the item itself,
Σ_c u_c m_c. A number and the indicator that it is present are one feature, and so are all categories of one string. The contributions add
up to the score exactly.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..adaptive.cells import expect, look_up, settle_shares
from ..adaptive.columns import CUT, CUT_FROM, MARK, NUMBER, Scale
from ..adaptive.steps import NEGLIGIBLE
from ..adaptive.sums import COUNT, FIRST, NEVER, R0, RHO, SUM, USE, State
from ..core.lanes import LANES, lane
from ..core.linalg import Vector
from .adaptive import Adaptive
from .diagonal import NAME, Diagonal
from .features import Table
from .learner import Learner, Placed
from .sparse import LEVEL, expand
from .vectors import Row
from .wrapped import Wrapped

AVERAGE = "(average)"
OTHER = "(forgotten or unknown features)"


def contributions(learner: Learner, placed: Placed, a: int, rows: Sequence[Row], context: Row) -> dict[str, float]:
    """Contributions to the score of item a of an offer; `rows` and `context` are its features as given."""
    item = f"item={placed.names[a]}"
    if isinstance(learner, Adaptive):
        return _of_adaptive(learner, placed, a, item, rows[a], context)
    if isinstance(learner, Diagonal):
        return _of_diagonal(learner, placed, a, item, rows[a], context)
    assert isinstance(learner, Wrapped)
    return _of_wrapped(learner, placed, a, item, rows[a], context)


# ---------------------------------------------------------------------------------------------------------------- dense


def _of_adaptive(learner: Adaptive, placed: Placed, a: int, item: str, row: Row, context: Row) -> dict[str, float]:
    model, i = learner.model, int(placed.blocks[a])
    theta, own = effects(learner, i)
    z, m_i = _slots(model.items, placed.rows[a], learner.items)
    w, m_c = _slots(model.context, placed.context[0], learner.context)
    left, right = labels(learner.items, learner.context, row, context)
    found = {AVERAGE: _mean_reward(model.state.numbers)}

    def add(label: str, value: float) -> None:
        if value != 0.0:
            found[label] = found.get(label, 0.0) + value

    d_i, d_c = z - m_i, w - m_c
    for effect, (s, c) in zip(theta.tolist(), model.columns.pairs, strict=True):
        add(AVERAGE, effect * m_i[s] * m_c[c])
        add(left[s], effect * d_i[s] * m_c[c])
        add(right[c], effect * m_i[s] * d_c[c])
        add(f"{left[s]} × {right[c]}", effect * d_i[s] * d_c[c])
    for effect, c in zip(own.tolist(), model.columns.own, strict=True):
        add(item, effect * m_c[c])
        add(f"{item} × {right[c]}", effect * d_c[c])
    if model.has_levels:
        levels = model.engine.levels
        named = [left[s] for s in levels.item] + [f"{item} × {right[c]}" for c in levels.context]
        for label, effect in zip(named, _of_levels(learner, placed.rows[a], placed.context[0], i), strict=True):
            add(label, effect)
    return {label: float(value) for label, value in found.items()}


def effects(learner: Adaptive, i: int) -> tuple[Vector, Vector]:
    """θ (p,) and the own effect u (k,) of the item at place i, −1 for a new one, averaged over memories by their weights."""
    state = learner.model.state
    shares = memory_shares(state)
    away = _mean_reward(state.numbers) - float(state.numbers[R0])
    theta, own = np.zeros(state.theta.shape[2]), np.zeros(state.own_t.shape[2])
    for m in np.flatnonzero(shares).tolist():
        estimates = lane(state.theta, m)
        of_memory = estimates[0] - away * estimates[1]
        theta += shares[m] * of_memory
        if i >= 0 and state.last[i] > NEVER:
            R, S, t = (lane(own_sums[i], m) for own_sums in (state.own_R, state.own_S, state.own_t))
            own += shares[m] * (R @ (t - away * S[:, 0] - S @ of_memory))
    return theta, own


def _of_levels(learner: Adaptive, row: Vector, context: Vector, i: int) -> list[float]:
    """What each level without a column adds to the score, averaged over memories."""
    engine, shares = learner.model.engine, memory_shares(learner.model.state)
    total = np.zeros(len(engine.found.place))
    look_up(engine, row, context, i, False)
    settle_shares(engine)
    for g in range(len(engine.found.left)):
        expect(engine, g, False)
        mine = shares[g * LANES : (g + 1) * LANES]
        total += engine.found.mean[:, : len(mine)] @ mine
    return total.tolist()


def memory_shares(state: State) -> Vector:
    """How much each memory (M,) weighs in the score, as `adaptive.steps` averages them; the static one is the last."""
    M = len(state.rate)
    if M == 1:
        return np.ones(1)
    shares = state.trust @ state.mix
    shares[: int(state.numbers[FIRST])] = 0.0
    shares[-1] = 0.0
    shares[shares < NEGLIGIBLE * shares.max()] = 0.0
    shares *= (1.0 - state.numbers[RHO]) / shares.sum()
    shares[-1] = state.numbers[RHO]
    return np.asarray(shares)


def _mean_reward(numbers: Vector) -> float:
    return float(numbers[R0] + (numbers[SUM] / numbers[COUNT] if numbers[COUNT] > 0.0 else 0.0))


def _slots(scale: Scale, row: Vector, table: Table) -> tuple[Vector, Vector]:
    """z of a raw row, and the mean of z over all offers; a missing number is 0 in both."""
    z = np.where(np.isnan(row) | (scale.kind == MARK), 0.0, row - scale.anchor)
    # A slot counts values since it exists; offers before held `missing` there, and a number that is missing is z = 0.
    total = max(float(table.rows_seen), float(scale.seen.max()), 1.0)
    before = np.where(np.isnan(table.missing), 0.0, table.missing)
    known = np.where(scale.kind == NUMBER, 0.0, (total - scale.seen) * before)
    mean = (scale.seen * (scale.mean - scale.anchor) + known) / total
    mean[0] = 1.0
    return z, mean


def cut(scale: Scale, rows: Any) -> None:
    """Numbers far from what has been on offer, cut as `decide` cuts them (`adaptive.columns.count`)."""
    far = np.where(
        (scale.kind == NUMBER) & (scale.seen >= CUT_FROM), CUT * np.sqrt(scale.M2 / np.maximum(scale.seen, 1.0)), 0.0
    )
    far[far == 0.0] = math.inf
    np.clip(rows, scale.mean - far, scale.mean + far, out=rows)


# --------------------------------------------------------------------------------------------------------------- labels


def labels(items: Table, context: Table, row: Row, crow: Row) -> tuple[list[str], list[str]]:
    """A name for each slot of the item and of the context; a name that both sides have says of which it is."""
    named = [{*side.numbers, *side.strings} for side in (items, context)]
    both = named[0] & named[1]
    return _labels(items, row or {}, both), _labels(context, crow or {}, both)


def _labels(table: Table, row: Mapping[str, Any], both: set[str]) -> list[str]:
    found = [OTHER] * table.width
    for name, slot in table.numbers.items():
        label = OTHER if name.startswith("\0") else _on_side(table, name, both)
        found[slot] = label
        if name in table.presence:
            found[table.presence[name]] = label
    for first, derived in zip(table.derived_slots, table.derived, strict=True):
        own = [found[slot] for slot in derived.sources.tolist()]
        pairs = [f"{own[a]}²" if a == b else f"{own[a]}·{own[b]}" for a, b in derived.pairs.tolist()]
        found[first : first + derived.width] = [*pairs, *[f"a curve in {', '.join(own)}"] * len(derived.c)]
    for slot, name in table.owners.items():
        if name in table.strings:
            found[slot] = _category(table, name, row, both)
    for name in table.strings:
        mine = table.slot_of((name, row[name])) if isinstance(row.get(name), str) else None
        if mine is not None:
            found[mine] = _category(table, name, row, both)
    return found


def _category(table: Table, name: str, row: Mapping[str, Any], both: set[str]) -> str:
    label = _on_side(table, name, both)
    return f"{label}={row[name]}" if isinstance(row.get(name), str) else label


def _on_side(table: Table, name: str, both: set[str]) -> str:
    if name.isdigit():  # a position in a vector
        return f"{table.side}[{name}]"
    return f"{table.side}.{name}" if name in both else name


# ------------------------------------------------------------------------------------------------------ other learners


def _of_diagonal(learner: Diagonal, placed: Placed, a: int, item: str, row: Row, context: Row) -> dict[str, float]:
    """Columns are hashed and not centred: what is missing contributes nothing."""
    trial, use = learner.trial, int(learner.trial.numbers[USE])
    both = {*learner.items.numbers, *learner.items.strings} & {*learner.context.numbers, *learner.context.strings}
    left = _in_buckets(learner, learner.items, row or {}, both)
    right = _in_buckets(learner, learner.context, context or {}, both)
    if learner.mode.startswith("named"):
        left[learner.bucket("item", NAME, str(placed.names[a]))] = item
    cols, vals = learner._room(placed.rows[a], placed.context[0])
    n, m = int(placed.rows[a][0]), int(placed.context[0][0])
    products = learner.mode.endswith("products")
    many = expand(placed.rows[a], placed.context[0], products, learner.mean.shape[1], cols, vals)
    own = [left.get(int(c), OTHER) for c in cols[:n]]
    who = [right.get(int(c), OTHER) for c in cols[n : n + m]]
    names = own + who + [f"{i} × {c}" for i in own for c in who]
    found = {AVERAGE: _mean_reward(trial.numbers) + float(trial.sums[use, LEVEL])}
    for label, c, x in zip(names, cols[:many].tolist(), vals[:many].tolist(), strict=False):
        found[label] = found.get(label, 0.0) + float(x * learner.mean[use, c])
    return found


def _in_buckets(learner: Diagonal, table: Table, row: Mapping[str, Any], both: set[str]) -> dict[int, str]:
    found = {}
    for name, value in row.items():
        if isinstance(value, str):
            found[learner.bucket(table.side, name, value)] = _category(table, name, row, both)
        elif value is not None:
            found[learner.bucket(table.side, name, None)] = _on_side(table, name, both)
    return found


def _of_wrapped(learner: Wrapped, placed: Placed, a: int, item: str, row: Row, context: Row) -> dict[str, float]:
    """xᵀθ of a strategy, whose features are as they were given: x_jθ_j each."""
    assert learner.agent is not None
    left, right = labels(learner.items, learner.context, row or {}, context)
    own, who = [item if label.startswith("name") and not row else label for label in left[1:]], right[1:]
    names = [*own, *who]
    if learner.mode == "interact":
        names += [f"{i} × {c}" for i in own for c in who]
    found: dict[str, float] = {AVERAGE: 0.0}
    for label, x, effect in zip(names, placed.rows[a].tolist(), learner.agent.theta.tolist(), strict=True):
        if x != 0.0:
            found[label] = found.get(label, 0.0) + x * effect
    return found


__all__ = ["AVERAGE", "contributions", "cut", "effects", "labels", "memory_shares"]
