r"""Which memory forecasts best, and which one is refuted: one implementation for every learner with several memories.

Every memory forecasts the reward just before it learns it, f ± σ̂√q, and is scored by

    e² = (r − f)²/((1+q)σ̂²) ;    ℓ = −½log(1+q) − ½e²    or, robustly,   −½log(1+q) − 5/2·log(1 + e²/4) ,

the normal law only once its cumulative log score leads that of Student's t₄ (from −10, clipped to [−100, 30]): with rare clicks or heavy
tails each success would refute everything. Weights of memories ∝ e^ℓ, a share of 10⁻⁴ dealt out anew each time. A memory longer than the
leader's that falls 7 nats behind is *refuted*: it takes over the leader's past and re-enters 4 nats behind. In use is the longest memory
within p/2 nats of the leader.

`select` is that; adaptive weights (`meta.candidates`), which may refute only under conditions of their own, and the memories of Markov
decision processes (`mdp.adaptive`), which refute nothing, are made of the same `reweigh`, `is_refuted` and `longest_credible`.

Means are averaged over memories. How often the best memory changes is not known, so weights are kept under shares 10⁻⁴, 10⁻³ and 10⁻², and
those three are weighted by their likelihood.
"""

import math

from ..core.kernel import kernel
from ..core.linalg import Matrix, Vector
from .sums import SHARES, Integers

SHARE = 1e-4
REFUTE = 7.0
REENTER = 4.0
STUDENT = 4.0  # degrees of freedom of the robust score
STUDENT_NORM = math.lgamma(2.5) - math.lgamma(2.0) - 0.5 * math.log(4.0 * math.pi)
NORMAL_NORM = -0.5 * math.log(2.0 * math.pi)
RENEWAL = 1e-3  # of the weights of the shares themselves


@kernel
def robust_score(square: float, q: float, gaussian: bool) -> float:
    """Log density of a squared error, standardised by σ̂²(1+q), under the normal law or Student's t₄, up to a constant."""
    if gaussian:
        return -0.5 * (math.log(1.0 + q) + square)
    tail = 1.0 + square / STUDENT
    # The fifth power by multiplication: one logarithm instead of two, in a loop over all memories of every reward.
    return -0.5 * math.log((1.0 + q) * tail * tail * tail * tail * tail)  # exponent −(4+1)/2


@kernel
def contest(lead: float, square: float, weight: float) -> float:
    """The lead in nats of the normal law over Student's after one more standardised squared error."""
    student = STUDENT_NORM - 0.5 * (STUDENT + 1.0) * math.log(1.0 + square / STUDENT)
    # Both ends are clipped so that no stretch of rewards, however long, makes the verdict irreversible.
    return min(30.0, max(-100.0, lead + weight * (NORMAL_NORM - 0.5 * square - student)))


@kernel
def reweigh(weight: Vector, score: Vector, first: int, last: int, share: float) -> int:
    """Add log scores to the log weights of memories first…last−1, shortest first, and deal a share out anew; returns the leader."""
    top = -math.inf
    for m in range(first, last):
        weight[m] += score[m]
        # Subtracting the largest log weight before exponentiating leaves the shares unchanged and avoids overflow and underflow.
        top = max(top, weight[m])
    total = 0.0
    for m in range(first, last):
        total += math.exp(weight[m] - top)
    lead = first
    for m in range(first, last):
        # Fixed share: every memory keeps at least share/K, so one that was wrong for long can lead again after log(K/share) nats of
        # evidence.
        weight[m] = math.log((1.0 - share) * math.exp(weight[m] - top) / total + share / (last - first))
        if weight[m] > weight[lead]:
            lead = m
    return lead


@kernel
def is_refuted(weight: Vector, m: int, lead: int, refute: float) -> bool:
    """Whether memory m is more than so many nats behind the leader."""
    return bool(weight[m] < weight[lead] - refute)


@kernel
def longest_credible(weight: Vector, lead: int, last: int, margin: float) -> int:
    """The longest memory within so many nats of the leader."""
    use = lead
    for m in range(lead + 1, last):
        if weight[m] >= weight[lead] - margin:
            # The loop runs from short to long and keeps the last hit: at equal evidence the longer memory has the smaller variance.
            use = m
    return use


@kernel
def select(weight: Vector, score: Vector, first: int, last: int, margin: float, refuted: Integers) -> tuple[int, int]:
    """Judge memories first…last−1 by their log scores; returns the leader and the memory to use.

    `refuted` is 1 for each memory that must now take over the leader's past; its weight has been set accordingly, and its score is
    replaced by the nats it was behind.
    """
    lead = reweigh(weight, score, first, last, SHARE)
    for m in range(first, last):
        refuted[m] = 0
    # Memories are ordered by length, so the leader's longer rivals are those after it.
    for m in range(lead + 1, last):
        if is_refuted(weight, m, lead, REFUTE):
            # Only memories longer than the leader's can be outdated; a shorter one that forecasts worse merely has more variance.
            refuted[m] = 1
            score[m] = weight[lead] - weight[m]
            weight[m] = weight[lead] - REENTER
    return lead, longest_credible(weight, lead, last, margin)


@kernel
def average(mix: Matrix, trust: Vector, score: Vector, first: int, last: int) -> None:
    """Update the weights of memories under each share, and the weights of the shares."""
    best = -math.inf
    for m in range(first, last):
        best = max(best, score[m])
    whole = 0.0
    for m in range(first, last):
        likelihood = math.exp(score[m] - best)
        for a in range(trust.shape[0]):
            mix[a, m] *= likelihood
    for a in range(trust.shape[0]):
        total, share = 0.0, SHARES[a]
        for m in range(first, last):
            total += mix[a, m]
        for m in range(first, last):
            mix[a, m] = (1.0 - share) * mix[a, m] / total + share / (last - first)
        # Σ_m mix·likelihood is the probability that share a gave to this reward, so `trust` is the posterior over the rates of change.
        trust[a] *= total
        whole += trust[a]
    for a in range(trust.shape[0]):
        trust[a] = (1.0 - RENEWAL) * trust[a] / whole + RENEWAL / trust.shape[0]


@kernel
def readmit(mix: Matrix, m: int, lead: int) -> None:
    """A memory that takes over the leader's past has at least e⁻⁴ of its weight."""
    for a in range(mix.shape[0]):
        # The copy forecasts as the leader does; without this it would have to earn its weight back from the floor share/K.
        mix[a, m] = max(mix[a, m], mix[a, lead] * math.exp(-REENTER))


@kernel
def exclude(weight: Vector, mix: Matrix, first: int, last: int) -> None:
    """Memories before `first` take no part any more: their weight goes to the others."""
    for a in range(mix.shape[0]):
        total = 0.0
        for m in range(first, last):
            total += mix[a, m]
        for m in range(last):
            if m < first:
                mix[a, m] = 0.0
            else:
                # If all weight lay on the memories that leave, nothing is known of the others: they start from equal weights.
                mix[a, m] = mix[a, m] / total if total > 0.0 else 1.0 / (last - first)
