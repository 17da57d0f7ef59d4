"""Calls: code that is not of the library cannot be reached from a file that is not trusted, wherever it is named."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan
from driftbandits.experiment.spec.calls import build
from driftbandits.experiment.write.report_tables import parameters_text
from driftbandits.meta.feature_map import kernel_features

PATH = 'path = { use = "rotating" }'
ARMS = 'arms = { use = "unit_arms", n = 8, dim = 2, seed = "trial" }'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('use = "oful"', "use = CODE"),
        ('use = "linear"', "use = CODE"),
        (PATH, "path = { use = CODE }"),
        (PATH, "path = { grid = [{ use = CODE }] }"),
        (PATH, 'path = { use = "joined", paths = [{ use = "rotating" }, { use = CODE }] }'),
        (PATH, 'path = { use = "joined", paths = [[{ use = CODE }]] }'),
        (PATH, 'path = { use = "joined", paths = [{ use = "rotating", norm = { use = CODE } }] }'),
        (ARMS, "arms = [[{ use = CODE }]]"),
        (ARMS, "arms = [1, { use = CODE }]"),
        ('use = "oful"', 'use = "master"\nbase = { use = CODE }'),
        ('use = "oful"', 'use = "oful"\nlam = { use = CODE }'),
        ('use = "oful"', 'use = "oful"\nlam = { grid = [{ use = CODE }] }'),
        ('use = "oful"', 'use = "oful"\nfeatures = { use = CODE }'),
        ('use = "oful"', 'use = "oful"\nfeatures = { kernel = { use = CODE } }'),
        ('lam = "d"', "lam = { use = CODE }"),
        ('use = "linear"', 'use = "linear"\nconstants = { lam = { use = CODE } }'),
        ('use = "linear"', 'use = "linear"\nconstants = { lam = [{ use = CODE }] }'),
        ('use = "linear"', 'use = "linear"\nconstants = { lam = { grid = [{ use = CODE }] } }'),
        ('use = "linear"', 'use = "linear"\nT = { use = CODE }'),
        ("[tiny]", "[tiny]\nconstants = { lam = { use = CODE } }"),
    ],
)
@pytest.mark.parametrize("code", ["spy_exp:act", "spy_exp.inner:act", "spy_exp:__doc__"])
def test_nothing_is_imported_from_a_file_that_is_not_trusted(
    tmp_path: pathlib.Path, old: str, new: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "spy_exp.py").write_text(f"import pathlib\npathlib.Path({str(trace)!r}).touch()\n\ndef act(): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = small.write(tmp_path, small.replaced(old, new.replace("CODE", f'"{code}"')))
    with pytest.raises(SpecError) as caught:
        plan(load(path, tiny=True))
    assert caught.value.located
    assert not trace.exists()


def test_a_grid_of_worlds(tmp_path: pathlib.Path) -> None:
    """Tables and texts may be points of a grid, and a name tells which."""
    text = small.replaced(
        PATH, 'path = { grid = [{ use = "rotating", turns = { grid = [1, 2] } }, { use = "static" }] }'
    )
    text = text.replace('"rotating"\nuse', '"{path}"\nuse')[: text.index("[[bound]]") - 2]
    with pytest.raises(SpecError, match="two points of this grid are both named 'rotating'"):
        plan(load(small.write(tmp_path, text)))
    text = text.replace("turns = { grid = [1, 2] }", "turns = 2")
    p = plan(load(small.write(tmp_path, text)))
    assert [e.name for e in p.environments] == ["rotating", "static"]
    assert {c.spec["environment"]["path"]["use"] for c in p.cells} == {"rotating", "static"}


def test_a_grid_of_links(tmp_path: pathlib.Path) -> None:
    text = small.replaced('use = "linear"', 'use = "generalized"\nlink = { grid = ["logistic", "probit"] }')
    text = text[: text.index("[[bound]]")]
    text = text.replace('use = "lb_weight_ucb"', 'use = "glb_weight_ucb"').replace("lb_gamma", "glb_gamma")
    p = plan(load(small.write(tmp_path, text.replace('use = "oful"', 'use = "glm_ucb"'))))
    assert [e.name for e in p.environments] == ["rotating link=logistic", "rotating link=probit"]


def test_a_nested_call_inherits_from_the_constants_only(tmp_path: pathlib.Path) -> None:
    """The δ of DAL's detector is its own: the base takes the constant δ, as docs/command.md says."""
    text = small.replaced('use = "oful"', 'use = "dal"\nbase = { use = "oful" }\ndelta = 0.05')
    cells = [c for c in plan(load(small.write(tmp_path, text))).cells if c.spec["strategy"]["use"] == "dal"]
    assert cells
    for cell in cells:
        strategy = cell.spec["strategy"]
        assert strategy["delta"] == 0.05
        assert strategy["base"]["delta"] == pytest.approx(1.0 / (2 * cell.horizon))


def test_a_formula_still_sees_the_numbers_of_its_own_call(tmp_path: pathlib.Path) -> None:
    text = small.replaced('use = "oful"', 'use = "oful"\ndelta = 0.01\nlam = "100*delta"')
    found = [c.spec["strategy"] for c in plan(load(small.write(tmp_path, text))).cells]
    assert any(s["use"] == "oful" and s["lam"] == pytest.approx(1.0) for s in found)


def test_a_kernel_of_a_learner_is_a_table_of_values(tmp_path: pathlib.Path) -> None:
    """It reaches the learner whole, and the report writes it out."""
    kernel = 'features = { kernel = "rbf", lengthscale = 0.5, frequencies = 6 }'
    cells = plan(load(small.write(tmp_path, small.replaced('use = "oful"', f'use = "oful"\n{kernel}')))).cells
    found = next(c.spec["strategy"] for c in cells if c.spec["strategy"]["use"] == "oful")
    built = build("strategy", found)
    assert built.features == kernel_features(kernel="rbf", lengthscale=0.5, frequencies=6)
    assert "features=(frequencies=6, kernel='rbf', lengthscale=0.5)" in parameters_text(found)
