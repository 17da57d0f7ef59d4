"""Figures and tables on disk, drawn in this process or in others."""

import os
from concurrent.futures.process import BrokenProcessPool

import pytest

import small_experiment as small
from driftbandits.errors import CannotWrite
from driftbandits.experiment import Published, SpecError, load, publish
from driftbandits.experiment.write.drawing import artists, draw_one, drawing
from faults import FULL, faults


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("outcome")
    return publish("small", [load(small.write(folder))], folder / "out", with_report=False)


def test_another_process_draws_the_same_figure_and_is_not_missed_when_it_dies(done: Published) -> None:
    files = {file: file.read_bytes() for file in done.figures}
    with artists(1) as pool:
        assert pool is not None
        for file in files:
            file.unlink()
        pool.submit(draw_one, done.root, None, "small").result()
        assert {file: file.read_bytes() for file in files} == files
        with pytest.raises(SpecError, match="holds no finished experiment"):
            pool.submit(draw_one, done.root / "nothing", None, "small").result()
        with pytest.raises(BrokenProcessPool):
            pool.submit(os._exit, 1).result()
        for file in files:
            file.unlink()
        with drawing(done.root, done.panels, None, pool) as drawn:
            assert drawn == done.figures
    assert {file: file.read_bytes() for file in files} == files


def test_a_figure_that_cannot_be_written_leaves_the_old_one(done: Published) -> None:
    files = {file: file.read_bytes() for file in done.figures}
    for n in (2, 3, 4, 8, 9, 10):  # write, fsync and rename of the PDF and of the PNG
        with faults(n, error=FULL), pytest.raises(CannotWrite), drawing(done.root, done.panels, None, None):
            pass
        assert {file: file.read_bytes() for file in files} == files
        assert not list(done.root.rglob("*.part"))


def test_figures_and_tables_are_there(done: Published) -> None:
    files = sorted(p.name for p in (done.root / "figures").iterdir())
    assert files == ["small.pdf", "small.png"]
    assert (done.root / "figures" / "small.png").read_bytes().startswith(b"\x89PNG")
    assert (done.root / "figures" / "small.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(p.name for p in (done.root / "tables").iterdir()) == ["claims.csv", "final_regret.csv"]
