"""The result as frames, a plot and lines."""

import matplotlib.figure
import numpy as np
import pandas as pd
import pytest

import driftbandits as db
import logs
from driftbandits.errors import InvalidValue
from driftbandits.plots.paper import save

COLUMNS = ["policy", "estimator", "window", "value", "low", "high", "effective_n"]


@pytest.fixture(scope="module")
def result():
    return db.replay({"t": logs.threshold, "soft": logs.soft}, logs.log(800, 0), estimators=("replay", "ips", "snips"))


def test_frames_have_a_row_per_policy_estimator_and_window(result):
    frame = result.to_pandas()
    assert list(frame.columns) == COLUMNS == result.to_polars().columns
    assert len(frame) == 2 * 3 * 11 == len(result.to_polars())
    assert set(frame["window"]) == {"all", *(f"2024-05-{d:02}" for d in range(1, 11))}
    known = frame.dropna()
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()
    whole = frame[(frame.policy == "soft") & (frame.estimator == "ips")]
    assert whole.iloc[1:]["value"].mean() == pytest.approx(whole.iloc[0]["value"])  # ten days of as many rows
    assert result.to_polars()["value"].to_list() == pytest.approx(frame["value"].tolist(), nan_ok=True)


def test_the_same_seed_gives_the_same_numbers(result):
    again = db.replay({"t": logs.threshold, "soft": logs.soft}, logs.log(800, 0), estimators=("replay", "ips", "snips"))
    assert again.to_pandas().equals(result.to_pandas())


def test_rolling_windows_overlap():
    result = db.replay({"t": logs.threshold}, logs.log(800, 0), estimators="snips", rolling=3)
    labels = [label for label, _, _ in result.windows("t")]
    assert labels == [f"2024-05-{d:02}" for d in range(1, 9)]
    single = db.replay({"t": logs.threshold}, logs.log(800, 0), estimators="snips")
    assert result.windows("t")[0][2].effective_n > 2 * single.windows("t")[0][2].effective_n


def test_differences_are_paired(result):
    gap = result.difference("t", "soft", "snips")
    a, b = result.estimate("t", "snips"), result.estimate("soft", "snips")
    assert gap.value == pytest.approx(a.value - b.value)
    assert gap.share == pytest.approx((a.value - b.value) / b.value)
    assert gap.low < gap.value < gap.high
    same = result.difference("t", "t", "ips")
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)  # however uncertain each value is


def test_lines_and_names(result):
    assert repr(result).startswith("Replay of 800 decisions, value per decision by snips with 95 % intervals")
    assert "as logged" in repr(result)
    shown = result._repr_html_()
    assert shown.count("<tr>") == 2 + len(result.policies)
    assert f"<td>{result.logged.value:.4g}</td>" in shown
    assert result.logged.value == pytest.approx(np.mean([row.reward for row in result.log]))
    with pytest.raises(InvalidValue, match="no policy is named 'x'; there are 't', 'soft'"):
        result.estimate("x")
    with pytest.raises(InvalidValue, match="estimator 'dr' was not asked for"):
        result.estimate("t", "dr")


def test_it_can_be_drawn(result, tmp_path):
    figure = result.plot()
    assert isinstance(figure, matplotlib.figure.Figure)
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 10]
    assert len(lines) == 2
    save(result.plot, tmp_path / "plot")
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_where_nothing_can_be_estimated_the_reason_advises_nothing_that_was_tried():
    rare = pd.DataFrame({"item": ["a"] * 990 + ["b"] * 10, "r": [0.0, 1.0] * 500, "p": [0.99] * 990 + [0.01] * 10})
    log = db.Log.read(rare, item="item", reward="r", propensity="p")
    with pytest.raises(InvalidValue, match="overlap with it is too small") as raised:
        db.replay({"b": lambda items, context, at: "b"}, log)
    assert "use 'ips'" not in str(raised.value)
