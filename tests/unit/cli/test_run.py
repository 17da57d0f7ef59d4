"""`driftbandits run`."""

import json
import pathlib
import sys
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import driftbandits as db
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
        (MemoryError(), "driftbandits: this machine does not have enough memory for it\n"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line(
    tmp_path: pathlib.Path, problem: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise problem

    monkeypatch.setattr("driftbandits.cli.publishing.publish", fail)
    assert refused("run", str(small.write(tmp_path))) == told


STREAM = """\
[experiment]
name = "stream"
trials = 2
horizon = 40
checkpoints = 5

[constants]
S = 1.0
L = 3.0
R = 1.0
lam = 1.0
delta = 0.1

[[environment]]
name = "labelled"
use = "elec2"
file = "FOLDER/elec.csv"
features = "interact"

[[environment]]
name = "a table"
use = "from_rewards"
X = "FOLDER/X.npy"
R = "FOLDER/R.npy"

[[strategy]]
name = "OFUL"
use = "oful"
"""


def stream(folder: pathlib.Path) -> pathlib.Path:
    """An experiment on files of data, 50 rounds each."""
    rng = np.random.default_rng(0)
    names = "period,nswprice,nswdemand,vicprice,vicdemand,transfer,class"
    rows = [",".join(f"{x:.3f}" for x in rng.random(6)) + f",{rng.integers(2)}" for _ in range(50)]
    (folder / "elec.csv").write_text("\n".join([names, *rows]))
    np.save(folder / "X.npy", rng.random((50, 3, 2)))
    np.save(folder / "R.npy", rng.random((50, 3)))
    (folder / "stream.toml").write_text(STREAM.replace("FOLDER", folder.as_posix()))
    return folder / "stream.toml"


def test_real_data_run_from_files(tmp_path: pathlib.Path) -> None:
    """The experiment's horizon cuts the stream; reward per round stands beside regret; other data need other cells."""
    path, out = stream(tmp_path), tmp_path / "out"
    output = call("run", str(path), "--out", str(out))
    assert "4 cells (4 computed, 0 found)" in output
    assert "reward per round" in output
    table = pq.read_table(out / "results.parquet").to_pydict()
    assert max(table["round"]) == 40
    world = db.env.from_rewards(np.load(tmp_path / "X.npy"), np.load(tmp_path / "R.npy"), horizon=40)
    oful = db.zoo.oful(lam=1, S=1, L=3, R=1, delta=0.1)
    run = db.simulate(oful, world, seed=np.random.SeedSequence([0, 0]), checkpoints=5)
    found = [
        r
        for e, t, r in zip(table["environment"], table["trial"], table["regret"], strict=True)
        if (e, t) == ("a table", 0)
    ]
    assert found == run.regret.tolist()
    np.save(tmp_path / "R.npy", np.random.default_rng(1).random((50, 3)))
    assert "4 cells (2 computed, 2 found)" in call("run", str(path), "--out", str(out))


def test_data_that_do_not_fit_are_told_with_their_line(tmp_path: pathlib.Path) -> None:
    path = stream(tmp_path)
    text = path.read_text()
    path.write_text(text.replace("R.npy", "none.npy"))
    line = next(i for i, words in enumerate(path.read_text().splitlines(), start=1) if words.startswith('R = "'))
    told = refused("run", str(path), "--out", str(tmp_path / "out"))
    assert f"stream.toml:{line}: from_rewards: R = " in told
    assert "is not a file" in told
    path.write_text(text.replace('features = "interact"\n', ""))
    assert "no model per item" in refused("run", str(path), "--out", str(tmp_path / "out"))
    path.write_text(text.replace("L = 3.0", "L = 0.1"))
    assert "> L = 0.1; raise L" in refused("run", str(path), "--out", str(tmp_path / "out"))
