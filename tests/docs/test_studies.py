"""The study of docs/studies.md runs as it stands there."""

import json
import pathlib
import re

import pytest

from driftbandits.experiment.study.study import find

pytestmark = pytest.mark.interpreted

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "studies.md"


def test_a_study_in_twenty_lines(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    (tmp_path / "windows.py").write_text(code)
    done = find(str(tmp_path / "windows.py")).run(tmp_path / "out", cells=tmp_path / "cells", tiny=True, jobs=1)
    assert (done.cells, done.computed) == (6, 6)
    made = json.loads((tmp_path / "out" / "results" / "windows.json").read_text())
    assert [row["window"] for row in made["rows"]] == [50, 200, 800]
    assert all(0.0 < row["regret"] < 100.0 for row in made["rows"])
