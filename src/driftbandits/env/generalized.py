"""Generalized linear bandits: rewards with mean μ(xᵀθ_t)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidValue
from ..links import Law, evaluate, law, link_of
from .arms import Arms
from .paths import Path
from .rewards import Bernoulli, GaussianThrough, PoissonCounts
from .world import World, make_world


def generalized(
    arms: "ArrayLike | Arms",
    path: "ArrayLike | Path",
    *,
    link: Any = "logistic",
    rewards: Law | None = None,
    noise: float = 1.0,
    horizon: int | None = None,
) -> World:
    """A generalized linear bandit: rewards of mean μ(xᵀθ_t), one random number per round.

    Parameters
    ----------
    arms
        (n, d); or (T, n, d) when the arm set changes; or an arm source such as `redrawn_arms`.
    path
        θ_1..θ_T as a (T, d) array, or a path such as `rotating`.
    link
        "logistic", "probit", "poisson", "identity", or a link of your own.
    rewards
        "bernoulli" (0 or 1), "poisson" or "gaussian"; needed only for a link of your own without a `law`.
    noise
        Standard deviation of Gaussian rewards.
    horizon
        If given, T; the path must have exactly this length.

    Examples
    --------
    >>> import driftbandits as db
    >>> clicks = generalized(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(6000), link="logistic")
    >>> clicks.reward
    Bernoulli(link=Logistic())
    """
    chosen = link_of(link)
    kind = rewards or law(chosen)
    if kind is None:
        raise InvalidValue(
            f"{type(chosen).__name__} is a link without a law; give rewards='bernoulli', 'poisson' or 'gaussian'"
        )
    if kind not in ("bernoulli", "poisson", "gaussian"):
        raise InvalidValue(f"rewards = {rewards!r} is not allowed; it must be 'bernoulli', 'poisson' or 'gaussian'")
    reward = (
        GaussianThrough(link=chosen, sigma=noise)
        if kind == "gaussian"
        else Bernoulli(link=chosen)
        if kind == "bernoulli"
        else PoissonCounts(link=chosen)
    )
    world = make_world(arms, path, reward, horizon)
    if kind != "gaussian":
        _check_means(chosen, kind, world)
    return world


def _check_means(link: Any, rewards: Law, world: World) -> None:
    """Raise unless all means μ(xᵀθ) that can occur are valid: in [0, 1] for Bernoulli rewards, not negative for counts."""
    first = next(iter(world.arms.blocks(world.horizon, 1)))
    reach = float(np.sqrt((first * first).sum(axis=1)).max()) * world.path.norm
    low, high = evaluate(link, [-reach, reach])[0]
    most = 1.0 if rewards == "bernoulli" else np.inf
    if not 0.0 <= low <= high <= most:
        allowed = (
            "[0, 1]: a Bernoulli reward is 0 or 1" if rewards == "bernoulli" else "[0, ∞): a count is not negative"
        )
        raise InvalidValue(
            f"{type(link).__name__} gives means in [{low:g}, {high:g}] for |xᵀθ| ≤ {reach:g}; they must lie in {allowed}"
        )
