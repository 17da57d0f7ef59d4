"""The store: cells in one piece with a checksum; every step of writing may fail; folders of others refused."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import INTERPRETED, sized
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import small_experiment as small
from driftbandits.errors import CannotWrite
from driftbandits.experiment import SpecError, load, plan, publish
from driftbandits.experiment.run.cells import Cell, Result, run
from driftbandits.experiment.run.runner import run_cells
from driftbandits.experiment.run.store import ResultStore, decode, encode
from driftbandits.io.cell_store import digest
from faults import BROKEN, FULL, READ_ONLY, Died, faults


def made_up(trial: int, scale: float = 1.0) -> tuple[Cell, Result]:
    """A cell and a result that nobody had to compute."""
    spec = {"format": 0, "strategy": {"use": "sha256:oful"}, "trial": trial}
    cell = Cell("world", "sha256:" + "0" * 64, trial, spec, digest(spec), 90, False, "none")
    rounds = np.arange(1, 31) * 3
    regret = np.random.default_rng(trial).normal(size=30) * scale
    return cell, Result(rounds, regret, 0.5, {"a": [1]}, {"t": [0.1]}, [0.2, 0.3], np.array([[1, 2]]), {"cpu": "x"})


def same(one: Result | None, other: Result | None) -> bool:
    if one is None or other is None:
        return one is other
    if not all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("rounds", "regret", "plays")):
        return False
    return all(
        getattr(one, name) == getattr(other, name) for name in ("seconds", "info", "trace", "reward", "platform")
    )


def parts(folder: pathlib.Path) -> list[pathlib.Path]:
    return list(folder.rglob("*.part"))


def test_a_stored_cell_tells_how_it_was_made(tmp_path: pathlib.Path) -> None:
    cell = plan(load(small.write(tmp_path))).cells[0]
    store = ResultStore(tmp_path / "out")
    result = run(cell.spec)
    store.put(cell, result)
    table = pq.read_table(store.file(cell.key))
    assert table.column_names == ["environment", "strategy", "trial", "round", "regret"]
    about = json.loads(table.schema.metadata[b"driftbandits"])
    assert about["spec"] == cell.spec
    assert about["info"]["observations"] == 60
    assert set(about["platform"]) >= {"cpu", "numpy", "numba", "llvmlite"}
    assert same(store.get(cell.key), result)
    assert len(result.reward) == 12
    assert np.sum(result.plays) == 60


def test_no_flipped_bit_is_accepted() -> None:
    """One bit of every byte, and every bit of the names, metadata and checksum at the end; and every cut; and bytes too many."""
    cell, result = made_up(0)
    data = encode(cell, result)
    assert same(decode(data, cell.key), result)
    rng = np.random.default_rng(0)
    tail = len(data) - 700
    flips = [(i, int(rng.integers(8))) for i in range(tail)] + [
        (i, bit) for i in range(tail, len(data)) for bit in range(8)
    ]
    assert len(flips) > 6000
    accepted = []
    for i, bit in flips:
        changed = bytearray(data)
        changed[i] ^= 1 << bit
        if decode(bytes(changed), cell.key) is not None:
            accepted.append((i, bit))
    assert accepted == []
    assert [n for n in range(len(data)) if decode(data[:n], cell.key) is not None] == []
    assert decode(data + b"\0", cell.key) is None
    assert decode(data, made_up(1)[0].key) is None


def test_a_damaged_cell_is_absent_told_once_and_computed_again(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    store = ResultStore(tmp_path / "out")
    expected = run_cells(cells, store, jobs=1)
    for cell in cells[:3]:
        changed = bytearray(store.file(cell.key).read_bytes())
        changed[200] ^= 4
        store.file(cell.key).write_bytes(changed)
    store.file(cells[3].key).unlink()
    again = run_cells(cells, ResultStore(tmp_path / "out"), jobs=1)
    assert len(caplog.messages) == 1
    assert "3 files in cells/ damaged since written" in caplog.text
    for key, result in expected.items():
        np.testing.assert_array_equal(again[key].regret, result.regret)
    run_cells(cells, ResultStore(tmp_path / "out"), jobs=1)
    assert len(caplog.messages) == 1  # it has healed


@pytest.mark.parametrize("error", [FULL, READ_ONLY, BROKEN, None])
def test_every_step_of_storing_a_cell_may_fail(tmp_path: pathlib.Path, error: OSError | None) -> None:
    """Over an older result of the same cell: afterwards the old one or the new one is there, whole."""
    store, (cell, old), (_, new) = ResultStore(tmp_path), made_up(0), made_up(0, scale=2.0)
    with faults(0) as seen:
        store.put(cell, old)
    assert seen.count == 6  # open, write, fsync, rename; open and fsync of the folder
    for n in range(1, seen.count + 1):
        store.put(cell, old)
        with faults(n, error=error), pytest.raises(CannotWrite if error else Died):
            store.put(cell, new)
        kept = store.get(cell.key)
        assert same(kept, old) or same(kept, new)
        assert error is None or parts(tmp_path) == []
    assert not store.damaged


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and "cells" not in p.parts and p.suffix != ".part")
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def test_every_step_of_publishing_may_fail(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files that a folder of 2 trials and one of 4 trials consist of: after any failure each is the old or the new one, whole, and the
    next run makes what a run without failures makes."""
    from driftbandits.experiment.write import publish as module

    @contextlib.contextmanager
    def drawing(
        root: pathlib.Path, panels: Any, *_: Any
    ) -> Iterator[list[pathlib.Path]]:  # as the real ones, but quick
        yield []
        module.make_folder(root / "figures")
        module.write_atomically(root / "figures" / "small.png", panels[0].curves[0].regret.tobytes())

    def write_page(panels: Any, settings: Any, root: pathlib.Path) -> None:
        module.write_atomically(root / "report.html", panels[0].curves[0].regret.tobytes())

    monkeypatch.setattr(module, "drawing", drawing)
    monkeypatch.setattr(module, "write_page", write_page)
    experiments = {trials: load(small.write(tmp_path), trials=trials) for trials in (2, 4)}
    run_cells(plan(experiments[4]).cells, ResultStore(tmp_path / "cells only"))

    def go(folder: pathlib.Path, trials: int) -> dict[str, bytes]:
        publish("small", [experiments[trials]], folder)
        return contents(folder)

    folder = tmp_path / "out"
    go(folder, 4)
    old, new = go(folder, 2), go(folder, 4)
    changing = {name for name in new if old[name] != new[name]}
    assert changing >= {"results.parquet", "details.json", "summary.json", "report.html", "figures/small.png"}
    with faults(0) as seen:
        go(folder, 4)
    assert seen.count == 8 * 6  # manifest, results, details, summary, two tables, figure, report
    for error in (FULL, None):
        for n in range(1, seen.count + 1, 1 if error else 5):
            for name, content in old.items():
                (folder / name).write_bytes(content)
            with faults(n, error=error), pytest.raises(CannotWrite if error else Died) as caught:
                go(folder, 4)
            assert error is None or "\n" not in str(caught.value)
            assert error is None or parts(folder) == []
            left = contents(folder)
            assert left.keys() == new.keys()
            assert all(left[name] in (old[name], new[name]) for name in left)
            assert n % 5 or go(folder, 4) == new


COMMAND = [sys.executable, "-m", "driftbandits.cli", "run"]


def test_processes_share_one_folder(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path)
    alone = publish("small", [load(path)], tmp_path / "alone", with_report=False)
    arguments = [*COMMAND, str(path), "--quiet", "--out", str(tmp_path / "out")]
    n = sized(2, 3)
    processes = [subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) for _ in range(n)]
    assert [(p.communicate(timeout=300)[1], p.returncode) for p in processes] == [("", 0)] * n
    assert pq.read_table(tmp_path / "out" / "results.parquet").equals(pq.read_table(alone.root / "results.parquet"))
    assert parts(tmp_path) == []


@pytest.mark.parametrize("trouble", ["another experiment", "not empty", "a file", "unreadable", "no permission"])
def test_a_folder_that_is_not_ours_is_refused_and_untouched(
    tmp_path: pathlib.Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    if trouble == "a file":
        out.write_text("x")
    else:
        out.mkdir()
    if trouble == "another experiment":
        (out / "experiment.json").write_text('{"name": "other"}')
    elif trouble == "not empty":
        (out / "thesis.tex").write_text("x")
    elif trouble == "unreadable":
        (out / "experiment.json").write_text("{")
    elif trouble == "no permission":
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    before = sorted(p.name for p in tmp_path.rglob("*"))
    with pytest.raises(SpecError):
        publish("small", [load(small.write(tmp_path))], out, with_report=False)
    assert sorted(p.name for p in tmp_path.rglob("*") if p.name != "small.toml") == before


CELLS = st.integers(0, 2)


class AnyStore(RuleBasedStateMachine):
    """Put, fail, die, damage, lose and mix up files in any order: what is read was put, or is absent."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = ResultStore(pathlib.Path(self.folder.name))
        self.certain: dict[int, Result] = {}  # put, and nothing happened since
        self.possible: dict[int, list[Result]] = {i: [] for i in range(3)}  # ever tried to put
        self.count = 0

    def teardown(self) -> None:
        self.folder.cleanup()

    def new(self, i: int) -> tuple[Cell, Result]:
        self.count += 1
        cell, result = made_up(i, scale=float(self.count))
        self.possible[i].append(result)
        return cell, result

    def path(self, i: int) -> pathlib.Path:
        return self.store.file(made_up(i)[0].key)

    @rule(i=CELLS)
    def put(self, i: int) -> None:
        cell, result = self.new(i)
        self.store.put(cell, result)
        self.certain[i] = result

    @rule(
        i=CELLS,
        n=st.integers(1, 6),
        error=st.sampled_from([FULL, BROKEN, None]),
        longest=st.sampled_from([1000, 10**9]),
    )
    def put_and_fail(self, i: int, n: int, error: OSError | None, longest: int) -> None:
        cell, result = self.new(i)
        before = self.certain.pop(i, None)
        try:
            with faults(n, error=error, longest=longest) as seen:
                self.store.put(cell, result)
        except (CannotWrite, Died):
            kept = self.store.get(cell.key)
            assert same(kept, result) or before is None or same(kept, before)
            if before is not None and kept is not None:
                self.certain[i] = kept
        else:
            assert seen.count < n
            self.certain[i] = result

    @rule(i=CELLS, where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def flip_a_bit(self, i: int, where: float, bit: int) -> None:
        if self.path(i).exists():
            data = bytearray(self.path(i).read_bytes())
            if data:
                data[int(where * len(data))] ^= 1 << bit
                self.path(i).write_bytes(data)
                if self.certain.pop(i, None) is not None:
                    assert self.store.get(made_up(i)[0].key) is None

    @rule(i=CELLS, where=st.floats(0, 1, exclude_max=True))
    def cut(self, i: int, where: float) -> None:
        if self.path(i).exists():
            data = self.path(i).read_bytes()
            self.path(i).write_bytes(data[: int(where * len(data))])
            self.certain.pop(i, None)

    @rule(i=CELLS, j=CELLS)
    def mix_up(self, i: int, j: int) -> None:
        if i != j and self.path(j).exists():
            self.path(i).parent.mkdir(parents=True, exist_ok=True)
            self.path(i).write_bytes(self.path(j).read_bytes())
            self.certain.pop(i, None)

    @precondition(lambda self: self.certain)
    @rule(i=CELLS)
    def lose(self, i: int) -> None:
        self.path(i).unlink(missing_ok=True)
        self.certain.pop(i, None)

    @rule()
    def reopen(self) -> None:
        self.store = (
            ResultStore.open(self.store.root, "any")
            if not any(self.store.root.iterdir())
            else ResultStore(self.store.root)
        )

    @invariant()
    def what_is_read_was_put(self) -> None:
        for i in range(3):
            read = self.store.get(made_up(i)[0].key)
            if i in self.certain:
                assert same(read, self.certain[i])
            else:
                assert read is None or any(same(read, one) for one in self.possible[i])


def test_any_sequence_of_mishaps() -> None:
    run_state_machine_as_test(
        AnyStore, settings=settings(max_examples=10 if INTERPRETED else 20, stateful_step_count=20, deadline=None)
    )
