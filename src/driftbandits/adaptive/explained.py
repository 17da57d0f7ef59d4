r"""What an item's own effect explains of the shared sums: E_i = SᵀRS, e_i = SᵀRt, τ_i = tᵀRt with R = (M + K)⁻¹.

Written as it stands this costs k²p + kp² for every memory at every observation, more than all the rest of learning. Where items are told
apart by own effects of the same columns that they share (ψ = φ, so that S = M), and no number is ever missing, it costs k²:

    SᵀRS = M − K + KRK ,   SᵀRt = t − KRt ,      since MR = I − KR ,
    K = uuᵀ/K₀₀ + D ,      u = K's first row,    D diagonal: the prior in raw coordinates (`columns`),
    KRK = DRD + (ugᵀ + guᵀ)/K₀₀ + (uᵀRu/K₀₀²)·uuᵀ ,   g = DRu .

Every array has a last axis of four lanes, one for each memory of a group.
"""

from ..core.kernel import kernel, solver
from ..core.lane_rows import add_product, combine_rows, compiled_as, dot_rows
from ..core.lanes import LANES
from ..core.linalg import Matrix
from ..core.simd4 import Four, entry_of, get, put, set_entry, spread
from .sums import SEPARATE, State, Work, voice

ROUNDING = 1e-13  # an entry outside D's diagonal is zero up to this share of K's diagonal
FEW_COLUMNS = 3  # own columns up to which the plain form is as fast
U, D = range(2)  # rows of a group in `Work.split`
UNKNOWN, PLAIN, SPLIT = 0.0, 1.0, 2.0  # values of `Work.kind`


@solver
def add_explained(S: Matrix, t: Matrix, R: Matrix, f: Four, A: Matrix, c: Matrix, B: Matrix) -> Four:
    """A += f·SᵀRS, its upper triangle, and c += f·SᵀRt; returns f·tᵀRt. B (k, p, LANES) is room to compute in.

    It is called for every group, so it takes the arrays it reads and no `State`, whose 27 arrays would be copied with each call.
    """
    k, p, total = S.shape[0], S.shape[1], spread(0.0)
    for a in range(k):
        # B = RS first, then SᵀB: k²p + kp² operations instead of the p²k² of the products written out.
        combine_rows(B[a], R[a], S)
        total = total + get(t, a) * dot_rows(R[a], t, 0)
    for j in range(p):
        add_product(A[j], j, f, S, B)
        x = get(c, j)
        for a in range(k):
            x = x + f * (entry_of(B, a, j) * get(t, a))
        put(c, j, x)
    return f * total


@solver
def split_priors(state: State, work: Work) -> None:
    """Whether K is an outer product and a diagonal, and u and D of every group, if so; anew after `Work.kind` was set to UNKNOWN.

    It is, if no number is ever missing; a number that may be has another entry, beside its indicator.
    """
    k, G = state.Kap.shape[1], work.split.shape[0] - 2
    if k == 0 or work.kind[0] != UNKNOWN:
        return
    # The verdict is kept until the prior moves, because checking K costs as much as one observation.
    work.kind[0] = PLAIN
    if k <= FEW_COLUMNS or state.numbers[SEPARATE] != 1.0 or state.e.shape[1] != k:  # items have features: ψ is not φ
        return
    for v in range(2):
        if not _is_split(state.Kap[v]):
            return
    work.kind[0] = SPLIT
    for g in range(G):
        for lane in range(LANES):
            K = state.Kap[voice(state, g * LANES + lane)]
            for r in range(k):
                work.split[g, U, r, lane] = K[0, r]
                work.split[g, D, r, lane] = K[r, r] - K[r, 0] * K[r, 0] / K[0, 0]


@kernel
def _is_split(K: Matrix) -> bool:
    for r in range(K.shape[0]):
        for q in range(r):
            left = abs(K[r, q] - K[r, 0] * K[q, 0] / K[0, 0])
            # Compared squared: no square roots, and the scale of a column relative to another does not matter.
            if left * left > ROUNDING * ROUNDING * K[r, r] * K[q, q]:
                return False
    return True


@solver
def weighted_prior(K: Matrix, weight: Four, out: Matrix) -> None:
    """u and D of a prior that is so many times as strong; K and out (2, k, LANES)."""
    for a in range(K.shape[1]):
        set_entry(out, U, a, weight * entry_of(K, U, a))
        set_entry(out, D, a, weight * entry_of(K, D, a))


@solver
def add_explained_alike(
    M: Matrix, t: Matrix, R: Matrix, K: Matrix, f: Four, A: Matrix, c: Matrix, room: Matrix
) -> Four:
    """`add_explained` where S = M and K = uuᵀ/K₀₀ + diag(D), K (2, k, LANES) being u and D; room (2, k, LANES).

    The entry (a, b) of SᵀRS is M_ab − δ_ab·D_a + D_aR_abD_b + u_ah_b/K₀₀ + g_au_b/K₀₀ with h = g + (uᵀRu/K₀₀ − 1)u.
    """
    k, u, d, g, h = t.shape[0], K[U], K[D], room[0], room[1]
    # With K = uuᵀ/K₀₀ + D and MR = I − KR everything follows from g = DRu, uᵀRt and uᵀRu; no k×k product is formed.
    scale, total, along, square = 1.0 / get(u, 0), spread(0.0), spread(0.0), spread(0.0)
    for a in range(k):
        Rt, Ru = dot_rows(R[a], t, 0), dot_rows(R[a], u, 0)
        put(g, a, Rt)
        put(h, a, Ru)
        total = total + get(t, a) * Rt
        along = along + get(u, a) * Rt
        square = square + get(u, a) * Ru
    along, square = scale * along, scale * square - spread(1.0)
    for a in range(k):
        explained = get(t, a) - along * get(u, a) - get(d, a) * get(g, a)
        # SᵀRt = t − KRt, with KRt = u(uᵀRt)/K₀₀ + D(Rt).
        put(c, a, get(c, a) + f * explained)
        x = get(d, a) * get(h, a)
        put(g, a, x)
        put(h, a, x + square * get(u, a))
    for a in range(k):
        x, y, z = f * get(d, a), f * (scale * get(u, a)), f * (scale * get(g, a))
        explain_row(A[a], a, f, M[a], x, R[a], d, y, h, z, u)
        # M − K + KRK: the diagonal of −K that is not in uuᵀ is subtracted here; x = f·D_a.
        set_entry(A, a, a, entry_of(A, a, a) - x)
    return f * total


def explain_row(
    out: Matrix, first: int, f: Four, M: Matrix, x: Four, R: Matrix, d: Matrix, y: Four, h: Matrix, z: Four, u: Matrix
) -> None:
    """out_j ← out_j + f·M_j + x·R_j·d_j + y·h_j + z·u_j for j ≥ first."""
    out[first:] += f * M[first:] + x * (R[first:] * d[first:]) + y * h[first:] + z * u[first:]


@compiled_as(explain_row)
def _(
    out: Matrix,
    first: int,
    f: Four,
    M: Matrix,
    x: Four,
    R: Matrix,
    d: Matrix,
    y: Four,
    h: Matrix,
    z: Four,
    u: Matrix,
) -> None:
    for j in range(first, out.shape[0]):
        one = get(out, j) + f * get(M, j) + x * (get(R, j) * get(d, j))
        put(out, j, one + y * get(h, j) + z * get(u, j))
