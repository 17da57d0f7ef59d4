"""A call that is interrupted at any line leaves arrays that fit each other, and a bandit that goes on working."""

import copy
import pathlib
import sys

import numpy as np
import pytest

import driftbandits as db
from driftbandits.adaptive import sums

pytestmark = [pytest.mark.xdist_group("bandit"), pytest.mark.interpreted]
ROOMS = ("bandit", "adaptive")
PACKAGE = pathlib.Path(db.__file__).parent


def interrupted(call, line, problem):
    """Run a call and raise at its `line`-th line inside the rooms; whether the line was reached."""
    seen = 0

    def local(frame, event, _):
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == line:
                raise problem
        return local

    def trace(frame, *_):
        return local if pathlib.Path(frame.f_code.co_filename).parent.name in ROOMS else None

    sys.settrace(trace)
    try:
        call()
    except type(problem):
        return True
    finally:
        sys.settrace(None)
    return False


def used():
    bandit = db.Bandit(features="hybrid", seed=0, max_items=3)
    rng = np.random.default_rng(0)
    for t in range(12):
        d = bandit.decide({"a": {"x": rng.normal()}, f"b{t % 2}": {"x": 1.0}}, {"c": rng.normal()})
        bandit.reward(d.id, rng.normal())
    return bandit


def grows(bandit):
    """New features of item and context, new items, one of which evicts another, and a checkpoint."""
    bandit.decide({"new": {"x": 1.0, "fresh": 2.0, "kind": "p"}, "newer": {"x": 0.0}}, {"c": 1.0, "late": 3.0})


@pytest.mark.parametrize("step", ["decide", "reward"])
def test_interrupted_anywhere(step):
    """At every eighth line of the call itself, then at samples of the interpreted kernels."""
    problems = KeyboardInterrupt(), MemoryError()
    lines = [*range(1, 90, 8), *range(90, 4000, 740)]
    reached, trained = 0, used()
    for number, line in enumerate(lines):
        bandit = copy.deepcopy(trained)
        if step == "reward":
            made = bandit.decide({"new": {"x": 1.0, "fresh": 2.0}}, {"c": 1.0, "late": 3.0})
            call = lambda b=bandit, d=made: b.reward(d.id, 1.0)  # noqa: E731
        else:
            call = lambda b=bandit: grows(b)  # noqa: E731
        reached += interrupted(call, line, problems[number % 2])
        model = bandit._learner.model
        sums.check(model.state, model.engine.work)
        assert len(model.engine.layout.item) == model.state.b.shape[1]
        assert len(model.engine.slots.zi) == len(model.items.kind)
        assert all(bandit._learner.places.get(name) < len(model.state.last) for name in ("a", "b0", "new", "newer"))
        d = bandit.decide({"a": {"x": 1.0}, "new": {"x": 2.0, "fresh": 1.0}}, {"c": 0.0})
        bandit.reward(d.id, 0.5)
        assert 0.0 < d.propensity <= 1.0
    assert reached > 10
