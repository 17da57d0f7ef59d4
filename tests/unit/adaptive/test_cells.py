"""Levels without columns: kernels against the definition, cell by cell, and the table that cells lie in."""

import itertools

import numpy as np
import pytest
from naive.levels import Levels as Naive

import driftbandits as db
from driftbandits.adaptive import cells, levels, steps
from driftbandits.adaptive.forecasting import forecast
from driftbandits.adaptive.levels import ALL, new_cells, packed, unpacked, with_room
from driftbandits.adaptive.regression import noise
from driftbandits.adaptive.sums import NEVER, NEWEST
from driftbandits.bandit import features
from driftbandits.errors import InvalidValue

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.interpreted]


def by_memory(array, M):
    """(…, G, LANES) as (…, M)."""
    return array.reshape(*array.shape[:-2], -1)[..., :M]


class Watched:
    """Everything that `learn_cells` is called with goes into the oracle too."""

    def __init__(self, monkeypatch):
        self.oracle, self.restarts, real = None, 0, cells.learn_cells

        def learn_cells(engine, i, tick, r, w, judged):
            state, M = engine.state, len(engine.state.rate)
            self.oracle = self.oracle or Naive(state.rate)
            base = np.concatenate([forecast(state, g, i, False, engine.work)[0] for g in range(len(state.V))])[:M]
            keys = self.keys(engine)
            real(engine, i, tick, r, w, judged)
            varies = judged and steps.variance_of_rewards(state) > 0.0
            self.oracle.learn(keys, tick, r, w, base, np.array([noise(state, m) for m in range(M)]), varies)

        def restart_cells(*args):
            self.restarts += 1
            cells.restart_cells(*args)

        monkeypatch.setattr(steps, "learn_cells", learn_cells)
        monkeypatch.setattr(steps, "restart_cells", restart_cells)

    def keys(self, engine):
        """The cells of the row that is being learned."""
        F = len(engine.levels.item)
        found = [(int(at), 0 if j < F else 1) for j, at in enumerate(engine.found.place) if at >= 0]
        return [(side, int(engine.cells.level[at]), int(engine.cells.item[at])) for at, side in found]


def play(rounds, late=1, seed=0, monkeypatch=None):
    """A bandit with few columns for levels, of users and of brands, whose rewards come up to `late` decisions later."""
    monkeypatch.setattr("driftbandits.bandit.adaptive.OWN_SLOTS", 2)
    rng, bandit, open_ = np.random.default_rng(seed), db.Bandit(seed=seed, features="linear"), []
    for t in range(rounds):
        brands = {item: {"brand": f"b{rng.integers(5)}", "size": float(rng.normal())} for item in "xyz"}
        context = {"user": f"u{rng.integers(6)}"} | ({"town": f"t{rng.integers(5)}"} if t % 3 else {})
        d = bandit.decide(brands, context)
        open_.append((d.id, float(rng.normal())))
        while len(open_) > rng.integers(late):
            bandit.reward(*open_.pop(0))
    return bandit, open_


@pytest.mark.parametrize("late", [1, 8])
def test_cells_are_those_of_the_definition(late, monkeypatch):
    watched = Watched(monkeypatch)
    bandit, _ = play(70, late, 3, monkeypatch)
    model, oracle = bandit._learner.model, watched.oracle
    state, M = model.state, len(model.state.rate)
    assert watched.restarts == 0
    taken = np.flatnonzero(model.cells.level)
    assert len(taken) == len(oracle.seen) > 20
    assert {key[0] for key in oracle.seen} == {0, 1}
    for at in taken:
        key = (int(model.cells.item[at] != ALL), int(model.cells.level[at]), int(model.cells.item[at]))
        n, t, last = oracle.sums(key)
        assert by_memory(model.cells.n[at], M) == pytest.approx(n, rel=1e-9)
        assert by_memory(model.cells.t[at], M) == pytest.approx(t, rel=1e-8, abs=1e-9)
        assert model.cells.last[at] == last
    sigma2 = np.array([noise(state, m) for m in range(M)])
    cells.settle_shares(model.engine)
    assert by_memory(model.engine.found.left, M) == pytest.approx(oracle.left(sigma2))
    assert by_memory(model.engine.found.kappa, M) == pytest.approx(
        np.array([oracle.kappa(side, sigma2) for side in (0, 1)])
    )


def test_forecasts_add_what_cells_say(monkeypatch):
    watched = Watched(monkeypatch)
    bandit, _ = play(60, 1, 5, monkeypatch)
    learner, oracle = bandit._learner, watched.oracle
    engine, state, M = learner.model.engine, learner.model.state, len(learner.model.state.rate)
    sigma2, now = np.array([noise(state, m) for m in range(M)]), float(state.numbers[NEWEST])
    cells.settle_shares(engine)
    tried = 0
    for brand, user, item in itertools.product(range(5), [*range(6), 99], range(-1, 3)):
        row, crow = learner.items.absent.copy(), learner.context.absent.copy()
        marks = []
        for table, values, token, side in (
            (learner.items, row, ("brand", f"b{brand}"), 0), (learner.context, crow, ("user", f"u{user}"), 1),
        ):  # fmt: skip
            slot = table.slot_of(token)
            values[slot] = table.value_of(token, slot)
            if table.kinds[slot] == features.MARK:
                marks.append((side, int(values[slot]), item if side else ALL))
        cells.look_up(engine, row, crow, item, False)
        for g in range(len(state.V)):
            mean, width = cells.expect(engine, g, True)
            mine = slice(4 * g, min(4 * g + 4, M))
            zero = np.zeros(M)
            assert mean[: mine.stop - mine.start] == pytest.approx(
                sum((oracle.mean(key, sigma2) for key in marks), zero)[mine], rel=1e-6, abs=1e-9
            )
            assert width[: mine.stop - mine.start] == pytest.approx(
                sum((oracle.width(key, sigma2, now) for key in marks), zero)[mine]
            )
            tried += bool(marks)
    assert tried > 100


def test_a_memory_that_restarts_continues_the_leading_one(monkeypatch):
    bandit, _ = play(40, 1, 1, monkeypatch)
    model = bandit._learner.model
    before = [np.array(array) for array in model.cells]
    cells.restart_cells(model.engine, 5, 2)
    for name in ("n", "t"):
        array, was = getattr(model.cells, name), before[levels.Cells._fields.index(name)]
        assert np.array_equal(array[:, 1, 1], was[:, 0, 2])
        assert np.array_equal(
            np.delete(array.reshape(len(array), -1), 5, 1), np.delete(was.reshape(len(was), -1), 5, 1)
        )
    assert np.array_equal(model.cells.spread[..., 1, 1], before[5][..., 0, 2])


def test_an_item_that_is_dropped_takes_its_cells_along(monkeypatch):
    bandit, _ = play(40, 1, 2, monkeypatch)
    model, place = bandit._learner.model, bandit._learner.places.get("y")
    mine = model.cells.item == place
    assert model.cells.n[mine].sum() > 0.0
    others = model.cells.n[~mine].copy()
    bandit.drop("y")
    assert (model.cells.n[mine] == 0.0).all()
    assert (model.cells.last[mine & (model.cells.level > 0)] == NEVER).all()
    assert np.array_equal(model.cells.n[~mine], others)


def test_a_reward_that_is_taken_back_at_once_leaves_cells_as_they_were(monkeypatch):
    """Up to what the other effects have learned in between: nothing, if their forecasts are held."""
    bandit, _ = play(50, 1, 4, monkeypatch)
    model = bandit._learner.model
    engine = model.engine
    at = int(np.flatnonzero((model.cells.level > 0) & (model.cells.item >= 0))[0])
    engine.found.place[:] = levels.NO_LEVEL
    engine.found.place[-1] = at
    n, t = model.cells.n[at].copy(), model.cells.t[at].copy()
    tick = float(model.state.numbers[NEWEST])
    cells.settle_shares(engine)
    for w in (2.0, -2.0):
        cells.learn_cells(engine, int(model.cells.item[at]), tick, 3.0, w, False)
    fade = model.cells.n[at] / np.where(n > 0.0, n, 1.0)
    assert model.cells.t[at] == pytest.approx(fade * t, rel=1e-9, abs=1e-9)


# --------------------------------------------------------------------------------------------------------------- the table


def filled(many, seed=0, room=4096):
    """A table of so many cells with numbers of their own."""
    rng, table = np.random.default_rng(seed), new_cells(8, room)
    keys = {(int(rng.integers(1, 1 << 52)), int(rng.integers(-1, 50))) for _ in range(many)}
    for level, item in keys:
        at = cells._add(table, level, item)
        table.last[at] = float(level % 1000)
        table.n[at], table.t[at] = rng.random((2, 4)), rng.normal(size=(2, 4))
    return table, keys


def test_cells_are_found_before_and_after_the_table_grows():
    table, keys = filled(1500)
    grown = with_room(table, 3000)
    assert len(grown.level) >= 2 * (len(keys) + 3000)
    assert grown.used[0] == len(keys)
    for key in keys:
        a, b = cells.find(table, *key), cells.find(grown, *key)
        assert np.array_equal(table.t[a], grown.t[b])
        assert table.last[a] == grown.last[b]
    assert cells.find(grown, 12345, 7) == levels.UNKNOWN
    assert with_room(grown, 10) is grown


def test_a_full_table_says_so_and_is_not_written_past():
    table, _ = filled(8, room=8)
    assert table.used[0] == 8
    assert cells._add(table, 99, 1) == levels.UNKNOWN
    assert cells.find(table, 99, 1) == levels.UNKNOWN


def test_beyond_the_limit_the_oldest_cells_are_dropped(monkeypatch):
    monkeypatch.setattr(levels, "MOST", 1024)
    table, keys = filled(1000, room=2048)
    left = with_room(table, 600)
    kept = {key for key in keys if cells.find(left, *key) >= 0}
    assert 0 < len(kept) == left.used[0] <= 1024 - 600
    oldest = min(level % 1000 for level, _ in kept)
    assert all(level % 1000 <= oldest for level, item in keys - kept)


def test_packed_cells_are_the_same_whatever_the_history():
    table, _ = filled(300)
    a, b = packed(table), packed(with_room(table, 50_000))
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    again = packed(unpacked(a))
    assert all(np.array_equal(x, y) for x, y in zip(a, again, strict=True))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("level", 0, "marks of levels"),
        ("level", 1 << 52, "marks of levels"),
        ("item", -2, "of no item"),
        ("n", -1.0, "negative"),
        ("t", 1e300, "beyond"),
        ("squares", -1.0, "negative"),
        ("spread", -1e230, "beyond"),
    ],
)
def test_forged_cells_are_refused(field, value, said):
    table = packed(filled(10)[0])
    array = getattr(table, field).copy()
    array.reshape(-1)[0] = value
    with pytest.raises(InvalidValue, match=said):
        unpacked(table._replace(**{field: array}))
    twice = table._replace(level=table.level[[0, *range(9)]], item=table.item[[0, *range(9)]])
    with pytest.raises(InvalidValue, match="twice"):
        unpacked(twice)
    with pytest.raises(InvalidValue, match="fit"):
        unpacked(table._replace(item=table.item[:-1]))


def test_cells_of_two_logs_add_up():
    """Halves that are joined are the whole; the later observation says when a cell was last seen, and the other one fades until then."""
    a, keys = filled(200, 1)
    b, others = filled(150, 2)
    shared = next(iter(keys))
    at = cells._add(b, *shared)
    b.last[at], b.n[at], b.t[at] = 2000.0, 1.0, 2.0
    rate = np.linspace(0.0, 0.01, 8)
    both = unpacked(levels.joined(packed(a), packed(b), rate))
    assert both.used[0] == len(keys | others)
    f = np.exp(-rate * (2000.0 - shared[0] % 1000)).reshape(2, 4)
    x, y = cells.find(a, *shared), cells.find(both, *shared)
    assert both.n[y] == pytest.approx(f * a.n[x] + 1.0)
    assert both.t[y] == pytest.approx(f * a.t[x] + 2.0)
    for key in others:
        assert np.array_equal(both.n[cells.find(both, *key)], b.n[cells.find(b, *key)])
