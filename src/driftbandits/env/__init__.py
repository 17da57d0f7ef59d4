"""Simulated worlds that drift: parameter paths, arm sets, and bandits composed of them.

>>> import driftbandits as db
>>> world = db.env.linear(db.env.unit_arms(50, dim=2, seed=0), db.env.rotating(6000), noise=1.0)
>>> world.horizon, world.dim
(6000, 2)
"""

from .arms import Arms, clipped_arms, max_norm_arms, redrawn_arms, unit_arms
from .generalized import generalized
from .lower_bound import corner_arms, hard_blocks
from .paths import Path, from_array, joined, piecewise, random_walk, rotating, sinusoidal, static, waypoints
from .swinging import swinging
from .table import Table, from_rewards
from .world import World, linear

Bandit = World  # its name in version 0.1

__all__ = [
    "Arms",
    "Path",
    "Table",
    "World",
    "clipped_arms",
    "corner_arms",
    "from_array",
    "from_rewards",
    "generalized",
    "hard_blocks",
    "joined",
    "linear",
    "max_norm_arms",
    "piecewise",
    "random_walk",
    "redrawn_arms",
    "rotating",
    "sinusoidal",
    "static",
    "swinging",
    "unit_arms",
    "waypoints",
]
