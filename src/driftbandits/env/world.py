"""A simulated bandit: arms on offer, a parameter that drifts, and rewards that depend on both."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShape
from ..util.notebook import card, lines
from .arms import Arms, as_arms
from .paths import Path, from_array
from .rewards import Gaussian


@dataclass(frozen=True, repr=False)
class World:
    """In round t: arms X_t are on offer; playing x ∈ X_t pays a random reward with mean μ(xᵀθ_t)."""

    arms: Arms
    path: Path
    reward: Any

    @property
    def horizon(self) -> int:
        """Number of rounds T."""
        return self.path.horizon

    @property
    def dim(self) -> int:
        """Number of features d."""
        return self.path.dim

    def __repr__(self) -> str:
        arms = f"{self.arms.n} {'arms' if self.arms.fixed else 'changing arms'}"
        return f"World({arms}, dim={self.dim}, horizon={self.horizon}, reward={self.reward!r})"

    def _repr_html_(self) -> str:
        """Arms, path and rewards, and the path as a picture, for notebooks."""
        drift = self.path.to_array()[:: max(1, self.horizon // 200)]
        rounds = np.linspace(1, self.horizon, len(drift))
        arms = f"{self.arms.n}, {'the same in every round' if self.arms.fixed else 'other ones in every round'}"
        rows = {"arms": arms, "features": self.dim, "rounds": f"{self.horizon:,}", "reward": repr(self.reward)}
        return card("World", rows, lines(rounds, list(drift.T[:5]), "θ over the rounds"))


def linear(
    arms: "ArrayLike | Arms", path: "ArrayLike | Path", *, noise: float = 1.0, horizon: int | None = None
) -> World:
    """A linear bandit: rewards xᵀθ_t + noise·N(0, 1).

    Parameters
    ----------
    arms
        (n, d); or (T, n, d) when the arm set changes; or an arm source such as `redrawn_arms`.
    path
        θ_1..θ_T as a (T, d) array, or a path such as `rotating`.
    noise
        Standard deviation of the Gaussian noise, ≥ 0.
    horizon
        If given, T; the path must have exactly this length.

    Examples
    --------
    >>> world = linear([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], noise=0.1)
    >>> world.horizon
    3
    """
    return make_world(arms, path, Gaussian(sigma=noise), horizon)


def make_world(arms: "ArrayLike | Arms", path: "ArrayLike | Path", reward: Any, horizon: int | None) -> World:
    """A bandit from arms and a path; raises if their dimensions or lengths differ."""
    drift = path if isinstance(path, Path) else from_array(path)
    if horizon is not None and drift.horizon != horizon:
        raise InvalidShape(
            f"the path has {drift.horizon} rounds but horizon = {horizon}; θ must be given for rounds 1..T exactly"
        )
    offer = as_arms(arms, horizon=drift.horizon)
    if offer.dim != drift.dim:
        raise InvalidShape(f"arms have d = {offer.dim} features but θ has {drift.dim}; both must be the same")
    return World(arms=offer, path=drift, reward=reward)
