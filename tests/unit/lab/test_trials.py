"""One trial of one learner: the numbers of `simulate`, from rounds that are made once."""

from typing import Any

import numpy as np
import pytest

import driftbandits as db
from driftbandits.experiment.run.cells import run
from driftbandits.lab import trials
from driftbandits.lab.asked import ask
from driftbandits.lab.question import read
from driftbandits.lab.trials import Kept, regret_of, world_blocks_of

SMALL = {"T": 30, "trials": 2, "n": 5, "learners": ["lb_weight_ucb", "oful"]}


def cells(**changes: Any) -> Any:
    return ask(read({**SMALL, **changes})).cells


def rounds(cell: Any) -> list[Any]:
    return world_blocks_of(cell.spec, trials.world_of(cell.spec["environment"]))


@pytest.mark.parametrize("arms", ["fixed", "changing"])
@pytest.mark.parametrize("path", ["rotating", "jumps", "walk", "seasonal"])
def test_the_regret_is_what_run_finds(arms: str, path: str) -> None:
    for learner in cells(arms=arms, path=path):
        for cell in learner:
            assert (regret_of(cell.spec) == run(cell.spec).regret).all()


def test_a_shorter_world_after_a_longer_one_has_rounds_of_its_own() -> None:
    """Arms that are kept for 6000 rounds come in more blocks than 3000 rounds have."""
    for T in (6000, 3000, 6000):
        assert sum(len(block.draw) for block in rounds(cells(T=T)[0][0])) == T


def test_clicks_and_values_have_random_numbers_of_their_own() -> None:
    values, clicks = cells()[0][0], cells(link="logistic", learners=["glb_weight_ucb"])[0][0]
    assert values.spec["seed"] == clicks.spec["seed"]
    assert rounds(values)[0].draw.min() < 0.0 < rounds(clicks)[0].draw.min()


def test_learners_share_the_rounds_of_a_trial_and_gamma_and_noise_leave_them() -> None:
    (first, other), (second, _) = cells()
    course = rounds(first)
    assert rounds(second) is course
    assert rounds(cells(gamma=0.9)[0][0]) is course
    assert rounds(cells(noise=0.5)[0][0]) is course
    assert rounds(other) is not course
    assert (rounds(other)[0].draw != course[0].draw).all()


def test_another_speed_keeps_the_arms_and_the_noise() -> None:
    slow, fast = (rounds(cells(arms="changing", speed=speed)[0][0])[0] for speed in (1.0, 2.0))
    assert slow.arms is fast.arms
    assert (slow.draw == fast.draw).all()
    assert (slow.theta != fast.theta).any()
    assert (slow.best != fast.best).any()


def test_what_was_used_longest_ago_makes_room() -> None:
    kept, made = Kept(25), []

    def get(name: str, size: int = 10) -> Any:
        return kept.get(name, lambda: made.append(name) or [np.zeros(size)], np.size)

    a = get("a")
    get("b")
    assert get("a") is a
    get("c")  # b goes
    assert get("a") is a
    get("b")  # c goes
    assert made == ["a", "b", "c", "b"]
    assert kept.numbers == 20
    get("large", 26)  # too large for all: it is given, and nothing is kept
    assert kept.numbers == 0


def test_a_refused_world_is_refused_again() -> None:
    cell = cells()[0][0]
    spec = {**cell.spec, "strategy": {**cell.spec["strategy"], "L": 0.5}}
    for _ in range(2):
        with pytest.raises(db.errors.InvalidValue, match="norm"):
            regret_of(spec)
