"""What the names in a formula mean: the experiment's constants, and facts about the world a strategy runs in.

T, horizon      rounds (or episodes) of the environment
trial, seed     number of the trial, seed of the experiment
d, dim, n       features and arms
norm            bound of ‖θ_t‖ on the path
P_T, changes    path length and number of changes of θ
k_mu, c_mu      largest and smallest slope of the link on |z| ≤ LS
K, H, Delta, …  what an MDP says about itself
"""

import functools
import json
import math
from collections.abc import Mapping
from typing import Any

from .. import theory
from ..env import Bandit
from .calls import Resolved, build
from .catalog import links
from .expressions import Scope, evaluate
from .source import SpecError
from .spec import Experiment

MDP_FACTS = ("Delta", "S_theta", "S_w", "L_phi", "L_psi", "L_ref", "kappa", "U", "P_theta", "P_w")


def base_scope(experiment: Experiment) -> Scope:
    """The names every formula of an experiment may use."""
    horizon = experiment.horizon
    rounds = Scope(
        {
            "T": horizon,
            "horizon": horizon,
            "K": horizon,
            "episodes": horizon,
            "pi": math.pi,
            "seed": experiment.seeds[0],
        }
    )
    return rounds.inner({name: _constant(name, value) for name, value in experiment.constants.items()})


def _constant(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value

    def formula(scope: Scope) -> Any:
        try:
            return evaluate(value, scope)
        except RecursionError:
            raise SpecError(f"the constant {name} = '{value}' depends on itself") from None

    return formula


def trial_scope(outer: Scope, horizon: int, seed: int, trial: int, own: Mapping[str, Any]) -> Scope:
    """The names a trial's environment may use: the experiment's, its own constants, and which trial it is."""
    return outer.inner({name: _constant(name, value) for name, value in own.items()}).inner(
        {"T": horizon, "horizon": horizon, "K": horizon, "episodes": horizon, "seed": seed, "trial": trial}
    )


def world_scope(outer: Scope, tree: Resolved, world: Any) -> Scope:
    """The names a strategy in this world may use."""
    if isinstance(world, Bandit):
        path = tree.get("path")
        key = json.dumps(path, sort_keys=True)
        facts: dict[str, Any] = {
            "T": world.horizon,
            "horizon": world.horizon,
            "d": world.dim,
            "dim": world.dim,
            "n": world.arms.n,
            "norm": world.path.norm,
            "P_T": lambda _: _path_length(key),
            "changes": lambda _: _changes(key),
        }
        link = tree.get("link", "logistic" if tree["use"] == "generalized" else None)
        if link is not None:
            facts |= {
                "link": link,
                "k_mu": lambda scope: slopes(link, scope)[0],
                "c_mu": lambda scope: slopes(link, scope)[1],
            }
        return outer.inner(facts)
    shape = {"H": world.horizon, "d_theta": world.phi.shape[-1], "d_w": world.psi.shape[-1]}
    return outer.inner(shape | {name: _attribute(world, name) for name in MDP_FACTS})


def _attribute(world: Any, name: str) -> Any:
    return lambda _: getattr(world, name)


def slopes(link: Any, scope: Scope) -> tuple[float, float]:
    """k_μ and c_μ on the ball |z| ≤ LS of the scope."""
    if "S" not in scope:
        raise SpecError("the slopes k_mu and c_mu of the link need the bound S of ‖θ‖; give it as a constant")
    return link_slopes(link, float(scope["S"]) * (float(scope["L"]) if "L" in scope else 1.0))


@functools.lru_cache(maxsize=256)
def link_slopes(link: str, radius: float) -> tuple[float, float]:
    """Largest and smallest μ′(z) for |z| ≤ radius."""
    from .. import links as module

    if link not in links():
        raise SpecError(f"unknown link '{link}'; known: {', '.join(links())}")
    k_mu, c_mu = module.slopes(links()[link], radius)
    return float(k_mu), float(c_mu)


@functools.lru_cache(maxsize=256)
def _path_length(path: str) -> float:
    return theory.path_length(build("path", json.loads(path)))


@functools.lru_cache(maxsize=256)
def _changes(path: str) -> int:
    return theory.change_count(build("path", json.loads(path)))
