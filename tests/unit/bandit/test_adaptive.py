"""The default learner against its oracle: late rewards, blocks, pools, changing coordinates."""

import math

import numpy as np
import pytest
from naive import bandit as naive

import driftbandits as db
from driftbandits.bandit.sums import LAM, R0

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


def columns(bandit, x):
    """φ of one item's two numbers, in the coordinates in use."""
    table, scale = bandit._learner.items, bandit._learner.scales[0]
    z = {name: (x[name] - scale.mu[slot]) * scale.inv[slot] for name, slot in table.numbers.items()}
    return np.array([1.0] + [z[name] for name in sorted(table.numbers)])


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
        phi = [columns(bandit, x) for x, _, _ in history]
        ticks = [tick for _, tick, _ in history]
        rate = math.log(2) / (20.0 if clock is not None else half_life)
        w = naive.weights(ticks, max(ticks), rate)
        rewards = [r for _, _, r in history]
        expected = naive.forecast(columns(bandit, probe), phi, rewards, w, bandit._learner.bank.misc[LAM])
        assert got == pytest.approx(expected, rel=1e-9)
        estimates.append(got)
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-9)
    assert bandit.info()["late"] > 60


def test_every_memory_of_the_bank_is_exact_when_rewards_come_late():
    delays = np.random.default_rng(2).integers(0, 40, 100)
    banks = []
    for late in (np.zeros(100, int), delays):
        bandit = db.Bandit(features="item", seed=0)
        history = play(bandit, np.random.default_rng(3), 100, late)
        banks.append(bandit._learner.bank)
    phi = np.array([columns(bandit, x) for x, _, _ in history])
    for j, rate in enumerate(bandit._learner.rates):
        w = naive.weights([tick for _, tick, _ in history], 100, rate)
        assert banks[1].V[j, 0] == pytest.approx(phi.T @ (w[:, None] * phi), rel=1e-9, abs=1e-9)
        b = [
            bank.b[j, 0] + bank.misc[R0] * bank.V[j, 0, 0] for bank in banks
        ]  # around zero, not around the first reward
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
    a, b = ordered._learner.bank, late._learner.bank
    assert (a.cut > 0).any()
    assert pytest.approx(a.V, rel=1e-9, abs=1e-12) == b.V


def test_moving_coordinates_changes_no_forecast():
    rng = np.random.default_rng(0)
    bandit = db.Bandit(features="interact", half_life=50.0, seed=0)
    for t in range(60):
        item = {"a": rng.normal(), "kind": "xy"[t % 2]} | ({} if t % 5 == 0 else {"p": rng.normal() + 3})
        d = bandit.decide({"only": item}, {"c": rng.normal()})
        bandit.reward(d.id, rng.normal())
    learner = bandit._learner
    offer = learner.read(["only"], [{"a": 0.3, "kind": "x"}], {"c": 0.7})
    before_V = learner.bank.V.copy()
    learner.bank.misc[LAM] = 1.0
    learner.scales[0].mean[:] += 0.5 * (learner.scales[0].kind == 1)
    learner.scales[1].M2[:] *= 4.0
    sides = []
    for table, scale in zip((learner.items, learner.context), learner.scales, strict=True):
        there = {table.numbers[name]: slot for name, slot in table.presence.items()}
        sides.append((*naive.coordinates(scale)[2:], there))
    columns = learner.columns
    T = naive.transformation([*zip(columns.item.tolist(), columns.context.tolist(), strict=True)], *sides)
    assert (T != 0.0).sum(1).max() == 4  # a number that is sometimes missing, times a number of the context
    phi = phi_of(learner, offer)
    learner._move()
    assert not np.allclose(before_V, learner.bank.V)
    assert phi_of(learner, offer) == pytest.approx(T @ phi, abs=1e-12)
    assert pytest.approx(T @ before_V @ T.T, rel=1e-9, abs=1e-9) == learner.bank.V


def phi_of(learner, offer):
    learner.score(learner.place(offer, 1, learn=False))
    return learner.work.phi.copy()


def test_features_that_come_and_go_are_columns_as_if_they_had_always_been():
    """A number first missing after 30 rounds: the model equals one that knew of its presence from the start."""
    rng = np.random.default_rng(0)
    rows = [{"a": rng.normal(), "p": rng.normal()} for _ in range(60)]
    for row in rows[30::2]:
        del row["p"]
    for row in rows[40:]:
        row["late"] = rng.normal()
    bandit = db.Bandit(features="item", half_life=1e9, seed=0)
    for row in rows:
        bandit.reward(bandit.decide({"only": row}).id, rng.normal())
    learner = bandit._learner
    table = learner.items
    assert sorted(table.presence) == ["late", "p"]
    phi = np.array([phi_of(learner, learner.read(["only"], [row], None)) for row in rows])
    assert learner.bank.V[0, 0] == pytest.approx(phi.T @ phi, rel=1e-6, abs=1e-6)


def test_hybrid_is_a_prior_from_the_pool():
    rng = np.random.default_rng(0)
    bandit = db.Bandit(features="hybrid", half_life=1e9, seed=0)
    data = []
    for t in range(90):
        item, x = f"i{t % 3}", rng.normal()
        d = bandit.decide([item], {"x": x})
        r = 1.0 + x * (1.0 + 0.2 * (t % 3)) + 0.1 * rng.normal()
        bandit.reward(d.id, r)
        data.append((item, x, r))
    learner = bandit._learner
    lam, scale = learner.bank.misc[LAM], learner.scales[1]
    z = lambda x: np.array([1.0, (x - scale.mu[1]) * scale.inv[1]])  # noqa: E731
    phi, r = np.array([z(x) for _, x, _ in data]), np.array([r for _, _, r in data])
    mean, pool, _, _ = naive.ridge(phi, r, np.ones(len(r)), lam)
    mine = np.array([item == "i1" for item, _, _ in data])
    A = phi[mine].T @ phi[mine] + np.diag([1.0, lam])
    theta = np.linalg.solve(A, phi[mine].T @ (r[mine] - mean) + np.diag([1.0, lam]) @ pool)
    got = bandit.estimate(["i1", "new"], {"x": 0.5})
    assert got["i1"].mean == pytest.approx(mean + z(0.5) @ theta, rel=1e-9)
    assert got["new"].mean == pytest.approx(mean + z(0.5) @ pool, rel=1e-9)  # a cold item starts from the pool
    assert got["new"].sd > got["i1"].sd


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
    assert bandit._learner.bank.last.shape[0] == 6


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
    assert events[0].memory_before > 500 > 50 > events[0].memory_after
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
