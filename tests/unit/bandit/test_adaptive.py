"""The default learner against its oracle: late rewards, features and items that come and go, eviction, drift."""

import copy
import math

import numpy as np
import pytest
from naive import adaptive as naive

import driftbandits as db
from driftbandits.adaptive.by_memory import sums_of
from driftbandits.adaptive.entries import FORECAST
from driftbandits.adaptive.sums import R0
from driftbandits.bandit.saving import digest, from_bytes, to_bytes
from driftbandits.core.lanes import LANES

pytestmark = pytest.mark.xdist_group("bandit")


def play(bandit, rng, rounds, delays, clock=None):
    """Decide between one item, so that all bandits decide alike; rewards come after their delay."""
    history, waiting = [], []
    for t in range(rounds):
        x = {"a": rng.uniform(-1, 1), "b": rng.uniform(0, 5)}
        at = None if clock is None else clock[t]
        d = bandit.decide({"only": x}, at=at)
        r = 2.0 + x["a"] - 0.3 * x["b"] + 0.1 * rng.normal()
        history.append((x, d.tick if clock is None else at, r))
        waiting.append((t + delays[t], t, d.id, r))
        for due in sorted(w for w in waiting if w[0] <= t):
            bandit.reward(due[2], due[3])
            waiting.remove(due)
    for due in sorted(waiting):
        bandit.reward(due[2], due[3])
    return history


def columns(bandit, rows, context=None):
    """φ and ψ of rows of features, by definition: products of numbers less their anchors."""
    model, tables = bandit._learner.model, (bandit._learner.items, bandit._learner.context)
    out = []
    for row in rows:
        z = []
        for table, scale, given in zip(tables, (model.items, model.context), (row, context or {}), strict=True):
            side = np.zeros(table.width)
            side[0] = 1.0
            for name, slot in table.numbers.items():
                if name in given:
                    side[slot] = given[name] - scale.anchor[slot]
                if name in table.presence:
                    side[table.presence[name]] = float(name in given)
            for name, value in given.items():
                if isinstance(value, str):
                    side[table.slot_of((name, value))] = 1.0
            z.append(side)
        phi = np.array([z[0][i] * z[1][c] for i, c in model.columns.pairs])
        out.append((phi, z[1][list(model.columns.own)]))
    return out


def oracle(bandit, probe, history, rate, m=0):
    """Mean and standard deviation of one item by memory m, from the history [(φ, ψ, item, r, tick)]."""
    state = bandit._learner.model.state
    voice = int(len(state.rate) > 1 and m == len(state.rate) - 1)
    r0 = state.numbers[R0]
    names = sorted({item for _, _, item, _, _ in history} | {probe[2]})
    seen = [naive.Seen(phi, psi, names.index(item), r - r0, 1.0, tick) for phi, psi, item, r, tick in history]
    prior = state.Lam[voice], state.Kap[voice]
    first = float(state.rate[LANES * (m // LANES)])  # cells are those of the first memory in its group
    cell = math.log(2.0) / first if first > 0.0 else math.inf
    mean, q, sigma2 = naive.forecast(*probe[:2], names.index(probe[2]), seen, len(names), *prior, rate, cell)
    return r0 + mean, math.sqrt(q * sigma2)


@pytest.mark.parametrize("half_life", [7.0, 60.0, "20s"])
def test_late_rewards_are_exact(half_life):
    clock = 1e9 + np.cumsum(np.random.default_rng(5).exponential(1.0, 120)) if isinstance(half_life, str) else None
    delays = np.random.default_rng(1).integers(0, 60, 120)
    estimates = []
    for late in (np.zeros(120, int), delays):
        bandit = db.Bandit(features="item", half_life=half_life, seed=0)
        history = play(bandit, np.random.default_rng(0), 120, late, clock)
        probe = {"a": 0.3, "b": 1.0}
        got = bandit.estimate({"only": probe})["only"]
        rate = math.log(2) / (20.0 if clock is not None else half_life)
        rows = columns(bandit, [x for x, _, _ in history])
        known = [(phi, psi, "only", r, tick) for (phi, psi), (_, tick, r) in zip(rows, history, strict=True)]
        expected = oracle(bandit, (*columns(bandit, [probe])[0], "only"), known, rate)
        assert got == pytest.approx(expected, rel=1e-8)
        estimates.append(got)
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-8)
    assert bandit.info()["late"] > 60


def test_sums_of_every_memory_are_exact_when_rewards_come_late():
    delays = np.random.default_rng(2).integers(0, 40, 100)
    states = []
    for late in (np.zeros(100, int), delays):
        bandit = db.Bandit(features="item", seed=0)
        history = play(bandit, np.random.default_rng(3), 100, late)
        states.append(bandit._learner.model.state)
    phi = np.array([phi for phi, _ in columns(bandit, [x for x, _, _ in history])])
    ticks = np.array([tick for _, tick, _ in history])
    for j, rate in enumerate(bandit._learner.rates):
        w = np.exp(-rate * (100 - ticks))
        want = phi.T @ (w[:, None] * phi)
        known = [sums_of(state) for state in states]
        assert known[1].V[j] == pytest.approx(want, rel=1e-9, abs=1e-9)
        assert known[1].own_S[0, j, 0] == pytest.approx(want[0], rel=1e-9, abs=1e-9)
        first = [state.numbers[R0] for state in states]  # around zero, not the first reward
        b = [sums.b[j] + r0 * sums.V[j, 0] for sums, r0 in zip(known, first, strict=True)]
        assert b[0] == pytest.approx(b[1], rel=1e-9, abs=1e-9)


@pytest.mark.compiled
def test_a_restarted_memory_weighs_late_rewards_as_the_one_it_came_from():
    rng = np.random.default_rng(0)
    ordered, late = (db.Bandit(features="item", seed=0) for _ in range(2))
    level = [0.0] * 300 + [50.0] * 60
    held = []
    for t, r in enumerate(level):
        noise = rng.normal()
        for bandit in (ordered, late):
            d = bandit.decide({"only": {"a": 1.0 + t % 3}})
            if bandit is late and t == 290:
                held.append((d.id, r + noise))
            else:
                bandit.reward(d.id, r + noise)
    assert ordered.drift_events()
    assert len(late.drift_events()) == len(ordered.drift_events())
    late.reward(*held[0])
    a, b = ordered._learner.model.state, late._learner.model.state
    same = a.cut == b.cut  # one more reward may refute a memory one decision earlier
    assert same.sum() >= len(same) - 1
    assert (a.cut[same] > 0).any()
    assert pytest.approx(sums_of(a).V[same], rel=1e-9, abs=1e-12) == sums_of(b).V[same]


def test_features_that_come_and_go_are_columns_as_if_they_had_always_been():
    """A number first missing after 30 rounds: the sums equal those of one that knew of its presence from the start."""
    rng = np.random.default_rng(0)
    rows = [{"a": rng.normal(), "p": rng.normal(), "kind": "xyz"[t % 3]} for t in range(60)]
    for row in rows[30::2]:
        del row["p"]
    for row in rows[40:]:
        row["late"] = rng.normal()
    bandit = db.Bandit(features="interact", half_life=1e9, seed=0)
    who = [{"age": rng.normal()} | ({"new": rng.normal()} if t > 45 else {}) for t in range(60)]
    for row, context in zip(rows, who, strict=True):
        bandit.reward(bandit.decide({"only": row}, context).id, rng.normal())
    assert sorted(bandit._learner.items.presence) == ["late", "p"]
    phi = np.array([columns(bandit, [row], context)[0][0] for row, context in zip(rows, who, strict=True)])
    assert sums_of(bandit._learner.model.state).V[0] == pytest.approx(phi.T @ phi, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("features", ["interact", "disjoint", "hybrid"])
def test_every_word_is_the_same_model_with_other_columns(features):
    """Shared and own columns, several items, several memories, with the prior the bandit has: against the dense regression."""
    rng = np.random.default_rng(4)
    bandit = db.Bandit(features=features, seed=0)
    history = []
    for t in range(70):
        row, context = {"x": rng.normal()}, {"c": rng.normal()}
        item = f"i{t % 3}"
        d = bandit.decide({item: row}, context)
        r = 1.0 + 0.5 * (t % 3) + row["x"] * context["c"] + 0.1 * rng.normal()
        bandit.reward(d.id, r)
        history.append((row, context, item, r, d.tick))
    known = [(*columns(bandit, [row], c)[0], item, r, tick) for row, c, item, r, tick in history]
    assert len(known[0][1]) == (1 if features == "interact" else 2)
    learner = bandit._learner
    assert not bandit.drift_events()
    for item in ("i1", "new"):
        phi, psi = columns(bandit, [{"x": 0.5}], {"c": 0.7})[0]
        placed = learner.place(learner.read([item], [{"x": 0.5}], {"c": 0.7}), 99, learn=False)
        table, _ = learner._look(placed, FORECAST)
        static = len(learner.rates) - 1
        mean, _ = oracle(bandit, (phi, psi, item), known, 0.0, static)
        assert table[2, 0] == pytest.approx(mean, rel=1e-7)  # the static voice
        use = int(learner.model.state.numbers[12])
        rate = float(learner.rates[use])
        _, sd = oracle(bandit, (phi, psi, item), known, rate, use)
        assert table[1, 0] == pytest.approx(sd, rel=1e-7)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_features_that_mislead_do_not_hurt(seed):
    """Prices 1, 2, 3 and rewards .2, .8, .2: no line through the prices tells the best item."""
    bandit = db.Bandit(reward="click", seed=seed)
    rng = np.random.default_rng(100 + seed)
    pays = {"low": 0.2, "mid": 0.8, "high": 0.2}
    items = {name: {"price": price} for name, price in zip(pays, (1.0, 2.0, 3.0), strict=True)}
    best = 0
    for _ in range(1500):
        d = bandit.decide(items)
        best += d.item == "mid"
        bandit.reward(d.id, float(rng.random() < pays[d.item]))
    assert best > 1400


@pytest.mark.compiled
def test_an_item_not_offered_keeps_what_it_knows_and_one_dropped_is_gone():
    bandit = db.Bandit(features="disjoint", seed=0)
    for _t in range(200):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, 5.0 if d.item == "a" else 1.0)
    before = bandit.estimate(["a", "b"])
    for _ in range(500):
        d = bandit.decide(["b"])
        bandit.reward(d.id, 1.0)
    after = bandit.estimate(["a", "b"])
    assert after["a"].mean == pytest.approx(before["a"].mean, abs=0.05)
    bandit.drop("a")
    assert abs(bandit.estimate(["a"])["a"].mean - 5.0) > 1.0
    assert bandit.info()["items"] == 1


def test_the_number_of_items_with_models_is_bounded():
    bandit = db.Bandit(features="disjoint", max_items=5, seed=0)
    for t in range(60):
        d = bandit.decide([f"i{t}", f"i{t + 1}"])
        bandit.reward(d.id, 1.0)
    assert bandit.info()["items"] == 5
    assert bandit.info()["evicted"] == 56
    assert bandit._learner.model.state.last.shape[0] == 5


def test_what_is_on_offer_or_awaits_a_reward_keeps_its_model():
    bandit = db.Bandit(max_items=3, seed=0)
    rng = np.random.default_rng(0)
    waiting = []
    for t in range(300):
        names = sorted({f"i{k}" for k in rng.integers(40, size=3)})
        d = bandit.decide(names)
        places = bandit._learner.places
        assert len({places.get(name) for name in names}) == len(names)  # no two items share a model
        waiting.append((d, float(d.item in ("i1", "i2"))))
        if t % 4 == 3:
            assert all(places.get(old.item) >= 0 for old, _ in waiting)
            for old, r in waiting:
                bandit.reward(old.id, r)
            waiting = []
    assert bandit.info()["items"] <= 3 + 4
    assert bandit.info()["evicted"] > 100


def test_more_items_on_offer_than_may_have_a_model_is_one_line():
    bandit = db.Bandit(max_items=3, seed=0)
    bandit.decide(["a", "b"])
    before = digest(bandit)
    with pytest.raises(db.DriftBanditsError, match="4 items are on offer; it must be ≤ 3, max_items") as problem:
        bandit.decide(["a", "b", "c", "d"])
    assert "\n" not in str(problem.value)
    assert digest(bandit) == before


def test_eviction_changes_no_estimate_of_others():
    rng = np.random.default_rng(0)
    bandit = db.Bandit(max_items=4, seed=0, half_life=50.0)
    items = {name: {"x": rng.normal(), "y": rng.normal()} for name in "abcd"}
    for _ in range(80):
        d = bandit.decide(items)
        bandit.reward(d.id, items[d.item]["x"] + ("abcd".index(d.item)) + 0.1 * rng.normal())
    before = bandit.estimate(items)
    gone = "d"  # the best item: it has been played, so it has an effect of its own
    bandit.drop(gone)
    after = bandit.estimate(items)
    for name in items:
        same = after[name].mean == pytest.approx(before[name].mean, rel=1e-9)
        assert same == (name != gone)


@pytest.mark.compiled
def test_a_jump_is_noticed_and_told():
    told = []
    bandit = db.Bandit(seed=0, on_drift=told.append)
    rng = np.random.default_rng(0)
    for t in range(900):
        d = bandit.decide(["a", "b"], at=float(t))
        good = "a" if t < 600 else "b"
        bandit.reward(d.id, float(d.item == good) + 0.1 * rng.normal())
    events = bandit.drift_events()
    assert told == events
    assert events
    assert all(600 <= e.at <= 700 for e in events)
    assert events[0].evidence > 7.0
    assert events[0].kind == "best item"
    assert 590 <= events[0].since <= 605  # an estimate: the change is at decision 601
    assert events[0].decision >= 601
    assert d.item == "b"
    assert bandit.info()["effective_memory"] < 400


@pytest.mark.compiled
def test_a_standing_world_is_left_in_peace():
    bandit = db.Bandit(seed=0)
    rng = np.random.default_rng(1)
    for _ in range(1500):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, float(d.item == "a") + rng.normal())
    assert bandit.drift_events() == []
    info = bandit.info()
    assert info["sigma"] == pytest.approx(1.0, abs=0.08)
    assert info["calibration"]["beyond_1"] == pytest.approx(0.317, abs=0.05)
    assert info["calibration"]["beyond_2"] == pytest.approx(0.046, abs=0.025)


def test_an_item_of_which_all_was_taken_back_can_be_loaded():
    bandit = db.Bandit(features="disjoint", half_life=7.0, on_repeat="replace", seed=0)
    ids = [bandit.decide([name], {"q": 0.1 * t}).id for t, name in enumerate("aabaabab")]
    for id_ in ids:
        bandit.reward(id_, 0.3)
    for id_ in ids:
        bandit.reward(id_, 0.3, weight=0.0)
        assert digest(from_bytes(to_bytes(bandit), "it")) == digest(bandit)


@pytest.mark.parametrize("features", ["disjoint", "hybrid"])
def test_the_heaviest_weight_that_is_allowed_leaves_estimates_finite(features):
    rng = np.random.default_rng(0)
    bandit = db.Bandit(features=features, seed=0)
    for t in range(40):
        d = bandit.decide({name: {"x": rng.normal()} for name in "abc"}, {"q": rng.normal(), "z": rng.normal()})
        assert np.isfinite(list(d.propensities.values())).all()
        bandit.reward(d.id, float(rng.normal()), weight=1e4 if t % 5 == 0 else 1.0)
    told = bandit.estimate({"a": {"x": 1.0}}, {"q": 0.0, "z": 1.0})
    assert np.isfinite(told["a"].mean)
    with pytest.raises(db.errors.InvalidValue, match="weight = 100000"):
        bandit.reward(bandit.decide(["a"]).id, 1.0, weight=1e5)


def test_estimates_stay_finite_when_a_heavy_reward_of_a_nearly_constant_number_is_replaced():
    """Its number was taken for a constant when it was learned, and for none when it was taken back: a sum of squares is below 0."""
    bandit, x = db.Bandit(seed=0, on_repeat="replace"), 1e9
    first = bandit.decide({"a": {"x": x + 0.616}, "b": {"x": x + 1.337}}, show="b")
    bandit.reward(first.id, 0.16, weight=1e4)
    second = bandit.decide({"a": {"x": x + 2.458}, "b": {"x": x - 1.098}}, show="b")
    bandit.reward(second.id, 0.14)
    bandit.reward(first.id, -0.68, weight=1)
    for estimate in bandit.estimate({"a": {"x": x}, "b": {"x": x}}).values():
        assert math.isfinite(estimate.mean)
        assert math.isfinite(estimate.sd)


@pytest.mark.parametrize("late", [False, True])
def test_a_nearly_constant_number_is_taken_back_as_it_was_learned(late):
    """B + .5 is B at nine digits, and still is when numbers have varied: a late or replaced reward leaves the sums of a timely one."""
    B = 1e9

    def played(*, timely):
        bandit = db.Bandit(seed=0, on_repeat="replace")
        first = bandit.decide({"a": {"x": B}, "b": {"x": B + 0.5}}, show="b")
        if timely or not late:
            bandit.reward(first.id, 1.0 if timely else 5.0, weight=3)
        for t in range(20):
            d = bandit.decide({"a": {"x": B + 100.0 * t}, "b": {"x": B - 70.0 * t}}, show="ab"[t % 2])
            bandit.reward(d.id, float(t % 3))
        if not timely:
            bandit.reward(first.id, 1.0, weight=3)
        return bandit._learner.model.state

    sums, expected = played(timely=False), played(timely=True)
    for name in ("V", "own_M", "own_S"):
        got, want = getattr(sums, name), getattr(expected, name)
        assert np.abs(got - want).max() <= 1e-12 * np.abs(want).max()


@pytest.mark.compiled
def test_a_bandit_of_so_many_items_that_no_memory_that_forgets_takes_part_can_be_copied():
    bandit, names = db.Bandit(seed=0), [f"i{j}" for j in range(513)]
    for s in range(12):
        d = bandit.decide(names, show=names[s % 3])
        bandit.reward(d.id, float(s % 2))
    assert digest(copy.deepcopy(bandit)) == digest(bandit)


def test_after_nothing_but_zeros_every_amount_is_allowed():
    bandit = db.Bandit(reward="amount", seed=0)
    for _ in range(50):
        bandit.reward(bandit.decide(["a", "b"]).id, 0.0)
    bandit.reward(bandit.decide(["a", "b"]).id, 2e9)
    assert bandit.info()["rewards"] == 51


def test_a_reward_that_would_leave_no_digits_of_the_others_is_refused():
    """10²⁰ in place of 2, corrected at once, had left an estimate of .66 ± 10⁹."""
    bandit = db.Bandit(seed=0, on_repeat="replace")
    for t in range(40):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, 2.0 + t % 2)
    before = digest(bandit)
    with pytest.raises(db.errors.InvalidValue, match=r"reward = 1e\+20 is not allowed; beyond ± .* check its unit"):
        bandit.reward(bandit.decide(["a", "b"]).id, 1e20)
    with pytest.raises(db.errors.InvalidValue, match="check its unit"):
        bandit.observe("a", reward=-1e20)
    assert digest(bandit) != before  # the decision was made …
    bandit.reward(d.id, 1e8)  # … and large rewards are
    bandit.reward(d.id, 2.0)
    assert bandit.estimate(["a"])["a"].mean == pytest.approx(2.5, abs=0.5)


def test_items_that_come_together_get_as_many_places_as_they_are():
    """Each place has matrices of its own: ten items had sixteen of them."""
    bandit = db.Bandit()
    bandit.decide([f"i{k}" for k in range(10)])
    assert len(bandit._learner.model.when) == 10
    for k in range(10, 40):
        bandit.decide(["i0", f"i{k}"])
    assert 40 <= len(bandit._learner.model.when) <= 50
