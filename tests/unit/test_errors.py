"""What is no number is refused in one line, and whole numbers stay what they are."""

import numpy as np
import pytest

import driftbandits as db
from driftbandits.errors import InvalidValue, integer, real

LINEAR = {"lam": 1.0, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.1}


@pytest.mark.parametrize("given", ["0.5", b"1", None, [1.0], 10**400, float("nan"), float("-inf"), 1 + 0j])
def test_what_is_no_finite_number(given):
    with pytest.raises(InvalidValue, match=r"^reward") as refused:
        real("reward", given)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("given", ["2", 2.5, -1, np.float64(1e300), True])
def test_whole_numbers(given):
    if given is True or given == 1e300:
        assert integer("dim", given, least=0, why="it counts") == given
    else:
        with pytest.raises(InvalidValue, match=r"^dim"):
            integer("dim", given, least=0, why="it counts")


def test_large_whole_numbers_are_not_rounded():
    """2⁶⁰ + 1 is no float; as a seed it is not 2⁶⁰."""
    for given in (2**60 + 1, np.int64(2**60 + 1), 2**200 + 1):
        assert integer("seed", given, least=0, why="it starts a generator") == given
    arms = [db.env.unit_arms(3, dim=2, seed=2**60 + i) for i in range(2)]
    assert (arms[0] != arms[1]).any()


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("gamma", lambda: db.zoo.lb_weight_ucb(gamma="0.9", **LINEAR)),
        ("seed", lambda: db.Agent(db.zoo.oful(**LINEAR), dim=2, seed=-1)),
        ("seed", lambda: db.Agent(db.zoo.oful(**LINEAR), dim=2, seed="x")),
        ("does not fit into memory", lambda: db.Agent(db.zoo.sw_ucb(window=10**15, **LINEAR), dim=2)),
        (
            "masked",
            lambda: db.Agent(db.zoo.oful(**LINEAR), dim=2).select(np.ma.array(np.eye(2), mask=[[0, 0], [1, 1]])),
        ),
        ("turns", lambda: db.env.rotating(5, turns=float("nan"))),
        ("not a world", lambda: db.simulate(db.zoo.oful(**LINEAR), None)),
        ("base = Master", lambda: db.zoo.master(db.zoo.master(db.zoo.oful(**LINEAR), horizon=9), horizon=9)),
    ],
)
def test_a_strangers_mistakes(what, call):
    with pytest.raises(db.DriftBanditsError, match=what) as refused:
        call()
    assert "\n" not in str(refused.value)
