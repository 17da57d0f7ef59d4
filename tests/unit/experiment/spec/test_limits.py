"""Sizes are bounded before anything is made; --yes lifts the bound."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan
from driftbandits.experiment.run import objects

MANY = ", ".join(f"0.{i:06d}" for i in range(1, 10_001))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("n = 8", "n = 1e12", "small.toml:16: dim 2 × n 1000000000000 are more than 1e+08 numbers; say --yes"),
        ("dim = 2", "dim = 1000000000", "small.toml:16: dim 1000000000 × n 8 are more than 1e+08 numbers; say --yes"),
        (
            "trials = 4",
            "trials = 100000",
            "small.toml: 2 pairs of environment and strategy × 100000 trials are 200000 cells",
        ),
        ("seed = 0", f"seed = [{', '.join(map(str, range(10_000)))}]", "× 40000 trials are 80000 cells"),
        ('gamma = "lb_gamma"', f"gamma = {{ grid = [{MANY}] }}", "10001 pairs of environment and strategy × 4 trials"),
        (
            "horizon = 60",
            "horizon = 1000000000000",
            "small.toml:16: 8 cells of 1e+12 rounds are 8e+12, more than 1e+10",
        ),
        ('use = "linear"', 'use = "linear"\nT = "10**12"', "small.toml:19: 8 cells of 1e+12 rounds"),
        (
            'path = { use = "rotating" }',
            'path = { use = "piecewise", changes = 10000000000 }',
            "changes 10000000000 × horizon 60 are more than 1e+08 numbers",
        ),
    ],
)
def test_what_is_very_large_needs_a_yes(
    tmp_path: pathlib.Path, old: str, new: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "build", lambda *_: pytest.fail("something was made"))
    with pytest.raises(SpecError) as caught:
        plan(load(small.write(tmp_path, small.replaced(old, new))))
    assert message in str(caught.value)
    assert str(caught.value).endswith("say --yes if you mean it")


def test_grids_multiply_before_they_are_expanded(tmp_path: pathlib.Path) -> None:
    grid = f"{{ grid = [{', '.join(str(i / 2000) for i in range(1, 1001))}] }}"
    text = small.replaced('gamma = "lb_gamma"', f"gamma = {grid}\nbonus_scale = {grid}")
    with pytest.raises(SpecError, match="1000001 pairs of environment and strategy"):
        plan(load(small.write(tmp_path, text)))


def test_the_points_of_tables_in_a_grid_add_up(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandits.experiment.spec.limits.MOST_CELLS", 1)
    paths = '{ grid = [{ use = "rotating", turns = { grid = [1, 2, 3] } }, { use = "static" }] }'
    text = small.replaced('path = { use = "rotating" }', f"path = {paths}")
    with pytest.raises(SpecError, match="8 pairs of environment and strategy × 4 trials are 32 cells"):
        plan(load(small.write(tmp_path, text)))


def test_with_a_yes_it_is_planned(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandits.experiment.spec.limits.MOST_CELLS", 7)
    experiment = load(small.write(tmp_path))
    with pytest.raises(SpecError, match="are 8 cells, more than 7; say --yes"):
        plan(experiment)
    assert len(plan(experiment, yes=True).cells) == 8


def test_what_no_memory_holds_is_one_line_even_then(tmp_path: pathlib.Path) -> None:
    path = small.write(tmp_path, small.replaced("n = 8", "n = 100000000000000"))
    with pytest.raises(SpecError, match=r"small.toml:16: linear is too large for the memory of this machine"):
        plan(load(path), yes=True)
