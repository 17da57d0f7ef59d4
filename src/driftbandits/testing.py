"""Checks that every strategy must pass, built-in or your own (after scikit-learn's `check_estimator`).

>>> import driftbandits as db
>>> from driftbandits.testing import check_strategy
>>> passed = check_strategy(db.zoo.lb_weight_ucb(gamma=0.95, lam=1, S=1, L=1, R=0.5, delta=0.05), rounds=5)
>>> "save_and_load" in passed
True

A check that fails raises `CheckFailed`, whose message names the check and what was observed. `check_strategy` runs all checks.
"""

import json
import pathlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .agent.agent import Agent
from .core.linalg import Matrix, Vector
from .core.state import pack
from .errors import DriftBanditsError
from .io.saving import to_bytes
from .model import Linear
from .protocol import estimator, exact_when_late, limits, settle

__all__ = ["Case", "CheckFailed", "check_strategy"]

THREADS = 4


class CheckFailed(DriftBanditsError, AssertionError):
    """A strategy failed a check."""


class Case(NamedTuple):
    """The input of the checks: how to make an agent, and how long to play."""

    strategy: Any
    dim: int
    horizon: int
    rounds: int
    reward: Callable[[np.random.Generator], float]

    def agent(self, seed: int = 0) -> Agent:
        """A new agent."""
        return Agent(self.strategy, dim=self.dim, seed=seed, horizon=self.horizon, compile="now")

    def arms(self, rng: np.random.Generator, n: int = 5) -> Matrix:
        """Arms of different norms within the strategy's L, so that no two scores tie."""
        length = min(limits(self.strategy).L, 1.0)
        arms = rng.standard_normal((n, self.dim))
        size = rng.uniform(0.5, 1.0, (n, 1)) * length
        return np.asarray(arms / np.linalg.norm(arms, axis=1, keepdims=True) * size)

    def offer(self, rng: np.random.Generator, n: int = 5) -> Matrix:
        """Arms for a decision: new ones, or the same in every round where the strategy needs that."""
        return self.arms(np.random.default_rng(0), 5) if limits(self.strategy).fixed_arms else self.arms(rng, n)

    def play(self, agent: Agent, rng: np.random.Generator, rounds: int = 0) -> list[int]:
        """Decide and learn for some rounds; returns the choices."""
        choices = []
        for t in range(rounds or self.rounds):
            arms = self.offer(rng, 1 + t % 6)
            choices.append(agent.select(arms))
            if not 0 <= choices[-1] < len(arms):
                raise CheckFailed(f"select chose {choices[-1]} among {len(arms)} arms")
            agent.update(self.reward(rng))
        return choices


def check_strategy(
    strategy: Any,
    *,
    dim: int = 3,
    horizon: int = 1000,
    rounds: int = 30,
    reward: Callable[[np.random.Generator], float] | None = None,
) -> list[str]:
    """Run every check on a strategy; returns their names, or raises `CheckFailed` with the first that fails.

    Parameters
    ----------
    strategy
        From `zoo`, or a composition of your own.
    dim
        Number of features.
    horizon
        The horizon of the agents, for strategies that need one.
    rounds
        The number of rounds in each check.
    reward
        Draws a reward that the strategy allows; by default 0 or 1.
    """
    case = Case(settle(strategy, dim), dim, horizon, rounds, reward or (lambda rng: float(rng.integers(0, 2))))
    passed = []
    for check in CHECKS:
        try:
            check(case)
        except CheckFailed as failure:
            raise CheckFailed(f"{check.__name__}: {failure}") from None
        passed.append(check.__name__)
    return passed


def expect(holds: bool, what: str) -> None:
    """Raise `CheckFailed` unless the condition holds."""
    if not holds:
        raise CheckFailed(what)


def content(agent: Agent) -> bytes:
    """The whole agent, as the bytes of its file."""
    return to_bytes("Agent", *agent.pack())


def estimate(agent: Agent) -> Vector:
    """θ̂ (d,), or (0,) if the strategy has none: `estimator` is an optional function of the protocol."""
    return agent.theta if estimator.knows(type(agent.strategy)) else np.zeros(0)


# ------------------------------------------------------------------------------------------------------------- the checks


def tells_finite_numbers(case: Case) -> None:
    """Scores and θ̂ are finite in every round; info is JSON; repr is one line."""
    agent, rng = case.agent(), np.random.default_rng(1)
    for t in range(case.rounds):
        arms = case.offer(rng, 1 + t % 6)
        expect(bool(np.isfinite(agent.scores(arms)).all()), f"scores are not finite in round {t + 1}")
        agent.select(arms)
        agent.update(case.reward(rng))
        expect(bool(np.isfinite(estimate(agent)).all()), f"θ̂ is not finite after round {t + 1}")
    try:
        json.dumps(agent.info(), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise CheckFailed(f"info() is not JSON: {problem}") from None
    expect("\n" not in repr(agent), "repr has more than one line")


def is_determined_by_its_seed(case: Case) -> None:
    """Two agents with the same seed and the same input have the same state, bit for bit."""
    one, two = case.agent(7), case.agent(7)
    choices = [case.play(agent, np.random.default_rng(2)) for agent in (one, two)]
    expect(choices[0] == choices[1], "the same seed and the same rewards gave different choices")
    expect(content(one) == content(two), "the same seed and the same rewards left different states")


def looking_changes_nothing(case: Case) -> None:
    """Reading `scores`, `theta` and `info` does not change the agent, and changing what they return does not either."""
    plain, curious = case.agent(3), case.agent(3)
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(case.rounds):
        case.play(plain, a, 1)
        arms = case.arms(np.random.default_rng(9))
        first = curious.scores(arms)
        kept = first.copy()
        curious.scores(case.arms(np.random.default_rng(8)))
        expect(bool((first == kept).all()), "a later call of scores changed what an earlier one returned")
        curious.scores(arms)[:] = np.nan
        estimate(curious)[:] = np.nan
        curious.info()
        case.play(curious, b, 1)
    expect(bool((estimate(plain) == estimate(curious)).all()), "looking at scores, theta and info changed the estimate")


def order_of_arms_does_not_matter(case: Case) -> None:
    """The score of an arm does not depend on its position."""
    agent, rng = case.agent(), np.random.default_rng(4)
    case.play(agent, rng)
    arms, order = case.arms(rng, 6), np.array([3, 0, 5, 1, 4, 2])
    plain, mixed = agent.scores(arms), agent.scores(arms[order])
    size = 1.0 + float(np.abs(plain).max())
    expect(bool(np.abs(mixed - plain[order]).max() <= 1e-9 * size), "scores depend on the order of the arms")


def bad_input_changes_nothing(case: Case) -> None:
    """NaN and infinity at every position, wrong shapes and calls at the wrong time raise a one-line error and leave the agent unchanged."""
    agent, rng = case.agent(), np.random.default_rng(5)
    case.play(agent, rng)
    arms = case.arms(rng)
    before = content(agent)
    for what, call in _bad_calls(agent, arms):
        try:
            call()
        except DriftBanditsError as error:
            expect("\n" not in str(error), f"{what}: the error has more than one line")
        else:
            raise CheckFailed(f"{what} was accepted")
        expect(content(agent) == before, f"{what} changed the agent")


def _bad_calls(agent: Agent, arms: Matrix) -> Iterator[tuple[str, Callable[[], Any]]]:
    n, d = arms.shape
    for bad in (np.nan, np.inf, -np.inf):
        for k in range(n):
            for i in range(d):
                worse = arms.copy()
                worse[k, i] = bad
                yield f"{bad} as feature {i} of arm {k}", partial(agent.select, worse)
        yield f"a reward of {bad}", partial(agent.update, bad, x=arms[0])
        yield f"{bad} in x", partial(agent.update, 0.0, x=np.full(d, bad))
        yield f"a weight of {bad}", partial(agent.update, 0.0, x=arms[0], weight=bad)
    if np.isfinite(agent._limits.L):
        yield (
            "an arm that is too long",
            lambda: agent.select(np.vstack([arms, 1.001 * agent._limits.L * np.eye(d)[:1]])),
        )
    yield "no arms", lambda: agent.select(np.zeros((0, d)))
    yield "arms with a feature too many", lambda: agent.select(np.zeros((2, d + 1)))
    yield "one arm without its axis", lambda: agent.scores(arms[0])
    yield "x with a feature too few", lambda: agent.update(0.0, x=np.zeros(d + 1)[: d - 1])
    yield "a reward that is no number", lambda: agent.update("much", x=arms[0])  # type: ignore[arg-type]
    yield "update without select", lambda: agent.update(0.0)
    yield "a negative age", lambda: agent.update(0.0, x=arms[0], age=-1)


def save_and_load(case: Case) -> None:
    """An agent saved in the middle of a decision and loaded continues as if it had never been saved."""
    agent, rng = case.agent(11), np.random.default_rng(6)
    case.play(agent, rng)
    agent.select(case.offer(rng))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "agent"
        agent.save(path)
        loaded = Agent.load(path, compile="now")
    expect(content(loaded) == content(agent), "the loaded agent differs from the saved one")
    choices = []
    for one in (agent, loaded):
        one.update(case.reward(np.random.default_rng(0)))
        choices.append(case.play(one, np.random.default_rng(7)))
    expect(choices[0] == choices[1], "the loaded agent decides otherwise than the saved one")
    expect(content(loaded) == content(agent), "the loaded agent learns otherwise than the saved one")


def threads_lose_nothing(case: Case) -> None:
    """Updates from many threads are all learned, and leave finite numbers."""
    agent, rng = case.agent(), np.random.default_rng(8)
    arms, failures = case.arms(rng), []
    rewards = [case.reward(rng) for _ in range(case.rounds)]
    together = threading.Barrier(THREADS)

    def work() -> None:
        try:
            together.wait()
            for r in rewards:
                agent.update(r, x=arms[0])
                agent.scores(arms)
        except BaseException as error:
            failures.append(error)

    pool = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    expect(not failures, f"a thread failed: {failures[:1]}")
    count = agent.info().get("observations")
    expect(count in (None, THREADS * case.rounds), f"{count} of {THREADS * case.rounds} observations were learned")
    expect(bool(np.isfinite(agent.scores(arms)).all()), "scores are not finite after updates from many threads")


def late_rewards_are_exact_or_refused(case: Case) -> None:
    """A reward that arrives two decisions late gives the estimate of one that arrives on time, or raises an error without any effect.

    Strategies that declare their late updates inexact (`protocol.exact_when_late`) must stay finite.
    """
    in_time, late = case.agent(), case.agent()
    rng = np.random.default_rng(9)
    X = [case.offer(rng, 1)[:1] for _ in range(min(case.rounds, 12))]
    rewards = [case.reward(rng) for _ in X]
    for x, r in zip(X, rewards, strict=True):
        in_time.select(x)
        in_time.update(r)
    for t in range(len(X) + 2):
        if t < len(X):
            late.select(X[t])
        if t >= 2:
            before = content(late)
            try:
                late.update(rewards[t - 2], x=X[t - 2][0], age=min(t, len(X) - 1) - (t - 2))
            except DriftBanditsError:
                expect(content(late) == before, "a late reward was refused, but changed the agent")
                return
    if not exact_when_late(late.strategy):
        expect(bool(np.isfinite(estimate(late)).all()), "θ̂ is not finite after late rewards")
        return
    found, expected = estimate(late), estimate(in_time)
    expect(
        np.allclose(found, expected, rtol=0.0, atol=1e-6 * (1.0 + float(np.abs(expected).max(initial=0.0)))),
        f"late rewards gave θ̂ = {found}, rewards in time {expected}",
    )


def works_at_every_scale(case: Case) -> None:
    """Tiny features, and tiny or huge rewards where they are allowed, give finite numbers; ridge estimates scale with the rewards."""
    low, high = limits(case.strategy).low, limits(case.strategy).high
    for size, factor in ((1.0, 1.0), (1e-6, 1.0), (1e-60, 1.0), (1.0, 1e-9), (1e-6, 1e-9), (1.0, 1e9), (1e-6, 1e9)):
        agent, rng = case.agent(), np.random.default_rng(11)
        for t in range(case.rounds):
            arms = size * case.offer(rng, 1 + t % 6)
            agent.select(arms)
            agent.update(float(np.clip(factor * case.reward(rng), low, high)))
            numbers = np.concatenate([estimate(agent), agent.scores(arms)])
            expect(
                bool(np.isfinite(numbers).all()),
                f"features of size {size:g} and rewards × {factor:g} gave numbers that are not finite in round {t + 1}",
            )
    if not isinstance(getattr(case.strategy, "model", None), Linear) or np.isfinite([low, high]).any():
        return
    x, thetas = case.arms(np.random.default_rng(12), case.rounds), []
    rewards = [case.reward(np.random.default_rng([12, t])) for t in range(case.rounds)]
    for factor in (1.0, 2.0**30, 2.0**-30):
        agent = case.agent()
        for features, r in zip(x, rewards, strict=True):
            agent.update(factor * r, x=features)
        thetas.append(agent.theta / factor)
    largest = 1e-9 * max(float(np.abs(thetas[0]).max()), 1e-300)
    for theta in thetas[1:]:
        expect(bool(np.abs(theta - thetas[0]).max() <= largest), "θ̂ is not proportional to the rewards")


def state_does_not_grow(case: Case) -> None:
    """The size of the state is constant or, for models that keep their observations, at most proportional to their number."""
    agent, rng = case.agent(), np.random.default_rng(10)
    case.play(agent, rng)
    before = _bytes(agent)
    case.play(agent, rng)
    after = _bytes(agent)
    most = 2 * before if agent._grows else before
    expect(after <= most, f"the state grew from {before} to {after} bytes in {case.rounds} rounds")


def _bytes(agent: Agent) -> int:
    return sum(array.nbytes for array in pack(agent._state).values())


CHECKS: tuple[Callable[[Case], None], ...] = (
    tells_finite_numbers,
    is_determined_by_its_seed,
    looking_changes_nothing,
    order_of_arms_does_not_matter,
    bad_input_changes_nothing,
    save_and_load,
    threads_lose_nothing,
    late_rewards_are_exact_or_refused,
    works_at_every_scale,
    state_does_not_grow,
)
