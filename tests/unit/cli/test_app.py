"""The command as a whole: help, version, errors, pipes."""

import pathlib
import subprocess
import sys

import pytest

import small_experiment as small
from command_line import call, refused


def test_help_of_every_command() -> None:
    assert "reproduce" in call("--help")
    for name in ("reproduce", "run", "report", "tune", "list", "cite"):
        assert "--help" in call(name, "--help")


def test_help_begins_with_what_a_visitor_can_do_with_data_of_their_own() -> None:
    shown = call("--help")
    order = [shown.index(f"─ {title} ─") for title in ("Your own data", "Algorithms and theorems", "Experiments")]
    assert order == sorted(order)
    assert order[0] < shown.index("│ serve ") < shown.index("│ replay ") < order[1] < shown.index("│ list ") < order[2]


@pytest.mark.parametrize("name", ["", "replay", "run", "tune", "table", "lab", "compile"])
def test_help_shows_no_types_of_python(name: str) -> None:
    shown = call(*filter(None, [name]), "--help")
    assert "--help" in shown
    for noise in ("<bool>", "<str>", "<int", "<float", "<path>", "<list"):
        assert noise not in shown


def test_version() -> None:
    import driftbandits

    assert call("--version").strip() == driftbandits.__version__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.toml"], "driftbandits: none.toml: cannot be read: No such file or directory"),
        (["reproduce", "lb-regert"], "driftbandits: unknown panel 'lb-regert'; did you mean 'lb-regret'?"),
        (["reproduce", "lb-regret", "--cluster", "moon"], "driftbandits: --cluster moon: it must be local:N"),
        (["list", "strategy"], "driftbandits: there is no list of 'strategy'; did you mean 'strategies'?"),
        (["cite", "ofull"], "driftbandits: no citation for 'ofull'; did you mean 'oful'?"),
        (["cite", "adaptive_ucrl"], "driftbandits: no citation for 'adaptive_ucrl'"),
        (["tune", "--horizon", "100", "--dim", "2"], "driftbandits: give --path-length"),
        (
            ["tune", "--horizon", "100", "--dim", "2", "--path-length", "1", "--link", "cauchit"],
            "driftbandits: unknown link 'cauchit'",
        ),
    ],
)
def test_errors_are_one_line_and_exit_2(
    arguments: list[str], message: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(*arguments).startswith(message)
    assert list(tmp_path.iterdir()) == []


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
