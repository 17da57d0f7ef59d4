"""An error of the library points at the line of the value it speaks of, wherever that value was given."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan


def refusal(tmp_path: pathlib.Path, old: str, new: str, **options: object) -> str:
    path = small.write(tmp_path, small.replaced(old, new))
    with pytest.raises(SpecError) as caught:
        plan(load(path, **options))  # type: ignore[arg-type]
    return str(caught.value).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "L = 1.0",
            "L = 0.5",
            "small.toml:11: lb_weight_ucb: an arm has norm 1 > L = 0.5; raise L, or rescale the arms",
        ),
        ('use = "oful"', 'use = "oful"\nL = 0.5', "small.toml:30: oful: an arm has norm 1 > L = 0.5"),
        (
            'delta = "1/(2*T)"',
            "delta = 3",
            "small.toml:14: lb_weight_ucb: delta = 3.0 is not allowed; it must be in (0, 1)",
        ),
        (
            'delta = "1/(2*T)"',
            'delta = "1/(2*TT)"',
            "small.toml:14: unknown name 'TT' in '1/(2*TT)'; did you mean 'T'?",
        ),
        ('lam = "d"', 'lam = "d +"', "small.toml:13: 'd +' is not a formula"),
        ('lam = "d"', 'lam = "S*q"\nq = "1/0"', "small.toml:14: '1/0' has no value: division by zero"),
        ('lam = "d"', 'lam = "q"\nq = "lam"', "small.toml:13: the constant lam = 'q' depends on itself"),
        (
            'use = "linear"',
            'use = "linear"\nconstants = { lam = "no + 1" }',
            "small.toml:19: unknown name 'no' in 'no + 1'",
        ),
        (
            'use = "linear"',
            'use = "linear"\nconstants = { lam = -1.0 }',
            "small.toml:19: lb_weight_ucb: lam = -1.0 is not allowed",
        ),
        ('gamma = "lb_gamma"', 'gamma = "0.9 + trial"', "small.toml:25: lb_weight_ucb: gamma = 1.9 is not allowed"),
        ('gamma = "lb_gamma"', "gamma = inf", "small.toml:25: gamma = inf is not allowed; it must be finite"),
        ('gamma = "lb_gamma"', "gamma = 2020-01-01", "small.toml:25: gamma = 2020-01-01 is not allowed"),
        ('use = "oful"', 'use = "sw_ucb"\nwindow = 1000000000000', "small.toml:27: sw_ucb is too large for the memory"),
        ('use = "oful"', 'use = "weight_ucrl"\ngamma = 0.9', "small.toml:27: weight_ucrl: "),
    ],
)
def test_where_the_value_was_given(tmp_path: pathlib.Path, old: str, new: str, message: str) -> None:
    found = refusal(tmp_path, old, new)
    assert found.startswith(message), found
    assert "\n" not in found


def test_what_the_command_line_says_is_blamed_on_the_command_line(tmp_path: pathlib.Path) -> None:
    assert refusal(tmp_path, "S = 1.0", "S = 1.0", constants={"L": 0.5}).startswith("--set L: lb_weight_ucb: an arm")
    assert refusal(tmp_path, "S = 1.0", "S = 1.0", constants={"lam": "1 +"}).startswith(
        "--set lam: '1 +' is not a formula"
    )
    assert refusal(tmp_path, "S = 1.0", "S = 1.0", constants={"lam": float("inf")}).startswith(
        "--set lam=inf: it must be"
    )


def test_the_twin_is_blamed_for_its_own_constants(tmp_path: pathlib.Path) -> None:
    found = refusal(tmp_path, "[tiny]", "[tiny]\nconstants = { L = 0.5 }", tiny=True)
    assert found.startswith("small.toml:48: lb_weight_ucb: an arm has norm 1 > L = 0.5")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / 0", "small.toml:27: theirs_exp:strategy raised ZeroDivisionError: division by zero"),
        ("return 'OFUL'", "small.toml:27: theirs_exp:strategy: str is not a strategy for bandits"),
    ],
)
def test_code_of_ones_own_that_fails(
    tmp_path: pathlib.Path, body: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs_exp.py").write_text(f"def strategy():\n    {body}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "theirs_exp", raising=False)
    assert refusal(tmp_path, 'use = "oful"', 'use = "theirs_exp:strategy"', allow_code=True).startswith(message)
