"""Challengers learn in the shadow, are valued, survive files, and can take over."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
from driftbandits.bandit.ledger import Ledger
from driftbandits.bandit.pending import UnknownDecision
from driftbandits.bandit.saving import digest, to_bytes
from driftbandits.errors import InvalidState, InvalidValue

pytestmark = pytest.mark.xdist_group("bandit")
RATES = {"a": 0.2, "b": 0.7}


def play(bandit, rounds, rng, late=0):
    waiting = []
    for _ in range(rounds):
        d = bandit.decide(["a", "b"], {"hour": rng.uniform(0, 24)})
        waiting.append((d.id, float(rng.random() < RATES[d.item])))
        if len(waiting) > late:
            bandit.reward(*waiting.pop(0))
    return waiting


def new(**more):
    return db.Bandit(reward="click", explore=0.3, seed=0, **more)


def test_a_challenger_with_the_same_settings_is_the_bandit_itself():
    """Same rewards, same offers: the shadow decides alike, and its value is that of the bandit."""
    bandit = new()
    bandit.challenge("twin")
    play(bandit, 110, np.random.default_rng(0), late=3)
    shadow = bandit._challengers["twin"].shadow
    assert shadow._learner.info() == bandit._learner.info()
    assert bandit.value("twin").lift.mean == pytest.approx(0.0, abs=1e-12)
    assert bandit.info()["challengers"]["twin"]["microseconds"] > 0.0


def test_challengers_do_not_disturb_decisions():
    watched, alone = new(), new()
    watched.challenge("static", half_life=math.inf)
    watched.challenge("short", half_life=20, features="item")
    watched.challenge("ridge", db.zoo.lb_weight_ucb(gamma=0.9, lam=1.0, S=1.0, L=99.0, R=0.1, delta=0.01))
    for bandit in (watched, alone):
        play(bandit, 90, np.random.default_rng(1))
    assert digest(watched) == digest(alone)
    for name in ("static", "short", "ridge"):
        assert watched.value(name).other.n == 40  # the first 50 only say how rare clicks are
        assert watched.info()["challengers"][name]["problem"] is None
    assert watched._challengers["short"].shadow.info()["memory"] == pytest.approx(1 / (1 - 2 ** (-1 / 20)))


def test_a_function_is_valued_as_the_item_it_shows():
    bandit = new()
    bandit.challenge("always b", lambda items, context: {"b": 1.0})
    play(bandit, 100, np.random.default_rng(2))
    own, item = bandit.value("always b"), bandit.value("b")
    assert own.other[:3] == pytest.approx(item.other[:3], abs=1e-12)
    with pytest.raises(InvalidValue, match="is a function"):
        bandit.promote("always b")
    bandit.drop_challenger("always b")
    with pytest.raises(InvalidValue, match="is not known"):
        bandit.value("always b")


def test_a_challenger_that_fails_is_suspended():
    bandit = new()
    bandit.challenge("wrong", lambda items, context: [0.9, 0.9])
    play(bandit, 5, np.random.default_rng(3))
    assert "add up to 1" in bandit.info()["challengers"]["wrong"]["problem"]
    with pytest.raises(InvalidValue, match="no challenger 'nobody'"):
        bandit.promote("nobody")
    with pytest.raises(InvalidValue, match="no setting in which a challenger can differ"):
        bandit.challenge("x", seed=3)
    with pytest.raises(InvalidValue, match="compares with another policy"):
        bandit.challenge("random")


def test_promoted_it_decides_with_what_it_has_learned():
    bandit = new()
    play(bandit, 10, np.random.default_rng(4))
    before = bandit.decide(["a", "b"])
    bandit.challenge("short", half_life=30)
    waiting = play(bandit, 40, np.random.default_rng(5), late=2)
    shadow = bandit._challengers["short"].shadow
    assert shadow._tick == bandit._tick  # else all it has learned would age at once
    expected = shadow.estimate(["a", "b"], {"hour": 3.0})
    bandit.promote("short")
    for name, known in bandit.estimate(
        ["a", "b"], {"hour": 3.0}
    ).items():  # but for the offer of `before`, which it had not seen
        assert known == pytest.approx(expected[name], abs=0.02)
    assert "half_life=30" in repr(bandit)
    bandit.reward(*waiting[0])  # made during the challenge: it is learned
    bandit.reward(before.id, 1)  # and so is what was made before it
    with pytest.raises(InvalidState, match="has had its reward, or was expired"):
        bandit.reward(before.id, 1)
    play(bandit, 5, np.random.default_rng(6))
    assert bandit.info()["challengers"] == {}


def test_challengers_survive_files(tmp_path):
    rng = np.random.default_rng(7)
    with db.Bandit.open(tmp_path / "log.db", reward="click", explore=0.3, seed=0) as bandit:
        play(bandit, 55, rng)
        bandit.challenge("short", half_life=30)
        waiting = play(bandit, 20, rng, late=1)
        bandit.save(tmp_path / "saved")
        assert bandit.value("short").own.n == 19
        value, mark = bandit.value("short"), digest(bandit._challengers["short"].shadow)
        bandit.backup(tmp_path / "copy.db")
    for again in (db.Bandit.load(tmp_path / "saved"), db.Bandit.open(tmp_path / "copy.db")):
        assert again.value("short") == value
        assert digest(again._challengers["short"].shadow) == mark
        again.reward(*waiting[0])
        again.promote("short")
        assert again.estimate(["a"]) != {}
    again.close()
    with db.Bandit.open(tmp_path / "copy.db") as promoted:
        assert "half_life=30" in repr(promoted)
        with db.Bandit.follow(tmp_path / "copy.db") as follower, pytest.raises(InvalidState, match="no challengers"):
            follower.challenge("x")


def test_a_challenger_cannot_have_the_name_of_an_item():
    bandit = db.Bandit(reward="click", explore=0.3, seed=0)
    play(bandit, 53, np.random.default_rng(8))
    with pytest.raises(db.errors.InvalidValue, match="an item has that name"):
        bandit.challenge("a", half_life=30)
    assert bandit.info()["challengers"] == {}
    assert bandit.value("a").own.n == 3


def test_rewards_of_decisions_before_the_challenge_are_learned_after_promote():
    bandit = db.Bandit(seed=0, explore=0.5, on_repeat="replace")
    forgotten = bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}})
    early = [bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}, {"hour": float(t)}, k=1 + t % 2) for t in range(60)]
    bandit.challenge("short", half_life=30)
    later = [bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}, {"hour": float(t)}) for t in range(4)]
    bandit.promote("short")
    before = bandit._learner.info()["effective_memory"]
    for d in (*early, *later):
        bandit.reward(d.id, {item: float(item == "b") for item in d.items})
    assert bandit._learner.info()["effective_memory"] > before + 20.0
    known = bandit.estimate({"a": {"x": 1.0}, "b": {"x": 2.0}}, {"hour": 30.0})
    assert known["b"].mean > known["a"].mean + 0.5
    assert bandit.value().own.n == 64
    bandit.reward(early[-1].id, 7.0)  # replaced
    assert bandit.info()["replaced"] == 1
    assert bandit.info()["dropped"] == 0
    with pytest.raises(UnknownDecision, match=r"older than a challenger that was promoted.* give its to_dict"):
        bandit.reward(forgotten.id, 1.0)
    bandit.reward(forgotten.to_dict(), 1.0)
    assert bandit.info()["rewards"] == 65


def test_a_durable_bandit_reads_decisions_before_the_challenge_from_its_log(tmp_path):
    with db.Bandit.open(tmp_path / "log.db", seed=0, explore=0.5) as bandit:
        early = [bandit.decide({"a": {"x": 1.0}, "b": {"x": 2.0}}) for _ in range(80)]
        bandit.challenge("short", half_life=30)
        bandit.promote("short")
        bandit.reward(early[0].id, 1.0)
    with db.Bandit.open(tmp_path / "log.db") as again:
        for d in early[1:]:
            again.reward(d.id, float(d.item == "b"))
        assert again.info()["rewards"] == 80
        assert again.value().own.n == 80


def test_what_a_challenger_says_is_cut_in_logs_and_files(caplog, tmp_path):
    bandit = db.Bandit(seed=0)

    def wrong(items, context):
        raise ValueError("x" * 100_000 + "\n")

    bandit.challenge("wrong", wrong)
    bandit.challenge("wordy", lambda items, context: {"y" * 100_000: 1.0})
    bandit.decide(["a", "b"])
    told = bandit.info()["challengers"]
    for name in ("wrong", "wordy"):
        assert 50 < len(told[name]["problem"]) < 400
        assert "\n" not in told[name]["problem"]
    assert len(caplog.text) < 2000
    assert len(bandit.health().actions[0]) < 500


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"features": pd.Series([1.0, 2.0])}, "it must be 'item', .* or a fitted transformer"),
        ({"features": pd.DataFrame({"a": [1]})}, "it must be 'item', .* or a fitted transformer"),
        ({"policy": "ucb"}, "policy = 'ucb' is not allowed; it must be a strategy of the zoo"),
        ({"policy": pd.Series([1.0])}, "it must be a strategy of the zoo"),
        (
            {"speed": 3},
            "speed is no setting in which a challenger can differ; these are half_life, features and explore",
        ),
    ],
)
def test_what_is_no_challenger_is_one_line(given, told):
    bandit = db.Bandit(seed=0)
    with pytest.raises(InvalidValue, match=told):
        bandit.challenge("x", **given)
    assert bandit.info()["challengers"] == {}


@pytest.mark.parametrize("name", ["", "x" * 257, "\ud800", "a\0", "random", "first", 3, None, ["a"]])
def test_names_of_challengers(name):
    told = (
        "compares with another policy|it must be a string of 1 to 256 characters|databases cannot keep its characters"
    )
    with pytest.raises(InvalidValue, match=f"name = .* is not allowed; .*({told})"):
        db.Bandit(seed=0).challenge(name)


def test_the_value_of_a_function_is_there_before_it_is_given_again(tmp_path):
    bandit = new()
    bandit.challenge("always b", lambda items, context: {"b": 1.0})
    play(bandit, 80, np.random.default_rng(3))
    bandit.save(tmp_path / "saved")
    again = db.Bandit.load(tmp_path / "saved")
    assert again.value("always b") == bandit.value("always b")
    assert again.value("always b").kind == "challenger"
    with pytest.raises(InvalidValue, match="item = 'always b' is not known"):
        again.value(item="always b")


def test_a_learner_does_not_go_on_with_the_sums_of_a_function(tmp_path):
    bandit = new()
    bandit.challenge("rule", lambda items, context: {"b": 1.0})
    play(bandit, 60, np.random.default_rng(3))
    with pytest.raises(InvalidValue, match="there is a challenger 'rule' already; drop_challenger"):
        bandit.challenge("rule", half_life=30)
    bandit.save(tmp_path / "saved")
    again = db.Bandit.load(tmp_path / "saved")
    with pytest.raises(InvalidValue, match="there are sums of a function of that name"):
        again.challenge("rule", half_life=30)
    again.challenge("rule", lambda items, context: {"b": 1.0})
    again.drop_challenger("rule")
    again.challenge("rule", half_life=30)
    assert again.value("rule").own.n == 0
    with pytest.raises(InvalidValue, match=r"challenge\(name, …\) adds one"):
        new().promote("rule")


def test_a_look_adds_nothing_to_the_sums():
    bandit = new()
    bandit.challenge("always b", lambda items, context: {"b": 1.0})
    play(bandit, 50, np.random.default_rng(11))
    assert bandit._ledger.policies() == []  # these only say how rare clicks are
    play(bandit, 5, np.random.default_rng(12))
    books = bandit._ledger.books
    assert bandit.info()["challengers"].keys() == {"always b"}
    assert bandit._ledger.policies() == ["always b"]
    assert bandit._ledger.books is books
    again = pickle.loads(pickle.dumps(bandit))
    assert again.info()["challengers"].keys() == {"always b"}


def test_a_promotion_that_fails_leaves_the_challenger_as_it_is(monkeypatch):
    bandit = new()
    waiting = bandit.decide(["a", "b"])
    bandit.challenge("short", half_life=20)
    play(bandit, 5, np.random.default_rng(13))
    before = to_bytes(bandit._challengers["short"].shadow)

    def no_memory(self, name):
        raise MemoryError

    monkeypatch.setattr(Ledger, "without", no_memory)  # after decisions that wait were read again
    with pytest.raises(MemoryError):
        bandit.promote("short")
    assert to_bytes(bandit._challengers["short"].shadow) == before
    monkeypatch.undo()
    bandit.promote("short")
    bandit.reward(waiting.id, 1.0)


@pytest.mark.parametrize("change", ["promote", "drop_challenger"])
def test_an_interrupted_change_of_a_durable_bandit_leaves_all_challengers(change, monkeypatch, tmp_path):
    with db.Bandit.open(tmp_path / "log.db", reward="click", explore=0.3, seed=0) as bandit:
        bandit.challenge("rule", lambda items, context: {"b": 1.0})
        bandit.challenge("ridge", db.zoo.lb_weight_ucb(gamma=0.9, lam=1.0, S=1.0, L=99.0, R=0.1, delta=0.01))
        play(bandit, 60, np.random.default_rng(14))

        def interrupted():
            raise KeyboardInterrupt

        monkeypatch.setattr(bandit, "_snapshot", interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(bandit, change)("ridge" if change == "promote" else "rule")
        monkeypatch.undo()
        told = bandit.info()["challengers"]
        assert [told[name]["problem"] for name in ("rule", "ridge")] == [None, None]
        play(bandit, 5, np.random.default_rng(15))
        assert bandit.value("rule").other.n == bandit.value("ridge").other.n == 15
