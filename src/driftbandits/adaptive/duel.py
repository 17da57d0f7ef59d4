r"""The static voice against the adaptive one: between them only rewards count.

The static memory's prior is learned (`tuning`), and it is never refuted: where nothing changes, or much is to be learned from little, it
earns more; after a change it is wrong. Where the two voices' greedy items differ and one of them was played, its voice gets (w, wr, w²),
w = min(1/ρ_voice, 20); all sums fade by 1 − 1/3000. With self-normalised means m and Kish's sizes n, two pseudo-observations included,

    z = (m_S − m_A)/√(Var r·(1/n_S + 1/n_A)) ,   ρ = πΦ(z)/(πΦ(z) + 1 − Φ(z))

is the probability that the static voice decides; π falls by half each time the longest memory is refuted.
"""

import math

from ..core.kernel import kernel, sqrt
from ..core.linalg import Matrix, Vector
from .sums import ADAPTIVE, COUNT, ODDS, R0, STATIC, SUM, State

SPAN = 3000.0
LARGEST = 20.0
PSEUDO = 2.0
LEAST_ODDS = 1e-3
ITEMS, SHARED = 0.5, 0.03  # π where items are told apart by their own effects alone, and elsewhere
SAME = 1e-10
ROOT2 = math.sqrt(2.0)


@kernel
def ticket(mean: Vector, static: Vector, chosen: int, rho: float, out: Vector) -> None:
    """What the reward of this decision will say: the voice it speaks for, −1 for none, and that voice's probability."""
    a, s = 0, 0
    for k in range(mean.shape[0]):
        if mean[k] > mean[a]:
            a = k
        if static[k] > static[s]:
            s = k
    # −1: the reward says nothing about the duel, because the voices agree or another item was played.
    out[0], out[1] = -1.0, 1.0
    # Means that differ by rounding alone are a tie, in which the voices agree.
    differ = mean[s] < mean[a] - SAME * (1.0 + abs(mean[a])) and static[a] < static[s] - SAME * (1.0 + abs(static[s]))
    if differ and chosen == a:
        out[0], out[1] = float(ADAPTIVE), 1.0 - rho
    elif differ and chosen == s:
        out[0], out[1] = float(STATIC), rho


@kernel
def settle(duel: Matrix, voice: int, probability: float, r: float) -> None:
    """A reward for a voice."""
    # Importance weight: the voice is credited for the decisions it would have made more often had it decided alone. The cap trades a
    # little bias for a bounded variance.
    w = min(1.0 / max(probability, 1e-3), LARGEST)
    for v in range(2):
        for j in range(3):
            duel[v, j] *= 1.0 - 1.0 / SPAN
    duel[voice, 0] += w
    duel[voice, 1] += w * r
    duel[voice, 2] += w * w


@kernel
def rho_of(state: State, variance: float) -> float:
    """ρ from the sums of the duel; 0 before the first reward."""
    n = state.numbers
    if n[COUNT] <= 0.0:
        return 0.0
    mean = n[R0] + n[SUM] / n[COUNT]
    mine, size = _standing(state.duel[STATIC], mean)
    other, other_size = _standing(state.duel[ADAPTIVE], mean)
    # The test statistic of two means with a common variance; it is turned into a posterior probability instead of a yes or no.
    z = (mine - other) / sqrt(max(variance, 1e-300) * (1.0 / size + 1.0 / other_size))
    ahead = 0.5 * math.erfc(-z / ROOT2)
    # Bayes' rule with prior odds π: ρ = πP/(πP + 1 − P).
    won = n[ODDS] * ahead
    return won / (won + 1.0 - ahead) if won > 0.0 else 0.0


@kernel
def _standing(sums: Vector, mean: float) -> tuple[float, float]:
    """Mean reward and number of observations of a voice."""
    if sums[2] <= 0.0:
        return mean, PSEUDO
    # Kish's effective sample size, (Σw)²/Σw²: a few large weights count as few observations.
    n = sums[0] * sums[0] / sums[2]
    # Pseudo-observations at the common mean: after two rewards no voice can look far better than the other.
    return (sums[1] / sums[0] * n + PSEUDO * mean) / (n + PSEUDO), n + PSEUDO


@kernel
def discredit(state: State) -> None:
    """The longest memory was refuted: the world has changed, and the static voice is less likely to be right."""
    state.numbers[ODDS] = max(0.5 * state.numbers[ODDS], LEAST_ODDS)
