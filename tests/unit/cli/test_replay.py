"""`driftbandits replay`, as users call it."""

import io
import json

import pytest

import logs
from command_line import call, refused
from driftbandits.util import tasks


@pytest.fixture
def file(tmp_path):
    logs.frame(150, 0).to_csv(tmp_path / "log.csv", index=False)
    return str(tmp_path / "log.csv")


COLUMNS = (
    "--item",
    "item",
    "--reward",
    "r",
    "--propensity",
    "p",
    "--time",
    "at",
    "--context",
    "x",
    "--estimator",
    "snips",
)


def test_it_answers_and_writes_the_page(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = call("replay", file, *COLUMNS, "--half-life", "1d", "--half-life", "30", "--report", "page.html")
    assert "150 decisions between 3 items" in text
    assert "half-life 1d" in text
    assert "half-life 30" in text
    assert "orgetting" in text.splitlines()[-2]
    assert text.splitlines()[-1] == "report   page.html"
    assert "Does forgetting pay on log.csv?" in (tmp_path / "page.html").read_text()


def test_on_dask_it_says_the_same(file, monkeypatch):
    monkeypatch.setattr(tasks, "TIMEOUT", 0.3)
    asked = ("replay", file, *COLUMNS, "--half-life", "1d", "--half-life", "30", "--json")
    assert json.loads(call(*asked, "--scheduler", "threads")) == json.loads(call(*asked))
    assert "it must be 'threads'" in refused(*asked, "--scheduler", "nowhere")
    assert "does not answer" in refused(*asked, "--scheduler", "tcp://127.0.0.1:1")


def test_the_bar_counts_rows_on_a_terminal_and_is_silent_elsewhere(monkeypatch):
    from rich.console import Console

    from driftbandits.cli import console

    for terminal in (True, False):
        written = io.StringIO()
        screen = Console(file=written, force_terminal=terminal, width=100, height=20, _environ={})
        monkeypatch.setattr(console, "errors", screen)
        with console.Rows() as rows:
            rows.replaying(40, 150)
            rows.bar.refresh()
        assert ("replaying" in written.getvalue() and "40/150" in written.getvalue()) == terminal
        assert bool(written.getvalue()) == terminal


def test_quiet_says_nothing(file):
    assert call("replay", file, *COLUMNS, "--half-life", "1d", "--quiet") == ""


def test_json_has_all_of_it(file):
    found = json.loads(call("replay", file, *COLUMNS, "--half-life", "1d", "--by", "50", "--json"))
    assert found["best"] == "half-life 1d"
    assert {row["window"] for row in found["values"]} == {"all", "row 0", "row 50", "row 100"}
    assert {"gain", "gain_low", "gain_high"} <= set(found["chosen_by_the_log"])


def test_what_cannot_be_done_is_one_line(file, tmp_path):
    assert "has no column 'price'" in refused("replay", file, "--item", "price", "--reward", "r")
    logs.frame(600, 0).to_csv(file, index=False)
    assert "no propensities, and its choices are not uniform" in refused(
        "replay", file, "--item", "item", "--reward", "r", "--half-life", "30"
    )
    assert "needs --item COLUMN and --reward COLUMN" in refused("replay", file, "--item", "item")
    assert "is not there" in refused("replay", str(tmp_path / "none.csv"), *COLUMNS)
    assert "needs a LOG" in refused("replay", "page.html", "--report", *COLUMNS)
