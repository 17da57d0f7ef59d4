"""Interrupted at any line, a call has happened or has not (tests/torture/interrupts.py). Here at some lines; `make torture` tries all.

Agents, and one bandit whose kernels are interpreted, and so interrupted too; tests/unit/bandit/test_interrupted_calls.py has the others.
"""

import threading

import pytest
from conftest import sized

import driftbandits as db
from torture import interrupt_cases as cases
from torture.interrupts import Case, Tracer, attack, holds, lines, traced

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.xdist_group("interrupts"),
    # An interrupt between opening a file and noting it leaves the closing to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("call", ["select", "select more arms", "update", "update late"])
def test_agent(call):
    holds(cases.agent_case("weighted", call), most=sized(15, 40))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "call"), cases.AGENT_CALLS)
def test_every_agent(name, call):
    holds(cases.agent_case(name, call), most=300)


@pytest.mark.parametrize("call", ["begin_episode", "observe", "observe the end"])
def test_episodic_agent(call):
    holds(cases.episodic_case(call), most=sized(10, 25))


@pytest.mark.parametrize(
    ("mode", "call"), [("interact", "reward"), ("interact", "reward late"), ("disjoint", "reward")]
)
def test_rewarded_bandit_in_memory(mode, call):
    holds(cases.memory_case(mode, call), most=sized(15, 60))


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
