r"""A linear learner on features of the arms, which makes it a kernel learner.

    z = φ(x) ∈ R^D;   the base sees z in place of x, everywhere

With ⟨φ(x), φ(y)⟩ = k(x, y), ridge regression on φ is kernel ridge regression with k, and a discounted one is weighted kernel ridge
regression (Deng et al. 2022). Two maps:

`LandmarkMap`   φ(x) = K_{PP}^{−1/2} k(P, x) for given points P (Nyström). On the points themselves the inner products are k exactly, so
that with P = all arms the
                base *is* the kernel learner. Directions in which K_PP has an eigenvalue below 10⁻¹² of the largest are left out
`FourierMap`    φ(x) = m^{−1/2} (cos ω_iᵀx, sin ω_iᵀx)_{i≤m}, ω_i drawn from the spectral density of k (Rahimi, Recht 2007): any arms,
E⟨φ(x), φ(y)⟩ = k(x, y), an
                error of order m^{−1/2}

Kernels, with ρ = ‖x−y‖/ℓ:   linear xᵀy;   rbf e^{−ρ²/2};   matern32 (1+√3ρ)e^{−√3ρ};   matern52 (1+√5ρ+5ρ²/3)e^{−√5ρ}.  All but the
linear one have k(x, x) = 1, hence ‖φ(x)‖ ≤ 1.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.frozen_array import Frozen
from ..core.kernel import generic, kernel, part, sqrt
from ..core.linalg import Matrix, Vector
from ..errors import InvalidShape, InvalidValue, integer, positive
from ..protocol import (
    Limits,
    Setting,
    act,
    conditioning,
    describe,
    estimator,
    exact_when_late,
    grow,
    late_refusal,
    learn,
    learn_late,
    limits,
    magnitude,
    make_room,
    noise_size,
    optimism,
    ready,
    scores,
    settle,
    skip,
    start,
)
from .forwarding import passes_on

LINEAR, RBF, MATERN32, MATERN52 = 0.0, 1.0, 2.0, 3.0
KernelName = Literal["linear", "rbf", "matern32", "matern52"]
KERNELS = {"linear": LINEAR, "rbf": RBF, "matern32": MATERN32, "matern52": MATERN52}
NEGLIGIBLE = 1e-12  # eigenvalues of K_PP below this share of the largest are rounding


@part
class LandmarkMap(NamedTuple):
    """Nyström features of points (m, d)."""

    points: Frozen
    family: float
    lengthscale: float = 1.0

    def check(self) -> None:
        """Points are rows."""
        positive("lengthscale", self.lengthscale, "distances are measured in it")
        if self.points.array.ndim != 2 or self.points.array.size == 0:
            raise InvalidShape(f"points has shape {self.points.array.shape}; it must be (m, d): one point per row")


@part
class FourierMap(NamedTuple):
    """2m random features of vectors of d numbers."""

    frequencies: float  # m
    family: float
    lengthscale: float = 1.0
    seed: float = 0.0

    def check(self) -> None:
        """Only kernels of x − y have a spectral density."""
        integer("frequencies", self.frequencies, least=1, why="there are twice as many features")
        positive("lengthscale", self.lengthscale, "distances are measured in it")
        if self.family == LINEAR:
            raise InvalidValue("kernel = 'linear' has no random Fourier features; a linear learner needs none")


class MapTables(NamedTuple):
    """What a map computes with."""

    points: Matrix  # (m, d) landmarks, or frequencies
    mix: Matrix  # (D, m) K_PP^{−1/2}, or (0, 0)
    k: Vector  # (m,)


@generic
def map_tables(features: Any, dim: int) -> MapTables:
    """The arrays of a map for vectors of `dim` numbers. (Python only.)"""


@generic
def lift(features: Any, tables: MapTables, x: Vector, z: Vector) -> None:
    """z = φ(x)."""


def kernel_of(kind: float, lengthscale: float, X: Matrix, Y: Matrix) -> Matrix:
    """k(x, y) for all rows of X and Y; in Python."""
    if kind == LINEAR:
        return np.asarray(X @ Y.T)
    rho = np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)) / lengthscale
    if kind == RBF:
        return np.asarray(np.exp(-0.5 * rho**2))
    a = math.sqrt(3.0) * rho if kind == MATERN32 else math.sqrt(5.0) * rho
    return np.asarray((1.0 + a + (a * a / 3.0 if kind == MATERN52 else 0.0)) * np.exp(-a))


@map_tables.register(LandmarkMap)
def _(features: LandmarkMap, dim: int) -> MapTables:
    points = np.array(features.points.array)
    if points.shape[1] != dim:
        raise InvalidShape(f"points has shape {points.shape}; the arms have {dim} features")
    value, vectors = np.linalg.eigh(kernel_of(features.family, features.lengthscale, points, points))
    # Dividing by the root of a rounding error would blow up a direction that the kernel does not see.
    kept = value > NEGLIGIBLE * value[-1]
    mix = np.ascontiguousarray((vectors[:, kept] / np.sqrt(value[kept])).T)
    return MapTables(points=points, mix=mix, k=np.zeros(len(points)))


@map_tables.register(FourierMap)
def _(features: FourierMap, dim: int) -> MapTables:
    rng = np.random.default_rng(int(features.seed))
    m = int(features.frequencies)
    omega = rng.standard_normal((m, dim)) / features.lengthscale
    if features.family != RBF:  # Matérn ν: Student's t with 2ν degrees of freedom
        degrees = 3.0 if features.family == MATERN32 else 5.0
        # A Student vector is a normal one over √(χ²/degrees); one χ² per frequency, shared by its coordinates.
        omega *= np.sqrt(degrees / rng.chisquare(degrees, m))[:, None]
    return MapTables(points=omega, mix=np.zeros((0, 0)), k=np.zeros(m))


@lift.register(LandmarkMap)
def _(features: LandmarkMap, tables: MapTables, x: Vector, z: Vector) -> None:
    m, d = tables.points.shape
    for i in range(m):
        if features.family == LINEAR:
            total = 0.0
            for j in range(d):
                total += tables.points[i, j] * x[j]
            tables.k[i] = total
        else:
            square = 0.0
            for j in range(d):
                step = (tables.points[i, j] - x[j]) / features.lengthscale
                square += step * step
            tables.k[i] = _of_distance(features.family, square)
    for i in range(z.shape[0]):
        total = 0.0
        for j in range(m):
            total += tables.mix[i, j] * tables.k[j]
        z[i] = total


@kernel
def _of_distance(kind: float, square: float) -> float:
    """k as a function of ρ²."""
    if kind == RBF:
        return float(np.exp(-0.5 * square))
    a = sqrt((3.0 if kind == MATERN32 else 5.0) * square)
    return float((1.0 + a + (a * a / 3.0 if kind == MATERN52 else 0.0)) * np.exp(-a))


@lift.register(FourierMap)
def _(features: FourierMap, tables: MapTables, x: Vector, z: Vector) -> None:
    m, d = tables.points.shape
    # cos² + sin² = 1 for each frequency, so ‖φ(x)‖ = 1 exactly, not only on average.
    scale = 1.0 / sqrt(float(m))
    for i in range(m):
        u = 0.0
        for j in range(d):
            u += tables.points[i, j] * x[j]
        z[i] = scale * np.cos(u)
        z[m + i] = scale * np.sin(u)


def dimension_of(features: Any, dim: int) -> int:
    """D, the number of features."""
    return 2 * int(features.frequencies) if isinstance(features, FourierMap) else len(map_tables(features, dim).mix)


def kernel_features(
    *,
    kernel: KernelName = "rbf",
    lengthscale: float = 1.0,
    points: ArrayLike | None = None,
    frequencies: int | None = None,
    feature_seed: int = 0,
) -> LandmarkMap | FourierMap:
    """The map φ with ⟨φ(x), φ(y)⟩ = k(x, y): exact on `points`, or of random frequencies."""
    if kernel not in KERNELS:
        raise InvalidValue(f"kernel = {kernel!r} is not allowed; it must be one of {', '.join(KERNELS)}")
    if points is not None and frequencies is None:
        return LandmarkMap(points=Frozen("points", points), family=KERNELS[kernel], lengthscale=lengthscale)
    if points is not None or frequencies is None:
        raise InvalidValue(
            "give either points, the arms or landmarks on which the features are exact, or frequencies, how many to draw"
        )
    return FourierMap(frequencies=frequencies, family=KERNELS[kernel], lengthscale=lengthscale, seed=feature_seed)


# ------------------------------------------------------------------------------------------------------------- strategy


@part
class OnFeatures(NamedTuple):
    """`base` on φ(x); see `zoo.on_features`."""

    base: Any
    features: Any


class OnFeaturesState(NamedTuple):
    """The base, and the arms on offer as it sees them."""

    live: Any
    tables: MapTables
    Z: Matrix  # (D, n) workspace
    z: Vector  # (D,)


@settle.register(OnFeatures)
def _(strategy: OnFeatures, dim: int) -> OnFeatures:
    return strategy._replace(base=settle(strategy.base, dimension_of(strategy.features, dim)))


@start.register(OnFeatures)
def _(strategy: OnFeatures, setting: Setting, rng: np.random.Generator) -> OnFeaturesState:
    tables = map_tables(strategy.features, setting.dim)
    D, n = dimension_of(strategy.features, setting.dim), setting.arms.shape[1]
    Z, z = np.zeros((D, n)), np.zeros(D)
    for a in range(n):
        lift(strategy.features, tables, np.ascontiguousarray(setting.arms[:, a]), z)
        Z[:, a] = z
    inner = setting._replace(dim=D, arms=Z.copy())
    return OnFeaturesState(live=start(strategy.base, inner, rng), tables=tables, Z=Z, z=z)


@kernel
def _lift_all(strategy: OnFeatures, state: OnFeaturesState, arms: Matrix) -> None:
    """φ of every arm on offer, into the first columns of the workspace."""
    for a in range(arms.shape[1]):
        lift(strategy.features, state.tables, arms[:, a], state.z)
        for i in range(state.z.shape[0]):
            state.Z[i, a] = state.z[i]


@act.register(OnFeatures)
def _(strategy: OnFeatures, state: OnFeaturesState, arms: Matrix, score: Vector, rng: np.random.Generator) -> int:
    _lift_all(strategy, state, arms)
    return act(strategy.base, state.live, state.Z[:, : arms.shape[1]], score, rng)


@scores.register(OnFeatures)
def _(strategy: OnFeatures, state: OnFeaturesState, arms: Matrix, score: Vector) -> None:
    _lift_all(strategy, state, arms)
    scores(strategy.base, state.live, state.Z[:, : arms.shape[1]], score)


@learn.register(OnFeatures)
def _(strategy: OnFeatures, state: OnFeaturesState, x: Vector, r: float, slot: int) -> None:
    lift(strategy.features, state.tables, x, state.z)
    learn(strategy.base, state.live, state.z, r, slot)


@learn_late.register(OnFeatures)
def _(strategy: OnFeatures, state: OnFeaturesState, x: Vector, r: float, slot: int, weight: float, age: int) -> None:
    lift(strategy.features, state.tables, x, state.z)
    learn_late(strategy.base, state.live, state.z, r, slot, weight, age)


@make_room.register(OnFeatures)
def _(strategy: OnFeatures, state: OnFeaturesState, n: int) -> OnFeaturesState:
    live = make_room(strategy.base, state.live, n)
    if n <= state.Z.shape[1]:
        return state if live is state.live else state._replace(live=live)
    return state._replace(live=live, Z=np.zeros((len(state.z), n)))


@limits.register(OnFeatures)
def _(strategy: OnFeatures) -> Limits:
    known = limits(strategy.base)
    # Bounded kernels have ‖φ(x)‖ ≤ 1 whatever the norm of x, so arms of any length are allowed.
    return known if strategy.features.family == LINEAR else known._replace(L=math.inf)  # ‖φ(x)‖ ≤ 1 wherever x is


@grow.register(OnFeaturesState)
def _(state: OnFeaturesState) -> OnFeaturesState:
    live = grow(state.live) if grow.knows(type(state.live)) else state.live
    return state if live is state.live else state._replace(live=live)


@describe.register(OnFeatures)
def _(strategy: OnFeatures, state: OnFeaturesState) -> dict[str, Any]:
    """What the base tells, and `features`, how many it sees."""
    return describe(strategy.base, state.live) | {"features": len(state.z)}


passes_on(
    OnFeatures, ready, optimism, skip, exact_when_late, late_refusal, magnitude, conditioning, noise_size, estimator
)
