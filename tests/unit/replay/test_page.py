"""The page says the verdict, draws what it says, is whole by itself, and no name in a log is markup."""

import json
import re

import pytest

import driftbandits as db
import logs
from driftbandits.bandit.events import DriftEvent
from driftbandits.replay.answer import ADAPTIVE, answer
from driftbandits.replay.item_changes import ItemChange
from driftbandits.replay.page import page


@pytest.fixture(scope="module")
def found():
    frame = logs.frame(400, 0, drift=True).replace({"item": {"a": "<script>alert(1)</script>"}})
    log = db.Log.read(frame, item="item", reward="r", propensity="p", time="at", context=["x"])
    made = answer(log, half_lives=["1d", "2d"], estimator="snips")
    made.replay.walks[ADAPTIVE].events[:] = [
        DriftEvent(logs.START + 86400.0 * 5, "best item", 200, 180, 12.5, "<script>alert(2)</script>")
    ]
    return made


def test_it_is_whole_and_says_the_verdict(found, tmp_path):
    found.write(tmp_path / "answer.html")
    text = (tmp_path / "answer.html").read_text()
    assert found.verdict in text
    own = found.replay.estimate(ADAPTIVE, found.estimator)
    assert "Against what we do today?" in text
    assert f"As logged {found.replay.logged.value:.3g} per decision" in text
    assert f"a tuning-free learner {own.value:.3g} [{own.low:.3g}, {own.high:.3g}]" in text
    shown = text[: text.index('<script id="plotly"')]
    assert "http://" not in shown
    assert "https://" not in shown
    assert "<script>alert" not in text
    assert "2024-05-06 00:00" in shown  # the table of drift


@pytest.mark.parametrize(
    ("shift", "words"), [(1.0, "more than today."), (-1.0, "less than today."), (0.0, "no clear difference.")]
)
def test_more_or_less_than_today_only_where_the_intervals_are_apart(found, shift, words, monkeypatch):
    today = found.replay.logged
    own = today._replace(value=today.value + shift, low=today.low + shift, high=today.high + shift)
    monkeypatch.setattr(type(found.replay), "estimate", lambda *_: own)
    assert found.against_today.endswith(words)


def test_it_tells_which_item_changed(found, monkeypatch):
    monkeypatch.setitem(found.__dict__, "item_changes", [ItemChange("<b>", logs.START + 86400.0, 0.08, 0.3, 1e-6)])
    text = page(found)
    assert "&lt;b&gt; rose from 0.08 to 0.3 on 2 May 2024." in text
    assert "2024-05-02 00:00" in text
    monkeypatch.setitem(found.__dict__, "item_changes", [])
    assert "No single item&#39;s reward changed" in page(found)


def test_its_plots_draw_the_numbers(found):
    text = page(found)
    figures = json.loads(re.search(r'<script id="figures" type="application/json">(.*?)</script>', text, re.DOTALL)[1])
    assert len(figures) == 3
    half_life, over_time, memory = ({t.get("name"): t for t in figures[f"f{k}"]["data"]} for k in range(3))
    assert half_life["half-life"]["y"] == pytest.approx([h.value.value for h in found.tried], rel=1e-5)
    assert half_life["half-life"]["x"] == [1, 2]
    assert set(half_life) >= {"never forgets", "tuning-free", "as logged"}
    windows = found.replay.windows(found.best.name, "snips")
    assert over_time[found.best.name]["x"][0] == "2024-05-01 00:00:00"
    assert over_time[found.best.name]["y"] == pytest.approx(
        [e.value for _, _, e in windows if e.value == e.value], rel=1e-5
    )
    assert memory["drift"]["x"] == ["2024-05-06 00:00:00"] * 2 + [None]
    assert len(memory["memory"]["y"]) > 100
    assert figures["f0"]["layout"]["xaxis"]["ticktext"] == ["1d", "2d"]
