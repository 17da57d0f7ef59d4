r"""How much a parameter path moves, and what its movement costs a discounted learner.

For a path θ_1, …, θ_T write Δ_p = ‖θ_{p+1} − θ_p‖₂. Then

    P_T  = Σ_{p<T} Δ_p                                      path length
    Γ_T  = #{p < T : θ_{p+1} ≠ θ_p}                         number of changes
    b_t  = Σ_{p<t} √(Σ_{s≤p} γ^{t−1−s}) · Δ_p               bias of round t, without its constant
    B(γ) = Σ_{t≤T} b_t                                      bias sum, eq:LB-regret-bias-bound

In an MDP the rows are episodes and each row holds one vector per stage, shape (K, H, d); Δ_p then sums over stages.
"""

from math import log, sqrt
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidShape, integer, real, require
from .checks import discount, drift

Floats = NDArray[np.float64]


@runtime_checkable
class HasArray(Protocol):
    """A path object that can be written out as an array."""

    def to_array(self) -> Floats:
        """The path, one row per round."""


Path = ArrayLike | HasArray


def path_array(path: Path) -> Floats:
    """The path as a float array (T, …, d) with finite entries."""
    array = np.asarray(path.to_array() if isinstance(path, HasArray) else path, dtype=np.float64)
    if array.ndim < 2 or array.shape[0] < 1:
        raise InvalidShape(
            f"path has shape {array.shape}; it must be (T, d), or (K, H, d) for an MDP: one row per round"
        )
    require(bool(np.isfinite(array).all()), "path", "an array with NaN or infinity", "finite", "lengths are measured")
    return array


def path_steps(path: Path) -> Floats:
    """Δ_p = ‖θ_{p+1} − θ_p‖₂ for p = 1, …, T−1 (summed over stages for an MDP path).

    Examples
    --------
    >>> path_steps([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]).tolist()
    [5.0, 0.0]
    """
    moves = np.linalg.norm(np.diff(path_array(path), axis=0), axis=-1)
    steps: Floats = moves.sum(axis=tuple(range(1, moves.ndim)))
    return steps


def path_length(path: Path) -> float:
    """P_T = Σ_t ‖θ_t − θ_{t−1}‖₂, the measure of drift in every theorem but the fourth.

    Parameters
    ----------
    path : array (T, d); or (K, H, d) for the stages of an MDP; or an object with `to_array()`.

    Examples
    --------
    One turn of the unit circle in 6000 rounds, the paper's experiment:

    >>> import numpy as np
    >>> angle = 2 * np.pi * np.arange(6000) / 5999
    >>> round(path_length(np.stack([np.cos(angle), np.sin(angle)], axis=1)), 6)
    6.283185
    """
    return float(path_steps(path).sum())


def change_count(path: Path) -> int:
    """Γ_T, the number of rounds t ≥ 2 with θ_t ≠ θ_{t−1}: 0 for a stationary path (Theorem 4).

    Examples
    --------
    >>> change_count([[1.0], [1.0], [2.0], [2.0], [1.0]])
    2
    """
    array = path_array(path)
    moved = array[1:] != array[:-1]
    return int(moved.any(axis=tuple(range(1, moved.ndim))).sum())


def round_bias(path: Path, *, gamma: float, t: int | None = None) -> float:
    """b_t = Σ_{p<t} √(Σ_{s≤p} γ^{t−1−s}) Δ_p, the exact bias sum in Lemmas 1–3 and both MDP lemmas.

    Multiply by the lemma's constant (L²√(d/λ) for Lemma 1). γ = 1 is allowed: an estimator that never forgets.

    Parameters
    ----------
    path : the parameter path, (T, d).
    gamma : in (0, 1].
    t : the round, 1 ≤ t ≤ T; the last one if omitted.

    Examples
    --------
    >>> round_bias([[0.0], [1.0], [3.0]], gamma=0.25)  # Δ = (1, 2): √0.25 · 1 + √1.25 · 2
    2.73606797749979
    """
    steps = path_steps(path)
    gamma = _weight(gamma)
    t = len(steps) + 1 if t is None else integer("t", t, least=1, why="rounds are counted from one")
    require(t <= len(steps) + 1, "t", t, f"≤ {len(steps) + 1}", "the path has no more rounds")
    # Σ_{s≤p} γ^{t−1−s} = γ^{t−1−p} (1 − γ^p)/(1 − γ)
    p = np.arange(1, t)
    if gamma == 1.0:
        return float(np.sqrt(p) @ steps[: t - 1])
    sums = gamma ** (t - 1 - p) * -np.expm1(p * log(gamma)) / (1.0 - gamma)
    return float(np.sqrt(sums) @ steps[: t - 1])


def bias_sum(path: Path, *, gamma: float) -> float:
    """B(γ), the bias of all rounds together, exactly (eq:LB-regret-bias-bound before its inequality).

    B(γ) = Σ_{p<T} Δ_p (1 − γ^{(T−p)/2}) √(1 − γ^p) / ((1 − √γ) √(1 − γ)); this form does not overflow.

    Parameters
    ----------
    path : the parameter path, (T, d), or (K, H, d) for an MDP.
    gamma : in (0, 1]; 1 is an estimator that never forgets.

    Examples
    --------
    >>> import numpy as np
    >>> angle = 2 * np.pi * np.arange(6000) / 5999
    >>> circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    >>> round(2 * bias_sum(circle, gamma=0.97711772), 2)
    7084.42
    """
    steps = path_steps(path)
    gamma = _weight(gamma)
    T = len(steps) + 1
    p = np.arange(1, T)
    if gamma == 1.0:
        return float((T - p) * np.sqrt(p) @ steps)
    # 1/(1 − √γ) = (1 + √γ)/(1 − γ)
    rounds_after = -np.expm1((T - p) / 2.0 * log(gamma)) * (1.0 + sqrt(gamma)) / (1.0 - gamma)
    rounds_before = np.sqrt(-np.expm1(p * log(gamma)) / (1.0 - gamma))
    return float((rounds_after * rounds_before) @ steps)


def bias_sum_bound(*, P_T: float, gamma: float, tight: bool = False) -> float:
    """The upper bound 2 P_T/(1−γ)^{3/2} of B(γ) that Theorems 1–3, 5 and 6 use.

    Parameters
    ----------
    P_T : path length, ≥ 0.
    gamma : in (0, 1).
    tight : use (1 + √γ) in place of 2, which the derivation gives before its last step.

    Examples
    --------
    >>> bias_sum_bound(P_T=1.0, gamma=0.75), round(bias_sum_bound(P_T=1.0, gamma=0.75, tight=True), 4)
    (16.0, 14.9282)
    """
    P_T, gamma = drift("P_T", P_T), discount(gamma)
    return (1.0 + sqrt(gamma) if tight else 2.0) * P_T / (1.0 - gamma) / sqrt(1.0 - gamma)


def _weight(gamma: float) -> float:
    number = real("gamma", gamma)
    require(0.0 < number <= 1.0, "gamma", gamma, "in (0, 1]", "weights of the past must not grow")
    return number
