r"""Several memories of one table: a short one leans on the longer ones where it has forgotten, and exploring is never forgotten.

    p_i(s'|s,a) = (N_i(s,a,s') + p_{i+1}(s'|s,a))/(n_i(s,a) + 1),   from the longest memory to the shortest

Without this, a memory that suits frequently visited pairs has only one or two visits to all others. It would trust what these showed, and
explore those pairs again. The plan has p of the leader, with the bonus of as many visits as the longest memory has seen. Forecasts, by
which a leader is chosen, are the same p_i, the longest leaning on all successors alike. The bonus of rewards is that of the memory next
longer than both leaders. That of the leaders themselves looks for rewards again all the time where moves are certain and the shortest
memory leads for hundreds of episodes after a change; that of the longest never looks again where rewards drift (docs/notebook/mdp.md has
figures).
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.kernel import solver
from ..core.linalg import Matrix, Vector
from ..core.state import view_state
from .likelihood import TransitionCounts
from .posterior_table import MeasuredRewardTable, MeasuredTransitionTable
from .protocol import blend, blend_state, bonus_of, forecast
from .successors import place_of
from .tables import RewardTable, TransitionTable, TransitionTableState
from .value_targeted import DOUBT


class Blend(NamedTuple):
    """What the plan counts."""

    N: Matrix  # (groups, S·A·U)


@blend_state.register(TransitionTable, MeasuredTransitionTable)
def _(transition: Any, state: TransitionTableState) -> Blend:
    return Blend(np.zeros_like(state.sums.N))


@blend.register(TransitionTable, MeasuredTransitionTable)
def _(transition: Any, memories: TransitionTableState, leader: int, room: Blend) -> TransitionTableState:
    _lean(memories, leader, room.N)
    own = view_state(memories, leader)
    counted = TransitionCounts(own.sums.n, room.N)
    return TransitionTableState(
        own.successor, own.used, own.history, counted, own.radius, own.visits, own.novelty, own.nothing
    )


@solver
def _lean(memories: TransitionTableState, leader: int, out: Matrix) -> None:
    """n(s,a) p(s'|s,a): n of the longest memory, p of the leader."""
    N, last, U = memories.sums.N, memories.used.shape[0] - 1, memories.successor.shape[2]
    for g in range(out.shape[0]):
        for pair in range(memories.used.shape[1]):
            places = range(pair * U, pair * U + memories.used[last, pair])
            visits = 0.0
            for j in places:
                visits += N[last, g, j]
            for j in places:
                out[g, j] = N[last, g, j] / visits if visits > 0.0 else 0.0
            # From the longest memory down: each one adds its own counts to one imagined visit distributed as the next longer one says.
            for i in range(last - 1, leader - 1, -1):
                count = 0.0
                for j in places:
                    count += N[i, g, j]
                for j in places:
                    out[g, j] = (N[i, g, j] + out[g, j]) / (count + 1.0)
            for j in places:
                # The leader's distribution with the longest memory's number of visits: short memories move the estimate but not the
                # bonus.
                out[g, j] *= visits


@forecast.register(TransitionTable, MeasuredTransitionTable)
def _(transition: Any, memories: TransitionTableState, h: int, pair: int, successor: int, out: Vector) -> None:
    N, last, U = memories.sums.N, memories.used.shape[0] - 1, memories.successor.shape[2]
    g, used = h % memories.radius.shape[1], memories.used[last, pair]
    place = place_of(memories.successor[last], used, pair, successor)
    # Below the longest memory lies the uniform distribution over the places, so no successor is ever impossible.
    p = 1.0 / U
    for i in range(last, -1, -1):
        count = 0.0
        for u in range(used):
            count += N[i, g, pair * U + u]
        seen = N[i, g, pair * U + place] if place >= 0 else 0.0
        p = (seen + p) / (count + 1.0)
        out[i] += np.log(max(p, DOUBT))


@bonus_of.register(RewardTable, MeasuredRewardTable)
def _(reward: Any, longer: int, last: int) -> int:
    return min(longer + 1, last)
