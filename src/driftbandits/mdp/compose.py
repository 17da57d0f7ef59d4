"""Composition of learners of episodic MDPs from their constants, all of which are known at this point."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..errors import InvalidValue
from ..protocol import takes_back
from ..radius.union import over_time
from . import table_memories  # noqa: F401 - what tables do where there are several memories
from .known_rewards import KnownReward
from .multinomial import Multinomial
from .one_pass import OnePassMultinomial
from .planner import Backup, OptimisticPlanner
from .posterior_mixture import MeasuredMixture
from .posterior_multinomial import MeasuredMultinomial
from .posterior_reward import MeasuredReward
from .posterior_table import MeasuredRewardTable, MeasuredTransitionTable
from .protocol import Cube, Task
from .reward import RewardRidge
from .softmax_table import LOWEST, RAW, STAY
from .tables import RewardTable, TransitionTable
from .value_targeted import ValueTargeted

LOGITS = 2.0  # standard deviation of a logit before anything was seen


def chosen(name: str, given: Any, allowed: Mapping[Any, int]) -> int:
    """The code of an option's value, or one line that says which values there are."""
    if not isinstance(given, Hashable) or given not in allowed:
        names = [repr(name) for name in allowed]
        raise InvalidValue(f"{name} = {given!r} is not allowed; it must be {', '.join(names[:-1])} or {names[-1]}")
    return allowed[given]


def build(family: str, memory: Any, c: Mapping[str, Any]) -> OptimisticPlanner:
    """The composition with all its constants."""
    variant = chosen("variant", c.get("variant", "printed"), {"printed": 0, "corrected": 1})
    uniform = over_time(c.get("uniform_in_time", False))
    reward = RewardRidge(
        lam=c["lam_theta"],
        S=c["S_theta"],
        L=c["L_phi"],
        delta=c["delta"],
        noise=c.get("reward_noise", 0.0),
        scale=c.get("reward_bonus_scale", 1.0),
        uniform=uniform,
    )
    common = {"lam": c["lam_w"], "S": c["S_w"], "L": c["L_psi"], "delta": c["delta"], "uniform": uniform}
    common["scale"] = c.get("transition_bonus_scale", 1.0)
    transition: Any
    if family == "linear":
        centred = chosen("ridge_centre", c.get("ridge_centre", "zero"), {"zero": 0, "even": 1})
        transition = ValueTargeted(**common, centred=centred)
    else:
        one_pass = chosen("estimator", c.get("estimator", "exact"), {"exact": 0, "one_pass": 1})
        if one_pass and takes_back(memory):
            raise InvalidValue("estimator = 'one_pass' cannot take transitions back: a window needs estimator='exact'")
        kind = OnePassMultinomial if one_pass else Multinomial
        transition = kind(**common, kappa=c["kappa"], corrected=variant, reference=_reference(c))
    return OptimisticPlanner(reward=reward, transition=transition, memory=memory, rule=backup(c))


def backup(c: Mapping[str, Any]) -> Backup:
    """How to plan."""
    stage = chosen("cap", c.get("cap", "horizon"), {"horizon": 0, "stage": 1})
    return Backup(stage=stage, pooled=chosen("share_stages", c.get("share_stages", False), {False: 0, True: 1}))


def composed(family: str, task: Task, memory: Any, c: Mapping[str, Any]) -> OptimisticPlanner:
    """Tables where there are no features, else the models of the family."""
    if task.moves is None:
        return OptimisticPlanner(reward=_table(task, c), transition=_successors(c), memory=memory, rule=backup(c))
    whole = build(family, memory, {"lam_theta": 1.0, "S_theta": 1.0, "L_phi": 1.0} | dict(c))
    return whole._replace(reward=_table(task, c)) if task.phi is None or task.rewards is not None else whole


def measuring(family: str, task: Task, memory: Any, c: Mapping[str, Any]) -> OptimisticPlanner:
    """Models that measure the scale of their bonuses."""
    if task.phi is None or task.rewards is not None:
        reward = _table(task, c, measured=True)
    else:
        reward = MeasuredReward(S=c["S_theta"], L=c["L_phi"], noise=c.get("reward_noise", 0.0), **_scale(c, "reward"))
    transition: Any
    if task.moves is None:
        transition = _successors(c, measured=True)
    elif family == "linear":
        transition = MeasuredMixture(**_scale(c, "transition"))
    else:
        spread = LOGITS / largest_norm("psi", task.moves.psi)
        transition = MeasuredMultinomial(spread=spread, reference=_reference(c), **_scale(c, "transition"))
    return OptimisticPlanner(reward=reward, transition=transition, memory=memory, rule=backup(c))


def largest_norm(name: str, features: Cube) -> float:
    """The norm of the longest vector of features, in whose unit constants are set."""
    largest = float(np.linalg.norm(features, axis=-1).max())
    if largest == 0.0:
        raise InvalidValue(f"{name} is 0 everywhere; features that are 0 tell nothing: leave them out, or give others")
    return largest


def _scale(c: Mapping[str, Any], name: str) -> dict[str, float]:
    """The scale of a bonus, if it is given; each part has a practical one."""
    full = f"{name}_bonus_scale"
    return {"scale": c[full]} if full in c else {}


def _table(task: Task, c: Mapping[str, Any], *, measured: bool = False) -> Any:
    """Rewards that are known, or learned pair by pair; imagined visits are measured only if their number is not given."""
    if task.rewards is not None:
        return KnownReward(noise=c.get("reward_noise", 0.0))
    if c.get("reward_noise", 0.0) != 0.0:
        raise InvalidValue(
            f"reward_noise = {c['reward_noise']!r} is not used by a table of rewards; leave it out, and let reward_range cover the noise"
        )
    if measured and "imagined_visits" not in c:
        return MeasuredRewardTable(**_scale(c, "reward"))
    return RewardTable(imagined=_imagined(c), scale=c.get("reward_bonus_scale", 0.1))


def _successors(c: Mapping[str, Any], *, measured: bool = False) -> Any:
    """Transitions learned pair by pair; imagined visits as of rewards."""
    if measured and "imagined_visits" not in c:
        return MeasuredTransitionTable(**_scale(c, "transition"))
    return TransitionTable(imagined=_imagined(c), scale=c.get("transition_bonus_scale", 0.1))


def _imagined(c: Mapping[str, Any]) -> float:
    return float(c.get("imagined_visits", 0.1))


def _reference(c: Mapping[str, Any]) -> int:
    return chosen("reference", c.get("reference", "lowest"), {"lowest": LOWEST, "stay": STAY, None: RAW})
