"""Validation of what users say about an MDP: once, where it enters."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.checks import as_numbers
from ..errors import InvalidShape, InvalidValue, integer, real, require
from .function_path import FunctionPath, blocks
from .protocol import Cube

ROUNDING = 1e-9


def _array(name: str, given: ArrayLike, axes: int) -> NDArray[np.float64]:
    """Finite numbers with `axes` axes, and one more in front where the stages differ."""
    values = np.ascontiguousarray(as_numbers(name, given))
    if values.ndim not in (axes, axes + 1) or 0 in values.shape:
        raise InvalidShape(
            f"{name} has shape {values.shape}; it must have {axes} axes, or {axes + 1} with one for the stages in front, none of them empty"
        )
    if not np.isfinite(values).all():
        raise InvalidValue(f"{name} contains NaN or infinity; every number of it must be finite")
    return values


def check_rewards(phi: ArrayLike, S: int, A: int, name: str = "phi") -> Cube:
    """The features of the rewards, (S, A, d_θ), or (H, S, A, d_θ) where the stages differ; or other numbers of every pair."""
    rewards = _array(name, phi, 3)
    if rewards.shape[-3:-1] != (S, A):
        raise InvalidShape(f"{name} has {rewards.shape[-3:-1]} rows; it must have ({S}, {A}), one per state and action")
    return rewards


def check_features(phi: ArrayLike, psi: ArrayLike) -> tuple[Cube, Cube]:
    """The features phi (S, A, d_θ) and psi (S, A, S, d_w), of matching shapes, each with H in front where the stages differ."""
    if hasattr(psi, "moves"):
        raise InvalidValue(
            f"psi is {psi!r:.80}; a world of such features is made by sparse_mixture(features, w, horizon=…, episodes=…)"
        )
    rewards, moves = _array("phi", phi, 3), _array("psi", psi, 4)
    S, A = rewards.shape[-3:-1]
    if moves.shape[-4:-1] != (S, A, S):
        raise InvalidShape(f"psi has shape {moves.shape}; with phi {rewards.shape} it must be ({S}, {A}, {S}, d)")
    return rewards, moves


def staged(array: NDArray[Any], axes: int) -> int:
    """How many stages an array is given for: 1 if it has `axes` axes, shared by all of them, else the length of the one in front."""
    return len(array) if array.ndim > axes else 1


def check_stages(horizon: int, counts: Mapping[str, int]) -> int:
    """What is given stage by stage must be given for all H of them; H if anything is, else 1."""
    for name, count in counts.items():
        if count not in (1, horizon):
            raise InvalidShape(
                f"{name} is given for {count} stages, horizon = {horizon}; it must be one for each stage, or one for all"
            )
    return max(counts.values(), default=1)


Path = ArrayLike | Callable[[int], ArrayLike]  # an array over episodes, or a function of the episode k = 0..K−1
Parameters = Cube | FunctionPath  # of every episode, (K, 1 or H, d)


def check_path(name: str, given: Path, H: int, d: int, episodes: int | None = None) -> Parameters:
    """Parameters of every episode, (K, 1, d) if the stages share them, else (K, H, d); a function is not written out."""
    if callable(given):
        if episodes is None:
            raise InvalidValue(f"{name} is a function of the episode; say how many episodes there are: episodes=1000")
        K = integer("episodes", episodes, least=1, why="it is the number of episodes K")
        return FunctionPath(name, given, episodes=K, horizon=H, dim=d)
    values = np.ascontiguousarray(as_numbers(name, given))
    if episodes is not None and values.ndim > 0 and len(values) != episodes:
        raise InvalidShape(f"{name} has {len(values)} episodes; episodes = {episodes} says otherwise")
    if values.ndim == 2:
        values = values[:, None]
    if values.ndim != 3 or values.shape[1] not in (1, H) or values.shape[2] != d or len(values) == 0:
        raise InvalidShape(
            f"{name} has shape {np.shape(given)}; it must be (K, {d}), or (K, {H}, {d}) if stages differ"
        )
    if not np.isfinite(values).all():
        raise InvalidValue(f"{name} contains NaN or infinity; every parameter must be finite")
    return values


def check_bound(name: str, given: float | None, path: Parameters) -> float:
    """The announced bound of ‖parameter‖, by default the largest norm on the path."""
    largest = max(float(np.linalg.norm(part, axis=-1).max()) for _, part in blocks(path))
    if given is None:
        return largest or 1.0
    bound = real(name, given)
    require(bound >= largest * (1.0 - ROUNDING), name, given, f"≥ {largest:.6g}", "it bounds every norm on the path")
    return bound


def check_distributions(psi: Cube, w: Cube) -> None:
    """Every row of P must be a distribution, in every episode and stage: psi (S, A, S, d) or (H, S, A, S, d), w (K, 1 or H, d)."""
    if psi.ndim == 5:
        for h, features in enumerate(psi):
            check_distributions(features, w[:, h % w.shape[1]])
        return
    d = psi.shape[-1]
    features = psi.reshape(-1, d)
    for part in np.array_split(w.reshape(-1, d), max(1, w.size * len(features) // (1 << 24))):
        P = (part @ features.T).reshape(-1, psi.shape[2])
        worst = float(np.abs(P.sum(axis=1) - 1.0).max())
        if P.min() < -ROUNDING or worst > ROUNDING:
            raise InvalidValue(
                f"ψᵀw is not a distribution: smallest probability {P.min():.3g}, sums off by {worst:.3g}; "
                "ψ(·|s,a)ᵀw must be ≥ 0 and sum to 1 for every pair and episode"
            )
