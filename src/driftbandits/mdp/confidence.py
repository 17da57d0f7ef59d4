r"""Failure probabilities of intervals: δ for one stage of one episode, or for all of them at once.

A learner uses one interval for each of the KH pairs (k, h), for rewards and for transitions. δ is the failure probability of *one* of
them, as in the paper's lemmas; `uniform_in_time` divides it by KH, so that all hold at once with probability 1 − δ (resolution D9).
"anytime" needs no K: δ_{k,h} = δ/(2Hk(1+log k)²). Where stages share an estimate the clock counts steps, at least as many as episodes.
"""

from math import log

from ..core.kernel import kernel
from ..errors import InvalidValue
from ..protocol import Integers
from ..radius.union import ANYTIME, ONE, ever
from .protocol import Task


@kernel
def failure_now(uniform: float, fixed: float, clock: Integers) -> float:
    """log(1/δ) of the coming episode, from what `log_failure` says and the episodes on the clock (1,)."""
    return fixed + ever(clock[0] + 1) if uniform == ANYTIME else fixed


def log_failure(delta: float, uniform: float, task: Task) -> float:
    """log(1/δ); log(KH/δ) for a union bound over all stages of all episodes; log(H/δ), the part that stays, for "anytime"."""
    if uniform == ONE:
        return -log(delta)
    if uniform == ANYTIME:
        return log(task.horizon / delta)
    if task.episodes == 0:
        raise InvalidValue(
            "uniform_in_time needs the number of episodes of its union bound; give it: EpisodicAgent(…, episodes=1000)"
        )
    return log(task.episodes * task.horizon / delta)
