"""The templates of docs/extending.md run in a fresh process, as a user's own file would."""

import json
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


IMPORT_EACH = """
import importlib, json, sys, traceback
told = {}
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except BaseException:
        told[name] = traceback.format_exc()
json.dump(told, open("told.json", "w"))
"""


@pytest.fixture(scope="module")
def problems(tmp_path_factory):
    """What went wrong when each template was imported as a module of its own, all in one fresh process: starting one takes longer."""
    folder = tmp_path_factory.mktemp("templates")
    for kind, code in TEMPLATES:
        (folder / f"my_{kind}.py").write_text(code)
    run(folder, IMPORT_EACH, *(f"my_{kind}" for kind, _ in TEMPLATES), NUMBA_DISABLE_JIT="1")
    return json.loads((folder / "told.json").read_text())


@pytest.mark.xdist_group("templates")
@pytest.mark.parametrize("kind", [kind for kind, _ in TEMPLATES])
def test_it_runs_interpreted(kind, problems):
    assert problems.get(f"my_{kind}") is None, problems[f"my_{kind}"][-2000:]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("kind", "code"), TEMPLATES, ids=[kind for kind, _ in TEMPLATES])
def test_it_runs_compiled(kind, code, tmp_path):
    (tmp_path / "mine.py").write_text(code)
    run(tmp_path, "import mine", NUMBA_DISABLE_JIT="0")


def run(folder, code, *arguments, **settings):
    """A fresh process in the folder of the user's modules."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "DRIFTBANDITS_CACHE": str(folder / "cache"), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
