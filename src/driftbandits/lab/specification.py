"""Export of a request: a TOML file for `driftbandits run`, and a few lines of Python.

The page computes its own numbers from this TOML text (`answers`), so the exported file gives the same numbers.
"""

from typing import Any

from ..experiment.run.cells import Cell
from ..experiment.spec.catalog import NESTED, Kind, find
from ..experiment.spec.scopes import WORLDS
from ..zoo.record import RECORDS
from .learners import Learner
from .question import Question

NAME = "lab"
CHECKPOINTS = 150
LEAST_SIGMA = 0.01  # a posterior and a detector need some noise
RIVER_BONUS = 0.1  # of transitions: the theory's 1 saturates every Q at H (resolution D15)


def toml(question: Question) -> str:
    """The file for `driftbandits run`."""
    river = question.world == "river"
    head = {
        "name": NAME,
        "title": "RiverSwim, from the lab" if river else "From the lab",
        "trials": question.trials,
        "horizon": question.T,
        "seed": question.seed,
        "checkpoints": CHECKPOINTS,
    }
    tables = [
        ("[experiment]", head | ({"unit": "episode"} if river else {})),
        ("[constants]", {} if river else _constants(question)),
        ("[[environment]]", {"name": "world"} | (_river(question) if river else _bandit(question))),
        *(("[[strategy]]", _strategy(question, learner)) for learner in question.chosen),
    ]
    return "\n".join(_table(name, entries) for name, entries in tables if entries)


def _constants(question: Question) -> dict[str, Any]:
    return {"S": question.S, "L": 1.0, "R": _noise(question), "delta": "1/(2*T)"}


def _noise(question: Question) -> float:
    return question.noise if question.link == "identity" else 0.5


def _bandit(question: Question) -> dict[str, Any]:
    arms = "unit_arms" if question.arms == "fixed" else "redrawn_arms"
    kind: dict[str, Any] = {"use": "generalized", "link": question.link}
    if question.link == "identity":
        kind = {"use": "linear", "noise": question.noise}
    return kind | {
        "arms": {"use": arms, "n": question.n, "dim": question.d, "seed": "trial"},
        "path": _path(question),
    }


def _path(question: Question) -> dict[str, Any]:
    """The same path in every trial; arms and noise are new ones."""
    pace, size = question.pace, {"dim": question.d, "norm": question.S}
    if question.path == "rotating":
        return {"use": "rotating", **size, "turns": pace}
    if question.path == "jumps":
        return {"use": "piecewise", **size, "changes": min(round(pace), question.T - 1), "seed": question.seed}
    if question.path == "walk":
        return {"use": "random_walk", **size, "step": max(pace, 1e-6), "seed": question.seed}
    if question.path == "seasonal":
        return {"use": "sinusoidal", **size, "periods": pace, "seed": question.seed}
    rest = [0.0] * (question.d - 2)
    drawn = [[question.S * x, question.S * y, *rest] for x, y in question.points]
    return {"use": "waypoints", "points": drawn * max(1, round(pace)), "norm": question.S * (1.0 + 1e-9)}


def _river(question: Question) -> dict[str, Any]:
    paces: dict[str, dict[str, Any]] = {
        "gradual": {"turns": question.pace},
        "abrupt": {"changes": min(round(question.pace), question.T - 1)},
        "static": {},
    }
    return {
        "use": "riverswim",
        "states": question.states,
        "horizon": question.stages,
        "episodes": "K",
        "drift": question.drift,
        "form": question.form,
        **paces[question.drift],
    }


def _strategy(question: Question, learner: Learner) -> dict[str, Any]:
    head = {"name": learner.label, "colour": learner.colour, "line": learner.line, "use": learner.name}
    base = {"base": {"use": learner.base, **_numbers(question, learner.base)}} if learner.base else {}
    own = _numbers(question, learner.name, forgets=learner.forgets)
    return head | base | own | dict(learner.args)


def _numbers(question: Question, name: str, *, forgets: bool = True) -> dict[str, Any]:
    """The parameters of this learner as the sliders set them; "theory" for those left to the theorem."""
    takes, tuned = Learner(name, "", "").takes, RECORDS[name].tuned_by
    memory = None if question.gamma is None else rounds_of(question.gamma, question.T)
    rewards = {"identity": "value", "logistic": "click", "probit": "click"}
    offered: dict[str, Any] = {
        "gamma": question.gamma or "theory",
        "window": memory or "theory",
        "period": memory or "theory",
        "lam": question.lam or "theory",
        "lam_theta": "theory",
        "lam_w": question.lam or "theory",
        "link": question.link,
        "bonus_scale": question.bonus,
        "transition_bonus_scale": RIVER_BONUS * question.bonus,
        "reward": rewards[question.link],
    }
    if question.world == "river":
        offered["delta"] = "theory"
    if question.link == "identity":
        offered["noise"] = sigma = max(_noise(question), LEAST_SIGMA)
        if "prior_precision" in takes:  # the ridge, as a prior: λ of a regression is λ/σ² of its posterior
            offered |= {"sigma": sigma, "prior_precision": (question.lam or float(question.d)) / sigma**2}
    if not forgets:
        del offered["gamma"]
    return {
        key: value for key, value in offered.items() if key in takes and not (value == "theory" and key not in tuned)
    }


def rounds_of(gamma: float, horizon: int) -> int:
    """The window, or the period of restarts, that remembers as much as γ: 1/(1−γ) rounds.

    Examples
    --------
    >>> rounds_of(0.98, 6000), rounds_of(1.0, 6000)
    (50, 6000)
    """
    return horizon if gamma >= 1.0 else max(1, min(horizon, round(1.0 / (1.0 - gamma))))


def _table(name: str, entries: dict[str, Any]) -> str:
    return "\n".join([name, *(f"{key} = {_value(value)}" for key, value in entries.items()), ""])


def _value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str):
        return f'"{value}"'  # all are ours: neither quotes nor backslashes
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)


# ------------------------------------------------------------------------------------------------------------------ Python


def python(question: Question, cells: list[list[Cell]]) -> str:
    """Python code that computes the same with the library; `cells` by learner and trial."""
    river = question.world == "river"
    trees = [trials[0].spec for trials in cells]
    world = _expression("environment", trees[0]["environment"], worlds_from=question.seed)
    lines = [
        "import numpy as np",
        "",
        "import driftbandits as db",
        "",
        "",
        "def world(i):  # trial i",
        f"    return {world}",
        "",
        "",
        "learners = {",
        *(
            f'    "{learner.label}": {_expression("strategy", tree["strategy"])},'
            for learner, tree in zip(question.chosen, trees, strict=True)
        ),
        "}",
        "for name, learner in learners.items():",
        f"    runs = db.{'mdp.trials_mdp' if river else 'trials'}(learner, world, trials={question.trials}, seed={question.seed})",
        '    print(f"{name:20} {np.mean([run.regret[-1] for run in runs]):10.1f}")',
    ]
    return "\n".join(lines) + "\n"


POSITIONAL = {"environment": ("arms", "path"), "arms": ("n",), "path": ("horizon", "points"), "strategy": ("base",)}


def _expression(kind: Kind, tree: dict[str, Any], *, worlds_from: int | None = None) -> str:
    """The call that a resolved description describes."""

    def text(key: str) -> str:
        value = tree[key]
        if isinstance(value, dict):
            return _expression(NESTED[key], value, worlds_from=worlds_from)
        if kind == "arms" and key == "seed" and worlds_from is not None:
            return f"{worlds_from} * 2**{WORLDS.bit_length() - 1} + i" if worlds_from else "i"
        return repr(value)

    first = [key for key in POSITIONAL[kind] if key in tree]
    others = sorted(key for key in tree if key not in (*first, "use"))
    package = find(kind, tree["use"]).__module__.split(".")[1]
    arguments = [*map(text, first), *(f"{key}={text(key)}" for key in others)]
    return f"db.{package}.{tree['use']}({', '.join(arguments)})"
