"""Random problems for the three roads to each number, as hypothesis strategies."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Problem:
    """A few rounds of data, and arms to score after them."""

    X: np.ndarray  # (t, d) features observed
    r: np.ndarray  # (t,) rewards
    arms: np.ndarray  # (n, d) arms to score
    lam: float
    gamma: float
    memory: int  # W or H

    @property
    def dim(self):
        return self.arms.shape[1]


@st.composite
def problems(draw, max_dim=12, max_arms=40, max_rounds=25, rewards=None):
    """d, n, t, γ, λ over the ranges users may ask for; arms repeat, vanish and lie on a line now and then."""
    d = draw(st.integers(1, max_dim))
    n = draw(st.integers(1, max_arms))
    t = draw(st.integers(0, max_rounds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = rng.standard_normal((n + t, d))
    points /= np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True))
    kind = draw(st.sampled_from(["plain", "repeated", "zero", "line", "unit"]))
    if kind == "repeated":
        points = points[rng.integers(0, max(1, (n + t) // 3), n + t)]
    elif kind == "zero":
        points[rng.random(n + t) < 0.5] = 0.0
    elif kind == "line":
        points = points[:1] * rng.uniform(-1, 1, (n + t, 1))
    elif kind == "unit":
        points /= np.maximum(1e-12, np.linalg.norm(points, axis=1, keepdims=True))
    r = rng.standard_normal(t) if rewards is None else rewards(rng, t)
    return Problem(
        X=points[n:],
        r=r,
        arms=points[:n],
        lam=10.0 ** draw(st.floats(-3, 4)),
        gamma=draw(st.one_of(st.just(1.0), st.floats(1e-3, 1.0), st.floats(0.9, 0.9999))),
        memory=draw(st.integers(1, 30)),
    )


def assert_close(a, b, tolerance=1e-9):
    """Agreement relative to the size of the numbers."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape
    size = max(1.0, float(np.max(np.abs(b), initial=0.0)))
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * size)


def fed(agent, problem):
    """The agent after the problem's observations."""
    for x, reward in zip(problem.X, problem.r, strict=True):
        agent.update(float(reward), x=x)
    return agent
