r"""What is known of an MDP before it is played: states, actions, and features, if any.

==============  =============================================================================================================
`tabular`       nothing: every pair (s, a) is learned by itself
`mixture_of`    the dynamics are a convex mixture of models at hand (simulators, last year's data): a linear mixture
`logit`         a function (s, a, s') -> features of a move: a multinomial-logit mixture
`Features`      arrays of one's own
==============  =============================================================================================================

>>> import driftbandits as db
>>> agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(16, 4), horizon=20)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShape, InvalidValue, integer
from .checks import check_distributions, check_features
from .choices import check_reachable
from .protocol import Cube, Task

ROOM = 1 << 22  # pairs × successors that a table has room for by default


@dataclass(frozen=True, eq=False)
class Features:
    """What a learner may know: made by `tabular`, `mixture_of`, `logit`, or from arrays by `features_of`.

    phi (S, A, d_θ) and psi (S, A, S, d_w) are None where every pair is learned by itself; reachable (S, A, S) is set in multinomial-logit
    problems.
    """

    states: int
    actions: int
    phi: Cube | None = None
    psi: Cube | None = None
    reachable: NDArray[np.bool_] | None = None
    successors: int = 1

    def __repr__(self) -> str:
        kind = "tabular" if self.psi is None else "linear mixture" if self.reachable is None else "multinomial logit"
        width = "" if self.psi is None else f", {self.psi.shape[-1]} features"
        return f"Features({kind}, {self.states} states, {self.actions} actions{width})"

    def task(self, horizon: int, episodes: int) -> Task:
        """The problem of H stages and K episodes, 0 if K is not known."""
        return Task(self.states, self.actions, self.phi, self.psi, self.reachable, self.successors, horizon, episodes)


def features_of(phi: ArrayLike, psi: ArrayLike, reachable: ArrayLike | None = None) -> Features:
    """Features of one's own: phi (S, A, d_θ), psi (S, A, S, d_w), and reachable (S, A, S) in a multinomial-logit problem."""
    rewards, moves = check_features(phi, psi)
    mask = None if reachable is None else check_reachable(reachable, moves)
    S, A = rewards.shape[:2]
    return Features(S, A, rewards, moves, mask, S)


def tabular(states: int, actions: int, *, successors: int | None = None) -> Features:
    """Nothing is known but how many states and actions there are.

    Parameters
    ----------
    successors
        Room for so many different successors per pair; by default all states, or fewer where that would be more than 4 million counts.

    Examples
    --------
    >>> tabular(16, 4)
    Features(tabular, 16 states, 4 actions)
    """
    S = integer("states", states, least=1, why="it is the number of states S")
    A = integer("actions", actions, least=1, why="it is the number of actions A")
    if successors is None:
        successors = max(1, min(S, ROOM // (S * A)))
    room = integer("successors", successors, least=1, why="every pair leads somewhere")
    return Features(S, A, successors=min(room, S))


def mixture_of(models: Sequence[ArrayLike], *, rewards: Sequence[ArrayLike] | None = None) -> Features:
    """The dynamics are an unknown, drifting convex mixture of these models: P = Σ_i w_i P_i, w ≥ 0, Σw_i = 1.

    Parameters
    ----------
    models
        Transition probabilities (S, A, S) each.
    rewards
        (S, A) each: the rewards are an unknown combination Σ_i θ_i r_i of these. By default every pair's reward is learned by itself.

    Examples
    --------
    >>> calm, storm = np.full((2, 1, 2), 0.5), np.eye(2)[:, None]
    >>> mixture_of([calm, storm])
    Features(linear mixture, 2 states, 1 actions, 2 features)
    """
    kernels = [np.asarray(model, float) for model in models]
    shapes = {kernel.shape for kernel in kernels}
    if len(shapes) != 1 or len(next(iter(shapes))) != 3 or next(iter(shapes))[0] != next(iter(shapes))[2]:
        raise InvalidShape(f"models have shapes {sorted(shapes)}; each must be (S, A, S), the same for all")
    psi = np.ascontiguousarray(np.stack(kernels, axis=-1))
    S, A = psi.shape[:2]
    if not np.isfinite(psi).all():
        raise InvalidValue("models contain NaN or infinity; they must be probabilities")
    check_distributions(psi, np.eye(len(kernels))[:, None])
    if rewards is None:
        return Features(S, A, None, psi, None, S)
    phi = np.ascontiguousarray(np.stack([np.asarray(r, float) for r in rewards], axis=-1))
    return features_of(phi, psi)


def logit(
    features: Callable[[int, int, int], Any], *, states: int, actions: int, rewards: ArrayLike | None = None
) -> Features:
    """Moves have features: P(s'|s,a) ∝ exp(ψ(s'|s,a)ᵀw) over the s' for which `features(s, a, s')` is not None.

    Parameters
    ----------
    features
        Returns the vector ψ(s'|s,a), of the same length everywhere, or None if s' cannot follow (s, a).
    rewards
        Features of the rewards (S, A, d); by default every pair's reward is learned by itself.

    Examples
    --------
    >>> step = lambda s, a, t: [float(t - s), float(a)] if abs(t - s) <= 1 else None
    >>> logit(step, states=3, actions=2)
    Features(multinomial logit, 3 states, 2 actions, 2 features)
    """
    S = integer("states", states, least=1, why="it is the number of states S")
    A = integer("actions", actions, least=1, why="it is the number of actions A")
    found = {(s, a, t): features(s, a, t) for s in range(S) for a in range(A) for t in range(S)}
    rows = {key: np.atleast_1d(np.asarray(row, float)) for key, row in found.items() if row is not None}
    lengths = {row.shape for row in rows.values()}
    if len(lengths) != 1:
        raise InvalidShape(f"features return vectors of shapes {sorted(lengths)}; all must have the same length")
    psi, mask = np.zeros((S, A, S, *lengths.pop())), np.zeros((S, A, S), bool)
    for key, row in rows.items():
        psi[key], mask[key] = row, True
    checked = features_of(np.ones((S, A, 1)) if rewards is None else rewards, psi, mask)
    return Features(S, A, None if rewards is None else checked.phi, checked.psi, checked.reachable, S)
