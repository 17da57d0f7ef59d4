r"""How often an interval may fail: δ of one stage of one episode, or of all of them at once.

A learner uses one interval for each of the KH pairs (k, h), for rewards and for transitions. δ is the failure probability of *one* of
them, as in the paper's lemmas; `uniform_in_time` divides it by KH, so that all hold at once with probability 1 − δ (resolution D9).
"""

from math import log

from ..errors import InvalidValue
from .protocol import Task


def log_failure(delta: float, uniform: bool, task: Task) -> float:
    """log(1/δ), or log(KH/δ) for a union bound over all stages of all episodes."""
    if not uniform:
        return -log(delta)
    if task.episodes == 0:
        raise InvalidValue(
            "uniform_in_time needs the number of episodes of its union bound; give it: EpisodicAgent(…, episodes=1000)"
        )
    return log(task.episodes * task.horizon / delta)
