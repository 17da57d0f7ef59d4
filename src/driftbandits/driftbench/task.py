"""The facts that a learner receives before the first round, and the definition of a world."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from ..env import Table
from ..mdp import MDP

Family = Literal["linear", "clicks", "counts", "kernel", "items", "mdp", "logit", "real"]
Drift = Literal["static", "slow", "jumps", "seasons", "pulses", "returning", "adversarial", "real"]
Split = Literal["judge", "design"]
Reward = Literal["value", "click", "count"]


@dataclass(frozen=True)
class Task:
    """The facts that a learner may use. Neither the world's name nor its drift is among them.

    In a bandit world (`reward` is not "mdp") the features on offer are (n, d) in every round, of norm at most L; the mean reward is
    μ(xᵀθ_t) with ‖θ_t‖ ≤ S in the families linear, clicks and counts, and only nearly so in the others.
    """

    dim: int  # d, number of features of an arm
    choices: int  # n, number of arms or actions
    horizon: int  # T rounds, or stages H of an episode
    reward: Reward  # any number; 0 or 1; a count
    L: float = 1.0  # ‖x‖ ≤ L
    S: float = 1.0  # ‖θ_t‖ ≤ S
    R: float = 0.5  # sub-Gaussian constant of the noise, or its standard deviation at the largest mean of counts
    largest: float = 1.0  # rewards are at most so large, but for the noise
    items: int = 0  # number of items if one context is on offer for all of them, else 0
    context_dim: int = 0  # features of that context
    episodes: int = 0  # K of an MDP, else 0
    states: int = 0  # of an MDP, else 0
    multinomial: bool = False  # whether transitions of the MDP are multinomial logit
    bounds: Mapping[str, float] = field(default_factory=dict)  # of an MDP, as the zoo's learners take them

    @property
    def link(self) -> Literal["identity", "logistic", "poisson"]:
        """The link that fits the rewards."""
        links: dict[Reward, Literal["identity", "logistic", "poisson"]] = {
            "value": "identity",
            "click": "logistic",
            "count": "poisson",
        }
        return links[self.reward]


class Made(NamedTuple):
    """One draw of a world: what the learner is told, and what it plays."""

    task: Task
    world: Table | MDP

    def best(self) -> float:
        """Expected reward of the best choice in every round."""
        return float((self.world.optimal if isinstance(self.world, MDP) else self.world.best()).sum())

    def uniform(self) -> float:
        """Regret of uniformly random play."""
        if isinstance(self.world, MDP):
            from ..mdp import uniform_regret

            return float(uniform_regret(self.world)[-1])
        return float((self.world.best() - self.world.expected.mean(axis=1)).sum())


@dataclass(frozen=True)
class World:
    """A world of the suite. `make(rng, rounds)` draws it; real streams take the number of the stretch from the seed."""

    name: str
    family: Family
    drift: Drift
    about: str
    rounds: int  # T, or episodes K
    make: Callable[[np.random.Generator, int, int], Made]  # generator, rounds, number of the draw


class NotHere(Exception):
    """The data of a real stream are not on this machine."""


class CannotPlay(Exception):
    """The learner takes no part in the world, and why."""
