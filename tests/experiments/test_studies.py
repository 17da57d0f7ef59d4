"""Every study runs at its tiny size, writes what the site's tables are made from, and finds its cells again."""

import json
import math

import pytest

import driftbandits as db
from driftbandits.experiment.study.study import studies

pytestmark = pytest.mark.interpreted
FOUND = studies()
RESULTS = next(iter(FOUND.values())).file.parents[1] / "docs" / "results"
PANELS = {
    "paper",
    "norm-5",
    "beyond",
    "piecewise",
    "scaling",
    "successors",
    "learners",
}  # run by tests of `publish`, too
ELSEWHERE = {"replay_obp"}  # needs a package that is not installed


def shape(value):
    """Names and kinds, of the first element of a list."""
    if isinstance(value, dict):
        return {name: shape(v) for name, v in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def numbers(value):
    """All numbers in it."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [x for v in value for x in numbers(v)]
    return [value] if isinstance(value, int | float) else []


def test_every_file_of_results_has_a_study_that_makes_it():
    made_elsewhere = {"bench_mdp"}  # by benchmarks/
    kept = {file.stem for file in RESULTS.glob("*.json")}
    assert kept - made_elsewhere <= FOUND.keys()
    assert len(FOUND) >= 20


LONG = {
    "alarms",
    "news",
    "replay",
    "mdp_study",
    "which",
    "neighbours",
    "mdp_taxi",
    "mdp_lower_bound",
    "adaptive_study",
    "mdp_adaptive",
    "mdp_memory",
    "mdp_rivals",
    "mdp_knowledge",
    "mdp_knowledge_design",
    "mdp_gymnasium_design",
}  # three to ten seconds each, without the compiler


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in LONG else name
        for name in sorted(FOUND.keys() - PANELS - ELSEWHERE)
    ],
)
def test_a_study_runs_tiny_and_is_resumed(name, tmp_path):
    found = FOUND[name]
    done = found.run(tmp_path / "out", cells=tmp_path / "cells", tiny=True, jobs=1)
    made = json.loads(done.files[0].read_text())
    assert made["made_by"] == f"driftbandits study {name} --tiny"
    assert all(file.stat().st_size > 1000 for file in done.files[1:])
    assert done.computed == done.cells
    values = numbers(made)
    assert all(map(math.isfinite, values))
    if done.cells:
        assert values
        again = found.run(tmp_path / "again", cells=tmp_path / "cells", tiny=True, jobs=1)
        assert (again.cells, again.computed) == (done.cells, 0)
        assert again.files[0].read_bytes() == done.files[0].read_bytes()
    committed = RESULTS / f"{name}.json"
    if committed.exists():
        kept = json.loads(committed.read_text())
        assert set(kept) - {"note", "exponents"} <= set(made)  # a tiny size may have too few lengths to fit an exponent
        if isinstance(kept.get("rows"), list):
            assert shape(made["rows"][0]).keys() == shape(kept["rows"][0]).keys()


def test_what_is_not_installed_is_told(tmp_path):
    with pytest.raises(db.errors.InvalidValue, match="needs the package obp"):
        FOUND["replay_obp"].run(tmp_path, cells=tmp_path, jobs=1)


@pytest.mark.slow
def test_a_panel_is_a_study_too(tmp_path):
    done = FOUND["norm-5"].run(tmp_path / "out", cells=tmp_path / "cells", tiny=True, jobs=1)
    made = json.loads(done.files[0].read_text())
    (policies,) = [panel["policies"] for panel in made["panels"].values()]
    assert all(policy["microseconds_at_best"] > 0 for policy in policies)
    assert (
        policies[0].keys()
        == json.loads((RESULTS / "norm-5.json").read_text())["panels"]["glb-s5"]["policies"][0].keys()
    )
