"""What may be asked, and in which words the rest is refused."""

from typing import Any

import pytest

from driftbandits.errors import InvalidValue
from driftbandits.lab.question import read


def test_nothing_asked_is_the_paper_s_world() -> None:
    question = read({})
    assert (question.path, question.d, question.n, question.T, question.trials) == ("rotating", 2, 50, 6000, 20)
    assert [learner.key for learner in question.chosen] == ["self_tuning", "oful", "lb_weight_ucb"]


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ([], "a question must be a JSON object, not list"),
        ({"T": 1}, "T = 1 is not allowed; it must be a whole number in 2..60000"),
        ({"T": 3.5}, "T = 3.5 is not allowed; it must be a whole number in 2..60000"),
        ({"T": True}, "T = True is not allowed; it must be a whole number in 2..60000"),
        ({"noise": "1"}, "noise = '1' is not allowed; it must be a number in [0, 5]"),
        ({"gamma": 0.0}, "gamma = 0.0 is not allowed; it must be a number in (0, 1], or null for the theorem's"),
        ({"gamma": 1.1}, "gamma = 1.1 is not allowed; it must be a number in (0, 1], or null for the theorem's"),
        (
            {"path": "spiral"},
            "path = 'spiral' is not allowed; it must be 'rotating', 'jumps', 'walk', 'seasonal' or 'drawn'",
        ),
        ({"path": "drawn"}, "points: a drawn path needs 2 to 64 points"),
        ({"points": [[2.0, 0.0]] * 3}, "it must be 2 to 64 points [x, y] of the unit disc"),
        ({"points": [[0.0, 0.0]]}, "it must be 2 to 64 points [x, y] of the unit disc"),
        ({"points": [[0.0, float("nan")]] * 2}, "it must be 2 to 64 points [x, y] of the unit disc"),
        ({"points": 7}, "points = 7 is not allowed; it must be 2 to 64 points [x, y] of the unit disc"),
        ({"learners": ["olful"]}, "learners: there is no 'olful' in a linear world; there is self_tuning"),
        ({"link": "logistic"}, "learners: there is no 'oful' in a generalized world"),
        ({"learners": ["oful", "oful"]}, "learners: every name may occur once"),
        ({"learners": "oful"}, "learners = 'oful' is not allowed; it must be a list of names"),
        (
            {"T": 60_000, "trials": 100, "learners": ["oful", "sw_ucb", "bob", "dal"]},
            "T × trials × learners is more than 2e+07, which is too slow for an interactive page",
        ),
        ({"points": [[0.0, 0.0], 3]}, "it must be 2 to 64 points [x, y] of the unit disc"),
        ({"wurld": "bandit"}, "unknown key 'wurld'; known: world, path"),
    ],
)
def test_what_cannot_be_asked_is_one_line(asked: Any, line: str) -> None:
    with pytest.raises(InvalidValue) as told:
        read(asked)
    assert line in str(told.value)
    assert "\n" not in str(told.value)


def test_master_stays_away_where_arms_change() -> None:
    both = {"learners": ["master", "oful"]}
    assert [x.key for x in read(both).chosen] == ["oful", "master"]
    assert [x.key for x in read({**both, "arms": "changing"}).chosen] == ["oful"]
