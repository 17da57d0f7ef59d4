"""`driftbandits reproduce`."""

import json
import pathlib

import pytest

import small_experiment as small
from command_line import call


def test_reproduce_all_panels_of_a_paper(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = small.TEXT.replace('name = "small"', 'name = "other"').replace("S = 1.0", "S = 1.0\ntheta_norm = 1.0")
    (tmp_path / "panels").mkdir()
    small.write(tmp_path / "panels")
    (tmp_path / "panels" / "other.toml").write_text(
        other.replace('{ use = "rotating" }', '{ use = "rotating", norm = "theta_norm" }')
    )
    (tmp_path / "panels" / "paper.toml").write_text(
        '[collection]\nname = "paper"\ntitle = "?"\nlayout = [["small", "other"]]\n'
    )
    monkeypatch.setattr("driftbandits.experiment.spec.panels.folder", lambda: tmp_path / "panels")
    out = tmp_path / "out"
    printed = json.loads(call("reproduce", "--tiny", "--out", str(out), "--theta-norm", "0.5", "--json"))
    assert list(printed["panels"]) == ["small", "other"]
    assert sorted(p.name for p in (out / "figures").glob("*.pdf")) == ["other.pdf", "paper.pdf", "small.pdf"]
    regrets = [panel["policies"][0]["final_regret_mean"] for panel in printed["panels"].values()]
    assert regrets[1] < regrets[0]
    assert "holds the results of 'paper', not of 'small'" in call(
        "run", str(tmp_path / "panels" / "small.toml"), "--out", str(out), code=2
    )


def test_the_panels_are_listed() -> None:
    """The paper's six, ours, and the neighbours' experiments; nothing is run."""
    printed = call("reproduce", "--list")
    for name in ("lb-regret", "scaling", "russac", "kim", "faury", "cheung", "lower-bound"):
        assert name in printed
