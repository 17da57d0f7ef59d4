"""The MDPs: rivers whose current or direction changes, a shop with seasons, random worlds, the lower bound's."""

from collections.abc import Callable
from typing import Any

from ..mdp import MDP, hard_mixture, inventory, mnl_riverswim, random_linear_mixture, random_mnl, riverswim
from .shapes import Rng
from .task import Made, Task

Make = Callable[[Rng, int, int], Made]


def river(**options: Any) -> Make:
    """RiverSwim of six states; the same in every draw but for chance."""
    return lambda _rng, K, _draw: _made(riverswim(episodes=K, horizon=10, **options))


def shop(**options: Any) -> Make:
    """A shop of eight items with quiet and busy seasons."""
    return lambda _rng, K, _draw: _made(inventory(episodes=K, horizon=10, **options))


def random_mixture(**options: Any) -> Make:
    """A random mixture of four chains on eight states, another one in every draw."""
    sizes: dict[str, Any] = {"states": 8, "actions": 3, "dim": 4, "horizon": 8}
    return lambda rng, K, _draw: _made(random_linear_mixture(episodes=K, seed=_seed(rng), **sizes, **options))


def lower_bound(*, block: int) -> Make:
    """The hidden corner of Zhou, Gu, Szepesvári, drawn anew every `block` episodes."""
    return lambda rng, K, _draw: _made(
        hard_mixture(dim=4, horizon=6, episodes=K, block=min(block, max(K // 2, 1)), seed=_seed(rng))
    )


def logit_river(**options: Any) -> Make:
    """RiverSwim as a multinomial-logit mixture."""
    return lambda _rng, K, _draw: _made(mnl_riverswim(episodes=K, horizon=8, **options))


def random_logit(**options: Any) -> Make:
    """A random multinomial-logit MDP, another one in every draw."""
    sizes: dict[str, Any] = {"states": 6, "actions": 3, "dim": 4, "horizon": 8}
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
        episodes=world.episodes,
        states=world.states,
        multinomial=world.multinomial,
        bounds=world.bounds,
    )
    return Made(task, world)
