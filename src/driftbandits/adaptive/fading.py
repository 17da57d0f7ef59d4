r"""How memories forget: observations fade, and priors fade with them until they are refreshed.

At time t memory m weighs an observation made at s by exp(−(H_m(t) − H_m(s))), where H_m grows by `rate` per decision or second, and before
a *cut* by the rate of the memory that it continues.

A prior that stayed as it is while the sums fade would change the inverse of their total by a matrix of full rank with every observation:
O(p³). So it fades with them, and is refreshed at the beginning of each *cell* of time of length B = log 2/rate. There it is a little too
strong, at the end a little too weak: with t in a cell that begins at t₀,

    prior(t) = exp(rate·(B/2 − (t − t₀))) · prior ,     between √2 and 1/√2 of it.

The memories of a group are computed together and have the cells of the first of them that takes part; priors of slower ones vary less, and
the prior of a memory that never forgets does not vary. It depends on the time alone, not on what was learned when: estimates are still a
function of the sums, whatever the order in which rewards came.
"""

import math

from ..core.kernel import kernel
from ..core.lanes import LANES
from ..core.linalg import Vector
from ..core.simd4 import spread, store
from .sums import FIRST, NEVER, State

LEAST = 1e-200  # what has faded below this is zero: denormal numbers are slow and mean nothing
HALVING = math.log(2.0)  # what a prior loses in a cell, in nats


@kernel
def felt(state: State, m: int, since: float, until: float) -> float:
    """H_m(until) − H_m(since), 0 where time does not pass."""
    cut = state.cut[m]
    # H_m is piecewise linear with one kink, at the cut: the time before and the time after fade at different rates.
    before = max(0.0, min(until, cut) - since)
    after = max(0.0, until - max(since, cut))
    total = 0.0
    if before > 0.0 and state.cut_rate[m] > 0.0:
        total += state.cut_rate[m] * before
    if after > 0.0 and state.rate[m] > 0.0:
        total += state.rate[m] * after
    return total


@kernel
def faded(state: State, m: int, since: float, until: float) -> float:
    """exp(−(H_m(until) − H_m(since)))."""
    # exp(−700) is near the smallest normal float; beyond, the result would be denormal.
    f = math.exp(-min(felt(state, m, since, until), 700.0))
    return f if f > LEAST else 0.0


@kernel
def memory_in(state: State, g: int, lane: int) -> int:
    """The memory in a lane of a group; lanes after the last memory repeat it."""
    # Repeating the last memory fills the register with valid numbers, so lanes without a memory need no branch and raise no NaN.
    return min(g * LANES + lane, len(state.rate) - 1)


@kernel
def fades(state: State, g: int, since: float, until: float, out: Vector) -> None:
    """`faded` of the four memories of a group."""
    if until <= since:
        store(out, 0, spread(1.0))
        return
    for lane in range(LANES):
        out[lane] = faded(state, memory_in(state, g, lane), since, until)


@kernel
def length_of_cells(state: State, g: int) -> float:
    """B of a group: of the first of its memories that forgets and takes part, or of the last that forgets; 0 where none does."""
    rate = 0.0
    for lane in range(LANES):
        m = memory_in(state, g, lane)
        if state.rate[m] > 0.0:
            rate = state.rate[m]
            # Memories before FIRST take no part. If none of the group does, the loop ends with the slowest that forgets.
            if m >= state.numbers[FIRST]:
                break
    return HALVING / rate if rate > 0.0 else 0.0


@kernel
def cell(state: State, g: int, t: float) -> float:
    """The number of the cell of group g that t is in."""
    B = length_of_cells(state, g)
    return math.floor(t / B) if B > 0.0 and t > NEVER else 0.0


@kernel
def prior_weights(state: State, g: int, t: float, out: Vector) -> None:
    """How strong the prior is at time t in the four memories of a group; 1 before the first observation."""
    B = length_of_cells(state, g)
    if B <= 0.0 or t <= NEVER:
        store(out, 0, spread(1.0))
        return
    # Cells are aligned to multiples of B, not to the first observation: the prior is then a function of the time alone.
    since = t - B * math.floor(t / B)
    for lane in range(LANES):
        # exp(rate·(B/2 − since)): √2 at the beginning of the cell, 1 in its middle, 1/√2 at its end.
        out[lane] = math.exp(min(state.rate[memory_in(state, g, lane)] * (0.5 * B - since), 700.0))
