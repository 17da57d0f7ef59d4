"""Agents under random sequences of calls: after each the estimate is the oracle's, whatever was refused, saved or late."""

import naive
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from naive.late import late_weights

import driftbandits as db

LINEAR = {"lam": 0.5, "S": 1.0, "L": 1.0, "R": 1.0, "delta": 0.1}
GAMMA = 0.8
features = st.tuples(st.floats(-0.7, 0.7), st.floats(-0.7, 0.7)).map(np.array)
rewards = st.floats(-2.0, 2.0)


class AgentMachine(RuleBasedStateMachine):
    """Decisions, rewards in time and late, data from elsewhere, refusals, saving."""

    @initialize()
    def begin(self):
        self.agent = db.Agent(db.zoo.lb_weight_ucb(gamma=GAMMA, **LINEAR), dim=2, seed=0)
        self.clock = 0  # rounds that have begun
        self.waiting = []  # (round, features) of open decisions
        self.seen = []  # (round, features, reward, weight)

    @rule(x=features)
    def decide(self, x):
        assert self.agent.select([x]) == 0
        self.clock += 1
        self.waiting.append((self.clock, x))

    @precondition(lambda self: self.waiting)
    @rule(r=rewards, which=st.integers(0, 5), weight=st.sampled_from([1.0, 0.0, 0.5, 3.0]))
    def reward_one(self, r, which, weight):
        s, x = self.waiting.pop(which % len(self.waiting))
        self.agent.update(r, x=x, weight=weight, age=self.clock - s)
        self.seen.append((s, x, r, weight))

    @precondition(
        lambda self: len(self.waiting) == 1 and self.waiting[-1][0] == self.clock and self.agent._pending.older == 0
    )
    @rule(r=rewards)
    def reward_the_only_one(self, r):
        s, x = self.waiting.pop()
        self.agent.update(r)
        self.seen.append((s, x, r, 1.0))

    @precondition(lambda self: not self.waiting)
    @rule(x=features, r=rewards)
    def observe(self, x, r):
        self.agent.update(r, x=x)
        self.clock += 1
        self.seen.append((self.clock, x, r, 1.0))

    @rule(bad=st.sampled_from([np.nan, np.inf, -np.inf, "much", None]))
    def refused(self, bad):
        for call in (
            lambda: self.agent.update(bad, x=[0.1, 0.1]),
            lambda: self.agent.select([[0.1, bad]]),
            lambda: self.agent.update(0.1, x=[0.1, 0.1], weight=bad),
            lambda: self.agent.select([[9.0, 9.0]]),
        ):
            try:
                call()
            except db.DriftBanditsError as error:
                assert "\n" not in str(error)  # noqa: PT017
            else:
                raise AssertionError("accepted")

    @rule()
    def save_and_load(self):
        self.agent = db.Agent.unpack(*self.agent.pack())

    @rule()
    def look(self):
        assert np.isfinite(self.agent.scores(np.eye(2))).all()

    @invariant()
    def estimate_is_the_oracle_s(self):
        if not self.seen:
            np.testing.assert_array_equal(self.agent.theta, 0.0)
            return
        passed = self.clock - self.agent._pending.behind  # the last round passes with the next call
        rounds, X, r, weight = zip(*self.seen, strict=True)
        w = late_weights(("discounted", GAMMA), passed, rounds, weight)
        expected = naive.theta_hat(np.array(X), np.array(r), w, LINEAR["lam"])
        np.testing.assert_allclose(self.agent.theta, expected, atol=1e-9)
        assert self.agent.info()["observations"] == len(self.seen)


class EpisodicMachine(RuleBasedStateMachine):
    """Episodes, early ends, observations of any action, refusals."""

    H, S, A = 3, 3, 2

    @initialize()
    def begin(self):
        self.agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(self.S, self.A), horizon=self.H, seed=0)
        self.stage = -1

    @rule()
    def plan(self):
        Q = self.agent.begin_episode()
        assert np.isfinite(Q).all()
        assert (Q >= 0.0).all()
        assert (np.arange(self.H, 0, -1.0)[:, None, None] >= Q).all()
        self.stage = 0

    @precondition(lambda self: 0 <= self.stage < 3)
    @rule(s=st.integers(0, 2), a=st.integers(0, 1), r=st.floats(0.0, 1.0), t=st.integers(0, 2))
    def observe(self, s, a, r, t):
        assert self.agent.act(self.stage, s) in range(self.A)
        self.agent.observe(self.stage, s, a, r, t)
        self.stage += 1

    @rule(s=st.integers(0, 2), bad=st.sampled_from([-1, 2.5, np.nan, 99]))
    def refused(self, s, bad):
        values = self.agent.values if self.stage >= 0 else None
        for call in (
            lambda: self.agent.observe(bad, s, 0, 0.5, 0),
            lambda: self.agent.observe(max(self.stage, 0), bad, 0, 0.5, 0),
            lambda: self.agent.observe(max(self.stage, 0), s, 0, 7.0, 0),
            lambda: self.agent.act(bad, s),
        ):
            try:
                call()
            except db.DriftBanditsError as error:
                assert "\n" not in str(error)  # noqa: PT017
            else:
                raise AssertionError("accepted")
        if values is not None:
            np.testing.assert_array_equal(self.agent.values, values)


TestAgent = AgentMachine.TestCase
TestEpisodicAgent = EpisodicMachine.TestCase
TestAgent.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
TestEpisodicAgent.settings = settings(max_examples=12, stateful_step_count=20, deadline=None)
