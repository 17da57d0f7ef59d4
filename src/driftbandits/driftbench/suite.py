"""DriftBench, version 1: the frozen list of worlds, draws and budgets.

A world of a version never changes; improvements go into the next version. `reference.json` holds the earnings of the best choices for every
draw of the simulated worlds. A machine whose random numbers give other worlds is refused before it plays.
"""

import functools
import json
import pathlib
import zlib
from typing import Any

import numpy as np

from ..errors import InvalidState, InvalidValue
from ..util.spelling import did_you_mean
from . import bandit_worlds as bandits
from . import mdp_worlds as mdps
from . import real_worlds as real
from .bandit_worlds import Make
from .task import Drift, Family, Made, Split, World

VERSION = 1
FAMILIES: tuple[Family, ...] = ("linear", "clicks", "counts", "kernel", "items", "mdp", "logit", "real")
DRAWS: dict[Split, int] = {"judge": 8, "design": 3}
SETTINGS = 8  # that the tuned track may try
SECONDS = 120.0  # of CPU for one draw; a learner that needs more is stopped and has no score in that world
CEILING = 0.95  # a score above it counts as solved
ROUNDS, EPISODES, STRETCH = 3000, 300, 1500
TINY_DRAWS, TINY_ROUNDS, TINY_EPISODES = 2, 48, 6
REFERENCE = pathlib.Path(__file__).with_name("reference.json")


def _world(name: str, drift: Drift, make: Make, about: str) -> World:
    """The first word of the name is its family, which has its number of rounds or episodes."""
    family = next(each for each in FAMILIES if name.startswith(f"{each}-"))
    length = {"mdp": EPISODES, "logit": EPISODES, "real": STRETCH}.get(family, ROUNDS)
    return World(name, family, drift, about, length, make)


_WORLDS = (
    _world("linear-static", "static", bandits.linear("static", d=10, n=20, noise=0.5), "10 features, 20 arms, noise 0.5"),
    _world("linear-slow", "slow", bandits.linear("slow", d=2, n=50, noise=1.0, fixed=True), "the paper's: 50 fixed arms, noise 1"),
    _world("linear-walk", "slow", bandits.walking(d=5, n=10, noise=0.5), "a random walk, 5 features"),
    _world("linear-jumps", "jumps", bandits.linear("jumps", d=8, n=10, noise=0.5), "four jumps, 8 features"),
    _world("linear-seasons", "seasons", bandits.linear("seasons", d=6, n=10, noise=0.5), "three years, 6 features"),
    _world("linear-pulses", "pulses", bandits.linear("pulses", d=5, n=20, noise=0.5, fixed=True), "six short excursions, 20 fixed arms"),
    _world("linear-returning", "returning", bandits.linear("returning", d=8, n=10, noise=0.5), "two regimes in turn, 8 features"),
    _world("linear-sleeper", "jumps", bandits.sleeper(n=8, noise=0.5), "8 unrelated arms; the worst becomes the best"),
    _world("linear-hard", "adversarial", bandits.lower_bound(d=4, variation=10.0), "the lower bound's blocks: 16 corners, noise 1"),
    _world("clicks-static", "static", bandits.clicks("static"), "clicks, 5 features"),
    _world("clicks-slow", "slow", bandits.clicks("slow"), "clicks, once round a circle"),
    _world("clicks-jumps", "jumps", bandits.clicks("jumps"), "clicks, four jumps"),
    _world("clicks-returning", "returning", bandits.clicks("returning"), "clicks, two regimes in turn"),
    _world("clicks-rare", "jumps", bandits.clicks("jumps", rare=True), "about 5 % clicks, four jumps"),
    _world("counts-static", "static", bandits.counts("static"), "Poisson counts, 5 features"),
    _world("counts-jumps", "jumps", bandits.counts("jumps"), "Poisson counts, four jumps"),
    _world("counts-seasons", "seasons", bandits.counts("seasons"), "Poisson counts, three years"),
    _world("kernel-static", "static", bandits.kernel("static"), "six hills on a square"),
    _world("kernel-slow", "slow", bandits.kernel("slow"), "hills that rise and fall once"),
    _world("kernel-jumps", "jumps", bandits.kernel("jumps"), "hills, four jumps"),
    _world("kernel-returning", "returning", bandits.kernel("returning"), "two landscapes in turn"),
    _world("items-static", "static", bandits.items("static"), "six items, five columns each"),
    _world("items-jumps", "jumps", bandits.items("jumps"), "two items change at each of four times"),
    _world("items-seasons", "seasons", bandits.items("seasons"), "levels rise and fall in turn"),
    _world("items-pulses", "pulses", bandits.items("pulses"), "one item at a time is in demand"),
    _world("mdp-river-static", "static", mdps.river(drift="static"), "RiverSwim"),
    _world("mdp-river-slow", "slow", mdps.river(drift="gradual", turns=3.0), "RiverSwim and its mirror image, gradually"),
    _world("mdp-river-jumps", "jumps", mdps.river(drift="abrupt", changes=9), "RiverSwim and its mirror image, abruptly"),
    _world("mdp-shop-seasons", "seasons", mdps.shop(drift="gradual", turns=6.0), "a shop, six years"),
    _world("mdp-random-jumps", "jumps", mdps.random_mixture(drift="abrupt", changes=7), "random mixture of eight chains"),
    _world("mdp-hard", "adversarial", mdps.lower_bound(block=100), "the lower bound's hidden corner"),
    _world("logit-river-static", "static", mdps.logit_river(drift="static"), "RiverSwim with logits"),
    _world("logit-river-slow", "slow", mdps.logit_river(drift="gradual", turns=3.0), "RiverSwim with logits, gradually"),
    _world("logit-river-jumps", "jumps", mdps.logit_river(drift="abrupt", changes=9), "RiverSwim with logits, abruptly"),
    _world("logit-random-jumps", "jumps", mdps.random_logit(drift="abrupt", changes=5), "random logits, five jumps"),
    _world("real-elec2", "real", real.stream("elec2"), "prices of electricity, half-hourly"),
    _world("real-weather", "real", real.stream("weather"), "rain at Offutt, daily"),
    _world("real-sea", "real", real.stream("sea"), "SEA concepts"),
)  # fmt: skip
WORLDS = {world.name: world for world in _WORLDS}


def find(name: str) -> World:
    """A world by its name."""
    if name not in WORLDS:
        raise InvalidValue(f"unknown world '{name}'; --list prints all{did_you_mean(name, list(WORLDS)) or ''}")
    return WORLDS[name]


def draws(split: Split, tiny: bool = False) -> list[int]:
    """The numbers of the draws of a split; those of judge and design differ."""
    count = min(TINY_DRAWS, DRAWS[split]) if tiny else DRAWS[split]
    return list(range(count)) if split == "judge" else list(range(DRAWS["judge"], DRAWS["judge"] + count))


def rounds(world: World, tiny: bool = False) -> int:
    """Rounds T, or episodes K."""
    small = TINY_EPISODES if world.family in ("mdp", "logit") else TINY_ROUNDS
    return small if tiny else world.rounds


def seed(world: World, draw: int) -> list[int]:
    """What the world and its chance are drawn from."""
    return [VERSION, zlib.crc32(world.name.encode()), draw]


@functools.lru_cache(maxsize=4)
def drawn(name: str, draw: int, tiny: bool = False) -> Made:
    """One draw of a world. Raises `NotHere` if its data are not on this machine."""
    world = find(name)
    made = world.make(np.random.default_rng(seed(world, draw)), rounds(world, tiny), draw)
    if not tiny:
        _check_frozen(name, draw, made)
    return made


@functools.cache
def reference() -> dict[str, Any]:
    """What was frozen with this version: random play's regret, and that of the best fixed forgetting."""
    found: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8")) if REFERENCE.is_file() else {"worlds": {}}
    return found


def _check_frozen(name: str, draw: int, made: Made) -> None:
    frozen = reference()["worlds"].get(name, {}).get("best")
    if frozen is None:
        return
    wanted, found = frozen[draw], made.best()
    if abs(found - wanted) > 1e-6 * abs(wanted):
        raise InvalidState(
            f"draw {draw} of {name} is another world on this machine: the best choices earn {found:.6f} instead of {wanted:.6f}; "
            "scores would not be comparable (another version of NumPy, or another file of data?)"
        )
