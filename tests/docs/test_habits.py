"""What a contributor and a visitor meet first is true: the README's code runs, and workflows call targets that exist."""

import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL), ids=["bandit", "research"])
def test_the_code_of_the_readme_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("rotating(6000)", "rotating(60)"), "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= 1


INSTALLED_ALONE = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {extras!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
exec({code!r}, {{}})
import driftbandits as db
with db.Bandit.open("shop.db", reward="click") as bandit:
    print(bandit.decide(["a"]).item, db.Bandit.load("shop.bandit"))
"""


def test_the_first_code_of_the_readme_needs_no_extra(tmp_path):
    """`pip install .` brings what it needs: it runs where every package that only an extra names is missing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = re.compile(r"[\w-]+")
    needed = {name.match(line)[0] for line in project["dependencies"]}
    extra = {
        name.match(line)[0].replace("-", "_") for lines in project["optional-dependencies"].values() for line in lines
    }
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    script = INSTALLED_ALONE.format(extras=extra - needed - {"driftbandits"}, code=code)
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize("workflow", sorted(ROOT.glob(".github/workflows/*.yml")), ids=lambda path: path.stem)
def test_a_workflow_calls_targets_and_files_that_exist(workflow):
    text = workflow.read_text()
    called = {word for line in re.findall(r"run: make ([\w -]+)", text) for word in line.split()}
    assert called <= TARGETS
    files = re.findall(r"run: (?:bash|python) (\S+)", text)
    assert called or files
    assert all((ROOT / file).is_file() for file in files)


def test_the_readme_names_targets_that_exist():
    assert set(re.findall(r"^make ([\w-]+)", README, re.MULTILINE)) <= TARGETS
