"""`Bandit.value`: the sums of its decisions, however rewards arrive and wherever the bandit is kept."""

import copy
import json
import math

import numpy as np
import pytest
from naive import policy_value as naive

import driftbandits as db
from driftbandits.bandit import ledger_files
from driftbandits.bandit.ledger import BATCH, MOST, Entry, Law, Ledger, machine
from driftbandits.bandit.policy_sums import ACTING
from driftbandits.inference import outcomes
from driftbandits.inference import policy_value as pv
from driftbandits.inference.policy_value import EARLY

pytestmark = pytest.mark.xdist_group("bandit")
RATES = {"a": 0.2, "b": 0.7, "c": 0.4}
START = 1.7e9


def play(bandit, rounds, *, rng, offer=("c", "a", "b"), reward=True, start=0):
    made = []
    for t in range(start, start + rounds):
        d = bandit.decide(list(offer), at=START + 600 * t)
        made.append((d, float(rng.random() < RATES[d.item])))
        if reward:
            bandit.reward(d.id, made[-1][1])
    return made


def expected(made, against, weight, alpha=0.05, early=None):
    """By the oracle, of the decisions after the first ones, whose rewards say how rare they are."""
    first, counted = (made[:EARLY], made[EARLY:]) if early is None else (early, made)
    rate = (sum(r for _, r in first) + 0.5) / (len(first) + 1.0)
    rows = []
    for d, r in counted:
        names = [*d.propensities]
        pi = [1 / len(names)] * len(names) if against == "random" else [float(n == against) for n in names]
        rows.append(([*d.propensities.values()], [*d.scores.values()], names.index(d.item), r, pi))
    return naive.value(rows, weight=weight, alpha=alpha, rate=rate)


def close(v, oracle):
    for interval, mean_and_bounds in zip((v.own, v.other, v.lift), oracle, strict=True):
        assert interval[:3] == pytest.approx(mean_and_bounds, abs=1e-7)


def test_values_are_those_of_the_log():
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    made = play(bandit, BATCH + 40, rng=np.random.default_rng(0))
    close(bandit.value("random"), expected(made, "random", pv.usual_weight(1, 0.3)))
    for against in ("first", "c"):  # "c" was listed first
        close(bandit.value(against), expected(made, "c", pv.usual_weight(3, 0.3)))
    close(bandit.value("b", alpha=0.2), expected(made, "b", pv.usual_weight(3, 0.3), alpha=0.2))
    assert bandit.value("b").own.n == BATCH + 40 - EARLY


def test_late_replaced_and_missing_rewards():
    """The value is that of the rewards that are known now, in whatever order they came."""
    rng = np.random.default_rng(1)
    bandit = db.Bandit(reward="click", explore=0.3, seed=0, on_repeat="replace")
    early = play(bandit, EARLY, rng=rng)
    made = play(bandit, 60, rng=rng, reward=False, start=EARLY)
    final = {}
    for place in rng.permutation(60)[:50]:
        d, r = made[place]
        bandit.reward(d.id, 1.0 - r)
        bandit.reward(d.id, r)
        final[place] = r
    kept = [made[p] for p in final]
    close(bandit.value("random"), expected(kept, "random", pv.usual_weight(1, 0.3), early=early))
    before = bandit.value("random")
    bandit.reward(early[0][0].id, 1.0 - early[0][1])  # the stakes are placed: nothing changes them
    assert bandit.value("random") == before
    assert bandit.value().own.n == 50
    bandit.expire(0, reward=0)
    assert bandit.value().own.n == 60


def test_an_item_counts_where_it_was_on_offer():
    bandit = db.Bandit(reward="click", explore=0.5, seed=0)
    rng = np.random.default_rng(2)
    play(bandit, EARLY + 20, rng=rng)
    made = play(bandit, 30, rng=rng, offer=("a", "b"), start=EARLY + 20)
    v = bandit.value("c")
    assert (v.own.n, v.other.n, v.lift.n) == (20, 20, 20)
    assert bandit.value("a").own.n == 50
    assert made


def test_values_survive_save_load_open_and_follow(tmp_path):
    rng = np.random.default_rng(3)
    with db.Bandit.open(tmp_path / "log.db", reward="click", explore=0.3, seed=0) as bandit:
        play(bandit, EARLY + 40, rng=rng)
        pending = play(bandit, 3, rng=rng, reward=False, start=EARLY + 40)
        bandit.save(tmp_path / "saved")
        loaded = db.Bandit.load(tmp_path / "saved")
        assert loaded.value("first") == bandit.value("first")
        for b in (bandit, loaded):
            b.reward(pending[0][0].id, 1)
        assert loaded.value("first") == bandit.value("first")
        value, items = bandit.value("first"), bandit.value("b")
        assert value.own.n == 41
    with db.Bandit.open(tmp_path / "log.db") as again:
        assert (again.value("first"), again.value("b")) == (value, items)
        with db.Bandit.follow(tmp_path / "log.db") as follower:
            assert follower.value("first") == value
            d = follower.decide(["c", "a", "b"])
            follower.reward(d.id, 1)
        assert again.value("first").own.n == 42


def test_a_log_learned_again_gives_the_same_bits(tmp_path):
    """Sums do not depend on where snapshots were taken: the process may die at any time."""
    rng = np.random.default_rng(4)
    bandit = db.Bandit.open(tmp_path / "log.db", reward="click", explore=0.3, seed=0)
    play(bandit, 30, rng=rng)
    bandit.value("random")  # adds what waits
    play(bandit, 45, rng=rng, start=30)
    bandit.backup(tmp_path / "copy.db")
    before = ledger_files.pack(bandit._ledger)
    bandit.close()
    with db.Bandit.open(tmp_path / "copy.db") as again:
        after = ledger_files.pack(again._ledger)
    assert after[0] == before[0]
    assert after[1].tobytes() == before[1].tobytes()


def test_windows_are_the_last_day_and_week():
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    rng = np.random.default_rng(5)
    play(bandit, EARLY + 50, rng=rng)
    play(bandit, 10, rng=rng, start=6 * 144)  # six days later
    v = bandit.value("random")
    assert (v.own.n, v.windows["day"].own.n, v.windows["week"].own.n) == (60, 10, 60)
    assert (v.valid, v.windows["day"].valid) == ("always", "once")
    play(bandit, 1, rng=rng, start=30 * 144)
    v = bandit.value("random")
    assert (v.own.n, v.windows["day"].own.n, v.windows["week"].own.n) == (61, 1, 1)


def test_rewards_without_a_range_have_asymptotic_bounds():
    bandit = db.Bandit(explore=0.3, seed=0)
    rng = np.random.default_rng(6)
    play(bandit, 60, rng=rng)
    v = bandit.value("random")
    assert v.lift.effective_n < 30 < v.lift.n  # a few large weights are most of the sum: it says nothing yet
    assert (v.lift.lower, v.other.upper) == (-math.inf, math.inf)
    play(bandit, 240, rng=rng, start=60)
    v = bandit.value("random")
    assert math.isfinite(v.own.lower)
    assert not v.lift.finite
    assert math.isfinite(v.lift.lower)
    assert "asymptotically" in v.sentence
    assert json.loads(json.dumps(v.to_dict()))["lift"]["n"] == 300


def test_what_is_not_known_is_refused_in_one_line():
    bandit = db.Bandit(reward="click", seed=0)
    v = bandit.value()
    assert (v.own.n, v.own.lower, v.own.upper) == (0, 0.0, 1.0)
    assert "has come yet" in v.sentence
    with pytest.raises(db.errors.InvalidValue, match="'nobody' is not known"):
        bandit.value("nobody")
    for alpha in (1.5, 1.0, 0.0, 5e-324, math.nan):  # half of 5e-324 is 0
        with pytest.raises(db.errors.InvalidValue, match="alpha"):
            bandit.value(alpha=alpha)
    assert bandit.value(alpha=1e-300).own.upper == 1.0


def test_the_first_decisions_do_not_count_but_items_are_known():
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    bandit.challenge("static", half_life=math.inf)
    assert bandit.value("static").own.n == 0
    play(bandit, EARLY, rng=np.random.default_rng(7))
    assert (bandit.value("b").own.n, bandit.value("static").own.n) == (0, 0)
    assert "after the first 50" in bandit.value().sentence
    play(bandit, 3, rng=np.random.default_rng(8), start=EARLY)
    assert (bandit.value("b").own.n, bandit.value("static").own.n) == (3, 3)


def test_after_a_log_was_learned_the_forecast_says_how_rare_clicks_are():
    """No decision is early then, and none is lost."""
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    for t in range(100):
        bandit.observe("a", reward=float(t % 50 == 0))
    d = bandit.decide(["a", "b"])
    bandit.reward(d.id, 0)
    assert bandit.value().own.n == 1
    forecast = sum(p * min(max(f, 0.0), 1.0) for p, f in zip(d.propensities.values(), d.scores.values(), strict=True))
    assert bandit._ledger.books.early.rate == pytest.approx((EARLY * forecast + 0.5) / (EARLY + 1.0))
    assert bandit._ledger.books.early.rate < 0.1


def test_sums_that_were_bet_otherwise_are_begun_anew():
    """Files of an earlier version have no sizes: their sums were kept otherwise, and would be misread."""
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    play(bandit, EARLY + 10, rng=np.random.default_rng(9))
    about, flat = ledger_files.pack(bandit._ledger)
    fresh = Ledger(bounded=True, explore=0.3)
    ledger_files.unpack(fresh, {key: x for key, x in about.items() if key != "sizes"}, flat)
    assert fresh.of_policy("random")[pv.N] == 0.0
    ledger_files.unpack(fresh, about, flat)
    assert fresh.of_policy("random")[pv.N] == 10.0
    for wrong in ({"rate": 1.5}, {"rate": math.nan}, {"early": [3.0, 4.0]}):
        with pytest.raises(db.errors.InvalidValue, match="no clicks give these"):
            ledger_files.unpack(fresh, {**about, **wrong}, flat)
    for wrong in (math.nan, math.inf):
        with pytest.raises(db.errors.InvalidValue, match="must be finite"):
            ledger_files.unpack(fresh, {**about, "newest": wrong}, flat)


def test_sums_of_amounts_of_an_earlier_version_are_begun_anew():
    """They had no fourth powers and no payments, without which nothing can be said."""
    bandit = db.Bandit(reward="amount", explore=0.3, seed=0)
    play(bandit, 40, rng=np.random.default_rng(9))
    about, flat = ledger_files.pack(bandit._ledger)
    fresh = Ledger(bounded=False, explore=0.3)
    older = flat.reshape(-1, outcomes.UNBOUNDED)[:, :9].ravel()
    ledger_files.unpack(fresh, {key: x for key, x in about.items() if key != "columns"}, older)
    ledger_files.unpack(fresh, {key: x for key, x in about.items() if key != "mass"}, flat)
    assert fresh.of_policy("random")[pv.N] == 0.0
    ledger_files.unpack(fresh, about, flat)
    assert fresh.of_policy("random")[pv.N] == 40.0
    for column, told in ((outcomes.W_PAID, "no propensities give"), (outcomes.N, "more than any bandit can have made")):
        forged = flat.reshape(-1, outcomes.UNBOUNDED).copy()
        forged[:, column] = 1e200
        with pytest.raises(db.errors.InvalidValue, match=told):
            ledger_files.unpack(fresh, about, forged.ravel())
    with pytest.raises(db.errors.InvalidValue, match="how often policy"):
        ledger_files.unpack(fresh, {**about, "mass": [{"random": [1.0]}] * len(about["sizes"])}, flat)


def test_what_amounts_earn_is_never_below_zero():
    """Asymptotic bounds know no range, but a mean of amounts has one."""
    bandit = db.Bandit(reward="amount", explore=0.5, seed=0)
    for t in range(300):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, 500.0 if t == 150 else 1.0)
    v = bandit.value("first")
    assert v.own.lower == 0.0
    assert v.own.upper > 5.0
    assert v.lift.lower < 0.0 < v.lift.upper


def test_an_item_that_was_never_paid_for_says_nothing_of_a_policy_that_shows_it():
    """Stickers that are bought all day say nothing of a sofa: bounds came after 20 stickers, and said "more" where it was less."""
    bandit, rng = db.Bandit(reward="amount", explore=0.1, seed=0), np.random.default_rng(0)
    for _ in range(300):
        d = bandit.decide(["sticker", "sofa"])
        bandit.reward(d.id, 2.0 * float(d.item == "sticker" and rng.random() < 0.5))
    v = bandit.value("random")
    assert v.other.effective_n > 30.0
    assert (v.other.lower, v.other.upper) == (v.lift.lower, v.lift.upper) == (-math.inf, math.inf)
    share = bandit._ledger.unknown("random")
    assert share == pytest.approx(0.5)
    assert bandit._ledger.unknown(ACTING) == pytest.approx(
        1.0 - bandit._ledger.of_item("sticker")[pv.N] / 300.0, abs=0.2
    )
    while bandit._ledger.unknown("random"):
        d = bandit.decide(["sticker", "sofa"])
        bandit.reward(d.id, 300.0 if d.item == "sofa" else 2.0)
    again = copy.deepcopy(bandit)
    assert bandit._ledger.unknown("random") == again._ledger.unknown("random") == 0.0


def test_two_policies_that_hardly_differ_are_compared_by_the_bounds_of_both():
    bandit, rng = db.Bandit(reward="amount", explore=0.002, seed=0), np.random.default_rng(1)
    bandit.challenge("static", half_life=math.inf)
    for _ in range(1500):
        d = bandit.decide(["a", "b"])
        bandit.reward(d.id, float(rng.exponential(2.0 if d.item == "a" else 0.5)))
    v = bandit.value("static")
    assert v.lift.upper - v.lift.lower < 2.0
    assert v.lift.lower < 0.0 < v.lift.upper


def test_a_challenger_that_was_suspended_at_once_has_no_value():
    bandit = db.Bandit(reward="click", seed=0)
    bandit.challenge("bad", lambda items, context: {"zzz": 1.0})
    play(bandit, 60, rng=np.random.default_rng(3))
    with pytest.raises(
        db.errors.InvalidState, match=r"challenger 'bad' was suspended .* nothing is known of its value"
    ):
        bandit.value("bad")


def test_a_challenge_that_has_ended_is_not_valued_any_more():
    """Rewards of decisions made during the challenge come later, and would begin its sums again."""
    bandit = db.Bandit(reward="click", explore=0.5, seed=0)
    bandit.challenge("fast", half_life=20)
    play(bandit, 60, rng=np.random.default_rng(3))
    late = [bandit.decide(["a", "b"]) for _ in range(300)]
    bandit.promote("fast")
    for d in late:
        bandit.reward(d.id, 1.0)
    assert bandit.info()["challengers"] == {}
    with pytest.raises(db.errors.InvalidValue, match="'fast' is not known"):
        bandit.value("fast")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_challenger_does_not_inherit_the_decisions_of_another_of_its_name(replaced):
    bandit = db.Bandit(reward="amount", explore=0.5, seed=0, on_repeat="replace")
    bandit.challenge("c", lambda items, context: {"a": 1.0})
    made = [bandit.decide(["a", "b"]) for _ in range(100)]
    for d in made if replaced else ():
        bandit.reward(d.id, 10.0 if d.item == "a" else 1.0)
    bandit.drop_challenger("c")
    bandit.challenge("c", lambda items, context: {"b": 1.0})
    for d in made:
        bandit.reward(d.id, 3.0)
    assert bandit.value("c").own.n == 0
    for _ in range(40):
        bandit.reward(bandit.decide(["a", "b"]).id, 1.0)
    v = bandit.value("c")
    assert (v.own.n, v.own.mean) == (40, 1.0)


def test_a_function_that_is_given_again_before_any_reward_has_come_is_valued_by_all(tmp_path):
    bandit = db.Bandit(reward="amount", explore=0.5, seed=0)
    bandit.challenge("c", lambda items, context: {"a": 1.0})
    made = [bandit.decide(["a", "b"]) for _ in range(60)]
    bandit.save(tmp_path / "b")
    again = db.Bandit.load(tmp_path / "b")
    for d in made[:30]:
        again.reward(d.id, 1.0)
    again.challenge("c", lambda items, context: {"a": 1.0})
    for d in made[30:]:
        again.reward(d.id, 1.0)
    assert again.value("c").own.n == 60


def test_more_items_than_have_sums_are_judged_by_those_that_have(monkeypatch):
    monkeypatch.setattr("driftbandits.bandit.ledger.ITEMS", 2)
    bandit = db.Bandit(explore=1.0, seed=0)
    for _ in range(60):
        bandit.reward(bandit.decide(["a", "b", "c"]).id, 5.0)
    assert bandit._ledger.unknown("random") == pytest.approx(0.0, abs=1e-12)


def test_of_a_ranking_the_first_place_counts():
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    made = []
    for _ in range(EARLY + 20):
        d = bandit.decide(["a", "b", "c"], k=2)
        r = {item: float(item == "b") for item in d.items}
        bandit.reward(d.id, r)
        made.append((d, r[d.item]))
    close(bandit.value("random"), expected(made, "random", pv.usual_weight(1, 0.3)))


class Compiling:
    """Code that is not compiled yet, and must not be called before it has to be."""

    compiling = True

    def __init__(self):
        self.calls = []

    def count(self, batch, *args):
        self.calls.append(len(batch.r))
        return machine().count(batch, *args)


def test_code_is_compiled_from_the_start_and_rewards_wait_for_it(monkeypatch):
    """Interpreted, 256 rewards take about 60 ms: one reward in 256 would."""
    machine.cache_clear()
    ledger, ready = Ledger(bounded=True, explore=0.1), Ledger(bounded=True, explore=0.1)
    assert machine.cache_info().currsize == 1
    slow, law = Compiling(), Law(["a", "b"], np.array([0.5, 0.5]), np.array([0.2, 0.3]), 0, 0)
    for t in range(MOST + 10):
        ready.add(law, float(t % 3 == 0), float(t))
    for module in ("ledger", "policy_sums"):
        monkeypatch.setattr(f"driftbandits.bandit.{module}.machine", lambda: slow)
    for t in range(MOST - 1):
        ledger.add(law, float(t % 3 == 0), float(t))
    assert (slow.calls, len(ledger.waiting)) == ([], MOST - 1)
    ledger.add_many([Entry(law, float(t % 3 == 0), float(t), 1.0) for t in range(MOST - 1, MOST + 10)])
    assert slow.calls == [MOST]
    assert np.array_equal(ledger_files.pack(ledger)[1], ledger_files.pack(ready)[1])


def test_rewards_counted_together_are_added_in_the_batches_of_one_by_one():
    rng = np.random.default_rng(2)
    laws = [
        Law(["a", "b"], np.array([p, 1.0 - p]), rng.normal(size=2), int(rng.integers(2)), 0)
        for p in rng.uniform(0.1, 0.9, 600)
    ]
    entries = [Entry(law, float(rng.integers(2)), float(t), 1.0) for t, law in enumerate(laws)]
    one_by_one, together = Ledger(bounded=True, explore=0.1), Ledger(bounded=True, explore=0.1)
    for entry in entries:
        one_by_one.add(entry.law, entry.r, entry.at)
    together.add_many(entries[:100])
    together.add_many(entries[100:])
    assert len(together.waiting) == len(one_by_one.waiting) == 600 % BATCH
    for ledger in (one_by_one, together):
        ledger.flush()
    assert np.array_equal(ledger_files.pack(one_by_one)[1], ledger_files.pack(together)[1])


def test_a_huge_reward_that_is_replaced_leaves_nothing_behind():
    """The sums are those of a ledger that never heard of it: 1e20 + x − 1e20 would forget x."""
    rng = np.random.default_rng(3)
    ledger, never = (Ledger(bounded=False, explore=0.1) for _ in range(2))
    for t in range(300):
        p = float(rng.uniform(0.2, 0.8))
        law = Law(["a", "b"], np.array([p, 1.0 - p]), rng.normal(size=2), int(rng.integers(2)), 0)
        r = float(rng.normal())
        if t == 150:
            ledger.add(law, 1e20, 1.7e9 + t)
            assert ledger.of_policy("random")[pv.OWN] == pytest.approx(1e20)
            ledger.add(law, 1e20, 1.7e9 + t, sign=-1.0)
        for each in (ledger, never):
            each.add(law, r, 1.7e9 + t)
    for sums in (lambda x: x.of_policy("first"), lambda x: x.of_item("b"), lambda x: x.window("random", "day", 1.7e9)):
        assert np.array_equal(sums(ledger), sums(never))
    assert sorted(ledger.books.sums) == sorted(never.books.sums)
    about, flat = ledger_files.pack(ledger)
    again = Ledger(bounded=False, explore=0.1)
    ledger_files.unpack(again, json.loads(json.dumps(about)), flat)
    assert np.array_equal(again.of_policy("first"), never.of_policy("first"))


def test_a_huge_reward_that_is_replaced_does_not_move_the_value():
    rng = np.random.default_rng(4)
    bandit, truth = db.Bandit(seed=0, explore=0.2, on_repeat="replace"), []
    for t in range(300):
        d = bandit.decide(["a", "b"])
        truth.append(float(rng.normal() + (d.item == "a")))
        if t == 299:
            bandit.reward(d.id, 1e9)
            assert bandit.value().own.mean > 1e6
        bandit.reward(d.id, truth[-1])
    own = bandit.value().own
    assert own.mean == pytest.approx(np.mean(truth), abs=1e-12)
    assert own.lower < np.mean(truth) < own.upper < np.mean(truth) + 1.0


def test_sums_of_rewards_of_all_sizes_are_those_of_one_sum():
    rng = np.random.default_rng(5)
    ledger, rewards = Ledger(bounded=False, explore=0.1), 10.0 ** rng.uniform(-9.0, 9.0, 400)
    rewards[::7] = 0.0
    law = Law(["a", "b"], np.array([0.5, 0.5]), np.zeros(2), 0, 0)
    ledger.add_many([Entry(law, float(r), float(t), 1.0) for t, r in enumerate(rewards)])
    assert len(ledger.books.sums if ledger.flush() is None else ()) > 5
    assert ledger.of_policy("random")[pv.OWN] == pytest.approx(rewards.sum(), rel=1e-14)
    assert ledger.of_item("a")[outcomes.PHI] == pytest.approx(2.0 * rewards.sum(), rel=1e-14)
    assert ledger.of_item("a")[pv.N] == 400.0


def test_items_may_be_called_like_policies():
    """ "random" and "first" are policies and challengers come before items; `item=` can only be an item."""
    bandit = db.Bandit(reward="click", explore=0.5, seed=0)
    bandit.challenge("rule", lambda items, context: {"first": 1.0})
    for _ in range(EARLY + 60):
        d = bandit.decide(["first", "random", "rule"])
        bandit.reward(d.id, d.item == "random")
    for name in ("random", "first", "rule"):
        policy, item = bandit.value(name), bandit.value(item=name)
        assert (policy.kind, item.kind) == ("challenger" if name == "rule" else "policy", "item")
        assert item.against == name
        assert f"always showing {name!r}" in item.sentence
        assert item.other.mean == pytest.approx(float(name == "random"), abs=0.5)
        assert f"always showing {name!r}" not in policy.sentence
    assert bandit.value(item="random").other.mean > bandit.value("random").other.mean + 0.5
    with pytest.raises(db.errors.InvalidValue, match="item = 'x' is not known; it must be an item that was on offer"):
        bandit.value(item="x")
    with pytest.raises(db.errors.InvalidValue, match="are two comparisons; give one of them"):
        bandit.value("first", item="random")
