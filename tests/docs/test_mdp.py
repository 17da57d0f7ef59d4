"""The page on MDPs: its code runs as it stands, in small."""

import pathlib
import re

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "mdp.md").read_text()
pytestmark = pytest.mark.interpreted


def block(words):
    """The block of code in which these words stand, once."""
    found = [text for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if words in text]
    assert len(found) == 1
    return found[0]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


def test_a_problem_of_ones_own_in_thirty_lines():
    own = block("class Machine")
    assert len([line for line in own.splitlines() if line]) <= 30
    names = {}
    exec(own.replace("episodes=500", "episodes=30"), names)
    assert len(names["played"].returns) == 30
    assert names["played"].lengths.min() == 20


def test_any_environment(tmp_path):
    names = {}
    cliff = block('env = gymnasium.make("CliffWalking-v1")').replace(
        "episodes=400, horizon=40", "episodes=3, horizon=6"
    )
    exec("import driftbandits as db\n" + cliff, names)
    assert len(names["played"].returns) == 3
    assert (tmp_path / "walker.agent").exists()


def test_from_nothing_to_a_regret_curve_in_thirty_lines():
    curve = block("kernels, rewards = zip")
    assert len(curve.splitlines()) <= 30
    names = {}
    exec(curve.replace("K, MAPS = 2000", "K, MAPS = 30"), names)
    lines = {line.get_label(): line.get_ydata() for line in plt.gca().lines}
    assert set(lines) == {"tuning-free", "never forgets", "random play"}
    assert all((np.diff(regret) >= -1e-9).all() for regret in lines.values())
    exec(block("class Counting"), names)
    assert names["own"].regret.shape == (30,)
    exec(block("plot_policy_over_time").replace("episodes=500", "episodes=3"), names)
    assert len([axis for axis in names["plan"].axes if axis.images]) == 3
    assert names["changes"].axes[0].images[0].get_array().shape == (16, 30)


def test_what_is_known_and_what_is_simulated():
    names = {}
    exec("import driftbandits as db\n" + block("tide = lambda"), names)
    assert names["agent"].begin_episode().shape == (24, 6, 2)
    simulate = block("db.mdp.trials_mdp").partition("mdp = db.mdp.linear_mixture")[0]
    exec(simulate.replace("episodes=3000", "episodes=4").replace("trials=20", "trials=2"), names)
    assert len(names["runs"]) == 2
    exec(block("driftbandits/Inventory-v0"), names)
    assert names["env"].reset(seed=0)[0] is not None


def test_a_task_without_episodes():
    names = {}
    task = block("db.mdp.tasks.queue").replace("steps=6000", "steps=40").replace("lookahead=50", "lookahead=5")
    exec("import driftbandits as db\n" + task, names)
    assert len(names["played"].rewards) == 40
