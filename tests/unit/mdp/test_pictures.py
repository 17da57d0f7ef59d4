"""Pictures of plans: what they show, and what they refuse."""

import matplotlib as mpl
import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import DriftBanditsError

mpl.use("Agg")


@pytest.fixture(scope="module")
def agent():
    agent = db.EpisodicAgent(db.zoo.weight_ucrl(half_life=5.0), db.mdp.tabular(6, 2), horizon=3, seed=0)
    agent.begin_episode()
    for h in range(3):
        agent.observe(h, h, 0, 0.5, h + 1)
    agent.begin_episode()
    return agent


@pytest.mark.interpreted
def test_a_plan_is_a_map_per_stage_with_the_greedy_actions_on_it(agent):
    figure = db.mdp.plot_plan(agent, shape=(2, 3), actions="ab", stages=(0, 2))
    maps = [axis for axis in figure.axes if axis.images]
    assert [axis.get_title(loc="left") for axis in maps] == ["stage 0", "stage 2"]
    for axis, h in zip(maps, (0, 2), strict=True):
        np.testing.assert_array_equal(axis.images[0].get_array(), agent.values[h].reshape(2, 3))
        assert [text.get_text() for text in axis.texts] == ["ab"[a] for a in agent.policy[h]]
    assert len([axis for axis in db.mdp.plot_plan(agent).axes if axis.images]) == 3  # every stage, all states in a row


@pytest.mark.interpreted
def test_every_title_is_within_the_figure_and_ends_have_no_action():
    agent = db.EpisodicAgent(
        db.zoo.weight_ucrl(half_life=5.0), db.mdp.tabular(7, 2), horizon=3, seed=0, compile="never"
    )
    agent.begin_episode()
    agent.observe(0, 0, 0, 0.5, 4, terminated=True)
    agent.begin_episode()
    figure = db.mdp.plot_plan(agent, shape=(2, 3), stages=(0, 2))  # the seventh state is not shown
    figure.canvas.draw()
    for axis in (axis for axis in figure.axes if axis.images):
        assert axis.images[0].get_array().shape == (2, 3)
        assert sorted(text.get_position() for text in axis.texts) == [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]
        box = axis.get_tightbbox()  # the title and everything else
        assert box.x0 >= 0.0
        assert box.y1 <= figure.bbox.y1


@pytest.mark.interpreted
@pytest.mark.parametrize(("states", "maps"), [(30, 1), (500, 2)])
def test_many_states_are_laid_out_in_rows(states, maps):
    """Rows of 25, with the number of their first state; of more than 400 states actions are colours."""
    agent = db.EpisodicAgent(
        db.zoo.weight_ucrl(half_life=5.0), db.mdp.tabular(states, 3), horizon=2, seed=0, compile="never"
    )
    agent.begin_episode()
    figure = db.mdp.plot_plan(agent, stages=(1,), actions="xyz")
    drawn = [axis for axis in figure.axes if axis.images]
    assert len(drawn) == maps
    shown = np.asarray(drawn[0].images[0].get_array())
    assert shown.shape == (-(-states // 25), 25)
    np.testing.assert_array_equal(shown.ravel()[:states], agent.values[1])
    assert [text.get_text() for text in drawn[0].get_yticklabels()][:2] == ["0", "25"]
    if maps == 1:
        assert [text.get_text() for text in drawn[0].texts] == ["xyz"[a] for a in agent.policy[1]]
    else:
        assert not drawn[0].texts
        np.testing.assert_array_equal(np.asarray(drawn[1].images[0].get_array()).ravel(), agent.policy[1])
        bars = [axis for axis in figure.axes if axis.get_ylabel() == "greedy action"]
        assert [text.get_text() for text in bars[0].get_yticklabels()] == ["x", "y", "z"]


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"shape": (2, 2)}, "there are 6 states"),
        ({"actions": "abc"}, "there are 2"),
        ({"stages": (0, 3)}, r"0\.\.2"),
        ({"stages": ()}, "at least one"),
    ],
)
def test_what_does_not_fit_is_refused(agent, asked, words):
    with pytest.raises(DriftBanditsError, match=words):
        db.mdp.plot_plan(agent, **asked)


@pytest.mark.interpreted
def test_the_policy_over_time_is_a_row_of_actions_per_state():
    world = db.mdp.riverswim(episodes=5, horizon=3)
    run = db.simulate_mdp(db.zoo.weight_ucrl(half_life=2.0), world, seed=0, record=True)
    figure = db.mdp.plot_policy_over_time(run, stage=1, actions="lr")
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), run.Q[:, 1].argmax(axis=-1).T)
    with pytest.raises(DriftBanditsError, match="record=True"):
        db.mdp.plot_policy_over_time(db.simulate_mdp(db.zoo.weight_ucrl(half_life=2.0), world, seed=0))
    with pytest.raises(DriftBanditsError, match=r"0\.\.2"):
        db.mdp.plot_policy_over_time(run, stage=3)
