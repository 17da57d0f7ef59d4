"""Interrupted at any line, a call has happened or has not (tests/torture/interrupts.py). Here at some lines; `make torture` tries all."""

import threading

import pytest

import driftbandits as db
from torture import interrupt_cases as cases
from torture.interrupts import Case, Tracer, attack, lines, summary, traced

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.xdist_group("interrupts"),
    # An interrupt between opening a file and noting it leaves the closing to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def holds(case: Case, most: int = 40) -> None:
    """At no more than so many lines, spread evenly over all of them."""
    every = max(1, lines(case) // most)
    tried, wrong = attack(case, every=every)
    assert tried >= most
    assert not wrong, summary(tried, wrong)


@pytest.mark.parametrize("call", ["select", "select more arms", "update", "update late"])
def test_agent(call):
    holds(cases.agent_case("weighted", call))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "call"), cases.AGENT_CALLS)
def test_every_agent(name, call):
    holds(cases.agent_case(name, call), most=300)


@pytest.mark.parametrize("call", ["begin_episode", "observe", "observe the end"])
def test_episodic_agent(call):
    holds(cases.episodic_case(call), most=25)


@pytest.mark.parametrize("call", ["decide", "reward", "absorb", "expire"])
def test_durable_bandit(call):
    holds(cases.durable_case(call), most=15)


@pytest.mark.slow
@pytest.mark.parametrize("call", cases.DURABLE_CALLS)
def test_every_call_of_a_durable_bandit(call):
    holds(cases.durable_case(call), most=200)


@pytest.mark.parametrize("new", [False, True])
def test_opening(new):
    holds(cases.open_case(new), most=15)


@pytest.mark.parametrize("call", ["decide", "reward"])
def test_follower(call):
    holds(cases.follower_case(call), most=15)


@pytest.mark.parametrize(
    "call", [pytest.param("fit", marks=pytest.mark.slow), "reward_batch", "save", "info", "estimate"]
)
def test_bandit_in_memory(call):
    holds(cases.memory_case("interact", call), most=25)


@pytest.mark.parametrize(
    ("mode", "call"), [("interact", "reward"), ("interact", "reward late"), ("disjoint", "reward")]
)
def test_rewarded_bandit_in_memory(mode, call):
    holds(cases.memory_case(mode, call), most=60)


@pytest.mark.parametrize(
    ("mode", "call"),
    [
        *(("interact", call) for call in ("decide", "decide with new features", "observe", "expire")),
        *(("disjoint", call) for call in ("decide", "drop")),
    ],
)
def test_learning_bandit_in_memory(mode, call):
    holds(cases.memory_case(mode, call), most=25)


def test_the_harness_finds_what_is_torn():
    """An object that changes in two steps is caught."""

    class Torn:
        def __init__(self):
            self.count = self.sum = 0

        def add(self):
            self.count += 1
            db.errors.real("x", 1.5)  # two lines of the package between the steps
            self.sum += 1

    tried, wrong = attack(Case(Torn, Torn.add, lambda torn: (torn.count, torn.sum)))
    assert tried > 0
    assert len(wrong) == tried


def test_an_interrupted_call_lets_the_lock_go():
    """At every line but those of the lock's own `__exit__`, which is Python and cannot protect its first line."""
    case = cases.agent_case("weighted", "select")
    for n in range(0, lines(case), 7):
        agent, tracer = case.make(), Tracer(n, KeyboardInterrupt)
        traced(tracer, case.call, agent)
        if "fair_lock" in tracer.place:
            continue
        other = threading.Thread(target=agent.info, daemon=True)
        other.start()
        other.join(timeout=20)
        assert not other.is_alive()
