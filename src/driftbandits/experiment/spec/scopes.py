"""The names in a formula: the experiment's constants, and properties of the world a strategy runs in.

T, horizon      rounds (or episodes) of the environment
seed            seed of the experiment
trial           number of the world, seed·2³² + number of the trial: `seed = "trial"` draws a new world for every trial of every seed
d, dim, n       features and arms; of a table these are all there is to know
norm            bound of ‖θ_t‖ on the path
P_T, changes    path length and number of changes of θ
k_mu, c_mu      largest and smallest slope of the link on |z| ≤ LS
gap             the most that one round can cost there, μ(LS) − μ(−LS)
K, H, Delta, …  what an MDP says about itself
"""

import functools
import json
import math
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ... import theory
from ...env import Table, World
from .calls import Resolved
from .catalog import is_table, links
from .experiment import Environment, Experiment
from .formulas import Scope, evaluate
from .source import SpecError

WORLDS = 2**32  # numbers of worlds per seed of an experiment
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
    error = experiment.constant_error
    return rounds.inner({name: _constant(name, value, error) for name, value in experiment.constants.items()})


def _constant(name: str, value: Any, error: Callable[[str, str], SpecError]) -> Any:
    """A number, or a formula that is evaluated in the scope that asks for it; its errors name its place."""
    if not isinstance(value, str):
        return value

    def formula(scope: Scope) -> Any:
        if name in _under_evaluation.get():
            raise error(name, f"the constant {name} = '{value}' depends on itself")
        token = _under_evaluation.set((*_under_evaluation.get(), name))
        try:
            return evaluate(value, scope)
        except RecursionError:
            raise error(name, f"the constant {name} = '{value}' names too many others, one inside the other") from None
        except SpecError as problem:
            raise problem if problem.located else error(name, str(problem)) from None
        finally:
            _under_evaluation.reset(token)

    return formula


_under_evaluation: ContextVar[tuple[str, ...]] = ContextVar("constants whose formulas wait for others", default=())


def trial_scope(outer: Scope, horizon: int, seed: int, trial: int, entry: Environment) -> Scope:
    """The names a trial's environment may use: the experiment's, its own constants, and which trial it is."""

    def error(name: str, message: str) -> SpecError:
        return entry.call.source.error(message, *entry.call.where, "constants", name)

    return outer.inner({name: _constant(name, value, error) for name, value in entry.constants.items()}).inner(
        {
            "T": horizon,
            "horizon": horizon,
            "K": horizon,
            "episodes": horizon,
            "seed": seed,
            "trial": seed * WORLDS + trial,
        },
        offers=("horizon",) if is_table(entry.call.function) else (),  # of a table, so many rounds are played
    )


def world_scope(outer: Scope, tree: Resolved, world: Any, constants: Iterable[str] = ()) -> Scope:
    """The names a strategy in this world may use; the constants of the specification are among them."""
    if isinstance(world, World):
        drift = _Drift(json.dumps(tree.get("path"), sort_keys=True), world.path)
        facts: dict[str, Any] = {
            "T": world.horizon,
            "horizon": world.horizon,
            "d": world.dim,
            "dim": world.dim,
            "n": world.arms.n,
            "norm": world.path.norm,
            "P_T": lambda _: _path_length(drift),
            "changes": lambda _: _changes(drift),
        }
        link = tree.get("link", "logistic" if tree["use"] == "generalized" else None)
        if link is not None:
            facts |= {
                "link": link,
                "k_mu": lambda scope: slopes(link, scope)[0],
                "c_mu": lambda scope: slopes(link, scope)[1],
                "gap": lambda scope: _gap(link, scope),
            }
        return outer.inner(facts)
    if isinstance(world, Table):
        return outer.inner(
            {"T": world.horizon, "horizon": world.horizon, "d": world.dim, "dim": world.dim, "n": world.choices}
        )
    shape = {"H": world.horizon, "d_theta": world.phi.shape[-1], "d_w": world.psi.shape[-1]}
    facts = {name: _attribute(world, name) for name in MDP_FACTS}
    return outer.inner(shape | facts, offers=(*facts, *constants))  # its learners need none, and use what they get


def _attribute(world: Any, name: str) -> Any:
    return lambda _: getattr(world, name)


def slopes(link: Any, scope: Scope) -> tuple[float, float]:
    """k_μ and c_μ on the ball |z| ≤ LS of the scope."""
    if "S" not in scope:
        raise SpecError("the slopes k_mu and c_mu of the link need the bound S of ‖θ‖; give it as a constant")
    return link_slopes(link, float(scope["S"]) * (float(scope["L"]) if "L" in scope else 1.0))


def _gap(link: Any, scope: Scope) -> float:
    """μ(LS) − μ(−LS)."""
    from ...links import largest_gap

    slopes(link, scope)  # says what is missing or wrong
    return largest_gap(links()[link], float(scope["S"]) * (float(scope["L"]) if "L" in scope else 1.0))


@functools.lru_cache(maxsize=256)
def link_slopes(link: str, radius: float) -> tuple[float, float]:
    """Largest and smallest μ′(z) for |z| ≤ radius."""
    from ... import links as module

    if link not in links():
        raise SpecError(f"unknown link '{link}'; known: {', '.join(links())}")
    k_mu, c_mu = module.slopes(links()[link], radius)
    return float(k_mu), float(c_mu)


@dataclass(frozen=True)
class _Drift:
    """A path, identified by its description."""

    description: str
    path: Any = field(compare=False)


@functools.lru_cache(maxsize=64)
def _path_length(drift: _Drift) -> float:
    return theory.path_length(drift.path)


@functools.lru_cache(maxsize=64)
def _changes(drift: _Drift) -> int:
    return theory.change_count(drift.path)
