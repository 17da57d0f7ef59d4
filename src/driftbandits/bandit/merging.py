r"""Bandits that learned from logs without a common row, as one: `Bandit.merge` and `Bandit.from_parts`.

The sums of two learners add up once they are in the same coordinates, and end at the same time (`adaptive.shards`). Slots of features are
matched by name. A number enters as z = x − anchor, and the anchors differ; where the other learner lacks an indicator that a number is
present, it was always present. So z of the union is A·z of a part, φ = Tφ', ψ = Bψ' with T and B made of products of entries of A, and

    V = TV'Tᵀ ,  b = Tb' ,  M_i = BM'_iBᵀ ,  S_i = BS'_iTᵀ ,  t_i = Bt'_i ;

a shift δ = r₀' − r₀ of the origin of rewards adds δ·(column of the constant) to b and t, and 2δb₀ + δ²n to Q.

**Time.** A learner that forgets by the clock has one time. Otherwise age is counted in decisions: if one log ended before the other began,
the second one's decisions are counted on from the first one's, as in one serial pass; logs that overlap (regions, shards) end together.

**What is no sum.** The weights of the memories, the prior's precisions and the law of the noise are those of the log that ends later. A
memory that was refuted in one of the logs holds the sum of what each of them kept. `Bandit.value` and the tests for
changes start anew; events of all are kept.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..adaptive import levels, sums
from ..adaptive.by_memory import Sums, set_sums, sums_of
from ..adaptive.columns import NUMBER, Scale, new_scale
from ..adaptive.layout import Columns
from ..adaptive.sums import NEVER, State
from ..core.linalg import Matrix, Vector
from ..errors import InvalidValue
from .adaptive import Adaptive
from .alarms import Alarms
from .arrivals import Arrivals
from .features import CATEGORY, MARK, PRESENT, Table
from .items import Places
from .ledger import Ledger
from .model import Model
from .state import EVENTS

if TYPE_CHECKING:
    from .bandit import Bandit

ADDED = (sums.CAL_N, sums.CAL_1, sums.CAL_2, sums.FOURTH, sums.SECOND, sums.LEARNED)  # counts and sums of residuals
KEPT = ("seed", "on_repeat", "max_pending", "explore")  # settings in which bandits that are merged may differ


def merged(parts: "Sequence[Bandit]") -> "Bandit":
    """A new bandit with what all of them learned; they are not changed."""
    from .saving import digest

    if not parts:
        raise InvalidValue("there are no bandits to merge")
    for part in parts:
        _can_merge(parts[0], part)
    learned = [
        (digest(part), part._oldest, part._newest) for part in parts if part._tick
    ]  # times: quiet days are alike
    if len(set(learned)) < len(learned):
        raise InvalidValue(
            "two of the bandits are one bandit, or copies that learned the same log; its rows would count twice"
        )
    order = sorted(parts, key=lambda part: (part._oldest, part._newest))
    total = _copy(order[0])
    for part in order[1:]:
        _add(total, part)
    total._config, total._chance = dict(parts[0]._config), parts[0]._chance
    total._ledger = Ledger(bounded=total._ledger.bounded, explore=total._ledger.explore)
    return total


def _copy(bandit: "Bandit") -> "Bandit":
    from .saving import copied, to_bytes

    with bandit._turn():
        return copied(to_bytes(bandit), None, None, None)


def _can_merge(a: "Bandit", b: "Bandit") -> None:
    from .bandit import Bandit

    if not isinstance(b, Bandit):
        raise InvalidValue(f"a {type(b).__name__} cannot be merged; it must be a Bandit")
    if not type(b._learner) is type(a._learner) is Adaptive or a._function or b._function:
        raise InvalidValue(
            "only bandits with the default learner, with up to 500 columns and without a function of features, can be merged"
        )
    if b._challengers:
        raise InvalidValue("a bandit with challengers cannot be merged; drop or promote them first")
    if b._pending.open:
        raise InvalidValue(
            f"a bandit with {len(b._pending.open)} decisions that wait for a reward cannot be merged; learn or expire them first"
        )
    for name in a._config:
        if name not in KEPT and a._config[name] != b._config[name]:
            raise InvalidValue(
                f"bandits with {name} = {a._config[name]!r} and {b._config[name]!r} cannot be merged; their settings must be the same"
            )
    known = a._learner, b._learner
    if any(table.vectors or table.derived or table.marker for one in known for table in (one.items, one.context)):
        raise InvalidValue(
            "bandits that have seen vectors, or have added columns for curvature or own slopes, cannot be merged; features='linear' adds "
            "none"
        )
    if all(one._started for one in known) and known[0].model.columns.slopes != known[1].model.columns.slopes:
        raise InvalidValue(
            "one bandit has slopes of their own for its items and the other has not; they cannot be merged"
        )


# ------------------------------------------------------------------------------------------------------------ coordinates


class Into(NamedTuple):
    """The coordinates of a part in those of the union: A of the items and of the context, T, B, and places of the items."""

    items: Matrix
    context: Matrix
    T: Matrix
    B: Matrix
    places: Vector  # (N',) place of each of its places, −1 for none


def union_of(a: Table, b: Table) -> Table:
    """The slots of both, those of `a` first."""
    table = Table.from_json(a.side, a.to_json())
    for name in sorted({*a.strings} & {*b.numbers} | {*a.numbers} & {*b.strings}):
        raise InvalidValue(
            f"feature {name!r} is a number in one bandit and a string in the other; they cannot be merged"
        )
    if b.rows_seen == 0:
        return table
    for name in b.numbers:
        if name not in table.numbers:
            table.numbers[name] = table._add(NUMBER, np.nan)
            if a.rows_seen:
                table.presence[name] = table._add(PRESENT, 0.0)
    for name in table.numbers:
        if name not in table.presence and (name in b.presence or name not in b.numbers):
            table.presence[name] = table._add(PRESENT, 1.0)
    for bucket in b.bucket_slots:
        if bucket not in table.bucket_slots:
            table.bucket_slots[bucket] = slot = table._add(CATEGORY, 0.0)
            table.first_hash[bucket] = b.first_hash[bucket]
            table.owners[slot] = b.owners.get(b.bucket_slots[bucket], "")
        elif table.first_hash[bucket] != b.first_hash[bucket]:
            table.collisions += table.first_hash[bucket] != -1
            table.first_hash[bucket] = -1
    for name in b.level_slots:
        if name not in table.level_slots:
            table.level_slots[name] = table._add(MARK, 0.0)
    table.strings |= b.strings
    table.collisions += b.collisions
    table.rows_seen = max(table.rows_seen, b.rows_seen)
    return table


def _map(table: Table, anchors: Vector, part: Table, scale: Scale) -> Matrix:
    """A (J, J'): slots of the union from those of a part."""
    A = np.zeros((table.width, part.width))
    A[0, 0] = 1.0
    for name, slot in part.numbers.items():
        there = part.presence.get(name, 0)  # slot 0: it was always present
        A[table.numbers[name], slot] = 1.0
        A[table.numbers[name], there] += scale.anchor[slot] - anchors[table.numbers[name]]
        if name in table.presence:
            A[table.presence[name], there] = 1.0
    for bucket, slot in part.bucket_slots.items():
        A[table.bucket_slots[bucket], slot] = 1.0
    return A


def _columns_map(new: Columns, old: Columns, items: Matrix, context: Matrix) -> tuple[Matrix, Matrix]:
    """T (p, p') and B (k, k')."""
    pairs, others = np.array(new.pairs), np.array(old.pairs)
    T = items[pairs[:, :1], others[:, 0]] * context[pairs[:, 1:], others[:, 1]]
    return T, context[np.ix_(new.own, old.own)]


# ------------------------------------------------------------------------------------------------------------------- sums


class Moved(NamedTuple):
    """The sums of a part in the coordinates of the union."""

    V: Matrix
    b: Matrix
    Q: Vector
    n: Vector
    M: Matrix
    S: Matrix
    t: Matrix
    last: Vector


def _moved(state: State, into: Into, delta: float, shift: float, N: int) -> Moved:
    """… with rewards from another origin and times counted from another one."""
    s, last = sums_of(state), state.last
    V, b = into.T @ s.V @ into.T.T, s.b @ into.T.T
    Q = s.Q + 2.0 * delta * b[:, 0] + delta * delta * s.n
    b = b + delta * V[:, :, 0]
    M_ = into.B @ s.own_M @ into.B.T
    t = s.own_t @ into.B.T + delta * M_[..., 0]
    S = into.B @ s.own_S @ into.T.T
    k, p = into.B.shape[0], into.T.shape[0]
    M = len(state.rate)
    out = Moved(
        V, b, Q, s.n.copy(), np.zeros((N, M, k, k)), np.zeros((N, M, k, p)), np.zeros((N, M, k)), np.full(N, NEVER)
    )
    there = into.places >= 0
    to = into.places[there].astype(np.int64)
    out.M[to], out.S[to], out.t[to] = M_[there], S[there], t[there]
    out.last[to] = np.where(last[there] > NEVER, last[there] + shift, NEVER)
    return out


def _fades(s: State, since: Vector, until: Vector) -> Matrix:
    """(n, M) exp(−H_m(until) + H_m(since)), by the rates of after the last refutation."""
    age = np.where(since > NEVER, until - since, 0.0)
    faded: Matrix = np.exp(-np.minimum(np.outer(age, s.rate), 700.0))
    return faded


def _add(total: "Bandit", part: "Bandit") -> None:
    """Add a part to a bandit that only this process knows."""
    a, b = total._learner, part._learner
    assert isinstance(a, Adaptive)
    assert isinstance(b, Adaptive)
    shifts = _shifts(total, part)
    new = Adaptive(a.mode, a.rates, a.items.buckets, a.places.limit)
    new.items, new.context = union_of(a.items, b.items), union_of(a.context, b.context)
    later = a if total._newest > part._newest else b
    model = a.model if a._started or not b._started else b.model
    new._started = a._started or b._started
    columns = Columns(
        products=model.columns.products, slopes=model.columns.slopes, own_effects=model.columns.own_effects
    )
    columns, _, _ = columns.extended(new.items, new.context)
    new.places, when = _places(a, b, shifts)
    N = len(when)
    scales = [
        _scale(table, (x, y), (sx, sy))
        for table, x, y, sx, sy in (
            (new.items, a.items, b.items, a.model.items, b.model.items),
            (new.context, a.context, b.context, a.model.context, b.model.context),
        )
    ]
    state = sums.new_state(a.rates, N, len(columns.pairs), len(columns.own))
    first = a if a.model.state.numbers[sums.KNOWN] else b
    r0 = float(first.model.state.numbers[sums.R0])
    for one, shift in zip((a, b), shifts, strict=True):
        if one.model.state.numbers[sums.KNOWN]:
            _add_sums(state, columns, new, scales, one, r0, shift)
    _take_over(state, later.model.state, a.model.state, b.model.state, shifts)
    layout = columns.layout(new.items, new.context)
    cells = levels.joined(_cells(a, new, shifts[0]), _cells(b, new, shifts[1]), a.rates)
    new.model = Model.of(columns, state, scales[0], scales[1], when, layout, levels.unpacked(cells)).with_prior()
    total._learner = new
    _add_counts(total, part)


def _shifts(a: "Bandit", b: "Bandit") -> tuple[float, float]:
    """What to add to the times of each: the later of two logs follows the earlier one, others end together."""
    if a._clocked:
        return 0.0, 0.0
    if a._newest <= b._oldest:
        return 0.0, float(a._tick)
    if b._newest <= a._oldest:
        return float(b._tick), 0.0
    return float(b._tick), float(a._tick)


def _places(a: Adaptive, b: Adaptive, shifts: tuple[float, float]) -> tuple[Places, Vector]:
    """Places of the items of both, and when each was last on offer."""
    names, limit = [*dict.fromkeys([*a.places._place, *b.places._place])], a.places.limit
    if len(names) > limit:
        raise InvalidValue(f"the bandits have {len(names)} items together; max_items = {limit} is less")
    when = np.full(len(names), -np.inf)
    for one, shift in zip((a, b), shifts, strict=True):
        for k, name in enumerate(names):
            if one.places.get(name) >= 0:
                when[k] = max(when[k], one.model.when[one.places.get(name)] + shift)
    at = [[name, k] for k, name in enumerate(names)]
    saved = {"limit": limit, "evicted": a.places.evicted + b.places.evicted, "at": at}
    return Places.from_json(saved, len(names)), when


def _scale(table: Table, parts: tuple[Table, Table], scales: tuple[Scale, Scale]) -> Scale:
    """Statistics of both, slot by slot, by Chan's formula; the anchor is the first one's."""
    scale = new_scale(table.kinds, table.groups)
    for part, known in zip(parts, scales, strict=True):
        for new, old in _matched(table, part):
            if known.seen[old] == 0.0:
                continue
            if scale.seen[new] == 0.0:
                scale.anchor[new] = known.anchor[old]
            n = scale.seen[new] + known.seen[old]
            away = known.mean[old] - scale.mean[new]
            scale.M2[new] += known.M2[old] + away * away * scale.seen[new] * known.seen[old] / n
            scale.mean[new] += away * known.seen[old] / n
            scale.seen[new] = n
    return scale


def _matched(table: Table, part: Table) -> list[tuple[int, int]]:
    numbers = [(table.numbers[name], slot) for name, slot in part.numbers.items()]
    presence = [(table.presence[name], slot) for name, slot in part.presence.items()]
    return numbers + presence + [(table.bucket_slots[bucket], slot) for bucket, slot in part.bucket_slots.items()]


def _cells(one: Adaptive, new: Adaptive, shift: float) -> levels.Cells:
    """The cells of a part, with the places that its items have in the union."""
    cells = levels.packed(one.model.cells)
    to = np.full(len(one.model.when) + 1, -2)
    to[-1] = levels.ALL
    for name, place in one.places.taken():
        to[place] = new.places.get(name)
    part = levels.some(cells._replace(item=to[cells.item]), np.flatnonzero(to[cells.item] > -2))
    return part._replace(last=np.where(part.last > NEVER, part.last + shift, NEVER))


def _add_sums(
    state: State, columns: Columns, new: Adaptive, scales: list[Scale], one: Adaptive, r0: float, shift: float
) -> None:
    m = one.model
    items = _map(new.items, scales[0].anchor, one.items, m.items)
    context = _map(new.context, scales[1].anchor, one.context, m.context)
    T, B = _columns_map(columns, m.columns, items, context)
    places = np.full(len(m.state.last), -1.0)
    for name, k in one.places._place.items():
        places[k] = new.places.get(name)
    s, numbers = m.state, m.state.numbers
    delta = float(numbers[sums.R0]) - r0
    moved = _moved(s, Into(items, context, T, B, places), delta, shift, len(state.last))
    newest, mine = state.numbers[sums.NEWEST], numbers[sums.NEWEST] + shift
    end = max(newest, mine)
    f, g = (_fades(s, np.array([since]), np.array([end]))[0] for since in (newest, mine))
    known, both = sums_of(state), []
    for x, value in zip(known[:4], moved[:4], strict=True):
        axes = (slice(None), *[None] * (value.ndim - 1))
        both.append(f[axes] * x + g[axes] * value)
    last = np.maximum(state.last, moved.last)
    f, g = _fades(s, state.last, last), _fades(s, moved.last, last)
    for x, value in zip(known[4:], moved[4:7], strict=True):
        own = (slice(None), slice(None), *[None] * (value.ndim - 2))
        both.append(f[own] * x + g[own] * value)
    set_sums(state, Sums(*both))
    state.last[:] = last
    count, total = numbers[sums.COUNT], numbers[sums.SUM]
    state.numbers[sums.NEWEST] = end
    state.numbers[sums.COUNT] += count
    state.numbers[sums.SUM] += total + delta * count
    state.numbers[sums.SQUARES] += numbers[sums.SQUARES] + 2.0 * delta * total + delta * delta * count
    state.numbers[[sums.KNOWN, sums.R0]] = 1.0, r0


def _take_over(state: State, later: State, a: State, b: State, shifts: tuple[float, float]) -> None:
    """What is no sum, from the log that ends later."""
    for name in ("weight", "mix", "trust", "offset"):
        getattr(state, name)[:] = getattr(later, name)
    state.duel[:] = a.duel + b.duel
    n = state.numbers
    for place in ADDED:
        n[place] = a.numbers[place] + b.numbers[place]
    for place in (sums.NORMAL, sums.USE, sums.FIRST, sums.RHO, sums.SEPARATE, sums.OFFERED, sums.NEXT):
        n[place] = later.numbers[place]
    n[sums.ODDS] = min(a.numbers[sums.ODDS], b.numbers[sums.ODDS])
    n[sums.SHORTEST] = max(a.numbers[sums.SHORTEST], b.numbers[sums.SHORTEST])
    n[sums.FIRST] = max(n[sums.FIRST], n[sums.SHORTEST])
    n[sums.USE] = max(n[sums.USE], n[sums.FIRST])
    n[sums.NEXT_TUNED] = n[sums.LEARNED] + 1.0
    for one, shift in zip((a, b), shifts, strict=True):
        for m in np.flatnonzero(one.cut > NEVER).tolist():
            if one.cut[m] + shift > state.cut[m]:
                state.cut[m], state.cut_rate[m] = one.cut[m] + shift, one.cut_rate[m]


def _add_counts(total: "Bandit", part: "Bandit") -> None:
    """Numbers, times and events."""
    total._tick += part._tick
    for name, count in part._counts.items():
        total._counts[name] = total._counts.get(name, 0) + count
    total._oldest, total._newest = min(total._oldest, part._oldest), max(total._newest, part._newest)
    total._events = sorted([*total._events, *part._events], key=lambda event: (event.at, event.decision))[-EVENTS:]
    total._alarms, total._arrivals = Alarms(), Arrivals()
    total._fitted = _fits(total._fitted, part._fitted)


def _fits(a: dict[str, Any] | None, b: dict[str, Any] | None) -> dict[str, Any] | None:
    if a is None or b is None:
        return a or b
    common = {*a["marks"]} & {*b["marks"]}
    if common:
        raise InvalidValue("two of the bandits learned the same log; its rows would count twice")
    both = {key: a[key] + b[key] for key in ("rows", "repeated")}
    return both | {"exact_from": a["rows"] + b["exact_from"], "marks": [*a["marks"], *b["marks"]]}
