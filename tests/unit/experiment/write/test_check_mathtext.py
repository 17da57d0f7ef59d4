"""Formulas in titles and names: tried before the cells run."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan
from driftbandits.experiment.write.check_mathtext import check_texts

HEAD = small.TEXT[: small.TEXT.index("[[bound]]")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"A small comparison"', '"$x^{$"', "small.toml:3: the formula in the title '$x^{$' cannot be drawn"),
        ('"OFUL"', '"$\\\\nope$"', "small.toml:28: the formula in the name '$\\nope$' cannot be drawn"),
        ('"rotating"\nuse', '"$_$"\nuse', "small.toml:17: the formula in the name '$_$' cannot be drawn"),
        ("seed = 0", 'seed = 0\nunit = "$^$"', "small.toml:7: the formula in the unit '$^$' cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: pathlib.Path, old: str, new: str, message: str) -> None:
    assert old in HEAD
    p = plan(load(small.write(tmp_path, HEAD.replace(old, new))))
    with pytest.raises(SpecError) as caught:
        check_texts(p)
    assert message in str(caught.value)


@pytest.mark.parametrize("title", ["$\\\\gamma^2$", "5 $", "\\\\$x^{\\\\$", "[/nope]", "<!--<script>", "<!--plotly-->"])
def test_what_can_be_drawn_is_not(tmp_path: pathlib.Path, title: str) -> None:
    check_texts(plan(load(small.write(tmp_path, HEAD.replace("A small comparison", title)))))
