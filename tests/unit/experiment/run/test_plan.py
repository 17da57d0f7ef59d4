"""Plans: each strategy and each world is made once, and nobody makes them again."""

import collections
import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import load, plan
from driftbandits.experiment.analyse.analysis import analyse
from driftbandits.experiment.run import objects
from driftbandits.experiment.run.runner import run_cells
from driftbandits.experiment.run.store import ResultStore


def test_one_road_from_the_file_to_the_panel(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: collections.Counter[str] = collections.Counter()
    build = objects.build

    def counted(kind: str, tree: dict[str, object]) -> object:
        made[kind] += 1
        return build(kind, tree)  # type: ignore[arg-type]

    monkeypatch.setattr(objects, "build", counted)
    objects._strategy.cache_clear()
    objects._world.cache_clear()
    p = plan(load(small.write(tmp_path)))
    results = run_cells(p.cells, ResultStore(tmp_path / "out"), jobs=1)
    analyse(p, results)
    assert made == {"strategy": 2, "environment": 4}  # two strategies; four trials, each with arms of its own


def test_large_worlds_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = {
        "use": "linear",
        "arms": {"use": "unit_arms", "n": 8, "dim": 2},
        "path": {"use": "rotating", "horizon": 60},
    }
    assert objects.world_of(tree) is objects.world_of(tree)
    monkeypatch.setattr(objects, "KEPT", 15)
    assert objects.world_of(tree) is not objects.world_of(tree)


def test_cells_that_need_the_same_machine_code_say_so(tmp_path: pathlib.Path) -> None:
    cells = plan(load(small.write(tmp_path))).cells
    assert len({c.composition for c in cells}) == 2
    assert {c.strategy for c in cells if c.composition == cells[0].composition} == {cells[0].strategy}
