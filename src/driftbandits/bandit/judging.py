"""Which memory is in use: every forecast is scored when its reward comes, by the rules of `meta.self_tuning.evidence`."""

import math

from ..core.kernel import kernel, solver
from ..core.linalg import Vector
from ..meta.self_tuning.evidence import REENTER, REFUTE, SHARE, contest
from ..meta.self_tuning.family import robust_score
from .sums import AFTER, BEFORE, CAL_1, CAL_2, CAL_N, EVIDENCE, NEWEST, NORMAL, USE, Bank


@solver
def judge(bank: Bank, r: float, tick: float, seen: Vector) -> bool:
    """Score every memory's forecast, choose the one to use, restart those refuted. True if the one in use was refuted."""
    m, M = bank.misc, bank.rate.shape[0]
    sigma2 = seen[0]
    use = int(m[USE])
    if sigma2 <= 0.0:
        return False
    p = bank.b.shape[2]
    _calibrate(m, (r - seen[1 + use]) ** 2 / ((1.0 + seen[1 + M + use]) * sigma2))
    if M == 1:
        return False
    first = 0
    while first < M - 1 and bank.rate[first] * p > 4.0:  # a memory shorter than p/4 cannot know p columns
        first += 1
    lead = first
    for j in range(first, M):
        source = use if bank.cut[j] > tick else j  # its forecast is older than itself
        q = seen[1 + M + source]
        e2 = (r - seen[1 + source]) ** 2 / ((1.0 + q) * sigma2)
        bank.weight[j] += robust_score(e2, q, m[NORMAL] > 0.0)
    return _choose(bank, first, lead, tick)


@kernel
def _calibrate(m: Vector, e2: float) -> None:
    """Shares of standardised residuals beyond 1 and 2, over about a thousand rewards; does the normal fit better than Student-t₄?"""
    m[CAL_N] = 0.999 * m[CAL_N] + 1.0
    m[CAL_1] = 0.999 * m[CAL_1] + (1.0 if e2 > 1.0 else 0.0)
    m[CAL_2] = 0.999 * m[CAL_2] + (1.0 if e2 > 4.0 else 0.0)
    m[NORMAL] = contest(m[NORMAL], e2, 1.0)


@kernel
def _choose(bank: Bank, first: int, lead: int, tick: float) -> bool:
    """Share, refute, and take the longest memory that is not far behind."""
    M, p, weight = bank.rate.shape[0], bank.b.shape[2], bank.weight
    top = -math.inf
    for j in range(first, M):
        top = max(top, weight[j])
    total = 0.0
    for j in range(first, M):
        total += math.exp(weight[j] - top)
    for j in range(first, M):  # fixed share
        weight[j] = math.log((1.0 - SHARE) * math.exp(weight[j] - top) / total + SHARE / (M - first))
        if weight[j] > weight[lead]:
            lead = j
    chosen, refuted = lead, False
    for j in range(lead + 1, M):
        if weight[j] < weight[lead] - REFUTE:
            if j == M - 1:  # the longest memory: every change refutes it sooner or later, once
                refuted = True
                bank.event[BEFORE], bank.event[AFTER] = _known(bank, j), _known(bank, lead)
                bank.event[EVIDENCE] = weight[lead] - weight[j]
            _restart(bank, j, lead, tick)
            weight[j] = weight[lead] - REENTER
        if weight[j] >= weight[lead] - 0.5 * p:
            chosen = j
    bank.misc[USE] = chosen
    return refuted


@kernel
def _known(bank: Bank, j: int) -> float:
    """How many observations memory j rests on."""
    n: float = bank.sums[j, 0, 0]
    if n == 0.0:
        for k in range(bank.last.shape[0]):
            n += bank.sums[j, k, 0]
    return n


@kernel
def _restart(bank: Bank, j: int, lead: int, tick: float) -> None:
    """Memory j forgets what the leader has forgotten."""
    K, p = bank.last.shape[0], bank.b.shape[2]
    for k in range(K):
        for i in range(p):
            for l in range(p):  # noqa: E741
                bank.V[j, k, i, l] = bank.V[lead, k, i, l]
                bank.U[j, k, i, l] = bank.U[lead, k, i, l]
            bank.b[j, k, i] = bank.b[lead, k, i]
            for l in range(2):  # noqa: E741
                bank.theta[j, k, l, i] = bank.theta[lead, k, l, i]
        for i in range(2):
            bank.sums[j, k, i] = bank.sums[lead, k, i]
        for i in range(3):
            bank.rest[j, k, i] = bank.rest[lead, k, i]
    bank.cut[j] = max(bank.misc[NEWEST], tick)
    bank.cut_rate[j] = bank.rate[lead]
