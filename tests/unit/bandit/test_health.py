"""`Bandit.health` and `plot`."""

import json

import numpy as np
import pytest

import driftbandits as db

pytestmark = pytest.mark.xdist_group("bandit")


def play(bandit, rounds, rng, reward=True, start=0):
    for t in range(start, start + rounds):
        d = bandit.decide(["a", "b"], at=1.7e9 + 7200.0 * t)
        if reward:
            bandit.reward(d.id, float(rng.random() < {"a": 0.1, "b": 0.9}[d.item]))


def test_a_bandit_that_works_has_nothing_to_do():
    bandit = db.Bandit(reward="click", explore=0.5, seed=0)
    play(bandit, 300, np.random.default_rng(0))
    found = bandit.health()
    assert found.ok
    assert found.actions == []
    assert "more than random choice" in found.sentence
    assert json.loads(json.dumps(found.to_dict()))["ok"] is True


def test_what_is_wrong_is_said_with_what_to_do():
    bandit = db.Bandit(reward="click", seed=0, max_pending=40)
    play(bandit, 60, np.random.default_rng(0), reward=False)
    actions = bandit.health().actions
    assert actions[0].startswith("0 % of 60 decisions have had a reward")
    assert actions[1].startswith("20 decisions had no reward when max_pending newer ones were waiting")
    assert "max_pending" in actions[1]


def test_a_challenger_that_is_better_for_certain_is_named():
    bandit = db.Bandit(reward="click", explore=1.0, seed=0)  # chooses at random
    bandit.challenge("always b", lambda items, context: {"b": 1.0})
    bandit.challenge("broken", lambda items, context: 1 / 0)
    play(bandit, 400, np.random.default_rng(1))
    actions = bandit.health().actions
    (better,) = [action for action in actions if action.startswith("Challenger 'always b' would earn more by")]
    assert "a function cannot be promoted; call it in place of decide()" in better
    assert any("'broken' raised an error and is suspended (ZeroDivisionError" in action for action in actions)


def test_a_learner_that_is_better_is_to_be_promoted():
    bandit = db.Bandit(reward="click", explore=1.0, seed=0)
    bandit.challenge("greedy", explore=0.01)
    play(bandit, 400, np.random.default_rng(1))
    (better,) = [action for action in bandit.health().actions if action.startswith("Challenger 'greedy'")]
    assert better.endswith("promote('greedy') lets it decide.")
    bandit.promote("greedy")


def test_the_plot_shows_every_policy_and_memory():
    import matplotlib as mpl

    mpl.use("Agg")
    bandit = db.Bandit(reward="click", explore=0.5, seed=0)
    bandit.challenge("always a", lambda items, context: {"a": 1.0})
    play(bandit, 150, np.random.default_rng(2))
    figure = bandit.plot()
    left, middle, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["this bandit", "random", "first", "always a"]
    assert len(middle.lines[0].get_xdata()) == 7  # days
    assert len(right.patches) == len(bandit.info()["memories"])


def test_a_wide_value_is_said_with_what_sharpens_it_and_what_that_costs():
    bandit = db.Bandit(reward="click", explore=0.0, seed=0)
    rng = np.random.default_rng(3)
    for t in range(1100):
        d = bandit.decide(["a", "b"], at=1.7e9 + t)
        bandit.reward(d.id, float(rng.random() < {"a": 0.1, "b": 0.12}[d.item]))
    (action,) = [action for action in bandit.health().actions if "explore=0.05" in action]
    assert "5.0 % of the difference to random choice. The difference is at most" in action
    assert f"at most {0.05 * bandit.value().lift.upper:.2g} per decision" in action


def test_alarms_of_the_last_day_are_in_the_sentence_or_in_the_actions():
    bandit = db.Bandit(reward="click", explore=0.5, seed=0)
    rng = np.random.default_rng(4)
    for t in range(1100):
        d = bandit.decide(["a", "b"], at=1.7e9 + t)
        if t < 900:
            good = "a" if t < 500 else "b"
            bandit.reward(d.id, float(rng.random() < (0.8 if d.item == good else 0.1)))
    kinds = [event.kind for event in bandit.drift_events()]
    assert kinds == ["best item", "missing rewards"]
    found = bandit.health()
    assert "another item may be best now" in found.sentence
    assert found.actions[0].startswith("Fewer decisions get a reward")
    assert "another item may be best now" in found.actions[1]
    assert found.actions[1].endswith("check whether a release, a price or the counting of rewards changed then.")
    assert not found.ok
    bandit.decide(["a", "b"], at=1.7e9 + 2 * 86400.0)  # later, they are no news
    later = bandit.health()
    assert "another item" not in later.sentence
    assert not any(action.startswith("Fewer") or "another item" in action for action in later.actions)


def test_a_function_that_was_not_given_again_is_told_and_can_be_dropped(tmp_path):
    with db.Bandit.open(tmp_path / "log.db", reward="click", explore=0.5, seed=0) as bandit:
        bandit.challenge("always b", lambda items, context: {"b": 1.0})
        for _ in range(80):
            d = bandit.decide(["a", "b"])
            bandit.reward(d.id, float(d.item == "b"))
    with db.Bandit.open(tmp_path / "log.db") as again:
        told = again.info()["challengers"]["always b"]
        assert (told["function"], told["microseconds"]) == (True, None)
        (action,) = [action for action in again.health().actions if "'always b'" in action]
        assert action.startswith("Challenger 'always b' is a function, which files do not hold; it has not run since")
        assert again.value("always b").own.n == 30
        again.drop_challenger("always b")
        assert "always b" not in again.info()["challengers"]
        with pytest.raises(db.errors.InvalidValue, match="no challenger 'always b'"):
            again.drop_challenger("always b")


def test_answers_show_themselves_in_a_notebook():
    bandit = db.Bandit(reward="amount", explore=0.5, seed=0)
    for t in range(60):
        d = bandit.decide({"<a>": {"price": 1.0}, "b": {"price": 2.0}})
        bandit.reward(d.id, float(t % 3))
    for answer in (bandit.value(), bandit.health(), bandit.explain(d)):
        page = answer._repr_html_()
        assert page.startswith("<div><strong>")
        assert "<a>" not in page
    page = bandit.value()._repr_html_()
    assert "60 decisions)" in page
    for row in ("own: this bandit", "other: random choice", "lift: the difference"):
        assert row in page
