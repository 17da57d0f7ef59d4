r"""What an item's own effect explains of the shared sums: E_i = SᵀRS, e_i = SᵀRt, τ_i = tᵀRt with R = (M + K)⁻¹.

Written as it stands this costs k²p + kp² for every memory at every observation, more than all the rest of learning. Where items are told
apart by own effects of the same columns that they share (ψ = φ, so that S = M), and no number is ever missing, it costs k²:

    SᵀRS = M − K + KRK ,   SᵀRt = t − KRt ,      since MR = I − KR ,
    K = uuᵀ/K₀₀ + D ,      u = K's first row,    D diagonal: the prior in raw coordinates (`columns`),
    KRK = DRD + (ugᵀ + guᵀ)/K₀₀ + (uᵀRu/K₀₀²)·uuᵀ ,   g = DRu .
"""

from ..core.kernel import kernel, solver
from ..core.linalg import Matrix, Vector, dot
from ..core.simd4 import load, store
from .sums import SEPARATE, State

ROUNDING = 1e-13  # an entry outside D's diagonal is zero up to this share of K's diagonal
FEW = 3  # own columns up to which the plain form is as fast
# Rows of `Work.split`: D of each voice, room for g and h, and for each voice whether its K is split.
G, H, SPLIT = 2, 3, 4


@kernel
def add_scaled(row: Vector, fade: float, c: float, z: Vector) -> None:
    """row ← fade·row + c·z, four entries at a time: rows are short, and LLVM's own loop would take sixteen."""
    n = z.shape[0]
    whole = n - n % 4
    for j in range(0, whole, 4):
        store(row, j, fade * load(row, j) - (-c) * load(z, j))
    for j in range(whole, n):
        row[j] = fade * row[j] + c * z[j]


@solver
def add_explained(S: Matrix, t: Vector, R: Matrix, f: float, A: Matrix, c: Vector, B: Matrix) -> float:
    """A += f·SᵀRS and c += f·SᵀRt; returns f·tᵀRt. B (k, p) is room to compute in.

    It is called for every memory, so it takes the arrays it reads and no `State`, whose 28 arrays would be copied with each call.
    """
    (k, p), total = S.shape, 0.0
    whole = p - p % 4
    for a in range(k):
        row, share = B[a], R[a]
        for j in range(0, whole, 4):
            x = (f * share[0]) * load(S[0], j)
            for b in range(1, k):
                x = x - (-f * share[b]) * load(S[b], j)
            store(row, j, x)
        for j in range(whole, p):
            y = 0.0
            for b in range(k):
                y += f * share[b] * S[b, j]
            row[j] = y
        total += f * t[a] * dot(share, t)
    for a in range(k):
        add_scaled(c, 1.0, t[a], B[a])
    for j in range(p):
        out = A[j]
        for l in range(0, whole, 4):  # noqa: E741
            x = load(out, l)
            for a in range(k):
                x = x - (-S[a, j]) * load(B[a], l)
            store(out, l, x)
        for l in range(whole, p):  # noqa: E741
            for a in range(k):
                out[l] += S[a, j] * B[a, l]
    return total


@kernel
def split_priors(state: State, split: Matrix) -> None:
    """D of both voices into rows of `split` (5, k), and whether K is an outer product and a diagonal.

    It is, if no number is ever missing; a number that may be has another entry, beside its indicator.
    """
    k = state.Kap.shape[1]
    same = k > FEW and state.numbers[SEPARATE] == 1.0 and state.e.shape[1] == k  # items have no features: ψ = φ
    for voice in range(2 if k > 0 else 0):
        K, D, is_split = state.Kap[voice], split[voice], same
        for r in range(k if same else 0):
            for q in range(r):
                left = abs(K[r, q] - K[r, 0] * K[q, 0] / K[0, 0])
                is_split = is_split and left * left <= ROUNDING * ROUNDING * K[r, r] * K[q, q]
            D[r] = K[r, r] - K[r, 0] * K[r, 0] / K[0, 0]
        split[SPLIT, voice % k] = 1.0 if is_split else 0.0


@solver
def add_explained_alike(
    M: Matrix, t: Vector, R: Matrix, u: Vector, D: Vector, f: float, A: Matrix, c: Vector, g: Vector, h: Vector
) -> float:
    """`add_explained` where S = M and K = uuᵀ/K₀₀ + diag(D); g and h (k,) are room to compute in.

    The entry (a, b) of SᵀRS is M_ab − δ_ab·D_a + D_aR_abD_b + u_ah_b/K₀₀ + g_au_b/K₀₀ with h = g + (uᵀRu/K₀₀ − 1)u.
    """
    k, scale, total, along = u.shape[0], 1.0 / u[0], 0.0, 0.0
    for a in range(k):
        g[a] = dot(R[a], t)
        total += f * t[a] * g[a]
        along += u[a] * g[a]
    for a in range(k):
        c[a] += f * (t[a] - scale * along * u[a] - D[a] * g[a])
    square = 0.0
    for a in range(k):
        h[a] = dot(R[a], u)
        square += u[a] * h[a]
    for a in range(k):
        g[a] = D[a] * h[a]
        h[a] = g[a] + (scale * square - 1.0) * u[a]
    whole = k - k % 4
    for a in range(k):
        row, sums, inverse = A[a], M[a], R[a]
        x, y, z = f * D[a], f * scale * u[a], f * scale * g[a]
        for j in range(0, whole, 4):
            own = (-f) * load(sums, j) - x * (load(inverse, j) * load(D, j))
            store(row, j, load(row, j) - own - (-y) * load(h, j) - (-z) * load(u, j))
        for j in range(whole, k):
            row[j] += f * sums[j] + x * inverse[j] * D[j] + y * h[j] + z * u[j]
        row[a] -= f * D[a]
    return total
