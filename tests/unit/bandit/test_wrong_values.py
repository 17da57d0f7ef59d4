"""Every public call with forty kinds of wrong value (tests/torture/wrong_values.py): one line of our own, and nothing has changed."""

import logging

import pytest

import driftbandits as db
from torture.wrong_values import VALUES, attack_calls, attack_makers, in_a_folder

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # NumPy warns of what we refuse
    pytest.mark.xdist_group("bandit"),
]


def test_there_are_forty():
    assert len(VALUES) >= 40


def test_making():
    with in_a_folder():
        tried, wrong = attack_makers()
    assert tried > 500
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("calls", ["fit(", "decide_batch(", "decide("])
def test_some_calls_with_some_values(calls):
    kinds = ("-1", "list", "dict", "array", "deep", "5000 digits", "hostiler", "unequal")
    tried, wrong = attack_calls(db.Bandit, calls, kinds)
    assert tried >= 3 * len(kinds)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "durable", "follower"])
def test_calling(kind):
    logging.disable(logging.CRITICAL)
    with in_a_folder():
        db.Bandit.open("d.bandit").close()
        make = {
            "memory": db.Bandit,
            "durable": lambda: db.Bandit.open("d.bandit"),
            "follower": lambda: db.Bandit.follow("d.bandit"),
        }[kind]
        tried, wrong = attack_calls(make)
    logging.disable(logging.NOTSET)
    assert tried > 1500
    assert not wrong, "\n".join(wrong)
