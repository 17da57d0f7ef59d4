"""What would be missed only after the cells ran is found before: names that collide, and names that nothing has."""

import pathlib

import pytest

import small_experiment as small
from driftbandits.experiment import SpecError, load, plan

HEAD = small.TEXT[: small.TEXT.index("[[bound]]")]
SECOND = """
[[environment]]
name = "hidden"
shown = false
use = "linear"
arms = { use = "unit_arms", n = 8, dim = 2, seed = "trial" }
path = { use = "static" }
"""
GRID = HEAD.replace('gamma = "lb_gamma"', "gamma = { grid = [0.12345678, 0.12345679] }")


def claim(**keys: str) -> str:
    given = {"text": '"?"', "left": '"OFUL"', "right": '"LB-WeightUCB"'} | keys
    return "\n[[claim]]\n" + "\n".join(f"{key} = {value}" for key, value in given.items())


def axis(**keys: str) -> str:
    return "\n[[axis]]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())


GROUPED = HEAD.replace('use = "linear"', 'use = "linear"\ngroup = "T"\nT = { grid = [30, 60] }')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GRID.replace("LB-WeightUCB", "W {gamma}"), "two points of this grid are both named 'W 0.123457'"),
        (GRID.replace("LB-WeightUCB", "W {gamma:>999999999}"), "'{gamma:>999999999}' in the name"),
        (GRID.replace("LB-WeightUCB", "W {gamma.__class__}"), "'{gamma.__class__}' in the name"),
        (
            HEAD.replace('gamma = "lb_gamma"', "gamma = { grid = [0.5, 0.9] }").replace(
                '"OFUL"', '"LB-WeightUCB gamma=0.5"'
            ),
            "the name 'LB-WeightUCB gamma=0.5' is used by an earlier strategy",
        ),
        (HEAD + claim(environments='"nowhere"'), "there is no environment named 'nowhere'; there is rotating"),
        (HEAD + claim(left='"OFUL @ nowhere"'), "there is no environment named 'nowhere'"),
        (HEAD + claim(left='"OFLU @ rotating"'), "there is no strategy named 'OFLU'; did you mean 'OFUL'?"),
        (
            HEAD.replace('use = "oful"', 'use = "oful"\nonly = "hidden"') + SECOND + claim(environments='"rotating"'),
            "'OFUL' does not run in 'rotating', of which this claim speaks",
        ),
        (
            HEAD.replace('use = "oful"', 'use = "oful"\nonly = "hidden"') + SECOND + claim(),
            "in no environment that is shown do all strategies of this claim run",
        ),
        (
            HEAD.replace('use = "oful"', 'use = "oful"\nonly = "hidden"') + SECOND + claim(left='"OFUL @ rotating"'),
            "'OFUL' does not run in 'rotating', of which this claim speaks",
        ),
        (HEAD + axis(group='"T"', x='"T"'), "the axis 'T' needs two or more environments of that group"),
        (
            GROUPED + axis(group='"T"', x='"TT"'),
            "unknown quantity x = 'TT' in environment 'rotating T=30'; did you mean 'T'?",
        ),
        (
            GROUPED + axis(group='"T"', x='"T"') + claim(quantity='"exponent"', right="0.8", axis='"P_T"'),
            "there is no axis named 'P_T'; there is T",
        ),
        (HEAD + '\n[[bound]]\nstrategy = "OFLU"\nuse = "lb_regret_bound"', "there is no strategy named 'OFLU'"),
        (HEAD + '\n[[bound]]\nstrategy = "OFUL"\nuse = "lb_radius"', "unknown bound 'lb_radius'"),
    ],
)
def test_refused_with_its_line(tmp_path: pathlib.Path, text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        plan(load(small.write(tmp_path, text)))
    assert message in str(caught.value)
    assert caught.value.located


def test_a_claim_is_tested_where_all_its_strategies_run(tmp_path: pathlib.Path) -> None:
    from driftbandits.experiment import publish

    other = SECOND.replace("hidden", "static").replace("shown = false\n", "")
    text = HEAD.replace('use = "oful"', 'use = "oful"\nonly = "static"') + other + claim()
    done = publish("small", [load(small.write(tmp_path, text))], tmp_path / "out", with_report=False)
    (verdict,) = done.panels[0].claims
    assert "comparisons" not in verdict.detail
