"""Cells of another processor, NumPy or numba: told, or refused before anything is computed."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import load, plan
from driftbandits.experiment.run import cells as cells_module
from driftbandits.experiment.run import runner
from driftbandits.experiment.run.platforms import MixedPlatforms, MixedPlatformsWarning, difference, this_platform
from driftbandits.experiment.run.runner import run_cells
from driftbandits.experiment.run.store import ResultStore

OTHER = {**this_platform(), "cpu": "z80", "numpy": "0.1"}


def pretend(monkeypatch: pytest.MonkeyPatch, platform: dict[str, str]) -> None:
    for module in (cells_module, runner):
        monkeypatch.setattr(module, "this_platform", lambda: platform)


def test_mixing_warns_and_strict_refuses_before_it_computes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    store = ResultStore(tmp_path / "out")
    with monkeypatch.context() as there:
        pretend(there, OTHER)
        run_cells(cells[:3], store, jobs=1, strict=True)
        run_cells(cells[:3], store, jobs=1, strict=True)  # all of one platform
    assert run_cells(cells[:3], store, jobs=1, strict=True).keys() == {c.key for c in cells[:3]}  # nothing to add
    with pytest.raises(MixedPlatforms, match=r"its 3 cells .*\(cpu z80 and .*numpy 0\.1 and .*--strict") as refused:
        run_cells(cells, store, jobs=1, strict=True)
    assert "\n" not in str(refused.value)
    assert len(list(store.root.rglob("*.parquet"))) == 3
    with pytest.warns(MixedPlatformsWarning, match="3 of 8 cells were computed on another platform") as caught:
        run_cells(cells, store, jobs=1)
    assert len(caught) == 1
    with pytest.raises(MixedPlatforms, match="3 of 8 cells"):
        run_cells(cells, store, jobs=1, strict=True)


def test_the_platform_knows_its_compiler_and_says_what_differs() -> None:
    assert set(this_platform()) == {"cpu", "system", "code", "numpy", "numba", "llvmlite", "scipy"}
    assert difference(this_platform(), {**this_platform(), "numba": "9"}).startswith("numba ")
