r"""Coordinates that do not care how features are measured: z = (1, clip((x−μ)/s, ±4)), μ and s frozen between checkpoints.

At a checkpoint z′ = Tz with T = [[1, 0], [c, D]], c = (μ−μ′)/s′, D = s/s′, and every state is re-expressed exactly:

    exponential   V ← TVTᵀ,  b ← Tb                      random walk   θ ← T⁻ᵀθ,  P ← T⁻ᵀPT⁻¹
    offset        m̄ ← T⁻ᵀm̄, and if it then changes by Δ:   b ← b − VΔ,  Σwy² ← Σwy² − 2Δᵀb + ΔᵀVΔ,   walks: θ ← θ − Δ

Since T is a column and a diagonal, all of it is elementwise.
"""

from ...core.kernel import kernel, solver, sqrt
from ...core.linalg import Matrix, Vector, dot
from .parts import COUNT, SelfTuningState

CLIP = 4.0
TINY = 1e-18  # a variance below this part of the squared mean is rounding


@kernel
def see(state: SelfTuningState, arms: Matrix) -> None:
    """Fold the features on offer (d, n) into their statistics (Chan's pairwise update)."""
    scale, n = state.scale, arms.shape[1]
    before = state.now[COUNT]
    after = before + n
    for i in range(arms.shape[0]):
        row, total, square = arms[i], 0.0, 0.0
        for a in range(n):
            total += row[a]
        mean = total / n
        for a in range(n):
            square += (row[a] - mean) * (row[a] - mean)
        step = mean - scale.mean[i]
        scale.mean[i] += step * n / after
        scale.square[i] += square + step * step * before * n / after
    state.now[COUNT] = after


@kernel
def express(state: SelfTuningState, arms: Matrix, Z: Matrix, key: Vector) -> None:
    """Z (p, n), the arms in coordinates, and a key (n,) that orders them whatever order they or their features come in."""
    scale = state.scale
    first = Z[0]
    for a in range(first.shape[0]):
        first[a] = 1.0
        key[a] = 0.0
    for i in range(arms.shape[0]):
        row, z, mu, inverse = arms[i], Z[i + 1], scale.mu[i], 1.0 / scale.sd[i]
        for a in range(first.shape[0]):
            v = (row[a] - mu) * inverse
            z[a] = min(max(v, -CLIP), CLIP)
            key[a] += row[a]


@kernel
def express_one(state: SelfTuningState, x: Vector, z: Vector) -> None:
    """One arm in coordinates, (p,)."""
    scale = state.scale
    z[0] = 1.0
    for i in range(x.shape[0]):
        z[i + 1] = min(max((x[i] - scale.mu[i]) / scale.sd[i], -CLIP), CLIP)


@kernel
def candidate(state: SelfTuningState, through_origin: bool, shift: Vector, stretch: Vector) -> None:
    """c and D of the change to the present statistics: centred, or with μ′ = 0."""
    scale, count = state.scale, state.now[COUNT]
    shift[0], stretch[0] = 0.0, 1.0
    for i in range(scale.mu.shape[0]):
        mu, sd = new_units(scale.mean[i], scale.square[i] / count, count, through_origin)
        shift[i + 1] = (scale.mu[i] - mu) / sd
        stretch[i + 1] = scale.sd[i] / sd


@kernel
def new_units(mean: float, variance: float, count: float, through_origin: bool) -> tuple[float, float]:
    """μ′ and s′ of a feature; one that does not vary is measured in units of itself."""
    varies = variance > TINY * (mean * mean) and variance > 0.0
    if through_origin:
        sd = sqrt(variance + mean * mean)
        return 0.0, sd if sd > 0.0 else 1.0
    if count < 2.0:
        return 0.0, abs(mean) if mean != 0.0 else 1.0
    if varies:
        return mean, sqrt(variance)
    return mean, abs(mean) if mean != 0.0 else 1.0


@kernel
def has_an_origin(state: SelfTuningState) -> bool:
    """Could zero mean "nothing"? Not for features far from it compared with how much they vary."""
    scale, count = state.scale, state.now[COUNT]
    for i in range(scale.mean.shape[0]):
        mean, variance = scale.mean[i], scale.square[i] / count
        if variance > TINY * mean * mean and mean * mean > 9.0 * variance:
            return False
    return True


@kernel
def adopt(state: SelfTuningState, through_origin: bool) -> None:
    """Measure features in the new units from now on."""
    scale, count = state.scale, state.now[COUNT]
    for i in range(scale.mu.shape[0]):
        scale.mu[i], scale.sd[i] = new_units(scale.mean[i], scale.square[i] / count, count, through_origin)


# ------------------------------------------------------------------------------------------------------- exact re-expression


@solver
def transform_moments(V: Matrix, b: Vector, c: Vector, D: Vector, V2: Matrix, b2: Vector) -> None:
    """V2 = TVTᵀ, b2 = Tb; V2 may be V and b2 may be b."""
    p = b.shape[0]
    for i in range(
        p - 1, 0, -1
    ):  # from the last row up, and each from its end: what is still needed is not yet overwritten
        for j in range(i, 0, -1):
            V2[i, j] = c[i] * (c[j] * V[0, 0] + D[j] * V[j, 0]) + D[i] * (c[j] * V[i, 0] + D[j] * V[i, j])
    for i in range(p - 1, 0, -1):
        V2[i, 0] = c[i] * V[0, 0] + D[i] * V[i, 0]
        b2[i] = c[i] * b[0] + D[i] * b[i]
    V2[0, 0] = V[0, 0]
    b2[0] = b[0]
    for i in range(p):
        for j in range(i):
            V2[j, i] = V2[i, j]


@solver
def transform_estimate(theta: Vector, P: Matrix, c: Vector, D: Vector) -> None:
    """θ ← T⁻ᵀθ, P ← T⁻ᵀPT⁻¹ in place."""
    p = theta.shape[0]
    transform_offset(theta, c, D)
    for j in range(p):  # rows: row 0 −= Σ (c_i/D_i) row i, row i /= D_i
        s = P[0, j]
        for i in range(1, p):
            s -= c[i] / D[i] * P[i, j]
        P[0, j] = s
    for i in range(1, p):
        for j in range(p):
            P[i, j] /= D[i]
    for i in range(p):  # and columns
        s = P[i, 0]
        for j in range(1, p):
            s -= c[j] / D[j] * P[i, j]
        P[i, 0] = s
        for j in range(1, p):
            P[i, j] /= D[j]
    for i in range(p):
        for j in range(i):
            P[i, j] = P[j, i] = 0.5 * (P[i, j] + P[j, i])


@kernel
def transform_offset(theta: Vector, c: Vector, D: Vector) -> None:
    """θ ← T⁻ᵀθ."""
    for i in range(1, theta.shape[0]):
        theta[i] /= D[i]
        theta[0] -= c[i] * theta[i]


@solver
def move_offset(V: Matrix, b: Vector, delta: Vector, Vd: Vector) -> float:
    """B ← b − VΔ; returns the change of Σwy². Vd (p,) is scratch."""
    change = 0.0
    for i in range(b.shape[0]):
        Vd[i] = dot(V[i], delta)
        change += delta[i] * (Vd[i] - 2.0 * b[i])
    for i in range(b.shape[0]):
        b[i] -= Vd[i]
    return change
