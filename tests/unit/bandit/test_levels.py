"""Categories of many levels in `Bandit`: what users see of them."""

import copy

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.bandit.features import MARK, OWN_SLOTS
from driftbandits.bandit.saving import digest
from driftbandits.errors import DriftBanditsError

pytestmark = pytest.mark.xdist_group("bandit")
ITEMS = ["a", "b", "c", "d"]


def shop(bandit, rounds, users=60, seed=0, late=0, on=None):
    """Users who each like one item; the share of decisions after half the rounds that showed it."""
    rng, open_, hits = np.random.default_rng(seed), [], []
    likes = rng.integers(len(ITEMS), size=users)
    for t in range(rounds):
        u = int(rng.integers(users))
        d = bandit.decide(ITEMS if on is None else on, {"user": f"user {u}", "hour": float(t % 24)})
        hits.append(d.item == ITEMS[likes[u]])
        open_.append((d.id, float(rng.random() < (0.8 if hits[-1] else 0.1))))
        while len(open_) > late:
            bandit.reward(*open_.pop(0))
    return float(np.mean(hits[rounds // 2 :]))


def learned(bandit):
    """The number of cells."""
    return int(bandit._learner.model.cells.used[0])


def test_tastes_of_users_without_columns_are_learned():
    bandit = db.Bandit(reward="click", seed=0)
    assert shop(bandit, 4000, users=100) > 0.75
    assert learned(bandit) > 200
    assert len(bandit._learner.model.columns.own) <= OWN_SLOTS + 3


def test_levels_that_mean_nothing_do_no_harm():
    """Against the same shop without them: paired seeds, the difference within its error or below 2 %."""
    gaps = []
    for seed in range(4):
        earned = []
        for named in (True, False):
            rng, bandit, total = np.random.default_rng(seed), db.Bandit(reward="click", seed=seed), 0.0
            for _ in range(1500):
                u = int(rng.integers(300))
                d = bandit.decide(ITEMS, {"user": f"u{u}"} if named else None)
                r = float(rng.random() < (0.5 if d.item == "c" else 0.3))
                bandit.reward(d.id, r)
                total += 0.5 if d.item == "c" else 0.3
            earned.append(total / 1500)
        gaps.append(earned[1] - earned[0])
    assert np.mean(gaps) < 0.02 + 2.0 * np.std(gaps) / 2.0
    assert np.mean(gaps) < 0.05


@pytest.mark.parametrize("late", [0, 5])
def test_a_saved_bandit_goes_on_as_one_never_saved(late, tmp_path):
    a = db.Bandit(seed=1)
    shop(a, 300, late=late)
    a.save(tmp_path / "shop.bandit")
    b = db.Bandit.load(tmp_path / "shop.bandit")
    assert learned(b) == learned(a) > 50
    assert digest(a) == digest(b)
    for bandit in (a, b):
        shop(bandit, 200, users=90, seed=5)
    assert digest(a) == digest(b)
    assert digest(copy.deepcopy(a)) == digest(a)


def test_batches_learn_what_single_calls_learn():
    rng = np.random.default_rng(3)
    contexts = [{"user": f"u{rng.integers(70)}", "brand": f"b{rng.integers(40)}"} for _ in range(600)]
    a, b = (db.Bandit(seed=4) for _ in range(2))
    for start in range(0, 600, 100):
        rows = contexts[start : start + 100]
        rewards = rng.random(len(rows))
        many = a.decide_batch(pd.DataFrame(rows), offers=ITEMS)
        single = [b.decide(ITEMS, row) for row in rows]
        assert many["item"].tolist() == [d.item for d in single]
        assert many["propensity"].tolist() == [d.propensity for d in single]
        a.reward_batch(pd.DataFrame({"id": many["id"], "reward": rewards}))
        for d, r in zip(single, rewards, strict=True):
            b.reward(d.id, float(r))
    assert digest(a) == digest(b)
    assert learned(a) > 150


def test_a_log_is_fitted_as_it_is_observed():
    rng = np.random.default_rng(5)
    rows = [
        {"item": ITEMS[rng.integers(4)], "reward": float(rng.random()), "user": f"u{rng.integers(80)}"}
        for _ in range(800)
    ]
    a, b = (db.Bandit(seed=0) for _ in range(2))
    a.fit(pd.DataFrame(rows), item="item", reward="reward")
    for row in rows:
        b.observe(row["item"], {"user": row["user"]}, reward=row["reward"])
    assert learned(a) == learned(b) > 150
    assert digest(a) == digest(b)


def test_brands_of_items_have_cells_in_batches_too():
    """One cell for each brand beyond the 24th, the same in every context."""
    rng = np.random.default_rng(6)
    offers = [{f"i{k}": {"brand": f"b{rng.integers(60)}", "price": float(k)} for k in range(5)} for _ in range(40)]
    a, b = (db.Bandit(seed=3) for _ in range(2))
    for offer in offers:
        frame = pd.DataFrame({"hour": [1.0, 2.0, 3.0]})
        many = a.decide_batch(frame, offers=offer)
        single = [b.decide(offer, {"hour": hour}) for hour in (1.0, 2.0, 3.0)]
        assert many["item"].tolist() == [d.item for d in single]
        rewards = rng.random(3)
        a.reward_batch(pd.DataFrame({"id": many["id"], "reward": rewards}))
        for d, r in zip(single, rewards, strict=True):
            b.reward(d.id, float(r))
    assert digest(a) == digest(b)
    cells = a._learner.model.cells
    assert set(cells.item[cells.level > 0].tolist()) == {-1}
    assert 10 < learned(a) <= 36


def test_a_fit_by_sums_learns_cells_from_its_exact_tail():
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "item": rng.choice(ITEMS, 3000),
            "reward": rng.random(3000),
            "user": [f"u{k}" for k in rng.integers(90, size=3000)],
        }
    )
    bandit = db.Bandit(seed=0).fit(rows, item="item", reward="reward", exact=False, tail=500)
    assert bandit.info()["observed"] == 3000
    assert 100 < learned(bandit) <= 66 * 4
    assert np.isfinite(bandit.estimate(ITEMS, {"user": "u80"})["a"].sd)


def test_offers_without_names_keep_a_column_for_each_level():
    bandit, rng = db.Bandit(seed=0), np.random.default_rng(0)
    for t in range(60):
        d = bandit.decide(rng.normal(size=(3, 2)), {"town": f"t{t % 40}"})
        bandit.reward(d.id, float(rng.normal()))
    assert learned(bandit) == 0
    assert sum(kind == MARK for kind in bandit._learner.context.kinds) == 0


def test_a_level_that_is_looked_at_changes_nothing():
    bandit = db.Bandit(seed=2)
    shop(bandit, 200)
    before = digest(bandit)
    known, unknown = (bandit.estimate(ITEMS, {"user": f"user {u}", "hour": 3.0}) for u in (3, 12345))
    assert digest(bandit) == before
    assert max(e.sd for e in known.values()) < 2.0 * max(e.sd for e in unknown.values())


def test_contributions_add_up_to_the_score():
    bandit = db.Bandit(seed=2)
    shop(bandit, 500)
    rng, tried = np.random.default_rng(9), 0
    for _ in range(20):
        d = bandit.decide(ITEMS, {"user": f"user {rng.integers(60)}", "hour": 3.0})
        e = bandit.explain(d.id)
        assert sum(e.contributions.values()) == pytest.approx(e.estimate, abs=1e-9)
        tried += any("user=user" in label for label in e.contributions)
    assert tried > 5


def saved(bandit, folder):
    """The file of a bandit."""
    bandit.save(folder / "saved.bandit")
    return folder / "saved.bandit"


def test_merged_bandits_know_the_users_of_both(tmp_path):
    parts = [db.Bandit(seed=s, features="linear") for s in (0, 1)]
    for part, users in zip(parts, (range(50), range(40, 90)), strict=True):
        rng = np.random.default_rng(users[0])
        for _ in range(400):
            u = int(rng.choice(users))
            part.observe(ITEMS[u % 4], {"user": f"u{u}"}, reward=float(u % 3))
    both = db.Bandit.from_parts(parts)
    assert learned(both) > max(learned(part) for part in parts)
    other = db.Bandit.from_parts(parts[::-1])
    assert learned(other) == learned(both)
    assert other.estimate(["a"], {"user": "u44"})["a"].mean == pytest.approx(
        both.estimate(["a"], {"user": "u44"})["a"].mean, abs=0.3
    )
    assert db.Bandit.load(saved(both, tmp_path)).info() == both.info()


def test_a_forgotten_feature_frees_its_levels():
    bandit = db.Bandit(seed=0)
    shop(bandit, 150)
    assert "user" in bandit._learner.context.level_slots
    bandit.forget_feature("user")
    assert "user" not in bandit._learner.context.level_slots
    d = bandit.decide(ITEMS, {"user": 3.0, "hour": 1.0})
    bandit.reward(d.id, 1.0)
    with pytest.raises(DriftBanditsError, match="user"):
        bandit.decide(ITEMS, {"user": "user 3", "hour": 1.0})


def test_a_follower_and_a_durable_file_know_levels(tmp_path):
    with db.Bandit.open(tmp_path / "shop.bandit", seed=0) as bandit:
        shop(bandit, 150)
        before = digest(bandit)
    with db.Bandit.open(tmp_path / "shop.bandit") as again:
        assert digest(again) == before
        assert learned(again) > 40


def test_forged_cells_are_refused_in_one_line():
    bandit = db.Bandit(seed=0)
    shop(bandit, 100)
    about, arrays = bandit._learner.pack()
    assert learned(bandit) == len(arrays["cells.level"])
    learner = type(bandit._learner)
    learner.unpack(about, arrays)
    for name, value in (("cells.item", 99), ("cells.level", -1), ("cells.n", -3.0)):
        forged = arrays[name].copy()
        forged.reshape(-1)[0] = value
        with pytest.raises(DriftBanditsError):
            learner.unpack(about, arrays | {name: forged})
