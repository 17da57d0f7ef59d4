r"""What is known of an MDP before it is played: states, actions, and features, if any.

==============  =============================================================================================================
`tabular`       nothing: every pair (s, a) is learned by itself
`mixture_of`    the dynamics are a convex mixture of models at hand (simulators, last year's data): a linear mixture
`logit`         a function (s, a, s') -> features of a move: a multinomial-logit mixture
`features_of`   arrays of one's own; `sparse_features` where a pair leads to few of many states
==============  =============================================================================================================

>>> import driftbandits as db
>>> agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(16, 4), horizon=20)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShape, InvalidValue, integer
from ..linalg import Matrix
from .checks import check_distributions, check_features, check_rewards
from .choices import check_reachable
from .moves import Moves, in_use, moves_from, moves_of, moves_of_models
from .protocol import Cube, Task

ROOM = 1 << 22  # pairs × successors that a table has room for by default


@dataclass(frozen=True, eq=False)
class Features:
    """What a learner may know: made by `tabular`, `mixture_of`, `logit`, or from arrays by `features_of` and `sparse_features`.

    phi (S, A, d_θ) and moves are None where every pair is learned by itself; rewards (S, A) where they are known.
    """

    states: int
    actions: int
    phi: Cube | None = None
    moves: Moves | None = None
    multinomial: bool = False
    successors: int = 1
    rewards: Matrix | None = None

    def __repr__(self) -> str:
        kind = "tabular" if self.moves is None else "multinomial logit" if self.multinomial else "linear mixture"
        width = "" if self.moves is None else f", {self.moves.psi.shape[-1]} features"
        return f"Features({kind}, {self.states} states, {self.actions} actions{width})"

    @property
    def psi(self) -> Cube | None:
        """Features of the moves, (S, A, S, d_w), 0 where a state cannot follow: S²A·d_w numbers, made when asked for."""
        if self.moves is None:
            return None
        dense = np.zeros((self.states * self.actions, self.states, self.moves.psi.shape[-1]))
        pairs, places = np.nonzero(in_use(self.moves))
        dense[pairs, self.moves.successor[pairs, places]] = self.moves.psi[pairs, places]
        return dense.reshape(self.states, self.actions, self.states, -1)

    @property
    def reachable(self) -> NDArray[np.bool_] | None:
        """Which states can follow a pair in a multinomial-logit problem, (S, A, S), made when asked for."""
        if self.moves is None or not self.multinomial:
            return None
        dense = np.zeros((self.states * self.actions, self.states), bool)
        pairs, places = np.nonzero(in_use(self.moves))
        dense[pairs, self.moves.successor[pairs, places]] = True
        return dense.reshape(self.states, self.actions, self.states)

    def can_follow(self, s: int, a: int, successor: int) -> bool:
        """May this state follow this pair? In a linear mixture and a table any may: the learner may be wrong about it."""
        if self.moves is None or not self.multinomial:
            return True
        pair = s * self.actions + a
        return bool((self.moves.successor[pair, : self.moves.used[pair]] == successor).any())

    def task(self, horizon: int, episodes: int) -> Task:
        """The problem of H stages and K episodes, 0 if K is not known."""
        sizes = self.states, self.actions
        return Task(*sizes, self.phi, self.moves, self.multinomial, self.successors, horizon, episodes, self.rewards)


def features_of(phi: ArrayLike, psi: ArrayLike, reachable: ArrayLike | None = None) -> Features:
    """Features of one's own: phi (S, A, d_θ), psi (S, A, S, d_w), and reachable (S, A, S) in a multinomial-logit problem."""
    rewards, moves = check_features(phi, psi)
    mask = None if reachable is None else check_reachable(reachable, moves)
    S, A = rewards.shape[:2]
    return Features(S, A, rewards, moves_of(moves, mask), mask is not None, S)


def sparse_features(
    successors: ArrayLike,
    psi: ArrayLike,
    *,
    multinomial: bool,
    phi: ArrayLike | None = None,
    known_rewards: ArrayLike | None = None,
) -> Features:
    """Features where a pair leads to few of many states: memory and time follow the number of (s, a, s').

    Parameters
    ----------
    successors
        (S, A, U): the states that may follow a pair, −1 where there are fewer than U.
    psi
        (S, A, U, d): features of the move to each of them.
    multinomial
        P ∝ exp(ψᵀw) over the successors, for `mnl_weight_ucrl`; else P = ψᵀw, for `weight_ucrl`.
    phi
        Features of the rewards (S, A, d_θ); by default every pair's reward is learned by itself.
    known_rewards
        (S, A), in place of phi: what every action pays, if that is known.

    Examples
    --------
    >>> ring = np.stack([(np.arange(5000) + step) % 5000 for step in (-1, 1)], axis=-1)[:, None]
    >>> sparse_features(ring, np.random.default_rng(0).normal(size=(5000, 1, 2, 3)), multinomial=True)
    Features(multinomial logit, 5000 states, 1 actions, 3 features)
    """
    S, A, moves = moves_from(successors, psi)
    rewards = None if phi is None else check_rewards(phi, S, A)
    return Features(S, A, rewards, moves, bool(multinomial), S, _known(known_rewards, rewards, S, A))


def _known(given: ArrayLike | None, phi: Cube | None, S: int, A: int) -> Matrix | None:
    """Rewards that are known, (S, A); then there is nothing to learn with features."""
    if given is None:
        return None
    if phi is not None:
        raise InvalidValue("give features of the rewards, or known_rewards, not both: what is known is not learned")
    return check_rewards(np.asarray(given, float)[..., None], S, A, name="known_rewards")[..., 0]


def tabular(
    states: int, actions: int, *, successors: int | None = None, known_rewards: ArrayLike | None = None
) -> Features:
    """Nothing is known but how many states and actions there are.

    Parameters
    ----------
    successors
        Room for so many different successors per pair; by default all states, or fewer where that would be more than 4 million counts.
    known_rewards
        (S, A): what every action pays, if that is known; then only the transitions are learned.

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
    return Features(S, A, successors=min(room, S), rewards=_known(known_rewards, None, S, A))


def mixture_of(
    models: Sequence[Any], *, rewards: Sequence[ArrayLike] | None = None, known_rewards: ArrayLike | None = None
) -> Features:
    """The dynamics are an unknown, drifting convex mixture of these models: P = Σ_i w_i P_i, w ≥ 0, Σw_i = 1.

    Parameters
    ----------
    models
        Transition probabilities (S, A, S) each; or, where most are 0, SciPy's sparse arrays of shape (S·A, S), row s·A + a.
    rewards
        (S, A) each: the rewards are an unknown combination Σ_i θ_i r_i of these. By default every pair's reward is learned by itself.
    known_rewards
        (S, A), in place of rewards: what every action pays, if that is known.

    Examples
    --------
    >>> calm, storm = np.full((2, 1, 2), 0.5), np.eye(2)[:, None]
    >>> mixture_of([calm, storm])
    Features(linear mixture, 2 states, 1 actions, 2 features)
    """
    if len(models) == 0:
        raise InvalidValue("models is empty; a mixture needs at least one model")
    sparse = [hasattr(model, "tocsr") for model in models]
    if any(sparse) and not all(sparse):
        raise InvalidValue("some models are sparse and some are not; give all in one form")
    S, A, moves = moves_of_models(list(models)) if all(sparse) else _dense_models(models)
    phi = None
    if rewards is not None:
        phi = check_rewards(np.stack([np.asarray(r, float) for r in rewards], axis=-1), S, A)
    return Features(S, A, phi, moves, False, S, _known(known_rewards, phi, S, A))


def _dense_models(models: Sequence[ArrayLike]) -> tuple[int, int, Moves]:
    kernels = [np.asarray(model, float) for model in models]
    shapes = {kernel.shape for kernel in kernels}
    if len(shapes) != 1 or len(next(iter(shapes))) != 3 or next(iter(shapes))[0] != next(iter(shapes))[2]:
        raise InvalidShape(f"models have shapes {sorted(shapes)}; each must be (S, A, S), the same for all")
    psi = np.ascontiguousarray(np.stack(kernels, axis=-1))
    if not np.isfinite(psi).all():
        raise InvalidValue("models contain NaN or infinity; they must be probabilities")
    check_distributions(psi, np.eye(len(kernels))[:, None])
    return psi.shape[0], psi.shape[1], moves_of(psi)


def logit(
    features: Callable[[int, int, int], Any],
    *,
    states: int,
    actions: int,
    successors: Callable[[int, int], Iterable[int]] | None = None,
    rewards: ArrayLike | None = None,
    known_rewards: ArrayLike | None = None,
) -> Features:
    """Moves have features: P(s'|s,a) ∝ exp(ψ(s'|s,a)ᵀw) over the s' for which `features(s, a, s')` is not None.

    Parameters
    ----------
    features
        Returns the vector ψ(s'|s,a), of the same length everywhere, or None if s' cannot follow (s, a).
    successors
        The states that `features` is asked about, `successors(s, a)`; by default all, which takes S²A calls.
    rewards
        Features of the rewards (S, A, d); by default every pair's reward is learned by itself.
    known_rewards
        (S, A), in place of rewards: what every action pays, if that is known.

    Examples
    --------
    >>> step = lambda s, a, t: [float(t - s), float(a)] if abs(t - s) <= 1 else None
    >>> logit(step, states=3, actions=2)
    Features(multinomial logit, 3 states, 2 actions, 2 features)
    >>> logit(step, states=3000, actions=2, successors=lambda s, a: range(max(s - 1, 0), min(s + 2, 3000)))
    Features(multinomial logit, 3000 states, 2 actions, 2 features)
    """
    S = integer("states", states, least=1, why="it is the number of states S")
    A = integer("actions", actions, least=1, why="it is the number of actions A")
    listed: list[list[tuple[int, NDArray[np.float64]]]] = []
    for s in range(S):
        for a in range(A):
            asked = range(S) if successors is None else successors(s, a)
            rows = [(int(t), features(s, a, int(t))) for t in asked]
            listed.append([(t, np.atleast_1d(np.asarray(row, float))) for t, row in rows if row is not None])
    lengths = {row.shape for pair in listed for _, row in pair}
    if len(lengths) != 1:
        raise InvalidShape(f"features return vectors of shapes {sorted(lengths)}; all must have the same length")
    U = max(map(len, listed))
    places, psi = np.full((S * A, U), -1, np.int64), np.zeros((S * A, U, *lengths.pop()))
    for n, pair in enumerate(listed):
        for u, (t, row) in enumerate(pair):
            places[n, u], psi[n, u] = t, row
    known = {"phi": rewards, "known_rewards": known_rewards}
    return sparse_features(places.reshape(S, A, U), psi.reshape(S, A, U, -1), multinomial=True, **known)
