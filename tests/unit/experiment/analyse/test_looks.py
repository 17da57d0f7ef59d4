"""A strategy that asks for no colour has that of its role."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import load
from driftbandits.experiment.analyse.looks import looks

HEAD = small.TEXT.partition("[[strategy]]")[0]


def drawn(tmp_path: pathlib.Path, *strategies: str) -> dict[str, tuple[str, str]]:
    entries = [f'[[strategy]]\nname = "{k}"\n{text}\n' for k, text in enumerate(strategies)]
    (tmp_path / "mine.toml").write_text(HEAD + "\n".join(entries))
    return looks(load(tmp_path / "mine.toml").strategies)


def test_each_role_has_its_colour_in_any_order(tmp_path: pathlib.Path) -> None:
    found = drawn(tmp_path, 'use = "oful"', 'use = "self_tuning"', 'use = "lb_weight_ucb"\ngamma = 0.9')
    assert found == {"0": ("black", "solid"), "1": ("blue", "solid"), "2": ("red", "solid")}


def test_several_of_a_role_are_told_apart_and_what_is_asked_for_stays(tmp_path: pathlib.Path) -> None:
    window = 'use = "sw_ucb"\nwindow = 9'
    found = drawn(tmp_path, window, f'{window}\ncolour = "red"', window, window, f'{window}\nline = "dotted"', window)
    assert found["1"] == ("red", "solid")
    assert [colour for colour, _ in found.values()] == ["orange", "red", "brown", "yellow", "orange", "brown"]
    assert found["4"] == ("orange", "dotted")
    assert found["5"] == ("brown", "dashed")
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("use", ["weight_ucrl", "mnl_weight_ucrl"])
def test_planners_without_gamma_are_tuning_free(tmp_path: pathlib.Path, use: str) -> None:
    found = drawn(tmp_path, f'use = "{use}"', f'use = "{use}"\ngamma = 0.9')
    assert [colour for colour, _ in found.values()] == ["blue", "red"]
