"""`driftbandits run`."""

import json
import pathlib
import sys
from typing import Any

import pytest

import small_experiment as small
from command_line import call, refused


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


def test_a_bad_assignment(tmp_path: pathlib.Path) -> None:
    assert "it must be NAME=VALUE" in call("run", str(small.write(tmp_path)), "--set", "R", code=2)


def test_words_are_shown_as_they_are(tmp_path: pathlib.Path) -> None:
    """Neither Rich nor the terminal, Matplotlib or the report takes a name or a title for something to obey."""
    words = ["[/nope]", "[red]", "a\\", "<!--<script>", "<!--plotly-->", "{gamma}"]
    text = small.replaced("A small comparison", "[/nope] <!--plotly-->")
    for word in words:
        text += f'\n[[strategy]]\nname = {json.dumps(word)}\nuse = "oful"\n'
    output = call("run", str(small.write(tmp_path, text)), "--out", str(tmp_path / "out"), "--tiny")
    assert "small: [/nope] <!--plotly-->\n" in output
    lines = output.splitlines()
    assert all(any(line.startswith(f"{word}  ") for line in lines) for word in words)


def test_code_of_ones_own_is_run_only_if_allowed(tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "mine_cli.py").write_text(
        f"import pathlib\npathlib.Path({str(trace)!r}).touch()\nimport driftbandits as db\n\n"
        "def fast(*, S: float, L: float, R: float, delta: float, lam: float):\n"
        "    return db.zoo.lb_weight_ucb(half_life=5, lam=lam, S=S, L=L, R=R, delta=delta)\n"
    )
    path = str(small.write(tmp_path, small.replaced('use = "oful"', 'use = "mine_cli:fast"')))
    assert "say --allow-code" in refused("run", path, "--out", str(tmp_path / "out"))
    assert not trace.exists()
    assert not (tmp_path / "out").exists()
    call("run", path, "--out", str(tmp_path / "out"), "--allow-code", "--tiny", "--quiet", "--jobs", "1")
    trace.unlink()
    del sys.modules["mine_cli"]
    call("report", str(tmp_path / "out"))
    assert not trace.exists()


def test_a_program_in_a_specification_is_not_run(tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "trace"
    text = small.replaced('use = "oful"', f'use = "os:system"\ncommand = "touch {trace}"')
    assert ":29: use = 'os:system' runs code" in refused("run", str(small.write(tmp_path, text)))
    assert not trace.exists()


def test_large_experiments_need_a_yes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(small.write(tmp_path))
    assert refused("run", path, "--trials", "100000").endswith("say --yes if you mean it\n")
    assert not (tmp_path / "results").exists()
    monkeypatch.setattr("driftbandits.experiment.spec.limits.MOST_CELLS", 1)
    assert "4 cells" in call("run", path, "--tiny", "--yes")


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (OSError(28, "No space left on device", "/x/cells"), "driftbandits: /x/cells: No space left on device\n"),
        (OSError(30, "Read-only file system"), "driftbandits: Read-only file system\n"),
        (MemoryError(), "driftbandits: this machine has not enough memory for it\n"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line(
    tmp_path: pathlib.Path, problem: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise problem

    monkeypatch.setattr("driftbandits.cli.publishing.publish", fail)
    assert refused("run", str(small.write(tmp_path))) == told
