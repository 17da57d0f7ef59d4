"""The templates of docs/extending.md run, each in a fresh process, as a user's own file would."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "extending.md"
TEMPLATES = re.findall(r"^## A (\w+)\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def test_every_kind_of_part_has_a_template():
    assert [kind for kind, _ in TEMPLATES] == ["memory", "radius", "rule", "model", "strategy", "link"]


@pytest.mark.parametrize(("kind", "code"), TEMPLATES, ids=[kind for kind, _ in TEMPLATES])
def test_it_runs_interpreted(kind, code, tmp_path):
    run(code, tmp_path, NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("kind", "code"), TEMPLATES, ids=[kind for kind, _ in TEMPLATES])
def test_it_runs_compiled(kind, code, tmp_path):
    run(code, tmp_path, NUMBA_DISABLE_JIT="0")


def run(code, folder, **settings):
    """A module of the user's, imported."""
    (folder / "mine.py").write_text(code)
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import mine"],
        cwd=folder,
        env={**os.environ, "DRIFTBANDITS_CACHE": str(folder / "cache"), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
