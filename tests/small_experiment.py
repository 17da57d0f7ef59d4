"""A small experiment to test with: two strategies, two environments, short trials."""

import pathlib

TEXT = """\
[experiment]
name = "small"
title = "A small comparison"
trials = 4
horizon = 60
seed = 0
checkpoints = 12

[constants]
S = 1.0
L = 1.0
R = 1.0
lam = "d"
delta = "1/(2*T)"

[[environment]]
name = "rotating"
use = "linear"
arms = { use = "unit_arms", n = 8, dim = 2, seed = "trial" }
path = { use = "rotating" }

[[strategy]]
name = "LB-WeightUCB"
use = "lb_weight_ucb"
gamma = "lb_gamma"

[[strategy]]
name = "OFUL"
use = "oful"

[[bound]]
strategy = "LB-WeightUCB"
use = "lb_regret_bound"

[[claim]]
text = "Half the regret of OFUL is less than that of LB-WeightUCB"
left = "OFUL"
right = "LB-WeightUCB"
factor = 0.1

[[claim]]
text = "Something that is not so"
left = "OFUL"
right = "LB-WeightUCB"
factor = 100.0

[tiny]
trials = 2
horizon = 20
"""


def write(folder: pathlib.Path, text: str = TEXT, **changes: str) -> pathlib.Path:
    """Write the experiment, with pieces of its text replaced."""
    for old, new in changes.items():
        text = text.replace(old, new)
    path = folder / "small.toml"
    path.write_text(text)
    return path


def replaced(old: str, new: str) -> str:
    """The text with one piece replaced, which must be there."""
    assert old in TEXT, old
    return TEXT.replace(old, new, 1)
