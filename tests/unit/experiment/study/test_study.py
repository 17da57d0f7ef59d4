"""A study: cells are named by the code and the arguments that decide them, kept, and computed in any number of processes."""

import json
import textwrap

import pytest
from conftest import INTERPRETED

from driftbandits.errors import InvalidValue
from driftbandits.experiment.study import Cells
from driftbandits.experiment.study.cells import load
from driftbandits.experiment.study.source import code_digest
from driftbandits.experiment.study.study import find, studies
from driftbandits.io.cell_store import JsonStore

FILE = '''
"""Squares of numbers."""

import neighbour
from neighbour import offset
from driftbandits.experiment.study import Cells, Report, study

FACTOR = {"a": 1}
FACTOR["b"] = 2
COLOUR = "red"


def doubled(x):
    """Twice."""
    return 2 * x  # or x + x


def square(x: int) -> dict:
    """A cell."""
    return {"value": doubled(x) ** 2 * FACTOR["b"] + offset(), "colour": None}


def broken(x: int) -> int:
    """A cell that fails."""
    raise ZeroDivisionError("of a cell")


def draw():
    return COLOUR


@study(tiny={"most": 2})
def squares(cells: Cells, *, most: int = 5, word: str = "x") -> Report:
    """Squares."""
    found = cells(square, [{"x": i} for i in range(most)])
    return Report({"rows": [one["value"] for one in found], "word": word, "colour": draw()})
'''


def write(folder, **changes):
    """A folder with a study and a neighbour that it imports; texts of the study are replaced."""
    folder.mkdir(exist_ok=True)
    text = FILE.replace("neighbour", f"neighbour_of_{folder.name}")
    for old, new in changes.items():
        text = text.replace(SPOTS[old], new)
    (folder / f"neighbour_of_{folder.name}.py").write_text(
        "SHIFT = 0\n\ndef offset():\n    return SHIFT\n\ndef unused():\n    return 1\n"
    )
    (folder / "squares.py").write_text(textwrap.dedent(text))
    return folder / "squares.py"


SPOTS = {
    "comment": "  # or x + x",
    "docstring": '"""Twice."""',
    "colour": 'COLOUR = "red"',
    "helper": "2 * x",
    "constant": 'FACTOR["b"] = 2',
    "whole": "import neighbour\nfrom",
}


def digest_of(path, name="square"):
    load.cache_clear()
    return code_digest(getattr(load(path), name))


@pytest.mark.parametrize(
    ("change", "matters"),
    [
        ({"comment": ""}, False),
        ({"docstring": '"""Two times."""'}, False),
        ({"colour": 'COLOUR = "blue"'}, False),
        ({"helper": "x + x"}, True),
        ({"constant": 'FACTOR["b"] = 3'}, True),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_cell_is_named_by_the_code_that_it_uses(tmp_path, change, matters):
    before = digest_of(write(tmp_path))
    assert digest_of(write(tmp_path)) == before
    assert (digest_of(write(tmp_path, **change)) != before) == matters


def test_the_code_of_neighbouring_files_counts_too(tmp_path):
    path = write(tmp_path)
    before, neighbour = digest_of(path), tmp_path / f"neighbour_of_{tmp_path.name}.py"
    text = neighbour.read_text()
    neighbour.write_text(text.replace("return 1", "return 2"))  # nothing of a cell calls it
    assert digest_of(path) == before
    neighbour.write_text(text.replace("SHIFT = 0", "SHIFT = 1"))
    assert digest_of(path) != before


def test_a_study_is_resumed(tmp_path, caplog):
    found, cells = find(str(write(tmp_path))), tmp_path / "kept"
    small = found.run(tmp_path / "out", cells=cells, tiny=True, jobs=1)
    assert (small.cells, small.computed) == (2, 2)
    whole = found.run(tmp_path / "out", cells=cells, jobs=1)
    assert (whole.cells, whole.computed) == (5, 3)  # two are those of the tiny one
    made = json.loads((tmp_path / "out" / "results" / "squares.json").read_text())
    assert made == {"made_by": "driftbandits study squares", "rows": [0, 8, 32, 72, 128], "word": "x", "colour": "red"}
    kept = sorted(cells.rglob("*.json"))
    kept[0].write_text(kept[0].read_text().replace('"value"', '"other"'))
    assert found.run(tmp_path / "out", cells=cells, jobs=1).computed == 1  # what was changed is computed again
    assert "1 file in cells/ damaged since written" in caplog.text
    assert json.loads((tmp_path / "out" / "results" / "squares.json").read_text()) == made


def test_settings_are_checked_and_told(tmp_path):
    found = find(str(write(tmp_path)))
    found.run(tmp_path / "out", cells=tmp_path / "kept", jobs=1, most=1, word="y")
    made = json.loads((tmp_path / "out" / "results" / "squares.json").read_text())
    assert made["made_by"] == "driftbandits study squares --set most=1 --set word=y"
    with pytest.raises(InvalidValue, match=r"has no setting 'mosts'.*most"):
        found.run(tmp_path / "out", cells=tmp_path / "kept", mosts=1)
    with pytest.raises(InvalidValue, match="must be a whole number"):
        found.run(tmp_path / "out", cells=tmp_path / "kept", most="three")


def test_arguments_are_plain_data(tmp_path):
    square = load(write(tmp_path)).square
    with Cells(JsonStore(tmp_path / "kept"), jobs=1) as cells:
        for bad in (object(), float("inf")):
            with pytest.raises(InvalidValue, match="must be plain data"):
                cells(square, [{"x": bad}])
    assert not (tmp_path / "kept").exists()


def test_a_failed_cell_is_named_and_not_kept(tmp_path):
    module = load(write(tmp_path))
    with Cells(JsonStore(tmp_path / "kept"), jobs=1) as cells, pytest.raises(ZeroDivisionError) as told:
        cells(module.broken, [{"x": 3}])
    assert "broken(x=3)" in told.value.__notes__[0]
    assert not list((tmp_path / "kept").rglob("*.json"))


@pytest.mark.skipif(not INTERPRETED, reason="once is enough")
def test_processes_find_what_one_process_finds(tmp_path):
    square = load(write(tmp_path)).square
    asked = [{"x": i} for i in (3, 1, 3, 2)]
    with Cells(JsonStore(tmp_path / "one"), jobs=1) as cells:
        expected = cells(square, asked)
    with Cells(JsonStore(tmp_path / "two"), jobs=2) as cells:
        assert cells(square, asked) == expected == [{"value": v, "colour": None} for v in (72, 8, 72, 32)]
        assert (cells.total, cells.computed) == (3, 3)


def test_two_studies_of_one_name_are_refused(tmp_path):
    write(tmp_path)
    (tmp_path / "more.py").write_text((tmp_path / "squares.py").read_text())
    load.cache_clear()
    with pytest.raises(InvalidValue, match="two studies are called 'squares'"):
        studies(tmp_path)


def test_an_unknown_study_is_told():
    with pytest.raises(InvalidValue, match=r"unknown study 'drifts'.*drift"):
        find("drifts")
