"""What worlds and agents say of themselves: one readable line."""

import numpy as np
import pytest

import driftbandits as db


@pytest.mark.parametrize(
    ("thing", "line"),
    [
        (
            lambda: db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(1000), noise=0.5),
            "World(50 arms, dim=2, horizon=1000, reward=Gaussian(sigma=0.5))",
        ),
        (
            lambda: db.mdp.riverswim(episodes=3, horizon=4),
            "MDP(linear mixture, states=6, actions=2, horizon=4, episodes=3)",
        ),
        (
            lambda: db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(6, 2), horizon=4),
            "EpisodicAgent(AdaptivePlanner, states=6, actions=2, horizon=4)",
        ),
    ],
)
def test_one_readable_line(thing, line):
    assert repr(thing()) == line


WORLD = db.env.linear(db.env.unit_arms(5, dim=2, seed=0), db.env.rotating(40), noise=0.5)


def test_a_run_says_its_numbers_draws_itself_and_shares_axes():
    run = db.simulate(db.zoo.oful(lam=2, S=1, L=1, R=1, delta=0.1), WORLD, seed=0)
    line = f"Run(40 rounds, regret {run.regret[-1]:.4g}, reward per round {run.reward_per_round[-1]:.4g})"
    assert repr(run) == line
    assert f"{run.regret[-1]:.4g}" in run._repr_html_()
    axes = run.plot(label="first")
    assert run.plot(ax=axes, label="second") is axes
    assert [line.get_label() for line in axes.lines] == ["first", "second"]
    assert axes.lines[0].get_ydata().tolist() == run.regret.tolist()
    assert axes.lines[0].get_color() != axes.lines[1].get_color()


def test_a_run_in_a_world_with_times_is_drawn_over_dates():
    times = ["2024-01-01", "2024-01-02", "2024-01-05"]
    world = db.env.from_rewards([[1.0, 2.0]] * 3, [[0.0, 1.0]] * 3, np.array(times, "datetime64[s]"))
    run = db.simulate(db.zoo.self_tuning(features="disjoint"), world, checkpoints="all")
    axes = run.plot()
    assert [str(day)[:10] for day in axes.lines[0].get_xdata()] == times
    assert axes.get_xlabel() == "time (UTC)"


def test_a_strategy_is_shown_as_its_parts():
    shown = db.zoo.dal(db.zoo.lb_weight_ucb(gamma=0.98, lam=2, S=1, L=1, R=1, delta=0.1))._repr_html_()
    for words in (
        "Dal",
        "base: Optimistic",
        "memory: Discounted",
        "gamma = 0.98",
        "rule: Bonus",
        "detector: ChiSquare",
    ):
        assert words in shown
    assert shown.index("base: Optimistic") < shown.index("memory: Discounted") < shown.index("detector: ChiSquare")
    assert shown.count("<div") == shown.count("</div>")


@pytest.mark.parametrize("record", db.zoo.RECORDS.values(), ids=lambda record: record.name)
def test_every_strategy_of_the_zoo_shows_itself_in_a_notebook(record):
    strategy = record.build()
    shown = strategy._repr_html_()
    assert f"<strong>{type(strategy).__name__}</strong>" in shown
    assert shown.count("<div") == shown.count("</div>")


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (lambda: WORLD, ("5, the same in every round", "<polyline", "Gaussian(sigma=0.5)")),
        (lambda: db.env.from_rewards([[1.0, 2.0]] * 3, [[0.0, 1.0]] * 3), ("items", "features")),
        (lambda: db.mdp.riverswim(episodes=3, horizon=4), ("linear mixture", "6 × 2")),
        (lambda: db.zoo.weight_ucrl(), ("Unsettled", "linear", "practical")),
        (
            lambda: db.simulate_mdp(db.zoo.weight_ucrl(), db.mdp.riverswim(episodes=3, horizon=4)),
            ("episodes", "regret"),
        ),
    ],
)
def test_worlds_and_runs_show_themselves_in_a_notebook(thing, words):
    shown = thing()._repr_html_()
    assert [word for word in words if word not in shown] == []
    assert "<script" not in shown


def test_texts_are_escaped():
    from driftbandits.util.notebook import card, lines

    assert "<b>" not in card("<b>", {"<b>": "<b>"}) + lines([1, 2], [[0.0, 1.0]], "<b>")
    assert lines([1, 2], [[float("nan")] * 2], "nothing") == ""


def test_a_bandit_and_its_decision_show_themselves():
    bandit = db.Bandit(reward="click", seed=0)
    d = bandit.decide(["<b>", "green", "blue"])
    assert "<b>: 0.333" not in d._repr_html_()
    assert "&lt;b&gt;: 0.333" in d._repr_html_()
    bandit.reward(d.id, 1)
    shown = bandit._repr_html_()
    assert "1 decision, 1 reward" in shown
    assert "none found" in shown
