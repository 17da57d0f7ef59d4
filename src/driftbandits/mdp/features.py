r"""The prior knowledge of an MDP: states, actions, and features, if any.

==============  =============================================================================================================
`tabular`       nothing: every pair (s, a) is learned by itself
`mixture_of`    the dynamics are a convex mixture of models at hand (simulators, last year's data): a linear mixture
`logit`         a function (s, a, s') -> features of a move: a multinomial-logit mixture
`features_of`   arrays of your own; `sparse_features` where a pair leads to few of many states
==============  =============================================================================================================

>>> import driftbandits as db
>>> agent = db.EpisodicAgent(db.zoo.weight_ucrl(), db.mdp.tabular(16, 4), horizon=20)

What differs from stage to stage (a day whose morning is not like its evening) has one axis more, for the H stages, in front: arrays of
features, models, rewards; `logit(…, stages=H)` asks a function of (h, s, a, s').
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.checks import as_numbers
from ..errors import InvalidShape, InvalidValue, integer
from .checks import ROUNDING, check_features, check_rewards, check_stages, staged
from .protocol import Cube, Task
from .softmax_table import check_reachable
from .successors import Moves, in_use, moves_from, moves_of, moves_of_models

ROOM = 1 << 22  # pairs × successors that a table has room for by default


@dataclass(frozen=True, eq=False)
class Features:
    """What a learner may know: made by `tabular`, `mixture_of`, `logit`, or from arrays by `features_of` and `sparse_features`.

    phi (S, A, d_θ) and moves are None where every pair is learned by itself; rewards (S, A) where they are known. phi and rewards have H
    in front, and moves H times as many rows, where they differ from stage to stage.
    """

    states: int
    actions: int
    phi: Cube | None = None
    moves: Moves | None = None
    multinomial: bool = False
    successors: int = 1
    rewards: Cube | None = None

    def __repr__(self) -> str:
        kind = "tabular" if self.moves is None else "multinomial logit" if self.multinomial else "linear mixture"
        width = "" if self.moves is None else f", {self.moves.psi.shape[-1]} features"
        stages = max(self._given_for().values(), default=1)
        apart = "" if stages == 1 else f", {stages} stages"
        return f"Features({kind}, {self.states} states, {self.actions} actions{width}{apart})"

    @property
    def psi(self) -> Cube | None:
        """Features of the moves, (S, A, S, d_w) or (H, S, A, S, d_w), 0 where a state cannot follow; made when asked for."""
        if self.moves is None:
            return None
        dense = np.zeros((len(self.moves.used), self.states, self.moves.psi.shape[-1]))
        pairs, places = np.nonzero(in_use(self.moves))
        dense[pairs, self.moves.successor[pairs, places]] = self.moves.psi[pairs, places]
        return dense.reshape(*self._axes(), self.states, -1)

    @property
    def reachable(self) -> NDArray[np.bool_] | None:
        """Which states can follow a pair in a multinomial-logit problem, (S, A, S) or (H, S, A, S), made when asked for."""
        if self.moves is None or not self.multinomial:
            return None
        dense = np.zeros((len(self.moves.used), self.states), bool)
        pairs, places = np.nonzero(in_use(self.moves))
        dense[pairs, self.moves.successor[pairs, places]] = True
        return dense.reshape(*self._axes(), self.states)

    def can_follow(self, s: int, a: int, successor: int, h: int = 0) -> bool:
        """May this state follow this pair in stage h? In a table any may; else those with features, for others have probability 0."""
        if self.moves is None:
            return True
        row = (h * self.states * self.actions + s * self.actions + a) % len(self.moves.used)
        return bool((self.moves.successor[row, : self.moves.used[row]] == successor).any())

    def task(self, horizon: int, episodes: int) -> Task:
        """The problem of H stages and K episodes, 0 if K is not known."""
        check_stages(horizon, self._given_for())
        sizes = self.states, self.actions
        return Task(*sizes, self.phi, self.moves, self.multinomial, self.successors, horizon, episodes, self.rewards)

    def _given_for(self) -> dict[str, int]:
        """For how many stages each is given, 1 if for all alike."""
        counts = {} if self.phi is None else {"phi": staged(self.phi, 3)}
        if self.moves is not None:
            counts["psi"] = len(self.moves.used) // (self.states * self.actions)
        if self.rewards is not None:
            counts["known_rewards"] = staged(self.rewards, 2)
        return counts

    def _axes(self) -> tuple[int, ...]:
        """(S, A) or (H, S, A), of the moves."""
        stages = self._given_for()["psi"]
        return (self.states, self.actions) if stages == 1 else (stages, self.states, self.actions)


def check_known(features: Any) -> Features:
    """What a learner knows must be `Features`."""
    if not isinstance(features, Features):
        raise InvalidValue(
            f"features = {features!r:.60} is not allowed; make them with db.mdp: tabular(states, actions), mixture_of(models) or logit(f)"
        )
    return features


def features_of(phi: ArrayLike, psi: ArrayLike, reachable: ArrayLike | None = None) -> Features:
    """Features of one's own: phi (S, A, d_θ), psi (S, A, S, d_w), and reachable (S, A, S) in a multinomial-logit problem.

    Each may have an axis for the H stages in front, where the stages differ.
    """
    rewards, moves = check_features(phi, psi)
    mask = None if reachable is None else check_reachable(reachable, moves)
    S, A = rewards.shape[-3:-1]
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
        (S, A, U): the states that may follow a pair, −1 where there are fewer than U. (H, S, A, U) where the stages differ.
    psi
        (S, A, U, d): features of the move to each of them. (H, S, A, U, d) where the stages differ.
    multinomial
        P ∝ exp(ψᵀw) over the successors, for `mnl_weight_ucrl`; else P = ψᵀw, for `weight_ucrl`.
    phi
        Features of the rewards (S, A, d_θ) or (H, S, A, d_θ); by default every pair's reward is learned by itself.
    known_rewards
        (S, A) or (H, S, A), in place of phi: what every action pays, if that is known.

    Examples
    --------
    >>> ring = np.stack([(np.arange(5000) + step) % 5000 for step in (-1, 1)], axis=-1)[:, None]
    >>> sparse_features(ring, np.random.default_rng(0).normal(size=(5000, 1, 2, 3)), multinomial=True)
    Features(multinomial logit, 5000 states, 1 actions, 3 features)
    """
    S, A, moves = moves_from(successors, psi)
    rewards = None if phi is None else check_rewards(phi, S, A)
    return Features(S, A, rewards, moves, bool(multinomial), S, _known(known_rewards, rewards, S, A))


def _known(given: ArrayLike | None, phi: Cube | None, S: int, A: int) -> Cube | None:
    """Rewards that are known, (S, A) or (H, S, A); then there is nothing to learn with features."""
    if given is None:
        return None
    if phi is not None:
        raise InvalidValue("give features of the rewards, or known_rewards, not both: what is known is not learned")
    return check_rewards(as_numbers("known_rewards", given)[..., None], S, A, name="known_rewards")[..., 0]


def tabular(
    states: int, actions: int, *, successors: int | None = None, known_rewards: ArrayLike | None = None
) -> Features:
    """Nothing is known but how many states and actions there are.

    Parameters
    ----------
    successors
        Room for so many different successors per pair; by default all states, or fewer where that would be more than 4 million counts.
    known_rewards
        (S, A) or (H, S, A): what every action pays, if that is known; then only the transitions are learned.

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
    models: Iterable[Any], *, rewards: Iterable[ArrayLike] | None = None, known_rewards: ArrayLike | None = None
) -> Features:
    """The dynamics are an unknown, drifting convex mixture of these models: P = Σ_i w_i P_i, w ≥ 0, Σw_i = 1.

    Parameters
    ----------
    models
        Transition probabilities (S, A, S) each; or, where most are 0, SciPy's sparse arrays of shape (S·A, S), row s·A + a. Where the
        stages differ, (H, S, A, S) each, or a list of H sparse arrays each.
    rewards
        (S, A) or (H, S, A) each: the rewards are an unknown combination Σ_i θ_i r_i of these. By default every pair's reward is learned by
        itself.
    known_rewards
        (S, A) or (H, S, A), in place of rewards: what every action pays, if that is known.

    Examples
    --------
    >>> calm, storm = np.full((2, 1, 2), 0.5), np.eye(2)[:, None]
    >>> mixture_of([calm, storm])
    Features(linear mixture, 2 states, 1 actions, 2 features)
    """
    models = _several("models", models)
    sparse = [hasattr(_first_of(model), "tocsr") for model in models]
    if any(sparse) and not all(sparse):
        raise InvalidValue("some models are sparse and some are not; give all in one form")
    S, A, moves = moves_of_models([_by_stage(model) for model in models]) if all(sparse) else _dense_models(models)
    phi = None
    if rewards is not None:
        tables = [as_numbers(f"rewards[{i}]", table) for i, table in enumerate(_several("rewards", rewards))]
        shapes = {table.shape for table in tables}
        if len(shapes) != 1:
            raise InvalidShape(f"rewards have shapes {sorted(shapes)}; all must be ({S}, {A}), or (H, {S}, {A})")
        phi = check_rewards(np.stack(tables, axis=-1), S, A, "rewards")
    return Features(S, A, phi, moves, False, S, _known(known_rewards, phi, S, A))


def _several(name: str, given: Iterable[Any]) -> list[Any]:
    """One or more of what a mixture is made from."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InvalidValue(
            f"{name} = {given!r:.60} is not allowed; it must be a list: one for each model of the mixture"
        )
    found = list(given)
    if not found:
        raise InvalidValue(f"{name} is empty; a mixture needs at least one model")
    return found


def _dense_models(models: Sequence[ArrayLike]) -> tuple[int, int, Moves]:
    kernels = [as_numbers(f"models[{i}]", model) for i, model in enumerate(models)]
    shapes = {kernel.shape for kernel in kernels}
    first = next(iter(shapes))
    if len(shapes) != 1 or len(first) not in (3, 4) or first[-3] != first[-1] or 0 in first:
        raise InvalidShape(
            f"models have shapes {sorted(shapes)}; each must be (S, A, S), or (H, S, A, S) where the stages differ, the same for all"
        )
    for i, kernel in enumerate(kernels):
        _check_model(i, kernel)
    psi = np.ascontiguousarray(np.stack(kernels, axis=-1))
    return psi.shape[-4], psi.shape[-3], moves_of(psi)


def _check_model(i: int, kernel: NDArray[np.float64]) -> None:
    """Every row of a model must be a distribution over the next state."""
    if not np.isfinite(kernel).all():
        raise InvalidValue(f"models[{i}] contains NaN or infinity; it must hold probabilities")
    sums, least = kernel.sum(axis=-1), kernel.min(axis=-1)
    wrong = (np.abs(sums - 1.0) > ROUNDING) | (least < -ROUNDING)
    if wrong.any():
        *_, s, a = place = tuple(int(n) for n in np.argwhere(wrong)[0])
        hint = ", also of a pair that was never seen: 1/S each, for one" if sums[place] == 0.0 else ""
        raise InvalidValue(
            f"models[{i}] is not a distribution in state {s} with action {a}: its probabilities sum to {sums[place]:.6g}, the least is "
            f"{least[place]:.3g}; they must be ≥ 0 and sum to 1{hint}"
        )


def _first_of(model: Any) -> Any:
    """The model, or what stands for its first stage."""
    return model[0] if isinstance(model, list | tuple) and model else model


def _by_stage(model: Any) -> list[Any]:
    """The sparse arrays of a model, one for all stages or one for each."""
    return list(model) if isinstance(model, list | tuple) else [model]


def logit(
    features: Callable[..., Any],
    *,
    states: int,
    actions: int,
    stages: int | None = None,
    successors: Callable[..., Iterable[int]] | None = None,
    rewards: ArrayLike | None = None,
    known_rewards: ArrayLike | None = None,
) -> Features:
    """Moves have features: P(s'|s,a) ∝ exp(ψ(s'|s,a)ᵀw) over the s' for which `features(s, a, s')` is not None.

    Parameters
    ----------
    features
        Returns the vector ψ(s'|s,a), of the same length everywhere, or None if s' cannot follow (s, a).
    stages
        H, where the moves differ from stage to stage: `features(h, s, a, s')` and `successors(h, s, a)` are then asked for h = 0..H−1.
    successors
        The states that `features` is asked about, `successors(s, a)`; by default all, which takes S²A calls.
    rewards
        Features of the rewards (S, A, d) or (H, S, A, d); by default every pair's reward is learned by itself.
    known_rewards
        (S, A) or (H, S, A), in place of rewards: what every action pays, if that is known.

    Examples
    --------
    >>> step = lambda s, a, t: [float(t - s), float(a)] if abs(t - s) <= 1 else None
    >>> logit(step, states=3, actions=2)
    Features(multinomial logit, 3 states, 2 actions, 2 features)
    >>> logit(step, states=3000, actions=2, successors=lambda s, a: range(max(s - 1, 0), min(s + 2, 3000)))
    Features(multinomial logit, 3000 states, 2 actions, 2 features)
    >>> tide = lambda h, s, a, t: [float(t - s), float(h < 3)] if abs(t - s) <= 1 else None
    >>> logit(tide, states=3, actions=2, stages=6)
    Features(multinomial logit, 3 states, 2 actions, 2 features, 6 stages)
    """
    S = integer("states", states, least=1, why="it is the number of states S")
    A = integer("actions", actions, least=1, why="it is the number of actions A")
    H = 1 if stages is None else integer("stages", stages, least=1, why="it is the number of stages H")
    pairs = np.ndindex(S, A) if stages is None else np.ndindex(H, S, A)
    places, psi = _asked(features, (lambda *_: range(S)) if successors is None else successors, list(pairs))
    known = {"phi": rewards, "known_rewards": known_rewards}
    shape = (S, A, -1) if stages is None else (H, S, A, -1)
    return sparse_features(places.reshape(shape), psi.reshape(*shape, psi.shape[-1]), multinomial=True, **known)


def _asked(
    features: Callable[..., Any], successors: Callable[..., Iterable[int]], pairs: Sequence[tuple[int, ...]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """What a user's function says of the moves of every pair: successors (pairs, U), −1 where there is none, and features (pairs, U, d)."""
    for name, function in (("features", features), ("successors", successors)):
        if not callable(function):
            raise InvalidValue(
                f"{name} = {function!r:.60} is not allowed; it must be a function of (s, a, s') or (s, a)"
            )
    listed: list[list[tuple[int, NDArray[np.float64]]]] = []
    for pair in pairs:
        asked = [integer("a successor", t, least=0, why="it is a state") for t in successors(*pair)]
        rows = [(t, features(*pair, t)) for t in asked]
        listed.append([(t, np.atleast_1d(as_numbers("features(s, a, s')", row))) for t, row in rows if row is not None])
    shapes = {row.shape for moves in listed for _, row in moves}
    if not shapes:
        raise InvalidValue("features returns None for every move; at least one state must be able to follow every pair")
    if len(shapes) != 1 or len(shape := next(iter(shapes))) != 1 or shape[0] == 0:
        raise InvalidShape(
            f"features returns arrays of shapes {sorted(shapes)}; all must be vectors of the same length ≥ 1"
        )
    U = max(map(len, listed))
    places, psi = np.full((len(listed), U), -1, np.int64), np.zeros((len(listed), U, *shape))
    for n, moves in enumerate(listed):
        for u, (t, row) in enumerate(moves):
            places[n, u], psi[n, u] = t, row
    return places, psi
