"""The MDPs: rivers whose current or direction changes, a shop with seasons, random worlds, the lower bound's."""

from collections.abc import Callable
from typing import Any

from ..mdp import MDP, hard_mixture, inventory, mnl_riverswim, random_linear_mixture, random_mnl, riverswim
from .shapes import Rng
from .task import Made, Task

Make = Callable[[Rng, int, int], Made]


NOISE = 0.5  # standard deviation of the reward that a learner sees; without it known models make these worlds easy


def river(**options: Any) -> Make:
    """RiverSwim of ten states; the same in every draw but for chance."""
    return lambda _rng, K, _draw: _made(riverswim(states=10, episodes=K, horizon=10, noise=NOISE, **options))


def shop(**options: Any) -> Make:
    """A shop of eight items with quiet and busy seasons; profits differ little, so the noise is smaller."""
    return lambda _rng, K, _draw: _made(inventory(episodes=K, horizon=10, noise=0.2, **options))


def random_mixture(**options: Any) -> Make:
    """A random mixture of eight chains on twelve states, another one in every draw."""
    sizes: dict[str, Any] = {"states": 12, "actions": 4, "dim": 8, "horizon": 8, "noise": NOISE}
    return lambda rng, K, _draw: _made(random_linear_mixture(episodes=K, seed=_seed(rng), **sizes, **options))


def lower_bound(*, block: int) -> Make:
    """The hidden corner of Zhou, Gu, Szepesvári, drawn anew every `block` episodes."""
    return lambda rng, K, _draw: _made(
        hard_mixture(dim=4, horizon=6, episodes=K, block=min(block, max(K // 2, 1)), seed=_seed(rng))
    )


def logit_river(**options: Any) -> Make:
    """RiverSwim of ten states as a multinomial-logit mixture."""
    return lambda _rng, K, _draw: _made(mnl_riverswim(states=10, episodes=K, horizon=8, noise=NOISE, **options))


def random_logit(**options: Any) -> Make:
    """A random multinomial-logit MDP, another one in every draw."""
    sizes: dict[str, Any] = {"states": 8, "actions": 4, "dim": 6, "horizon": 8, "noise": NOISE}
    return lambda rng, K, _draw: _made(random_mnl(episodes=K, seed=_seed(rng), **sizes, **options))


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


def _made(world: MDP) -> Made:
    d = world.theta.shape[-1] + world.w.shape[-1]
    task = Task(
        dim=d,
        choices=world.actions,
        horizon=world.horizon,
        reward="value",
        R=world.noise,
        episodes=world.episodes,
        states=world.states,
        multinomial=world.multinomial,
        bounds=world.bounds,
    )
    return Made(task, world)
