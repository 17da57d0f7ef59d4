"""Decide at once, compile meanwhile: choices do not notice when Python hands over to machine code."""

import os
import subprocess
import sys
import textwrap
import time
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from table import ONE_OF_EACH, make

import driftbandits as db
from driftbandits.agent.engine import _decide, _observe
from driftbandits.core import background_compile, registry
from driftbandits.core.kernel import entry
from driftbandits.core.numba_private import CompilerWarning
from driftbandits.core.state import pack
from driftbandits.errors import InvalidValue


@pytest.fixture(autouse=True)
def as_for_users(monkeypatch):
    monkeypatch.delenv("DRIFTBANDITS_COMPILE", raising=False)
    monkeypatch.setattr(background_compile, "_warned", set())


class Hand:
    """The background, moved by hand: the code comes when the test says."""

    def __init__(self):
        self.requests = []

    def ask(self, entry, args):
        self.requests.append(background_compile.CompileRequest(entry, args))
        return self.requests[-1]

    def deliver(self):
        for request in self.requests:
            request.load_or_compile()


@pytest.fixture
def hand(monkeypatch):
    """A background of its own, and a cache that has nothing."""
    mine = Hand()
    monkeypatch.setattr(background_compile, "_compiler", mine)
    for one in (_decide, _observe):
        monkeypatch.setattr(one, "ready", lambda *args: False)
    return mine


def played(agent, rounds, rng):
    chosen = []
    arms = np.random.default_rng(1).uniform(-0.5, 0.5, (6, 3))  # the same in all rounds: MASTER asks for that
    for _ in range(rounds):
        chosen.append(agent.select(arms))
        agent.update(float(rng.integers(0, 2)))
    return chosen


ROWS = [pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in ONE_OF_EACH]
MORE = [pytest.param(n, marks=pytest.mark.slow) for n in ("sw_ucb", "d_lin_ts", "master", "scb_weight_ucb")]


@pytest.mark.compiled
@pytest.mark.parametrize("name", ROWS + MORE)
def test_choices_agree_across_the_switch(hand, name):
    agents = [db.Agent(make(name), dim=3, seed=0, horizon=40, compile=how) for how in ("background", "now", "never")]
    rngs = [np.random.default_rng(0) for _ in agents]
    first = [played(agent, 10, rng) for agent, rng in zip(agents, rngs, strict=True)]
    assert first[0] == first[1] == first[2]
    switching, compiled, _ = agents
    assert isinstance(switching._decide, background_compile.InterpretedUntilCompiled)
    before = {k: v.tobytes() for k, v in pack(switching._state).items()}
    hand.deliver()
    assert {k: v.tobytes() for k, v in pack(switching._state).items()} == before  # the state is untouched
    then = [played(agent, 10, rng) for agent, rng in zip(agents, rngs, strict=True)]
    assert then[0] == then[1] == then[2]
    assert switching._decide is compiled._decide  # machine code, without anything around it
    assert switching._observe is compiled._observe
    np.testing.assert_allclose(switching.theta, compiled.theta, rtol=1e-8, atol=1e-10)


@pytest.mark.compiled
def test_a_compilation_that_fails_leaves_a_working_agent_and_one_line(hand):
    agent = db.Agent(make("lb_weight_ucb"), dim=3, seed=0, compile="background")
    twin = db.Agent(make("lb_weight_ucb"), dim=3, seed=0, compile="never")
    rngs = [np.random.default_rng(0) for _ in range(2)]
    first = played(agent, 3, rngs[0])
    for request in hand.requests:
        request.give_up("TypingError: no such thing")
    with pytest.warns(CompilerWarning, match="TypingError: no such thing.*computed by Python") as said:
        first += played(agent, 5, rngs[0])
    assert len(said) == 1
    assert "\n" not in str(said[0].message)
    assert first == played(twin, 8, rngs[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        played(agent, 5, rngs[0])


def test_the_ways_to_compile(monkeypatch):
    assert background_compile.compile_mode("background") == "background"
    monkeypatch.setenv("DRIFTBANDITS_COMPILE", "now")
    assert background_compile.compile_mode("background") == "now"
    assert background_compile.compile_mode("never") == "never"
    monkeypatch.setenv("DRIFTBANDITS_COMPILE", "sometimes")
    with pytest.raises(InvalidValue, match="'sometimes' is not allowed; it must be 'background', 'now' or 'never'"):
        db.Agent(make("lb_weight_ucb"), dim=3)
    with pytest.raises(InvalidValue, match="compile = 'later'"):
        db.Agent(make("lb_weight_ucb"), dim=3, compile="later")


def test_an_outline_has_the_same_types():
    import numba

    agent = db.Agent(make("master"), dim=3, horizon=40, compile="never")
    args = (agent.strategy, agent._state, np.zeros((3, 5)), np.zeros((4, 2)).T, True, 1.5, 3, np.random.default_rng(1))
    small = tuple(map(background_compile.outline, args))
    assert [str(numba.typeof(a)) for a in small] == [str(numba.typeof(a)) for a in args]
    assert sum(a.size for a in pack(small[1]).values()) < sum(a.size for a in pack(agent._state).values())
    assert args[-1].random() == np.random.default_rng(1).random()  # whose stream is left alone


@pytest.mark.compiled
def test_an_episodic_agent_decides_at_once(monkeypatch):
    monkeypatch.setattr(background_compile, "_compiler", mine := Hand())
    monkeypatch.setattr(db.mdp.agent._turn, "ready", lambda *args: False)
    world = db.mdp.riverswim(episodes=2, horizon=3)
    strategy = db.zoo.weight_ucrl(gamma=0.8, lam_theta=1.0, lam_w=8.0, delta=0.01, **world.bounds)
    agent = db.EpisodicAgent(strategy, phi=world.phi, psi=world.psi, horizon=3, seed=0)
    assert agent.begin_episode().shape == (3, 6, 2)
    assert len(mine.requests) == 1


# ------------------------------------------------------------------------------------------------------ with a real child


def wait_for(request, seconds=240.0):
    end = time.monotonic() + seconds
    while not request.over.is_set():
        assert time.monotonic() < end
        time.sleep(0.05)


@entry
def doubled(x):
    return 2.0 * x


@entry
def through(part, x):
    return part.factor * x


@pytest.mark.compiled
def test_a_child_compiles_into_the_cache_and_this_process_loads(tmp_path, monkeypatch):
    (tmp_path / "user_module_for_cold.py").write_text(
        textwrap.dedent("""
        from driftbandits.core.kernel import entry
        print("modules may print")

        @entry
        def tripled(x):
            return 3.0 * x

        @entry
        def impossible(x):
            return x.no_such_attribute
        """)
    )
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    # Kernels of other tests' files are part of the code's name in this process, and the child cannot import those files.
    monkeypatch.setattr(registry, "_helpers", {})
    monkeypatch.setattr(registry, "helper_modules", set())
    import user_module_for_cold as user

    background = background_compile.Compiler()
    good, bad = background.ask(user.tripled, (1.0,)), background.ask(user.impossible, (1.0,))
    wait_for(good)
    wait_for(bad)
    assert good.code(2.0) == 6.0
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 1
    assert bad.code is None
    assert bad.reason.startswith("TypingError")


@pytest.mark.compiled
def test_what_a_child_cannot_know_is_compiled_here(tmp_path, monkeypatch):
    class Local(NamedTuple):
        factor: float

    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    monkeypatch.setattr(background_compile, "run_child", lambda tasks: pytest.fail("a child was asked"))
    request = background_compile.Compiler().ask(through, (Local(2.0), 1.0))
    wait_for(request)
    assert request.code(Local(2.0), 4.0) == 8.0


@pytest.mark.compiled
def test_if_the_child_dies_this_process_compiles(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    request = background_compile.Compiler().ask(doubled, (1.0,))
    wait_for(request)
    assert request.code(4.0) == 8.0


@pytest.mark.compiled
def test_an_agent_in_a_fresh_process_answers_before_anything_is_compiled(tmp_path):
    """No compiler runs in the process before the first decision is made, and leaving does not wait for the child."""
    program = """
        import sys, numpy as np
        import driftbandits as db
        from driftbandits.core import numba_private
        from driftbandits.core import background_compile
        background_compile._compiler.ask = lambda entry, args: background_compile.CompileRequest(entry, args)
        def forbidden(*args):
            raise SystemExit("compiled before the first decision")
        numba_private._compile_once = forbidden
        agent = db.Agent(db.zoo.lb_weight_ucb(gamma=0.9, lam=1, S=1, L=1, R=1, delta=0.1), dim=2, seed=0)
        print(agent.select([[1.0, 0.0]]))
        agent.update(0.5)
        agent.update(0.5, x=[1.0, 0.0], age=0, weight=0.5)
        print(agent.info()["observations"])
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        env={k: v for k, v in os.environ.items() if k != "DRIFTBANDITS_COMPILE"}
        | {"DRIFTBANDITS_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "2"]
    assert not list(tmp_path.rglob("*.nbc"))


@pytest.mark.compiled
def test_a_forked_process_asks_again(tmp_path, monkeypatch):
    """A server that loads its agents and then forks: the thread that would have loaded the code stays behind."""
    monkeypatch.setenv("DRIFTBANDITS_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/nowhere/python")  # compiled here: a child is not the subject
    before = background_compile.Compiler()
    monkeypatch.setattr(before, "_begin", lambda request: None)  # its thread is gone
    request = before.ask(doubled, (np.float64(1.0),))
    assert not request.over.is_set()
    after = before.forked()
    wait_for(request)
    assert request.code(4.0) == 8.0
    assert after.ask(doubled, (np.float64(1.0),)) is request
