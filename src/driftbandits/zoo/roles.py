"""Five roles: how an algorithm treats old data. Lists, figures, reports and the lab group and colour algorithms by role.

=====================  =====================================================================================
tuning-free            finds out from the data how fast to forget; no γ, window or period is set
fixed forgetting       a discount factor γ, a window or a restart period that the user sets
detection              keeps everything until a test finds a change, then starts afresh
never forgets          all rounds count the same
baseline               does not learn: the logged policy, a random choice
=====================  =====================================================================================
"""

import typing
from typing import Literal

from .record import RECORDS, parameters

Role = Literal["tuning-free", "fixed forgetting", "detection", "never forgets", "baseline"]
ROLES: tuple[Role, ...] = typing.get_args(Role)
FORGETTING = frozenset({"gamma", "window", "period"})
DETECTION = frozenset({"dal", "dlin_ucb", "master", "master_ucrl", "detect_ucrl"})
STATIC = frozenset({"cw_oful"})  # has a γ, which is 1 unless it is set


def role_of(name: str) -> Role:
    """The role of an algorithm of the zoo.

    Examples
    --------
    >>> [role_of(name) for name in ("self_tuning", "lb_weight_ucb", "master", "oful")]
    ['tuning-free', 'fixed forgetting', 'detection', 'never forgets']
    """
    if name in DETECTION:
        return "detection"
    if name in STATIC:
        return "never forgets"
    if name == "random_restart":  # its period is set
        return "fixed forgetting"
    if RECORDS[name].family == "adaptive" or name.startswith("bob"):
        return "tuning-free"
    return "fixed forgetting" if parameters(RECORDS[name].make) & FORGETTING else "never forgets"
