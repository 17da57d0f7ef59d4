"""`driftbandits study`."""

import json

from command_line import call, refused

FILE = '''
from driftbandits.experiment.study import Cells, Report, study

def double(x: float) -> float:
    return 2 * x

@study(tiny={"most": 1})
def doubles(cells: Cells, *, most: int = 3, start: float = 0.5) -> Report:
    """Twice of something."""
    return Report({"rows": cells(double, [{"x": start + i} for i in range(most)])})
'''


def test_a_file_of_ones_own_is_run_with_its_settings(tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    same = [
        "study",
        str(tmp_path / "mine.py"),
        "--out",
        str(tmp_path / "out"),
        "--cells",
        str(tmp_path / "cells"),
        "-j",
        "1",
    ]
    told = call(*same, "--set", "start=1.5")
    assert "3 cells (3 computed, 0 found)" in told
    made = json.loads((tmp_path / "out" / "results" / "doubles.json").read_text())
    assert made == {"made_by": "driftbandits study doubles --set start=1.5", "rows": [3.0, 5.0, 7.0]}
    assert "1 cells (0 computed, 1 found)" in call(*same, "--set", "start=1.5", "--tiny")


def test_what_cannot_be_run_is_told_in_one_line(tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    assert "unknown study 'drif'" in refused("study", "drif")
    assert "has no setting 'mots'" in refused("study", str(tmp_path / "mine.py"), "--set", "mots=3")
    assert "must be NAME=VALUE" in refused("study", str(tmp_path / "mine.py"), "--set", "3")
    (tmp_path / "none.py").write_text("")
    assert "defines 0 studies" in refused("study", str(tmp_path / "none.py"))


def test_without_a_name_all_are_listed():
    told = call("study")
    assert "drift" in told
    assert "norm-5" in told
