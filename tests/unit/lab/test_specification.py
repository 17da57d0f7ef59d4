"""A question as a file and as Python: both give the page's numbers, cell for cell."""

import pathlib
from typing import Any

import pytest

from driftbandits.experiment import load
from driftbandits.experiment.run.plan import plan
from driftbandits.lab.asked import ask
from driftbandits.lab.learners import LEARNERS
from driftbandits.lab.question import read
from driftbandits.lab.specification import python, toml

SMALL = {"T": 40, "trials": 3, "n": 6}
POINTS = [[0.0, 0.5], [0.5, 0.0], [-0.6, -0.8]]
QUESTIONS: dict[str, dict[str, Any]] = {
    "linear": {"learners": [x.key for x in LEARNERS["linear"]], "seed": 3},
    "generalized": {"learners": [x.key for x in LEARNERS["generalized"]], "link": "logistic", "S": 2.0},
    "probit": {"learners": ["glb_weight_ucb", "glm_ucb"], "link": "probit"},
    "sliders": {"gamma": 0.9, "lam": 3.0, "bonus": 0.5, "noise": 0.25, "speed": 2.5},
    "no forgetting": {"gamma": 1.0},
    "jumps": {"path": "jumps", "speed": 7, "d": 3},
    "walk": {"path": "walk", "speed": 0.05},
    "seasonal": {"path": "seasonal", "arms": "changing"},
    "drawn": {"path": "drawn", "points": POINTS, "d": 4, "speed": 2, "S": 0.5},
    "river": {"world": "river", "learners": [x.key for x in LEARNERS["river"]], "stages": 4, "speed": 2.0},
    "gradual river": {"world": "river", "learners": ["weight_ucrl"], "drift": "gradual", "gamma": 0.9, "lam": 2.0},
    "static river": {"world": "river", "learners": ["ucrl_vtr"], "drift": "static", "form": "current"},
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_file_has_the_cells_of_the_page(name: str, tmp_path: pathlib.Path) -> None:
    question = read({**SMALL, **QUESTIONS[name]})
    file = tmp_path / "lab.toml"
    file.write_text(toml(question))
    theirs = {cell.key: cell for cell in plan(load(file)).cells}
    ours = [cell for trials in ask(question).cells for cell in trials]
    assert len(ours) == len(question.chosen) * question.trials == len(theirs)
    for cell in ours:
        assert theirs[cell.key].spec == cell.spec
        assert theirs[cell.key].strategy == cell.strategy


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["sliders", "drawn", "seasonal", "gradual river"])
def test_the_python_prints_the_regret_of_the_cells(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from driftbandits.lab.trials import regret_of

    question = read({**SMALL, "seed": 2, **QUESTIONS[name], "trials": 2, "T": 12})
    asked = ask(question)
    exec(python(question, asked.cells), {})
    printed = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    expected = [sum(regret_of(cell.spec)[-1] for cell in trials) / 2 for trials in asked.cells]
    assert printed == [round(value, 1) for value in expected]
    assert all(value > 0 for value in expected)
