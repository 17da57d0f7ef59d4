"""Exp3.IX: an adversarial bandit over N options, of which only the chosen one reveals its loss (Neu 2015).

    play          I ~ p,   p_i ∝ exp(−η·Σ ℓ̃_i)
    update_loss   ℓ ∈ [0, 1]:   ℓ̃_I = ℓ/(p_I + ϱ),   ℓ̃_i = 0 for the others            (implicit exploration ϱ = η/2)

η = √(2 log N/(N·M)) when the number of plays M is known, else η_i = √(log N/(N·i)) in play i.
"""

from typing import NamedTuple

import numpy as np

from ..core.kernel import kernel, part
from ..core.linalg import Vector
from ..errors import integer
from ..protocol import Integers


@part
class Exp3IX(NamedTuple):
    """Exp3.IX over `options` N, for `plays` M; M = 0 if it is not known."""

    options: float
    plays: float = 0.0

    def check(self) -> None:
        """Both must be whole numbers."""
        integer("options", self.options, least=1, why="there must be something to choose")
        integer("plays", self.plays, least=0, why="it is the number of plays, or 0 if that is not known")


class Exp3State(NamedTuple):
    """The state of Exp3.IX."""

    total: Vector  # (N,) estimated losses Σ ℓ̃
    p: Vector  # (N,) probabilities of the last play
    option: Integers  # (1,) drawn in the last play
    plays: Integers  # (1,) made so far


def blank_exp3(exp3: Exp3IX) -> Exp3State:
    """The state before the first play."""
    N = int(exp3.options)
    return Exp3State(
        total=np.zeros(N), p=np.full(N, 1.0 / N), option=np.zeros(1, np.int64), plays=np.zeros(1, np.int64)
    )


@kernel
def learning_rate(exp3: Exp3IX, i: int) -> float:
    """η of play i = 1, 2, …"""
    N = exp3.options
    if exp3.plays > 0.0:
        return float(np.sqrt(2.0 * np.log(N) / (N * exp3.plays)))
    return float(np.sqrt(np.log(N) / (N * i)))


@kernel
def play(exp3: Exp3IX, state: Exp3State, rng: np.random.Generator) -> int:
    """Draw the next option."""
    state.plays[0] += 1
    eta = learning_rate(exp3, state.plays[0])
    N = state.p.shape[0]
    # Subtracting the least loss changes no probability and prevents the underflow of all weights.
    least = state.total[0]
    for i in range(1, N):
        least = min(least, state.total[i])
    mass = 0.0
    for i in range(N):
        state.p[i] = np.exp(-eta * (state.total[i] - least))
        mass += state.p[i]
    u = rng.random() * mass
    option = N - 1
    for i in range(N):
        if u < state.p[i] and option == N - 1:
            option = i
        u -= state.p[i]
        state.p[i] /= mass
    state.option[0] = option
    return int(option)


@kernel
def update_loss(exp3: Exp3IX, state: Exp3State, loss: float) -> None:
    """Add the loss in [0, 1] of the option last drawn to its estimate."""
    option = state.option[0]
    state.total[option] += loss / (state.p[option] + 0.5 * learning_rate(exp3, state.plays[0]))


@kernel
def block_loss(total: float, length: float, reach: float, noise: float, horizon: float, top: float) -> float:
    """ℓ ∈ [0, 1] of a block of `length` rounds with reward Y = `total`, of T = `horizon`.

    ℓ = (1 − Y/L_max)/2, L_max = reach·length + 2·noise·√(length·ln(T/√length)); ℓ = 1 − Y/(top·length) for rewards in [0, top], top > 0.
    """
    if top > 0.0:
        loss = 1.0 - total / (top * length)
    else:
        luck = 2.0 * noise * np.sqrt(length * max(np.log(horizon / np.sqrt(length)), 0.0))
        loss = 0.5 * (1.0 - total / (reach * length + luck))
    return min(max(loss, 0.0), 1.0)
