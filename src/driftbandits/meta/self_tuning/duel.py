r"""Which bank earns more? Between banks, only rewards count.

Where the banks' greedy arms differ, all sums fade by 1 − 1/3000 and a bank whose greedy arm was played gets (w, wr, w²), w = min(1/p,
20), p the
propensity of that arm. With self-normalised means m_e and Kish's sizes n_e, both with two pseudo-observations of the mean reward,

    ρ_e ∝ π_e Π_{f≠e} Φ((m_e − m_f)/√(Var(r)·(1/n_e + 1/n_f)))

is the probability that bank e decides. What a decision's reward needs to be counted is its ticket, kept for 256 decisions: rewards may
come late. π = (1, .03, .03) for exponential, static and random walk with shared features: where one model serves all arms, the exponential
bank has a static member itself, and what the duel takes to find out was most of the regret after jumps. With items π = (1, .1, 1): the
static bank's prior is narrow (`checkpoint`), so it explores little until it has shown that this pays.
"""

import math

from ...adaptive.envelope import ROOT2
from ...core.kernel import kernel, sqrt
from .parts import (
    BANKS,
    CHOSEN,
    CLOCK,
    DISAGREED,
    EXPONENTIAL,
    GREEDY,
    PROPENSITY,
    REWARD_MEAN,
    REWARD_SQUARES,
    REWARDS,
    ROUND,
    STATIC,
    TICKETS,
    SelfTuningState,
)

SPAN = 3000.0
LARGEST = 20.0
PSEUDO = 2.0
OTHERS = 0.03  # π of the banks other than the exponential one, with shared features
CAUTIOUS = 0.1  # π of the static bank with items, whose prior is narrow: it explores little


@kernel
def settle_duel(state: SelfTuningState, age: float, slot: int, r: float) -> bool:
    """The reward of a decision `age` rounds ago; False if there was none, or it is too long ago."""
    round_ = state.now[CLOCK] - age
    ticket = state.duel.tickets[int(round_) % TICKETS]
    if ticket[ROUND] != round_ or (slot >= 0 and ticket[CHOSEN] != slot):
        return False
    ticket[ROUND] = 0.0
    if ticket[DISAGREED] == 0.0:
        return True
    sums, w = state.duel.sums, min(1.0 / max(ticket[PROPENSITY], 1e-300), LARGEST)
    for e in range(BANKS):
        for i in range(3):
            sums[i, e] *= 1.0 - 1.0 / SPAN
        if ticket[GREEDY + e] == 1.0:
            sums[0, e] += w
            sums[1, e] += w * r
            sums[2, e] += w * w
    return True


@kernel
def judge_banks(state: SelfTuningState, disjoint: bool) -> None:
    """ρ from the sums."""
    now, rho, total = state.now, state.duel.rho, 0.0
    variance = now[REWARD_SQUARES] / max(now[REWARDS], 1.0) + 1e-300
    for e in range(BANKS):
        rho[e] = 1.0 if e == EXPONENTIAL or (disjoint and e != STATIC) else (CAUTIOUS if disjoint else OTHERS)
    for e in range(BANKS):
        mine, size = _standing(state, e)
        for f in range(e):
            other, other_size = _standing(state, f)
            lead = (mine - other) / sqrt(variance * (1.0 / size + 1.0 / other_size))
            rho[e] *= normal_cdf(lead)
            rho[f] *= normal_cdf(-lead)
    for e in range(BANKS):
        total += rho[e]
    for e in range(BANKS):
        rho[e] /= total


@kernel
def normal_cdf(x: float) -> float:
    """Φ(x)."""
    return 0.5 * math.erfc(-x / ROOT2)


@kernel
def _standing(state: SelfTuningState, e: int) -> tuple[float, float]:
    """Mean reward and number of observations of a bank, pseudo-observations included."""
    sums = state.duel.sums
    if sums[2, e] <= 0.0:
        return state.now[REWARD_MEAN], PSEUDO
    n = sums[0, e] * sums[0, e] / sums[2, e]
    return (sums[1, e] / sums[0, e] * n + PSEUDO * state.now[REWARD_MEAN]) / (n + PSEUDO), n + PSEUDO
