"""The command, called as users call it."""

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest
import small
from typer.testing import CliRunner

from driftbandits.experiment.inquiries import app

runner = CliRunner()


def call(*arguments: str, code: int = 0) -> str:
    result = runner.invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_help_of_every_command() -> None:
    assert "reproduce" in call("--help")
    for command in ("reproduce", "run", "report", "tune", "list", "cite"):
        assert "--help" in call(command, "--help")


def test_version() -> None:
    import driftbandits

    assert call("--version").strip() == driftbandits.__version__


def test_run_writes_everything_and_says_where(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    output = call("run", str(path), "--out", str(tmp_path / "out"))
    assert "8 cells (8 computed, 0 found)" in output
    assert "LB-WeightUCB" in output
    written = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert {
        "summary.json",
        "details.json",
        "results.parquet",
        "report.html",
        "experiment.json",
        "figures/small.pdf",
    } <= written
    assert "8 cells (0 computed, 8 found)" in call("run", str(path), "--out", str(tmp_path / "out"))


def test_json_and_quiet(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    printed = json.loads(call("run", str(path), "--out", str(tmp_path / "out"), "--json", "--tiny"))
    assert printed == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert printed["trials"] == 2
    assert call("run", str(path), "--out", str(tmp_path / "out"), "--quiet", "--tiny") == ""


def test_options_reach_the_experiment(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    arguments = ["--trials", "2", "--horizon", "30", "--seed", "3", "--jobs", "1", "--set", "R=0.5", "--json"]
    printed = json.loads(call("run", str(path), "--out", str(tmp_path / "out"), *arguments))
    assert (printed["trials"], printed["horizon"], printed["seed"]) == (2, 30, 3)


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
    monkeypatch.setattr("driftbandits.experiment.panels.folder", lambda: tmp_path / "panels")
    out = tmp_path / "out"
    printed = json.loads(call("reproduce", "--tiny", "--out", str(out), "--theta-norm", "0.5", "--json"))
    assert list(printed["panels"]) == ["small", "other"]
    assert sorted(p.name for p in (out / "figures").glob("*.pdf")) == ["other.pdf", "paper.pdf", "small.pdf"]
    regrets = [panel["policies"][0]["final_regret_mean"] for panel in printed["panels"].values()]
    assert regrets[1] < regrets[0]
    assert "holds the results of 'paper', not of 'small'" in call(
        "run", str(tmp_path / "panels" / "small.toml"), "--out", str(out), code=2
    )


def test_report_of_a_finished_folder(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    call("run", str(path), "--out", str(tmp_path / "out"), "--tiny", "--quiet")
    (tmp_path / "out" / "report.html").unlink()
    assert "report.html" in call("report", str(tmp_path / "out"))
    assert (tmp_path / "out" / "report.html").exists()
    call("report", str(tmp_path), code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.toml"], "driftbandits: none.toml: cannot be read: No such file or directory"),
        (["reproduce", "lb-regert"], "driftbandits: unknown panel 'lb-regert'; did you mean 'lb-regret'?"),
        (["reproduce", "lb-regret", "--cluster", "moon"], "driftbandits: --cluster moon: it must be local:N"),
        (["list", "strategy"], "driftbandits: there is no list of 'strategy'; did you mean 'strategies'?"),
        (["cite", "ofull"], "driftbandits: no citation for 'ofull'; did you mean 'oful'?"),
        (["tune", "--horizon", "100", "--dim", "2"], "driftbandits: give --path-length"),
        (
            ["tune", "--horizon", "100", "--dim", "2", "--path-length", "1", "--link", "cauchit"],
            "driftbandits: unknown link 'cauchit'",
        ),
    ],
)
def test_errors_are_one_line_and_exit_2(
    arguments: list[str], message: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_bad_assignment(tmp_path: pathlib.Path) -> None:
    assert "it must be NAME=VALUE" in call("run", str(small.write(tmp_path)), "--set", "R", code=2)


def test_lists() -> None:
    rows = json.loads(call("list", "--json"))
    assert {"kind": "strategy", "name": "oful", "text": rows[[r["name"] for r in rows].index("oful")]["text"]} in rows
    assert "unit_arms" in call("list", "environments")
    assert "logistic" in call("list", "links")
    assert "lb-regret" in call("list", "panels")


def test_tune_gives_the_numbers_of_the_theorems() -> None:
    arguments = ["tune", "--horizon", "6000", "--dim", "2", "--path-length", "6.283185019988713", "--changes", "5"]
    rows = {row["strategy"]: row for row in json.loads(call(*arguments, "--json"))}
    assert rows["lb_weight_ucb"]["gamma"] == pytest.approx(0.97711772, abs=1e-8)
    assert rows["lb_weight_ucb"]["bound"] == pytest.approx(30421.209, abs=1e-3)
    assert rows["sw_ucb"]["W"] == rows["restart_ucb"]["H"] == 34
    assert set(rows) == {
        "lb_weight_ucb",
        "sw_ucb",
        "restart_ucb",
        "bob",
        "glb_weight_ucb",
        "scb_weight_ucb",
        "scb_pw_weight_ucb",
    }
    assert "0.977118" in call(*arguments)
    half = json.loads(call(*arguments, "--half-life", "30", "--json"))
    assert {row["gamma"] for row in half} == {2 ** (-1 / 30)}


def test_cite() -> None:
    assert call("cite", "master", "d_lin_ucb").count("@inproceedings") == 3
    assert list(json.loads(call("cite", "oful", "--json"))) == ["wang2023revisiting", "abbasi2011improved"]


def test_every_algorithm_of_the_zoo_has_a_citation() -> None:
    from driftbandits import zoo
    from driftbandits.citations import BIBTEX, PARTS, ZOO, cite, papers

    assert set(zoo.__all__) <= set(ZOO)
    assert {key for keys in (*ZOO.values(), *PARTS.values()) for key in keys} <= set(BIBTEX)
    strategy = zoo.d_lin_ucb(gamma=0.9, lam=1, S=1, L=1, R=1, delta=0.1)
    assert papers(strategy) == ["wang2023revisiting", "abbasi2011improved", "russac2019weighted"]
    assert cite(strategy).startswith("@inproceedings{wang2023revisiting")


def test_in_a_pipe_it_is_quiet_and_exits_with_2(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "driftbandits.cli", "run", str(tmp_path / "none.toml")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    good = small.write(tmp_path)
    command = [sys.executable, "-m", "driftbandits.cli", "run", str(good), "--tiny", "--out", "out"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert result.stderr == ""
    assert "4 cells" in result.stdout


def test_without_the_extras_it_says_what_to_install(tmp_path: pathlib.Path) -> None:
    code = (
        "import importlib.util as u; find = u.find_spec; u.find_spec = lambda n, *a: None if n == 'typer' else find(n, *a); "
        "from driftbandits.cli import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 1
    assert result.stderr == "driftbandits: the command needs typer: pip install 'driftbandits[command]'\n"
