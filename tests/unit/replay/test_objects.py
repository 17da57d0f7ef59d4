"""Any object that decides, and functions, as policies."""

import pytest

import logs
from driftbandits.errors import InvalidValue
from driftbandits.replay.objects import Called
from driftbandits.replay.policies import policy_of

NAMES = ("item", "reward", "context", "at")


def walked(policy, log):
    """The policy after a whole log of which it hears every row."""
    for t, row in enumerate(log):
        assert sum(policy.ask(t, row).p.values()) == pytest.approx(1.0)
        policy.tell(t, row)
    return policy


class Kept:
    """An object that notes what it is told."""

    def __init__(self):
        self.told = []

    def decide(self, items, context, at):
        return "a"

    def reward(self, item, reward, context=None, at=None):
        self.told.append((item, reward, context, at))


def test_an_object_hears_of_every_row_if_it_takes_the_item():
    log, mine = logs.log(30, 0), Kept()
    policy = walked(policy_of("k", mine, log, foreign=True), log)
    assert mine.told == []  # the copy was told
    assert policy._own.told == [(row.item, row.reward, row.context, row.at) for row in log]


def test_an_object_whose_reward_names_no_item_hears_of_its_own_choices_only():
    class Short(Kept):
        def reward(self, r):
            self.told.append(r)

    log = logs.log(30, 0)
    policy = walked(policy_of("s", Short(), log, foreign=True), log)
    assert policy._own.told == [row.reward for row in log if row.item == "a"]


def test_functions_are_called_with_the_arguments_they_take():
    def all_four(item, reward, context, at):
        return item, reward, context, at

    values = {"item": "a", "reward": 1.0, "context": {}, "at": 3.0}
    told = {
        all_four: ("a", 1.0, {}, 3.0),
        lambda action, r, ctx: (action, r, ctx): ("a", 1.0, {}),
        lambda decision, reward, *, at=None: (decision, reward, at): ("a", 1.0, 3.0),
        lambda *args: args: ("a", 1.0),
        lambda item, **rest: (item, rest): ("a", {"reward": 1.0, "context": {}, "at": 3.0}),
        lambda q: q: 1.0,
        lambda reward, scale=2.0: reward * scale: 2.0,
        lambda context, item, reward: (context, item, reward): ({}, "a", 1.0),
    }
    for function, answer in told.items():
        assert Called(function, NAMES, "reward")(**values) == answer


def test_answers_that_are_no_choice_are_refused():
    log = logs.log(50, 0)
    row = next(iter(log))
    for answer, problem in [
        ("z", "chose 'z', which is not on offer; on offer are 'a', 'b', 'c'"),
        (None, "chose None"),
        ({"a": 0.5, "b": 0.4}, "sum to 0.9"),
        ({"a": -0.5, "b": 1.5}, "none may be below 0"),
        (["a"], "which is not on offer"),
    ]:
        with pytest.raises(InvalidValue, match=problem):
            policy_of("p", lambda items, context, at, answer=answer: answer, log, foreign=True).ask(0, row)
