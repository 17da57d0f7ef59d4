r"""The law of the choice, exactly, and a draw from it.

Two voices speak: the adaptive one and the static one, which decides with probability ρ (`duel`). Each knows a mean and a standard deviation
of every item, and chooses

    RandUCB   argmax mean + ½(1+|ξ|)·sd ,  one ξ ~ N(0, 1) for all items
    check     with probability κ, an item ∝ v/(v + gap²) ,  v = sd² + sd_top², gap = mean_top − mean .

RandUCB is argmax c + |ξ|s with c = mean + ½sd, s = ½sd; `envelope` has its probabilities without sampling. With ε = `explore`,

    p = ε/n + (1−ε) Σ_v ρ_v [(1−κ) p_v^RandUCB + κ p_v^check] ,

so that every propensity is at least ε/n.
"""

import numpy as np

from ..core.kernel import kernel, solver
from ..core.linalg import Matrix, Vector, largest, position
from ..core.ties import tie_level
from .envelope import add_law
from .sums import Integers

CHECKS = 0.01
OPTIMISM = 0.5
# Rows of the table of a decision: of each voice mean and standard deviation; probabilities; room for the law; what both voices expect,
# and the probabilities of the first place of a ranking.
MEAN, SD, STATIC_MEAN, STATIC_SD, LAW, LOW, STEP, CHECK, SCORE, SAVED = range(10)
ROWS = 10


@kernel
def weights_of_checks(mean: Vector, sd: Vector, out: Vector) -> None:
    """How likely each arm is checked, up to a factor; never where the mean is −∞. Means that differ by rounding alone are equal."""
    top = position(mean, largest(mean))
    level = tie_level(mean[top])
    for a in range(mean.shape[0]):
        gap, v = mean[top] - mean[a], sd[a] * sd[a] + sd[top] * sd[top]
        # 1e-300 avoids 0/0 where both standard deviations are 0; 1e-12 keeps every item's probability positive, so that its propensity
        # is.
        out[a] = 1.0 if mean[a] >= level else v / (v + gap * gap + 1e-300) + 1e-12
        if mean[a] == -np.inf:
            out[a] = 0.0


@solver
def law(table: Matrix, open_: Integers, rho: float, explore: float) -> None:
    """Probabilities of the open items into row LAW; the others have none."""
    n, p = table.shape[1], table[LAW]
    many = 0.0
    for a in range(n):
        p[a] = 0.0
        # `open_` is 1 for items that may be drawn; items already placed in a ranking, or excluded, are closed.
        many += open_[a]
    if rho < 1.0:
        _add_voice(table, MEAN, open_, (1.0 - explore) * (1.0 - rho))
    if rho > 0.0:
        _add_voice(table, STATIC_MEAN, open_, (1.0 - explore) * rho)
    whole = 0.0
    for a in range(n):
        if open_[a] == 1:
            p[a] += explore / many
            whole += p[a]
    for a in range(n):
        # The two voices and the floor sum to 1 up to rounding; dividing makes the propensities that are reported sum to 1 exactly.
        p[a] /= whole


@kernel
def _add_voice(table: Matrix, row: int, open_: Integers, weight: float) -> None:
    n, p, sd = table.shape[1], table[LAW], table[row + 1]
    low, step, check = table[LOW], table[STEP], table[CHECK]
    for a in range(n):
        low[a] = table[row, a] if open_[a] == 1 else -np.inf
        # RandUCB: mean + ½(1+|ξ|)sd = (mean + ½sd) + |ξ|·½sd, so the slope and the added intercept are the same number.
        step[a] = OPTIMISM * sd[a]
    weights_of_checks(low, sd, check)
    total = 0.0
    for a in range(n):
        total += check[a]
    for a in range(n):
        p[a] += weight * CHECKS * check[a] / total
        # The checks above use the mean itself; only the optimistic draw adds ½sd.
        low[a] += step[a]
    add_law(low, step, weight * (1.0 - CHECKS), p)


@kernel
def pick(table: Matrix, open_: Integers, u: float) -> int:
    """The item where the probabilities pass u ∈ [0, 1), summed from the largest mean down: the order of the items plays no part.

    Among means that tie with the largest the order of the items decides, not rounding.
    """
    mean, p, n = table[LOW], table[LAW], table.shape[1]
    # Means within rounding of the largest are set equal, or the order of summation would differ between machines and with it the draw.
    level = tie_level(largest(table[MEAN]))
    for a in range(n):
        mean[a] = min(table[MEAN, a], level)
    chosen, reached = -1, 0.0
    while True:
        following = -1
        for a in range(n):
            # A selection sort in place of sorting: it stops as soon as u is reached, usually at the first or second item, and allocates
            # nothing.
            later = chosen < 0 or mean[a] < mean[chosen] or (mean[a] == mean[chosen] and a > chosen)
            if open_[a] == 1 and p[a] > 0.0 and later and (following < 0 or mean[a] > mean[following]):
                following = a
        if following < 0:
            return chosen
        chosen = following
        reached += p[chosen]
        if reached > u:
            return chosen
