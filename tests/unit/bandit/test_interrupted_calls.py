"""Every call of bandits in memory, in files and of followers, interrupted at some lines: it has happened, or has not.

Their kernels are compiled, so that all lines tried are those around them; tests/unit/test_interrupts.py interrupts interpreted kernels.
"""

import pytest
from conftest import sized

from torture import interrupt_cases as cases
from torture.interrupts import holds

pytestmark = [
    pytest.mark.xdist_group("bandit"),
    # An interrupt between opening a file and noting it leaves the closing to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("call", ["decide", "reward", "absorb", "expire"])
def test_durable_bandit(call):
    holds(cases.durable_case(call), most=sized(6, 15))


@pytest.mark.parametrize(
    "call",
    [
        "promote",
        *(
            pytest.param(call, marks=pytest.mark.slow)
            for call in ("challenge", "drop_challenger", "value", "explain", "health")
        ),
    ],
)
def test_a_durable_bandit_with_challengers(call):
    holds(cases.durable_challenged_case(call), most=sized(12, 60))


@pytest.mark.slow
@pytest.mark.parametrize("call", cases.DURABLE_CALLS)
def test_every_call_of_a_durable_bandit(call):
    holds(cases.durable_case(call), most=200)


@pytest.mark.parametrize("new", [False, True])
def test_opening(new):
    holds(cases.open_case(new), most=sized(6, 15))


@pytest.mark.parametrize("call", ["decide", "reward"])
def test_follower(call):
    holds(cases.follower_case(call), most=sized(6, 15))


@pytest.mark.parametrize(
    "call", [pytest.param("fit", marks=pytest.mark.slow), "reward_batch", "save", "info", "estimate"]
)
def test_bandit_in_memory(call):
    holds(cases.memory_case("interact", call), most=sized(8, 25))


@pytest.mark.parametrize(
    ("mode", "call"),
    [
        *(("interact", call) for call in ("decide", "decide with new features", "observe", "expire")),
        *(("disjoint", call) for call in ("decide", "drop")),
    ],
)
def test_learning_bandit_in_memory(mode, call):
    holds(cases.memory_case(mode, call), most=sized(8, 25))


@pytest.mark.parametrize("call", ["decide", "reward", "observe", "drop", "forget_feature", "expire"])
def test_a_bandit_with_challengers(call):
    holds(cases.challenged_case(call), most=sized(5, 10))


@pytest.mark.slow
@pytest.mark.parametrize("call", cases.bandit_calls([""] * 4))
def test_every_call_of_a_bandit_with_challengers(call):
    holds(cases.challenged_case(call), most=300)


@pytest.mark.slow
def test_merging():
    holds(cases.parts_case(), most=100)
