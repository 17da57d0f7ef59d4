"""The settings with the best estimate win; the figure for the choice is not the winner's own."""

import numpy as np
import pandas as pd
import pytest

import driftbandits as db
import logs
from driftbandits.errors import InvalidValue


class Constant:
    """Always the same item, whatever it is called."""

    def __init__(self, item, label=0):
        self.item = item

    def decide(self, items, context, at):
        return self.item


def test_the_best_settings_are_found():
    log = logs.log(1200, 0, uniform=True, drift=True)
    found = db.tune(Constant, log, over={"item": ["a", "b", "c"]}, estimator="snips", label=7)
    assert found.best == {"item": "c"}
    assert found.bandit().item == "c"
    assert found.to_pandas()["item"].tolist()[0] == "c"
    assert found.to_polars().shape == (3, 5)
    assert found.low < found.value < found.high
    assert "of 3 candidates" in repr(found)


def test_the_winners_curse_is_corrected():
    """Of many policies that are all worth 0 the best looks good; what choosing so earns does not. Fifteen logs of 200 rows."""
    naive, honest = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        items = [f"i{k}" for k in range(6)]
        frame = pd.DataFrame({"item": rng.choice(items, 200), "r": rng.normal(size=200)})
        log = db.Log.read(frame, item="item", reward="r")
        found = db.tune(Constant, log, over={"item": items}, estimator="snips")
        naive.append(found.naive.value)
        honest.append(found.value)
    assert np.mean(naive) > 0.1
    assert abs(np.mean(honest)) < 3.0 * np.std(honest, ddof=1) / np.sqrt(15) + 1e-9


def test_bandits_are_tuned_too():
    log = logs.log(150, 0)
    found = db.tune(db.Bandit, log, over={"half_life": [5, 1e12]}, estimator="snips", reward="click")
    assert set(found.best) == {"half_life"}
    assert found.bandit()._config["reward"] == "click"


@pytest.mark.parametrize(
    ("over", "fixed", "problem"),
    [
        ({}, {}, "dict from names of settings"),
        ({"item": []}, {}, "dict from names of settings"),
        ({"item": "abc"}, {}, "dict from names of settings"),
        ({"item": ["a"]}, {"item": "b"}, "both fixed and to be chosen"),
        ({"item": ["a"] * 2000}, {}, "at most 1000"),
        ({"half_life": [3]}, {}, r"Constant has no setting 'half_life'; it has item, label"),
    ],
)
def test_wrong_arguments_are_refused(over, fixed, problem):
    with pytest.raises(InvalidValue, match=problem):
        db.tune(Constant, logs.log(50, 0), over=over, **fixed)
