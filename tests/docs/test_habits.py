"""What a contributor and a visitor meet first is true: the README's code runs, and workflows call targets that exist."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL), ids=["bandit", "research"])
def test_the_code_of_the_readme_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("rotating(6000)", "rotating(60)"), "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= 1


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
